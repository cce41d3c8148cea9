package ops

import (
	"fmt"
	"net"
	"strings"

	"abagraph/client"
)

// Finding is one thing that is wrong, and what mends it.
type Finding struct {
	What string `json:"what"`
	Do   string `json:"do"`
}

// Problems are what is wrong with a cluster, as far as its nodes tell.
func Problems(n *client.Nodes) []string {
	told := []string{}
	for _, f := range findings(n, "") {
		told = append(told, f.What)
	}
	return told
}

// findings looks at what the nodes told, through the one at a URL.
func findings(n *client.Nodes, at string) []Finding {
	var all []Finding
	tell := func(do, format string, args ...any) { all = append(all, Finding{fmt.Sprintf(format, args...), do}) }
	if outside(n, tell) {
		return all // what it knows of the cluster is of the past
	}
	voters, answer, refuse := 0, 0, 0
	digests := make(map[uint64]*client.NodeStatus)
	for i := range n.Members {
		m := &n.Members[i]
		if m.Voter {
			voters++
		}
		if !m.Answers {
			if silent(n, m, at, tell) {
				refuse++
			}
			continue
		}
		if m.Voter {
			answer++
		}
		one(m, tell)
		if m.Tx == nil || m.Digest == nil {
			continue
		}
		if other := digests[*m.Tx]; other != nil && *other.Digest != *m.Digest {
			tell("stop the one that differs from the leader, keep its directory for examination, and join it anew with an empty one",
				"at tx %d %s and %s have different digests", *m.Tx, other.ID, m.ID)
		}
		digests[*m.Tx] = m
	}
	if n.LeaderID == nil {
		all = append([]Finding{{"no leader is known: nothing can be written", whenNoLeader(refuse)}}, all...)
	}
	if voters > 1 && answer == voters/2+1 {
		tell("bring the others back, or add a node: "+command(at, "peers add ID HOST:PORT"), "no voter more may fail: %d of %d answer", answer, voters)
	}
	return all
}

// command is one of ours, as it is typed.
func command(at, what string) string {
	if at == "" {
		return "abagraph ops " + what
	}
	return "abagraph ops " + what + " --url " + at
}

// outside tells of a node that is no member of the cluster that it asks.
func outside(n *client.Nodes, tell func(do, format string, args ...any)) bool {
	if n.Problem == nil {
		return false
	}
	var join []string
	for i := range n.Members {
		m := &n.Members[i]
		switch {
		case m.ID == n.NodeID && !strings.Contains(*n.Problem, "removed from the cluster"):
			return false // its problem stands in its own row
		case m.ID == n.NodeID: // it was removed, and has not that entry of the log
			continue
		}
		if m.Address != nil && m.Answers {
			join = append(join, *m.Address)
		}
	}
	do := "start it where it can reach a member, with --join"
	if len(join) > 0 {
		do = fmt.Sprintf("stop it; for it to come back, empty its data directory and start it with: --node-id %s --join %s", n.NodeID, strings.Join(join, ","))
	}
	tell(do, "%s: %s", n.NodeID, *n.Problem)
	return true
}

// silent tells of a member that does not answer, and reports whether it refuses to.
func silent(n *client.Nodes, m *client.NodeStatus, at string, tell func(do, format string, args ...any)) bool {
	if m.Problem == nil {
		do := "start it"
		if n.LeaderID != nil { // else nobody can be removed
			do += "; where it is gone for good: " + command(at, "peers remove "+m.ID)
		}
		tell(do, "%s does not answer", m.ID)
		return false
	}
	do := fmt.Sprintf("see what the message means in docs/OPERATIONS.md, When something is wrong, at %s", m.ID)
	if strings.Contains(*m.Problem, "another cluster") {
		do = fmt.Sprintf("one of %s and %s was restored, recovered or founded anew. Stop the one whose data is the older, look twice, then empty its data directory and start it with --join to the other", n.NodeID, m.ID)
	}
	switch {
	case strings.Contains(*m.Problem, "certificate is not accepted here"):
		do = renew(m.ID)
	case strings.Contains(*m.Problem, "does not accept the peer certificate"):
		do = renew(n.NodeID)
	}
	tell(do, "%s does not answer %s: %s", m.ID, n.NodeID, *m.Problem)
	return true
}

func renew(id string) string {
	return "where the key of the authority lies: abagraph ops certs node " + id + " --host HOST --renew, and put both files in place of those on " + id + "; if the authority is another one, add it to ca.crt on every node first. No restart is needed"
}

func whenNoLeader(refuse int) string {
	if refuse > 0 {
		return "look at who refuses to answer, below"
	}
	return "start the members that are down. Where most of them are lost with their disks, stop the one with the greatest tx, and: abagraph ops recover --data DIR"
}

// maxLag is how many entries a member may be behind before it is told.
const maxLag = 10_000

// one looks at what a single member told of itself.
func one(m *client.NodeStatus, tell func(do, format string, args ...any)) {
	switch {
	case m.Problem == nil:
	case strings.Contains(*m.Problem, "the reserve of"):
		tell("make room on its disk: delete replaced-… directories and old backups, or give it a larger one; it takes writes again by itself", "%s: %s", m.ID, *m.Problem)
		return
	case strings.Contains(*m.Problem, "as a member of another cluster"):
		tell("stop that other node: where its data is of before a restore or a recovery, empty its data directory and start it with --join to this one. Never empty this one unless it is the one that has lost its data",
			"%s: %s", m.ID, *m.Problem)
	case strings.Contains(*m.Problem, "is another one here than on"):
		tell("give all nodes the same setting, and restart those that had another", "%s: %s", m.ID, *m.Problem)
	case strings.Contains(*m.Problem, "the peer certificate"):
		tell(renew(m.ID), "%s: %s", m.ID, *m.Problem)
	default:
		tell("see what the message means in docs/OPERATIONS.md, When something is wrong", "%s: %s", m.ID, *m.Problem)
	}
	if m.DiskBytes != nil && m.FreeBytes != nil && *m.DiskBytes > 0 && *m.FreeBytes < *m.DiskBytes/20 {
		tell("make room: delete replaced-… directories and old backups from its disk", "%s has less than 5 %% of its disk free", m.ID)
	}
	if m.Lag != nil && *m.Lag > maxLag {
		tell("look whether its disk or its network is slow; it catches up by itself", "%s is %d entries behind", m.ID, *m.Lag)
	}
	if m.LogBytes != nil && *m.LogBytes > 1<<30 {
		tell("abagraph ops snapshot --url of that node; look in its log for abagraph.snapshot.error", "the log of %s has %d MiB", m.ID, *m.LogBytes>>20)
	}
}

// AddPlan is the command that adds a node of a name and peer address to the cluster,
// to be run on its machine.
func AddPlan(n *client.Nodes, id, address string) (string, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return "", fmt.Errorf("the peer address %q is not HOST:PORT", address)
	}
	var join []string
	for i := range n.Members {
		m := &n.Members[i]
		switch {
		case m.ID == id:
			return "", fmt.Errorf("%s is a member already", id)
		case m.Address != nil && *m.Address == address:
			return "", fmt.Errorf("the address %s belongs to the member %s", address, m.ID)
		case m.Address != nil && m.Answers:
			join = append(join, *m.Address)
		}
	}
	if len(join) == 0 {
		return "", fmt.Errorf("no member has a peer port that answers: start one with --peer-bind")
	}
	return fmt.Sprintf("abagraph serve --node-id %s --peer-bind %s --join %s --data DIR", id, address, strings.Join(join, ",")), nil
}

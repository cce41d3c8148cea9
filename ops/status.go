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
	for _, f := range findings(n) {
		told = append(told, f.What)
	}
	return told
}

// findings looks at what the nodes told.
func findings(n *client.Nodes) []Finding {
	var all []Finding
	tell := func(do, format string, args ...any) { all = append(all, Finding{fmt.Sprintf(format, args...), do}) }
	if n.LeaderID == nil {
		tell("start the members that are down; where most of them are lost with their disks: abagraph ops recover", "no leader is known: nothing can be written")
	}
	voters, answer := 0, 0
	digests := make(map[uint64]*client.NodeStatus)
	for i := range n.Members {
		m := &n.Members[i]
		if m.Voter {
			voters++
		}
		if !m.Answers {
			tell("start it; where it is gone for good: abagraph ops peers remove "+m.ID, "%s does not answer", m.ID)
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
	if voters > 1 && answer == voters/2+1 {
		tell("bring the others back, or add nodes: abagraph ops peers add", "no voter more may fail: %d of %d answer", answer, voters)
	}
	return all
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

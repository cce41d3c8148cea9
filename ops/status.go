package ops

import (
	"fmt"
	"net"
	"strings"

	"abagraph/client"
)

// Problems are what is wrong with a cluster, as far as its nodes tell: one line each.
func Problems(n *client.Nodes) []string {
	problems := []string{}
	tell := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if n.LeaderID == nil {
		tell("no leader is known: nothing can be written")
	}
	voters, answer := 0, 0
	digests := make(map[uint64]*client.NodeStatus)
	for i := range n.Members {
		m := &n.Members[i]
		if m.Voter {
			voters++
		}
		if !m.Answers {
			tell("%s does not answer", m.ID)
			continue
		}
		if m.Voter {
			answer++
		}
		if m.Problem != nil {
			tell("%s: %s", m.ID, *m.Problem)
		}
		if m.DiskBytes != nil && m.FreeBytes != nil && *m.DiskBytes > 0 && *m.FreeBytes < *m.DiskBytes/20 {
			tell("%s has less than 5 %% of its disk free", m.ID)
		}
		if m.Tx == nil || m.Digest == nil {
			continue
		}
		if other := digests[*m.Tx]; other != nil && *other.Digest != *m.Digest {
			tell("at tx %d %s and %s have different digests", *m.Tx, other.ID, m.ID)
		}
		digests[*m.Tx] = m
	}
	if lost := answer - (voters/2 + 1); voters > 1 && lost == 0 {
		tell("no voter more may fail: %d of %d answer", answer, voters)
	}
	return problems
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

package replication

import (
	"errors"

	"github.com/hashicorp/raft"
)

// leaveDamaged stops a member whose store was found damaged, once the others are enough
// without it: whoever asks for what is damaged would be refused here as long as it ran,
// and is answered there. Where they are not, what is whole of it is still needed.
func (n *Node) leaveDamaged() {
	what := n.damageProblem()
	if what == "" || !n.spared() {
		return
	}
	n.fail(errors.New(what + "; empty its data directory, keep a copy of it for examination, and let it join again"))
}

func (n *Node) damageProblem() string {
	if what := n.machine.Damage(); what != "" {
		return "the store is damaged: " + what
	}
	return ""
}

// spared reports whether the other voters that answered last, and whose stores are not
// known to be damaged, are a majority.
func (n *Node) spared() bool {
	voters, whole := 0, 0
	n.seenMu.Lock()
	defer n.seenMu.Unlock()
	for _, s := range n.servers() {
		if s.Suffrage != raft.Voter {
			continue
		}
		voters++
		told, answers := n.seen[string(s.ID)]
		if string(s.ID) != n.options.NodeID && answers && !told.Damaged {
			whole++
		}
	}
	return whole > voters/2
}

package replication

import (
	"fmt"
	"maps"
	"slices"
)

// Alike is a setting that must be the same on every node of a cluster. Mark tells only
// whether two of them are; it goes over the peer port, and is kept nowhere.
type Alike struct {
	Name string // as messages tell it: ABAGRAPH_PII_KEY
	Mark string
	Why  string // what comes of two that differ
	// Bars says that a node on which it differs from the leader's should take no
	// requests.
	Bars bool
}

// marks are what this node tells others of its settings.
func (n *Node) marks() map[string]string {
	told := make(map[string]string, len(n.options.Alike))
	for _, a := range n.options.Alike {
		told[a.Name] = a.Mark
	}
	return told
}

// unlikeProblem tells of members on which a setting is another one than here.
func (n *Node) unlikeProblem() string {
	n.seenMu.Lock()
	defer n.seenMu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(n.seen)) {
		if a := n.unlike(id); a != nil {
			return fmt.Sprintf("%s is another one here than on %s: %s; set it alike on all nodes", a.Name, id, a.Why)
		}
	}
	return ""
}

// unlike is the first setting, in their order, that a member has otherwise; nil where it has none so, or
// is of a program that does not tell.
func (n *Node) unlike(id string) *Alike {
	for i := range n.options.Alike {
		a := &n.options.Alike[i]
		if mark, told := n.seen[id].Alike[a.Name]; told && mark != a.Mark {
			return a
		}
	}
	return nil
}

// UnlikeLeader says in which setting this node differs from the one that leads, so that
// it should take no requests, or "". The leader is taken to be right.
func (n *Node) UnlikeLeader() string {
	_, leader := n.raft.LeaderWithID()
	n.seenMu.Lock()
	defer n.seenMu.Unlock()
	a := n.unlike(string(leader))
	if a == nil || !a.Bars {
		return ""
	}
	return fmt.Sprintf("%s is another one here than on %s, which leads: %s", a.Name, leader, a.Why)
}

// noticeUnlike logs settings that differ, once for each time that this begins.
func (n *Node) noticeUnlike() {
	problem := n.unlikeProblem()
	if before := n.unlikeTold.Swap(&problem); problem != "" && (before == nil || *before != problem) {
		n.options.Logger.Error("abagraph.cluster.unlike", "error", problem)
	}
}

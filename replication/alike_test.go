package replication

import (
	"strings"
	"testing"
)

// TestSettingsThatDifferAreTold: a setting that must be the same on all nodes and is not
// is told by each in its status, and the one that differs from the leader knows it.
func TestSettingsThatDifferAreTold(t *testing.T) {
	c := newCluster(t, func(o *Options) {
		o.Alike = []Alike{{Name: "SAME", Mark: "same"}, {Name: "KEY", Mark: "one", Why: "two hashes", Bars: true}}
		if o.NodeID == "n3" {
			o.Alike[1].Mark = "another"
		}
	})
	first := c.start("n1", "", "")
	c.start("n2", "", first.address)
	c.start("n3", "", first.address)
	c.waitVoters(3)
	eventually(t, "those that differ tell of it", func() bool {
		return strings.Contains(c.members["n1"].Status().Problem, "KEY is another one here than on n3: two hashes") &&
			strings.Contains(c.members["n2"].Status().Problem, "on n3") && strings.Contains(c.members["n3"].Status().Problem, "KEY is another one here than on n1")
	})
	if leader := c.leader(); leader.UnlikeLeader() != "" {
		t.Errorf("the leader differs from itself: %s", leader.UnlikeLeader())
	}
	for id, m := range c.members {
		want := (id == "n3") != (c.leader().options.NodeID == "n3") && m != c.leader()
		if got := m.UnlikeLeader(); (got != "") != want {
			t.Errorf("%s says %q", id, got)
		}
	}
}

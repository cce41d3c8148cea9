package replication

import (
	"strings"
	"testing"

	"github.com/hashicorp/raft"
)

// TestReadReplica: a replica is sent everything, answers linearizable reads and
// forwards writes, has no vote and counts for no majority, whether it runs or not,
// stays so through a restart, and becomes a voter when it is promoted.
func TestReadReplica(t *testing.T) {
	c := newCluster(t, func(o *Options) { o.Replica = o.NodeID == "r1" })
	n1 := c.start("n1", c.disk("n1"), "")
	r1 := c.start("r1", c.disk("r1"), n1.address)
	r1.mustWrite(t, write("Lamp:l", 1))
	if v := r1.mustRead(t, "Lamp:l"); v != "1" {
		t.Fatalf("the replica reads %q", v)
	}
	suffrage := func() raft.ServerSuffrage {
		for _, s := range n1.servers() {
			if string(s.ID) == "r1" {
				return s.Suffrage
			}
		}
		return -1
	}
	eventually(t, "a member without a vote", func() bool { return suffrage() == raft.Nonvoter })
	r1.stop(t)
	for i := range 20 { // one voter alone is a majority
		n1.mustWrite(t, write("Lamp:l", 2+i))
	}
	r1 = c.start("r1", c.disk("r1"), n1.address)
	if v := r1.mustRead(t, "Lamp:l"); v != "21" {
		t.Errorf("after a restart the replica reads %q", v)
	}
	if got := suffrage(); got != raft.Nonvoter {
		t.Errorf("after a restart the replica is a %v", got)
	}
	if err := n1.SetVoter(soon(t), "r1", true); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a vote", func() bool { return suffrage() == raft.Voter })
	if _, err := c.tryStart("r1", c.disk("r2"), ""); err == nil || !strings.Contains(err.Error(), "cannot found a cluster") {
		t.Errorf("a replica without members to join: %v", err)
	}
}

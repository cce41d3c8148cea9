package replication

import (
	"testing"

	"github.com/hashicorp/raft"
)

// TestASnapshotThatComesTwiceKeepsWhatFollowsIt: Raft takes the end of the log for what
// it was, so that the entries behind the snapshot must be there to be applied again.
func TestASnapshotThatComesTwiceKeepsWhatFollowsIt(t *testing.T) {
	m := newCluster(t, nil).start("n1", "", "")
	g := &guardedLog{Store: m.store, room: &m.room, newest: m.snaps.newest}
	first, last := uint64(0), uint64(0)
	for i := range 20 {
		m.mustWrite(t, write("Lamp:l", i))
	}
	first, _ = g.FirstIndex()
	last, _ = g.LastIndex()
	g.installed.Store(last - 5)
	if err := g.DeleteRange(first, last); err != nil {
		t.Fatal(err)
	}
	var l raft.Log
	if got, _ := g.FirstIndex(); got != last-4 || g.GetLog(last-4, &l) != nil || g.GetLog(last-5, &l) != raft.ErrLogNotFound {
		t.Errorf("of %d to %d the log has kept %d on", first, last, got)
	}
	g.installed.Store(last - 5) // once more: nothing in front of it is left
	if err := g.DeleteRange(last-4, last); err != nil || g.GetLog(last, &l) != nil {
		t.Errorf("the second time: %v, %v", err, g.GetLog(last, &l))
	}
}

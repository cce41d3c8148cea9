package replication

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"abagraph/fsm"
	rlog "abagraph/log"

	"github.com/hashicorp/raft"
)

// TestNothingOfTheLogStays: on each node in turn, whatever the state holds leaves the log
// and the state becomes the only snapshot; the node goes on with the others, also those
// that missed what is trimmed, and a new one is sent all of it.
func TestNothingOfTheLogStays(t *testing.T) {
	c := three(t, nil)
	c.leader().mustWrite(t, write("Lamp:l", 0))
	c.equalDigests() // so that each knows of all three
	for round, m := range slices.Collect(maps.Values(c.members)) {
		m.stop(t)
		for i := range 5 {
			c.leader().mustWrite(t, write(fmt.Sprintf("Lamp:%d", round), i))
		}
		forget(t, m.path)
		c.start(m.id, m.path, "")
		c.leader().mustWrite(t, write("Lamp:l", round+1))
		c.equalDigests()
	}
	all := slices.Collect(maps.Values(c.members))
	for _, m := range all { // and once more all of them, with nothing after the last entry
		m.stop(t)
		forget(t, m.path)
	}
	for _, m := range all {
		c.start(m.id, m.path, "")
	}
	c.leader().mustWrite(t, write("Lamp:l", 9))
	c.start("n4", c.disk("n4"), c.leader().address)
	c.waitVoters(4)
	c.equalDigests()
	if got := c.members["n4"].mustRead(t, "Lamp:l"); got != "9" {
		t.Errorf("the new node reads %q", got)
	}
}

// forget does it to the data of a node that does not run, twice: the second time there
// is nothing left to do.
func forget(t *testing.T, path string) {
	t.Helper()
	for range 2 {
		dir, err := rlog.Claim(path)
		if err != nil {
			t.Fatal(err)
		}
		machine, err := fsm.Open(fsm.Options{Dir: dir.State(), CacheBytes: 8 << 20})
		if err != nil {
			t.Fatal(err)
		}
		if err := Forget(dir, machine); err != nil {
			t.Error(err)
		}
		at := machine.Position().Index
		if err := machine.Close(); err != nil {
			t.Error(err)
		}
		store, err := rlog.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if first, err := store.FirstIndex(); err != nil || first != 0 && first <= at {
			t.Errorf("the log begins with entry %d, the state is at %d, %v", first, at, err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
		if kept, err := Look(path); err != nil || len(kept.Snapshots) != 1 || kept.Snapshots[0].Index < at || len(kept.Snapshots[0].Servers) != 3 {
			t.Errorf("these snapshots are kept: %+v, %v", kept, err)
		}
		dir.Close()
	}
}

// TestATailBehindASnapshotGivesWay: a member's log begins behind its snapshot and holds
// what a former leader never committed. The next leader's entries begin at the snapshot's
// end, of which the log has no entry to compare with.
func TestATailBehindASnapshotGivesWay(t *testing.T) {
	c := three(t, nil)
	c.leader().mustWrite(t, write("Lamp:l", 0))
	c.equalDigests()
	m := c.follower()
	m.stop(t)
	forget(t, m.path)
	leaveTail(t, m.path)
	leader := c.leader()
	if err := leader.Transfer(soon(t), c.follower().id); err != nil {
		t.Fatal(err)
	}
	eventually(t, "another leader", func() bool { return c.leader() != leader })
	c.leader().mustWrite(t, write("Lamp:l", 1))
	c.start(m.id, m.path, "")
	c.equalDigests()
	if got := c.members[m.id].mustRead(t, "Lamp:l"); got != "1" {
		t.Errorf("the node reads %q", got)
	}
}

// leaveTail puts two entries behind the end of a log, as a leader does whose term ends
// before another member has them.
func leaveTail(t *testing.T, path string) {
	t.Helper()
	kept, err := Look(path)
	if err != nil {
		t.Fatal(err)
	}
	store, done := logOf(t, path)
	defer done()
	at := kept.Snapshots[0]
	var tail []*raft.Log
	for i := range uint64(2) {
		tail = append(tail, &raft.Log{Index: at.Index + 1 + i, Term: at.Term, Type: raft.LogNoop})
	}
	if err := errors.Join(store.StoreLogs(tail), store.Close()); err != nil {
		t.Fatal(err)
	}
}

// logOf opens the log of a node that does not run; done gives its directory back.
func logOf(t *testing.T, path string) (store *rlog.Store, done func()) {
	t.Helper()
	dir, err := rlog.Claim(path)
	if err != nil {
		t.Fatal(err)
	}
	if store, err = rlog.Open(dir); err != nil {
		dir.Close()
		t.Fatal(err)
	}
	return store, func() { dir.Close() }
}

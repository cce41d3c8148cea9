package replication

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"abagraph/fsm"
	rlog "abagraph/log"
)

// TestNothingOfTheLogStays: on each node in turn, whatever the state holds leaves the log
// and the state becomes the only snapshot; the node goes on with the others, also those
// that missed what is trimmed, and a new one is sent all of it.
func TestNothingOfTheLogStays(t *testing.T) {
	c := three(t, nil)
	c.leader().mustWrite(t, write("Lamp:l", 0))
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

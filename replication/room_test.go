package replication

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"abagraph/fact"

	"github.com/hashicorp/raft"
)

// disks are how many bytes each node of a test has free; 1,000 are the reserve.
type disks struct {
	mu   sync.Mutex
	free map[string]uint64
}

func (d *disks) set(id string, free uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.free[id] = free
}

func (d *disks) tune(o *Options) {
	id := o.NodeID
	o.DiskReserve = 1000
	o.free = func() (uint64, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		if free, known := d.free[id]; known {
			return free, nil
		}
		return 1 << 40, nil
	}
}

// TestFullDiskOfANodeAloneMakesItReadOnly: writes are refused with the reason and
// nothing is written, reads go on, and with room it takes them again by itself.
func TestFullDiskOfANodeAloneMakesItReadOnly(t *testing.T) {
	d := &disks{free: map[string]uint64{}}
	c := newCluster(t, d.tune)
	m := c.start("n1", c.disk("n1"), "")
	m.mustWrite(t, write("Lamp:l", 1))
	refuses := func() bool {
		_, err := m.Propose(soon(t), write("Lamp:l", 2))
		return fact.CodeOf(err) == fact.ReadOnly && strings.Contains(err.Error(), "n1")
	}
	d.set("n1", 900)
	eventually(t, "writes are refused", refuses)
	if got := m.mustRead(t, "Lamp:l"); got != "1" && got != "2" {
		t.Errorf("a read of a node without room says %q", got)
	}
	if said := m.Status().Problem; !strings.Contains(said, "900 bytes left") {
		t.Errorf("its status says %q", said)
	}
	if _, all := m.Report(t.Context()); all[0].Disk.Free != 900 {
		t.Errorf("its report has %d bytes free", all[0].Disk.Free)
	}
	at := m.Position().Tx
	d.set("n1", 1100) // not yet enough: the state would change back and forth
	m.lookAtRoom()
	if !refuses() || m.Position().Tx != at {
		t.Error("it writes again at once")
	}
	d.set("n1", 1300)
	eventually(t, "it takes writes again", func() bool { return m.mayWrite() == nil })
	m.mustWrite(t, write("Lamp:l", 3))
	if m.Status().Problem != "" {
		t.Errorf("its status says %q", m.Status().Problem)
	}
}

// TestFullDiskOfOneOfThree: a leader without room hands over to one that has some, and
// the cluster goes on; the node takes no entries in the end, and all of them later.
func TestFullDiskOfOneOfThree(t *testing.T) {
	d := &disks{free: map[string]uint64{}}
	c := three(t, d.tune)
	full := c.leader()
	full.mustWrite(t, write("Lamp:l", 1))
	d.set(full.id, 900)
	eventually(t, "another one leads", func() bool { return full.raft.State() != raft.Leader && c.leader() != full })
	for i := 2; i < 6; i++ {
		full.mustWrite(t, write("Lamp:l", i)) // it forwards them
	}
	if got := full.mustRead(t, "Lamp:l"); got != "5" {
		t.Errorf("the node without room reads %q", got)
	}
	d.set(full.id, 400)
	eventually(t, "it takes no entries", full.room.tight.Load)
	leader := c.leader()
	last := leader.mustWrite(t, write("Lamp:l", 6))
	if full.Position().Tx >= last.Tx {
		t.Error("it took an entry without room")
	}
	d.set(full.id, 1<<40)
	eventually(t, "it has caught up", func() bool { return full.Position().Tx >= last.Tx })
}

// TestFullDisksOfAMajority: nothing is written, everything can be read, and it ends when
// one of them has room.
func TestFullDisksOfAMajority(t *testing.T) {
	d := &disks{free: map[string]uint64{}}
	c := three(t, d.tune)
	leader := c.leader()
	leader.mustWrite(t, write("Lamp:l", 1))
	for id := range c.members {
		if id != leader.id {
			d.set(id, 900)
		}
	}
	eventually(t, "writes are refused everywhere", func() bool {
		for _, m := range c.members {
			if _, err := m.Propose(soon(t), write("Lamp:l", 2)); fact.CodeOf(err) != fact.ReadOnly {
				return false
			}
		}
		return true
	})
	for _, m := range c.members {
		m.mustRead(t, "Lamp:l")
	}
	d.set(c.follower().id, 1<<40)
	eventually(t, "writes are taken again", func() bool {
		_, err := leader.Propose(soon(t), write("Lamp:l", 3))
		return err == nil
	})
}

// TestNoSnapshotWithoutRoom: a member that only a snapshot can help has no room for it.
// It is sent none, and takes none that is on its way, until there is.
func TestNoSnapshotWithoutRoom(t *testing.T) {
	d := &disks{free: map[string]uint64{}}
	c := three(t, func(o *Options) {
		d.tune(o)
		o.TrailingBytes = 1
	})
	m := c.follower()
	m.stop(t)
	leader := c.leader()
	for i := range 3 * minTrailing {
		leader.mustWrite(t, write("Lamp:l", i))
	}
	for _, other := range c.members {
		if other.Node != nil {
			if err := other.Snapshot(); err != nil {
				t.Fatal(err)
			}
		}
	}
	d.set(m.id, 400)
	m = c.start(m.id, m.path, "")
	eventually(t, "the others know that it has no room", func() bool { return c.leader().toldShort(raft.ServerID(m.id)) })
	if _, err := m.snaps.sinkOf(t).Write([]byte("a piece")); !errors.Is(err, errTight) {
		t.Errorf("a piece of a snapshot: %v", err)
	}
	last := c.leader().mustWrite(t, write("Lamp:l", 100))
	if m.Position().Tx >= last.Tx || m.snapshotIndex() != 0 {
		t.Error("it took a snapshot without room")
	}
	d.set(m.id, 1<<40)
	eventually(t, "it has caught up", func() bool { return m.Position().Tx >= last.Tx })
	c.equalDigests()
}

// sinkOf begins another node's snapshot.
func (s *snapshots) sinkOf(t *testing.T) raft.SnapshotSink {
	t.Helper()
	sink, err := s.Create(raft.SnapshotVersionMax, 1, 1, only("n9"), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sink.Cancel(); err != nil {
			t.Error(err)
		}
	})
	return sink
}

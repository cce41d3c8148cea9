package replication

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"abagraph/fact"
)

func TestThreeNodesWriteThroughAnyReadOnEach(t *testing.T) {
	c := three(t, nil)
	n := 0
	for round := range 5 {
		for _, writer := range []string{"n1", "n2", "n3"} {
			n++
			result := c.members[writer].mustWrite(t, write("Lamp:l", n))
			for _, reader := range []string{"n3", "n1", "n2"} {
				if v := c.members[reader].mustRead(t, "Lamp:l"); v != fmt.Sprint(n) {
					t.Fatalf("round %d: wrote %d through %s, read %s through %s", round, n, writer, v, reader)
				}
			}
			if result.Tx != uint64(n) {
				t.Fatalf("tx %d, want %d", result.Tx, n)
			}
		}
	}
	basis, err := c.follower().Basis(soon(t), fact.Stale, uint64(n))
	if err != nil || basis.Tx < uint64(n) {
		t.Fatalf("basis %+v, %v", basis, err)
	}
	c.equalDigests()
}

// equalDigests waits until every node has everything, and compares.
func (c *cluster) equalDigests() {
	c.t.Helper()
	var want fact.Position
	eventually(c.t, "the same tx on every node", func() bool {
		leader := c.leader()
		if want = leader.Position(); want.Index < leader.machine.Told() {
			return false
		}
		for _, m := range c.members {
			if m.Node != nil && m.Position().Tx != want.Tx {
				return false
			}
		}
		return true
	})
	for _, m := range c.members {
		if m.Node != nil && m.Position().Digest != want.Digest {
			c.t.Fatalf("%s has another digest at tx %d", m.id, want.Tx)
		}
	}
}

// Every write is acknowledged once or reported as unknown; the leader is stopped
// hard in the middle; in the end each acknowledged write is there, once.
func TestLeaderLostDuringWrites(t *testing.T) {
	c := three(t, nil)
	const writers, each = 6, 40
	acknowledged := make([][]uint64, writers)
	var wg sync.WaitGroup
	halfway := make(chan struct{})
	var once sync.Once
	via := []*member{c.follower(), c.leader()}
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				request := keyed(write(fmt.Sprintf("Writer:%d", w), i), fmt.Sprintf("%d/%d", w, i))
				ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
				result, err := via[w%2].Propose(ctx, request)
				cancel()
				if err == nil && result.Err == nil {
					acknowledged[w] = append(acknowledged[w], result.Tx)
				} else if w%2 == 0 {
					t.Errorf("write through a node that stayed: %v", err)
				}
				if i == each/3 {
					once.Do(func() { close(halfway) })
				}
			}
		})
	}
	<-halfway
	old := via[1]
	old.Node.fail(fmt.Errorf("crashed by the test"))
	wg.Wait()
	old.stop(t)
	c.start(old.id, old.path, "")
	c.equalDigests()
	checkAcknowledged(t, c, acknowledged)
}

func checkAcknowledged(t *testing.T, c *cluster, acknowledged [][]uint64) {
	t.Helper()
	m := c.leader()
	if _, err := m.Basis(soon(t), fact.Linearizable, 0); err != nil {
		t.Fatal(err)
	}
	view, err := m.machine.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	seen := map[uint64]bool{}
	for w, txs := range acknowledged {
		page, err := view.Facts(context.Background(), &fact.Query{
			Scope: fact.Scope{Tenant: "default", Branch: fact.MainBranch}, Subject: fmt.Sprintf("Writer:%d", w),
			Statuses: fact.AllStatuses, StatusGiven: true, At: fact.Present(view.Position().RecordedAt), Limit: 1000,
		})
		if err != nil {
			t.Fatal(err)
		}
		first := map[uint64]bool{}
		values := map[string]bool{}
		for _, f := range page.Facts {
			first[f.FirstTx] = true
			if values[f.Object.Text] {
				t.Errorf("writer %d: the value %s is there twice", w, f.Object.Text)
			}
			values[f.Object.Text] = true
		}
		for _, tx := range txs {
			if !first[tx] {
				t.Errorf("writer %d: the acknowledged tx %d is lost", w, tx)
			}
			if seen[tx] {
				t.Errorf("tx %d was acknowledged twice", tx)
			}
			seen[tx] = true
		}
	}
}

func TestCLU02IsolatedLeaderFailsReadsAndWrites(t *testing.T) {
	c := three(t, func(o *Options) { o.LeaderWait = 300 * time.Millisecond })
	old := c.leader()
	old.mustWrite(t, write("Lamp:l", 1))
	c.wires.isolate(old.id, c.members, true)
	// A linearizable read asked for after the cut never succeeds, also while
	// the old leader does not know yet.
	for old.raft.State().String() == "Leader" {
		if v, err := old.read(soon(t), fact.Linearizable, "Lamp:l"); fact.CodeOf(err) != fact.NoLeader {
			t.Fatalf("read %q, %v on a leader that is cut off", v, err)
		}
	}
	var other *member
	eventually(t, "another leader", func() bool {
		for _, m := range c.members {
			if s := m.leadership.Load(); m != old && s != nil && s.isReady() {
				other = m
				return true
			}
		}
		return false
	})
	other.mustWrite(t, write("Lamp:l", 2))
	if _, err := old.read(soon(t), fact.Linearizable, "Lamp:l"); fact.CodeOf(err) != fact.NoLeader {
		t.Fatalf("read: got %v, want NoLeader", err)
	}
	if _, err := old.Propose(soon(t), write("Lamp:l", 3)); fact.CodeOf(err) != fact.NoLeader {
		t.Fatalf("write: got %v, want NoLeader", err)
	}
	if v, err := old.read(soon(t), fact.Stale, "Lamp:l"); err != nil || v != "1" {
		t.Fatalf("stale read: %q, %v", v, err)
	}
	c.wires.isolate(old.id, c.members, false)
	eventually(t, "the old leader to follow", func() bool {
		v, err := old.read(soon(t), fact.Linearizable, "Lamp:l")
		return err == nil && v == "2"
	})
	c.equalDigests()
}

// A write that was proposed when the leader was cut off has no known outcome: it
// is not called failed.
func TestWriteInFlightOnACutOffLeaderIsUnknown(t *testing.T) {
	c := three(t, nil)
	eventually(t, "a write that is in flight when its leader steps down", func() bool {
		old := c.leader()
		old.mustWrite(t, write("Lamp:l", 1))
		c.wires.isolate(old.id, c.members, true)
		_, err := old.Propose(soon(t), write("Lamp:l", 2))
		c.wires.isolate(old.id, c.members, false)
		if code := fact.CodeOf(err); code != fact.Timeout && code != fact.NoLeader {
			t.Fatalf("got %v, want Timeout", err)
		}
		return fact.CodeOf(err) == fact.Timeout // or its lease had ended before the write came
	})
	c.leader()
}

func TestSnapshotBringsALaggingAndANewNode(t *testing.T) {
	c := three(t, func(o *Options) { o.TrailingBytes = 1 })
	lagging := c.follower()
	lagging.stop(t)
	for i := range 60 {
		c.leader().mustWrite(t, write(fmt.Sprintf("Lamp:%d", i%7), i))
	}
	c.snapshot()
	c.leader().mustWrite(t, write("Lamp:last", 1))
	c.start(lagging.id, lagging.path, "")
	c.start("n4", c.disk("n4"), c.leader().address)
	c.waitVoters(4)
	c.equalDigests()
	for _, id := range []string{lagging.id, "n4"} {
		if v := c.members[id].mustRead(t, "Lamp:last"); v != "1" {
			t.Fatalf("%s read %q", id, v)
		}
		if s := c.members[id].Status(); s.SnapshotIndex == 0 {
			t.Fatalf("%s got no snapshot: the log was enough", id)
		}
	}
	// The installed snapshot serves a restart too.
	m := c.members["n4"]
	m.stop(t)
	c.start("n4", m.path, "")
	c.equalDigests()
}

func TestThreeNodesInMemory(t *testing.T) {
	c := newCluster(t, nil)
	c.start("n1", "", "")
	for i := range 40 {
		c.members["n1"].mustWrite(t, write("Lamp:l", i))
	}
	for _, id := range []string{"n2", "n3"} {
		c.start(id, "", c.members["n1"].address)
	}
	c.waitVoters(3)
	c.members["n3"].mustWrite(t, write("Lamp:l", 77))
	for _, m := range c.members {
		if v := m.mustRead(t, "Lamp:l"); v != "77" {
			t.Fatalf("%s read %q", m.id, v)
		}
	}
	c.equalDigests()
}

func TestGracefulStopHandsOver(t *testing.T) {
	c := three(t, nil)
	old := c.leader()
	term := old.raft.CurrentTerm()
	old.stop(t)
	next := c.leader()
	next.mustWrite(t, write("Lamp:l", 1))
	if got := next.raft.CurrentTerm(); got != term+1 {
		t.Fatalf("term went from %d to %d: the leadership was not handed over but fought for", term, got)
	}
	c.start(old.id, old.path, "")
	c.equalDigests()
}

// The sweep is proposed by the leader, and only if there is something to do.
func TestSweepRunsOnTheLeader(t *testing.T) {
	c := newCluster(t, func(o *Options) { o.SweepInterval = 20 * time.Millisecond })
	aloneSweep := c.start("n1", "", "")
	request := write("Lamp:l", 1)
	a := &request.Write.Asserts[0]
	a.Transient, a.ValidUntil = true, fact.Instant(time.Now().Add(300*time.Millisecond).UnixMilli())
	aloneSweep.mustWrite(t, request)
	eventually(t, "the expired fact to be deleted", func() bool {
		view, err := aloneSweep.machine.View()
		if err != nil {
			t.Fatal(err)
		}
		defer view.Close()
		s, err := view.Stats(context.Background(), fact.Scope{Tenant: "default", Branch: fact.MainBranch})
		return err == nil && s.Total() == 0
	})
	entries := aloneSweep.store.Stats().Entries
	time.Sleep(100 * time.Millisecond)
	if after := aloneSweep.store.Stats().Entries; after != entries {
		t.Fatalf("%d entries were proposed although nothing was due", after-entries)
	}
}

func TestDigestCheckPasses(t *testing.T) {
	c := three(t, func(o *Options) { o.CheckInterval = 20 * time.Millisecond })
	c.leader().mustWrite(t, write("Lamp:l", 1))
	leader := c.leader()
	eventually(t, "the state has the write", func() bool { return leader.lag() == 0 })
	before := leader.Position().Index
	eventually(t, "a check in the log", func() bool { return leader.Position().Index > before })
	c.equalDigests()
	for _, m := range c.members {
		if err := m.Err(); err != nil {
			t.Fatalf("%s: %v", m.id, err)
		}
	}
}

package replication

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/fsm"

	"github.com/hashicorp/raft"
)

// slowStore takes its time, while the gate is held, between telling an outcome and
// writing its effects.
type slowStore struct {
	StateMachine
	gate sync.Mutex
}

func (s *slowStore) ApplyTelling(entries []fsm.Committed, tell fsm.Teller) ([]fsm.Applied, error) {
	return s.StateMachine.ApplyTelling(entries, func(e []fsm.Committed, done []fsm.Applied) {
		if tell != nil {
			tell(e, done)
		}
		s.gate.Lock()
		defer s.gate.Unlock()
	})
}

// answeredNotStored starts a node with two writes, the second of which is answered and
// gets into the store only when it is released.
func answeredNotStored(t *testing.T) (c *cluster, m *member, release func()) {
	t.Helper()
	c = newCluster(t, nil)
	aloneOptions(c)
	slow := &slowStore{}
	c.wrap = func(m StateMachine) StateMachine { slow.StateMachine = m; return slow }
	m = c.start("n1", c.disk("n1"), "")
	m.mustWrite(t, write("Lamp:l", 1))
	slow.gate.Lock()
	release = sync.OnceFunc(slow.gate.Unlock)
	t.Cleanup(release)
	if r, err := m.Propose(soon(t), write("Lamp:l", 2)); err != nil || r.Err != nil {
		t.Fatalf("answered with %v, %+v", err, r)
	}
	return c, m, release
}

// TestReadsSeeWhatWasAnswered: a write is answered before the store has it, and no read
// that comes after the answer misses it, whatever its level.
func TestReadsSeeWhatWasAnswered(t *testing.T) {
	_, m, release := answeredNotStored(t)
	for _, level := range []fact.Level{fact.Linearizable, fact.Stale} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if got, err := m.read(ctx, level, "Lamp:l"); fact.CodeOf(err) != fact.Timeout {
			t.Errorf("a read of level %d before it is in the store: %q, %v", level, got, err)
		}
		cancel()
	}
	// A member that was removed, and does not know it, has nothing but this to go by.
	if point, err := m.readIndex(soon(t)); err != nil || point.index != m.machine.Told() {
		t.Errorf("the read index is %d where %d was told, %v", point.index, m.machine.Told(), err)
	}
	var readers sync.WaitGroup
	for _, level := range []fact.Level{fact.Linearizable, fact.Stale} {
		readers.Go(func() {
			if got, err := m.read(soon(t), level, "Lamp:l"); err != nil || got != "2" {
				t.Errorf("a read of level %d: %q, %v", level, got, err)
			}
		})
	}
	release()
	readers.Wait()
}

// TestAnsweredWritesOutliveTheirStore: what was answered and not in the store when the
// process ended comes from the log.
func TestAnsweredWritesOutliveTheirStore(t *testing.T) {
	c, m, release := answeredNotStored(t)
	// What lies on the disk now is what a process that is killed now leaves.
	copyTree(t, c.disk("n1"), c.disk("n2"))
	release()
	m.stop(t)
	c.wrap = nil
	delete(c.members, "n1")
	if got := c.start("n1", c.disk("n2"), "").mustRead(t, "Lamp:l"); got != "2" {
		t.Errorf("after the start: %q", got)
	}
}

// TestLeaderWhoseStoreHangsAfterAnAnswer: the others have what it answered, and read it;
// another one leads, and takes writes; and its own state is the same once it goes on.
func TestLeaderWhoseStoreHangsAfterAnAnswer(t *testing.T) {
	stores := map[string]*slowStore{}
	c := wrappedThree(t, func(o *Options) { o.LagTime = 300 * time.Millisecond }, func(id string, m StateMachine) StateMachine {
		stores[id] = &slowStore{StateMachine: m}
		return stores[id]
	})
	hung := c.leader()
	hung.mustWrite(t, write("Lamp:l", 1))
	stores[hung.id].gate.Lock()
	release := sync.OnceFunc(stores[hung.id].gate.Unlock)
	t.Cleanup(release)
	if r, err := hung.Propose(soon(t), write("Lamp:l", 2)); err != nil || r.Err != nil {
		t.Fatalf("answered with %v, %+v", err, r)
	}
	for _, m := range c.members {
		if m == hung {
			continue
		}
		if got := m.mustRead(t, "Lamp:l"); got != "2" {
			t.Errorf("%s reads %q beside a leader whose store hangs", m.id, got)
		}
	}
	eventually(t, "another one leads", func() bool { return hung.raft.State() != raft.Leader && c.leader() != hung })
	c.leader().mustWrite(t, write("Lamp:l", 3))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if got, err := hung.read(ctx, fact.Stale, "Lamp:l"); fact.CodeOf(err) != fact.Timeout {
		t.Errorf("the one whose store hangs reads %q, %v", got, err)
	}
	release()
	if got := hung.mustRead(t, "Lamp:l"); got != "3" {
		t.Errorf("afterwards it reads %q", got)
	}
	c.equalDigests()
}

// TestEverybodyReadsTheirOwnWrites: many writers in the same entries, each of whom reads
// at both levels what was answered a moment ago, and looks it up in a view of its own.
func TestEverybodyReadsTheirOwnWrites(t *testing.T) {
	c := newCluster(t, nil)
	aloneOptions(c)
	m := c.start("n1", c.disk("n1"), "")
	var writers sync.WaitGroup
	for w := range 12 {
		writers.Go(func() {
			subject := fmt.Sprint("Lamp:", w)
			for i := range 100 {
				r, err := m.Propose(soon(t), write(subject, i))
				if err != nil || r.Err != nil {
					t.Errorf("write %d of %s: %v, %+v", i, subject, err, r)
					return
				}
				if w%3 == 2 { // no basis at all
					view, err := m.machine.View()
					if err != nil {
						t.Error(err)
						return
					}
					if at := view.Position(); at.Tx < r.Tx {
						t.Errorf("a view at tx %d after the answer at tx %d", at.Tx, r.Tx)
					}
					view.Close()
					continue
				}
				level := []fact.Level{fact.Linearizable, fact.Stale}[w%3]
				if got, err := m.read(soon(t), level, subject); err != nil || got != fmt.Sprint(i) {
					t.Errorf("level %d: %q after the answer to %d, %v", level, got, i, err)
				}
			}
		})
	}
	writers.Wait()
}

// lingering takes a moment between telling an outcome and writing its effects.
type lingering struct{ StateMachine }

func (l lingering) ApplyTelling(entries []fsm.Committed, tell fsm.Teller) ([]fsm.Applied, error) {
	return l.StateMachine.ApplyTelling(entries, func(e []fsm.Committed, done []fsm.Applied) {
		if tell != nil {
			tell(e, done)
			time.Sleep(time.Millisecond)
		}
	})
}

// TestRightsAreInForceWhenAnswered: changes of the registry and of policies in the same
// entries as other writes are in force where they are looked up in passing, by no basis
// and no view; and a basis lies at or above what was answered before.
func TestRightsAreInForceWhenAnswered(t *testing.T) {
	c := newCluster(t, nil)
	aloneOptions(c)
	c.wrap = func(m StateMachine) StateMachine { return lingering{m} }
	m := c.start("n1", c.disk("n1"), "")
	must := func(r *fact.Request) uint64 {
		got, err := m.Propose(soon(t), r)
		if err != nil || got.Err != nil {
			t.Errorf("answered with %v, %+v", err, got)
			return 0
		}
		return got.Tx
	}
	var all sync.WaitGroup
	for w := range 12 {
		all.Go(func() {
			for i := range 60 {
				switch {
				case w == 0 && i%2 == 0:
					id := fmt.Sprint("t-", i)
					tx := must(&fact.Request{Tenant: id, Branch: fact.MainBranch, Registry: &fact.TenantChange{Op: fact.TenantCreate, ID: id}})
					if in := m.machine.RegistryVersion(); in < tx {
						t.Errorf("the registry is at tx %d after the answer at tx %d", in, tx)
					}
				case w == 0: // by the same writer, so that no entry has both
					r := write(fact.PolicyCurrent, i)
					r.Write.Asserts[0].Predicate = fact.PolicyVersion
					before := m.machine.PolicyVersion()
					if must(r); m.machine.PolicyVersion() == before {
						t.Error("a policy was answered and is not in force")
					}
				default:
					tx := must(write(fmt.Sprint("Lamp:", w), i))
					if at, err := m.Basis(soon(t), []fact.Level{fact.Linearizable, fact.Stale}[i%2], 0); err != nil || at.Tx < tx {
						t.Errorf("a basis at tx %d after the answer at tx %d, %v", at.Tx, tx, err)
					}
				}
			}
		})
	}
	all.Wait()
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.CopyFS(to, os.DirFS(from))); err != nil {
		t.Fatal(err)
	}
}

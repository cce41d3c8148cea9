package fsm_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/internal/model"
)

// TestSTO04AbandonedReadersLeaveNothing is STO-04's store side: readers that are
// given up half way, with writes going on, leave no snapshot and no iterator
// behind, and the store closes.
func TestSTO04AbandonedReadersLeaveNothing(t *testing.T) {
	n := full(t)
	history := model.NewRandom(6)
	var readers sync.WaitGroup
	for i := range 60 {
		n.step(history.Step())
		v, err := n.m.View()
		if err != nil {
			t.Fatal(err)
		}
		readers.Go(func() {
			defer v.Close()
			ctx, giveUp := context.WithCancel(context.Background())
			scope := fact.Scope{All: true, Branch: fact.MainBranch}
			seen := 0
			err := v.Each(ctx, &fact.Query{Scope: scope, Statuses: fact.AllStatuses, StatusGiven: true, At: fact.Present(v.Position().RecordedAt)}, func(*fact.Fact) bool {
				if seen++; seen == i%7 {
					giveUp()
				}
				return seen < 10
			})
			giveUp()
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			_, err = v.Events(ctx, &fact.EventQuery{Scope: scope, Limit: 5})
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	readers.Wait()
	leavesOpen(t, n.m, 1) // that of the present state, for the next view
	n.step(history.Step())
	leavesOpen(t, n.m, 0)
	if err := n.m.Close(); err != nil {
		t.Error(err)
	}
}

// leavesOpen waits until so many snapshots of the store are open, and no iterator.
func leavesOpen(t *testing.T, m *fsm.Machine, snapshots int) {
	t.Helper()
	for tries := 0; ; tries++ {
		figures, err := m.Metrics()
		if err != nil {
			t.Fatal(err)
		}
		if figures.Snapshots.Count == snapshots && figures.TableIters == 0 {
			return
		}
		if tries == 1000 { // a compaction has iterators too, but not for so long
			t.Fatalf("%d snapshots and %d iterators are open", figures.Snapshots.Count, figures.TableIters)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

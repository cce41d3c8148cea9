package replication

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

// A read never joins a check that began before it: the check could not speak for
// it. All that wait meanwhile share the next one.
func TestReadsShareTheNextRound(t *testing.T) {
	began, goOn := make(chan struct{}, 52), make(chan struct{})
	var calls uint64
	var owned sync.WaitGroup
	r := &rounds{
		fetch: func() (readPoint, error) {
			calls++
			began <- struct{}{}
			<-goOn
			return readPoint{index: calls}, nil
		},
		start: func(f func()) bool { owned.Go(f); return true },
	}
	var wg sync.WaitGroup
	var waits atomic.Int32
	points := make(chan readPoint, 51)
	join := func() {
		wg.Go(func() {
			p, err := r.join(waiting{t.Context(), &waits})
			if err != nil {
				t.Errorf("join: %v", err)
			}
			points <- p
		})
	}
	join()
	<-began
	for range 50 {
		join()
	}
	eventually(t, "the others to wait", func() bool { return waits.Load() == 51 })
	close(goOn)
	wg.Wait()
	owned.Wait()
	close(points)
	first := 0
	for p := range points {
		if p.index == 1 {
			first++
		}
	}
	if first != 1 {
		t.Fatalf("%d reads took the result of the round that had begun before them", first-1)
	}
	if calls != 2 {
		t.Fatalf("%d rounds for 51 reads", calls)
	}
}

// waiting is a context that counts who waits for it: a read does so once it has
// joined a round.
type waiting struct {
	context.Context
	waits *atomic.Int32
}

func (w waiting) Done() <-chan struct{} {
	w.waits.Add(1)
	return w.Context.Done()
}

func TestRoundsEndWithTheReadersContext(t *testing.T) {
	block := make(chan struct{})
	var owned sync.WaitGroup
	r := &rounds{
		fetch: func() (readPoint, error) { <-block; return readPoint{}, nil },
		start: func(f func()) bool { owned.Go(f); return true },
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.join(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	close(block)
	owned.Wait()
}

package memory_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"abagraph/memory"
)

type word struct{}

// TestWithinEndsAsATimeoutDoes: whoever waits and whoever only looks sees the same end.
func TestWithinEndsAsATimeoutDoes(t *testing.T) {
	above, leave := context.WithCancel(context.WithValue(t.Context(), word{}, "said above"))
	defer leave()
	for _, waits := range []bool{false, true} {
		watch := func(ctx context.Context) {
			if waits && ctx.Done() == nil {
				t.Fatal("it never ends")
			}
		}
		late, cancel := memory.Within(above, -time.Second)
		watch(late)
		if err := late.Err(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waits %v, its time is over: %v", waits, err)
		}
		<-late.Done()
		cancel()

		left, cancel := memory.Within(above, time.Hour)
		watch(left)
		if left.Err() != nil || left.Value(word{}) != "said above" {
			t.Errorf("waits %v, before its end: %v, %v", waits, left.Err(), left.Value(word{}))
		}
		cancel()
		if err := left.Err(); !errors.Is(err, context.Canceled) {
			t.Errorf("waits %v, cancelled: %v", waits, err)
		}
		<-left.Done()

		gone, stop := context.WithCancel(above)
		below, cancel := memory.Within(gone, time.Hour)
		watch(below)
		stop()
		if err := below.Err(); !errors.Is(err, context.Canceled) {
			t.Errorf("waits %v, the one above has ended: %v", waits, err)
		}
		<-below.Done()
		cancel()
	}
}

// TestWithinEndsByItself: the time of whoever waits runs out.
func TestWithinEndsByItself(t *testing.T) {
	ctx, cancel := memory.Within(t.Context(), time.Millisecond)
	defer cancel()
	<-ctx.Done()
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Error(ctx.Err())
	}
}

// TestWithinNeverLastsLonger than the context above.
func TestWithinNeverLastsLonger(t *testing.T) {
	above, leave := context.WithTimeout(t.Context(), time.Hour)
	defer leave()
	until, _ := above.Deadline()
	for limit, same := range map[time.Duration]bool{2 * time.Hour: true, time.Minute: false} {
		ctx, cancel := memory.Within(above, limit)
		if got, ok := ctx.Deadline(); !ok || got.Equal(until) != same || got.After(until) {
			t.Errorf("%v: until %v, and the one above until %v", limit, got, until)
		}
		cancel()
	}
}

// TestContextsBelowWithin end with it, and no goroutine waits for that.
func TestContextsBelowWithin(t *testing.T) {
	ctx, cancel := memory.Within(t.Context(), time.Hour)
	defer cancel()
	before := runtime.NumGoroutine()
	for range 100 {
		below, leave := context.WithCancel(ctx)
		defer leave()
		defer func() {
			cancel()
			<-below.Done()
		}()
	}
	if more := runtime.NumGoroutine() - before; more > 50 {
		t.Errorf("%d goroutines", more)
	}
}

package memory

import (
	"context"
	"errors"

	"abagraph/fact"
)

// maxHeavy is how many reads of a whole graph run at a time. Others wait their
// turn.
const maxHeavy = 2

// heavy lets a few reads in that look at everything.
type heavy chan struct{}

func (h heavy) enter(ctx context.Context) error {
	select {
	case h <- struct{}{}:
		return nil
	case <-ctx.Done():
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fact.Errorf(fact.Timeout, "the read timed out while others that look at the whole graph were under way")
	}
	return ctx.Err()
}

func (h heavy) leave() { <-h }

package span_test

import (
	"testing"
	"time"

	"abagraph/internal/span"
)

// TestUntracedCostsNothing: without a recorder nothing is allocated, and nothing kept.
func TestUntracedCostsNothing(t *testing.T) {
	ctx := t.Context()
	n := testing.AllocsPerRun(1000, func() {
		inner, part := span.Start(ctx, "x", span.Internal)
		part.Int("n", 1)
		part.Text("a", "b")
		part.Fail("c")
		part.Past("y", time.Time{}, time.Time{}, "", 0)
		if _, kept := span.Of(inner).Wire(); kept || part.Kept() || inner != ctx {
			t.Error("something is kept")
		}
		part.End()
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

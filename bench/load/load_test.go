package load

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"
	"time"
)

func TestHistogramPercentiles(t *testing.T) {
	var h Histogram
	if got := h.Percentile(0.5); got != 0 {
		t.Errorf("the median of nothing = %v", got)
	}
	for i := 1; i <= 1000; i++ {
		h.Add(time.Duration(i) * time.Microsecond)
	}
	for p, want := range map[float64]time.Duration{0.5: 500 * time.Microsecond, 0.99: 990 * time.Microsecond, 1: time.Millisecond} {
		got := h.Percentile(p)
		if off := math.Abs(float64(got-want)) / float64(want); off > 0.03 {
			t.Errorf("percentile %v = %v, want %v within 3 %%", p, got, want)
		}
	}
	if h.Count() != 1000 {
		t.Errorf("count = %d", h.Count())
	}
}

func TestBucketsAreInOrder(t *testing.T) {
	last := -1
	for _, v := range []uint64{0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 1 << 20, 1<<20 + 1<<15, 1 << 40, math.MaxInt64} {
		i := bucket(v)
		if i <= last && v != 65 {
			t.Errorf("bucket(%d) = %d, not above %d", v, i, last)
		}
		last = i
		if m := middle(i); v > 0 && math.Abs(float64(m)-float64(v))/float64(v) > 0.04 {
			t.Errorf("bucket %d of %d stands for %d", i, v, m)
		}
	}
}

func TestMedianAndRatio(t *testing.T) {
	if got := Median([]float64{3, 1, 2}); got != 2 {
		t.Errorf("median = %v", got)
	}
	if got := Median([]float64{4, 1, 2, 3}); got != 2.5 {
		t.Errorf("median = %v", got)
	}
	a := []Sample{{Units: 10, Elapsed: time.Second}, {Units: 100, Elapsed: time.Second}, {Units: 40, Elapsed: time.Second}}
	b := []Sample{{Units: 5, Elapsed: time.Second}, {Units: 50, Elapsed: time.Second}, {Units: 10, Elapsed: time.Second}}
	if got := Ratio(a, b); got != 2 {
		t.Errorf("ratio = %v", got)
	}
}

func TestRunCountsUnitsAndErrors(t *testing.T) {
	var calls atomic.Int64
	good := func(context.Context) (int, error) {
		calls.Add(1)
		time.Sleep(time.Millisecond)
		return 3, nil
	}
	bad := func(context.Context) (int, error) { return 0, errors.New("broken") }
	s := Run(t.Context(), []Op{good, bad}, 300*time.Millisecond)
	if s.Errors != errorsMax || s.Err() == nil {
		t.Errorf("errors = %d, err = %v", s.Errors, s.Err())
	}
	if s.Ops == 0 || s.Units != 3*s.Ops || s.Ops > uint64(calls.Load()) {
		t.Errorf("ops = %d, units = %d, calls = %d", s.Ops, s.Units, calls.Load())
	}
	if s.P50 < time.Millisecond/2 || s.P99 < s.P50 {
		t.Errorf("p50 = %v, p99 = %v", s.P50, s.P99)
	}
}

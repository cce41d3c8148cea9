package load

import (
	"math/bits"
	"time"
)

// subBits is the number of mantissa bits a bucket keeps: 32 buckets to each
// power of two, so that a percentile is off by 3 % at most.
const subBits = 5

// Histogram counts durations in buckets that grow with the value. It takes a
// fixed amount of memory however many it counts. The zero value is empty.
type Histogram struct {
	counts [64 << subBits]uint64
	total  uint64
}

// Add counts one duration.
func (h *Histogram) Add(d time.Duration) {
	h.counts[bucket(uint64(max(d, 0)))]++
	h.total++
}

// Merge adds the counts of another histogram.
func (h *Histogram) Merge(other *Histogram) {
	for i, n := range other.counts {
		h.counts[i] += n
	}
	h.total += other.total
}

// Count returns how many durations were counted.
func (h *Histogram) Count() uint64 { return h.total }

// Percentile returns the duration that the share p of all lie at or below, with
// p in (0, 1]; 0 if nothing was counted.
func (h *Histogram) Percentile(p float64) time.Duration {
	if h.total == 0 {
		return 0
	}
	rank := uint64(p * float64(h.total))
	rank = min(max(rank, 1), h.total)
	for i, n := range h.counts {
		if n >= rank {
			return time.Duration(middle(i))
		}
		rank -= n
	}
	return 0
}

func bucket(v uint64) int {
	if v < 1<<subBits {
		return int(v)
	}
	shift := bits.Len64(v) - subBits - 1
	return (shift+1)<<subBits + int(v>>shift) - 1<<subBits
}

// middle is the value in the middle of a bucket.
func middle(i int) uint64 {
	if i < 1<<subBits {
		return uint64(i)
	}
	shift := i>>subBits - 1
	low := uint64(i&(1<<subBits-1)+1<<subBits) << shift
	return low + uint64(1)<<shift/2
}

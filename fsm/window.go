package fsm

import (
	"slices"

	"abagraph/fact"
)

// scanWindow visits the entries of an interval index that can overlap
// [from, until). The iterator is bounded to keys that end in bucket, start, end
// and an id; what comes before may vary, as when all predicates of a subject are
// read. In each bucket it jumps over what ended before the window
// and over what starts after it, so that the cost follows the answer and the
// number of buckets, not the length of the history.
func scanWindow(it iterator, from, until fact.Instant, visit func() error) error {
	return scanTailed(it, rowTail, from, until, nil, visit)
}

// scanTailed is scanWindow for keys whose bucket stands tail bytes before the
// end. step, unless it is nil, is called now and then where keys are passed over.
func scanTailed(it iterator, tail int, from, until fact.Instant, step, visit func() error) error {
	var target []byte
	passed := 0
	ok := it.First()
	for ok {
		k := it.Key()
		at := len(k) - tail
		if at < 0 {
			return fact.Errorf(fact.StorageCorruption, "an interval key is too short")
		}
		if target = window(target[:0], k, at, from, until); len(target) > 0 {
			if passed++; passed%passedPerStep == 0 && step != nil {
				if err := step(); err != nil {
					return err
				}
			}
			ok = hop(it, target)
			continue
		}
		if timeAt(k[at+9:]) > from {
			if err := visit(); err != nil {
				return err
			}
		}
		ok = it.Next()
	}
	if err := it.Error(); err != nil {
		return storageError("scan an interval index", err)
	}
	return nil
}

// window appends the next key that is worth a look where k, whose bucket stands at a
// place, cannot overlap [from, until) by its bucket and start; nothing where it can.
func window(target, k []byte, at int, from, until fact.Instant) []byte {
	bucket, start := k[at], timeAt(k[at+1:])
	if bucket == bucketEmpty {
		return jump(target, k[:at], bucketEmpty+1, fact.NoInstant)
	}
	if earliest := reach(bucket, from); start < earliest {
		return jump(target, k[:at], bucket, earliest)
	}
	if start >= until {
		return jump(target, k[:at], bucket+1, fact.NoInstant)
	}
	return target
}

func jump(target, prefix []byte, bucket byte, start fact.Instant) []byte {
	target = slices.Grow(target, len(prefix)+9)
	return appendTime(append(append(target, prefix...), bucket), start)
}

func sortRows(rows []*row) {
	slices.SortFunc(rows, func(a, b *row) int { return compareStart(&a.f, &b.f) })
}

// compareStart orders facts by (valid_from, id).
func compareStart(a, b *fact.Fact) int {
	switch {
	case a.ValidFrom < b.ValidFrom:
		return -1
	case a.ValidFrom > b.ValidFrom:
		return 1
	}
	return slices.Compare(a.ID[:], b.ID[:])
}

// compareNewest orders facts as lists do: newest tx first, then id (C-25).
func compareNewest(a, b *fact.Fact) int {
	switch {
	case a.Tx > b.Tx:
		return -1
	case a.Tx < b.Tx:
		return 1
	}
	return slices.Compare(a.ID[:], b.ID[:])
}

// span is a half-open piece of time.
type span struct{ from, until fact.Instant }

// minus returns what is left of spans, which are ordered and disjoint, when the
// cuts are taken out. Neither slice is changed.
func minus(spans []span, cuts []span) []span {
	for _, c := range cuts {
		if c.from >= c.until {
			continue
		}
		var rest []span
		for _, s := range spans {
			if c.until <= s.from || s.until <= c.from {
				rest = append(rest, s)
				continue
			}
			if s.from < c.from {
				rest = append(rest, span{s.from, c.from})
			}
			if c.until < s.until {
				rest = append(rest, span{c.until, s.until})
			}
		}
		spans = rest
	}
	return spans
}

package search

import (
	"math"
	"slices"
)

// sampled is how many candidates tell about where the best ones begin.
const sampled = 4_096

// shortlist takes candidates out of their columns: those that come into question
// by what is known so far, with bounds.
func (s *denseSearch) shortlist(top int) {
	c := s.columns
	if s.guessed {
		s.lookClosely(bestOf(len(c.ords), s.shortlisted(top), func(i int) float64 { return c.others[i] + s.part(c.cosines[i]) }))
		return
	}
	// No score is further from its true one than the widest bounds say: most
	// candidates are out by that, without a look at bounds of their own.
	widest := s.x.dense.table.Widest(s.query) * s.scale
	first := best{most: top, min: math.Inf(-1)}
	for i := range c.ords {
		if one := (scored{uint32(i), c.others[i] + s.part(c.cosines[i])}); !math.IsInf(one.score, -1) && first.wants(one) {
			first.add(one)
		}
	}
	least := math.Inf(-1)
	if len(first.list) == top {
		least = first.list[0].score - widest - rounding
	}
	for i := range c.ords {
		if value := c.others[i] + s.part(c.cosines[i]); math.IsInf(value, -1) || value+widest < least {
			continue
		}
		if one := s.candidate(i); s.value(&one)+one.within*s.scale >= least {
			s.final = append(s.final, one)
		}
	}
}

// lookClosely takes guessed candidates with bounds. They lie far apart, so that the
// processor is told ahead which it will be asked for.
func (s *denseSearch) lookClosely(list []scored) {
	t := s.x.dense.table
	s.final = make([]candidate, len(list))
	shared(len(list), leastClosely, func(from, to int) {
		for i := from; i < to; i++ {
			if next := i + atOnce; next < to {
				if row := s.row(s.columns.ords[list[next].ord]); row != noRow {
					t.Ahead(uint32(row))
				}
			}
			s.final[i] = s.candidate(int(list[i].ord))
		}
	})
}

// shortlisted is how many guessed candidates are looked at closely.
func (s *denseSearch) shortlisted(top int) int {
	return max(s.x.closely.look, len(s.columns.ords)/lookShare) + s.x.closely.perHit*top
}

// bestOf returns the best of n values, at most so many of them, in no order; of
// equal ones the later are better, and -Inf is none. A sample tells about from
// where on the best are, so that hardly more than those are compared with each
// other.
func bestOf(n, most int, value func(i int) float64) []scored {
	least := foretold(n, most, value)
	list := from(least, n, most, value)
	if len(list) < most && !math.IsInf(least, -1) {
		list = from(math.Inf(-1), n, most, value) // the sample misled
	}
	return chooseBest(list, most)
}

// foretold is a value that somewhat more than so many of n values reach, as a
// sample has it; -Inf where a sample is not worth it.
func foretold(n, most int, value func(i int) float64) float64 {
	if n <= 4*sampled || n <= 4*most {
		return math.Inf(-1)
	}
	few := make([]float64, sampled)
	for i := range few {
		few[i] = value(int(int64(i) * int64(n) / sampled))
	}
	slices.Sort(few)
	share := float64(most) / float64(n) * sampled
	at := sampled - 1 - int(share+4*math.Sqrt(share)+4)
	if at < 0 {
		return math.Inf(-1)
	}
	return few[at]
}

// from lists the values that are not below a bound.
func from(least float64, n, most int, value func(i int) float64) []scored {
	list := make([]scored, 0, min(n, 2*most))
	for i := range n {
		if v := value(i); v >= least && !math.IsInf(v, -1) {
			list = append(list, scored{uint32(i), v})
		}
	}
	return list
}

// chooseBest brings the best of a list to its front and returns them, in no order.
func chooseBest(list []scored, most int) []scored {
	if most <= 0 {
		return nil
	}
	for from, to := 0, len(list); most < len(list) && to-from > 1; {
		pivot := list[from+(to-from)/2]
		i, j := from, to-1
		for i <= j {
			for list[i].better(pivot) {
				i++
			}
			for pivot.better(list[j]) {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case most <= j:
			to = j + 1
		case most >= i+1:
			from = i
		default:
			return list[:most]
		}
	}
	return list[:min(most, len(list))]
}

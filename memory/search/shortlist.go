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
	values := s.values()
	if s.guessed {
		s.lookClosely(bestOf(values, s.shortlisted(top)))
		return
	}
	// No score is further from its true one than the widest bounds say: most
	// candidates are out by that, without a look at bounds of their own.
	widest := s.x.dense.table.Widest(s.query) * s.scale
	least := bestBound(values, top) - widest - rounding
	for i, value := range values {
		if value+widest < least || math.IsInf(value, -1) {
			continue
		}
		if one := s.candidate(i); value+one.within*s.scale >= least {
			s.final = append(s.final, one)
		}
	}
}

// bestBound is the least of the best values, so many of them; -Inf where there are fewer.
func bestBound(values []float64, most int) float64 {
	first := best{most: most, min: math.Inf(-1)}
	least := math.Inf(-1)
	for i, value := range values {
		if value <= least {
			continue
		}
		first.add(scored{uint32(i), value})
		if len(first.list) == most {
			least = first.list[0].score
		}
	}
	return least
}

// lookClosely compares some of the guessed candidates, and takes them with bounds.
func (s *denseSearch) lookClosely(list []scored) {
	c := s.columns
	s.final = make([]candidate, len(list))
	shared(len(list), shareSize, func(from, to int) {
		var rows [atOnce]int32
		var cosines [atOnce]float64
		for ; from < to; from += atOnce {
			some := list[from:min(to, from+atOnce)]
			for i, one := range some {
				rows[i] = s.row(c.ords[one.ord])
			}
			s.compareFew(rows[:len(some)], cosines[:], false)
			for i, one := range some {
				c.cosines[one.ord] = cosines[i]
				s.final[from+i] = s.candidate(int(one.ord))
			}
		}
	})
}

// shortlisted is how many guessed candidates are looked at closely.
func (s *denseSearch) shortlisted(top int) int {
	return max(s.x.closely.look, len(s.columns.ords)/lookShare) + s.x.closely.perHit*top
}

// values are what all candidates score, as far as is known.
func (s *denseSearch) values() []float64 {
	c := s.columns
	if s.bare {
		return c.cosines
	}
	c.values = slices.Grow(c.values[:0], len(c.ords))[:len(c.ords)]
	shared(len(c.ords), 4*shareSize, func(from, to int) { // each is quickly done
		values, others, cosines := c.values[from:to], c.others[from:to], c.cosines[from:to]
		for i, other := range others {
			values[i] = other + s.part(cosines[i])
		}
	})
	return c.values
}

// bestOf returns the best values, at most so many of them, in the order in which they
// lie, which is quickest to go through; of equal ones the later are better, and -Inf is
// none. A sample tells about from where on the
// best are, so that hardly more than those are compared with each other.
func bestOf(values []float64, most int) []scored {
	least := foretold(values, most)
	list := from(least, values, most)
	if len(list) < most && !math.IsInf(least, -1) {
		list = from(math.Inf(-1), values, most) // the sample misled
	}
	if most <= 0 || len(list) <= most {
		return list[:min(len(list), max(0, most))]
	}
	best := chooseBest(slices.Clone(list), most)
	last := best[0]
	for _, one := range best {
		if last.better(one) {
			last = one
		}
	}
	return slices.DeleteFunc(list, func(one scored) bool { return last.better(one) })
}

// foretold is a value that somewhat more than so many others reach, as a sample has
// it; -Inf where a sample is not worth it.
func foretold(values []float64, most int) float64 {
	n := len(values)
	if n <= 4*sampled || n <= 4*most {
		return math.Inf(-1)
	}
	few := make([]scored, sampled)
	for i := range few {
		few[i] = scored{uint32(i), values[int(int64(i)*int64(n)/sampled)]}
	}
	share := float64(most) / float64(n) * sampled
	reach := int(share+4*math.Sqrt(share)+4) + 1
	if reach > sampled {
		return math.Inf(-1)
	}
	least := math.Inf(1)
	for _, one := range chooseBest(few, reach) {
		least = min(least, one.score)
	}
	return least
}

// from lists the values that are not below a bound.
func from(least float64, values []float64, most int) []scored {
	list := make([]scored, 0, min(len(values), 2*most))
	for i, v := range values {
		if v >= least && !math.IsInf(v, -1) {
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

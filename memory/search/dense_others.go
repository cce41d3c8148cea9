package search

import (
	"context"
	"math"
	"slices"
)

// addOthers works out what the other parts give to each candidate. One that no
// part says anything of is no hit.
func (s *denseSearch) addOthers(ctx context.Context, mode Mode) error {
	c := s.columns
	c.others = slices.Grow(c.others, len(c.ords))[:len(c.ords)]
	clear(c.others)
	if len(s.clauses)+len(s.near) == 0 {
		if s.missing == 0 {
			s.bare = mode == Vector
			return nil
		}
		for i, cosine := range c.cosines {
			if cosine != cosine {
				c.others[i] = math.Inf(-1)
			}
		}
		return nil
	}
	for at := 0; at < len(c.ords); {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		w := c.ords[at] >> windowBits
		s.score(w)
		for ; at < len(c.ords) && c.ords[at]>>windowBits == w; at++ {
			slot := c.ords[at] - w<<windowBits
			c.others[at] = s.scores[slot]
			if c.cosines[at] != c.cosines[at] && (mode == Vector || s.touched[slot/64]>>(slot%64)&1 == 0) {
				c.others[at] = math.Inf(-1)
			}
		}
		clear(s.scores[:])
		clear(s.touched[:])
	}
	return nil
}

package search

// window is what the documents of a window could score at most.
type window struct {
	number uint32
	bound  float64
}

// bounds returns the windows in which any group has a document, as a heap with
// the one that could score most on top.
func (s *searcher) bounds() []window {
	count := (int(s.bound) + windowSize - 1) >> windowBits
	all := make([]float64, count*len(s.groups))
	s.limits = make([][]float64, len(s.groups))
	some := make([]bool, count)
	for g := range s.groups {
		limits := all[g*count : (g+1)*count]
		s.limits[g] = limits
		if s.groups[g].near {
			for _, n := range s.near {
				limits[n.ord>>windowBits] = max(limits[n.ord>>windowBits], n.gain)
			}
		}
		for i := s.groups[g].first; i < s.groups[g].last; i++ {
			s.clauses[i].limit(s.plan, limits)
		}
		for w, limit := range limits {
			some[w] = some[w] || limit > 0
		}
	}
	if s.only != nil {
		s.narrow(some)
	}
	windows := make([]window, 0, 64)
	for w, any := range some {
		if !any {
			continue
		}
		bound := 0.0
		for g := range s.groups {
			bound += s.limits[g][w]
		}
		windows = append(windows, window{uint32(w), bound})
	}
	for i := len(windows)/2 - 1; i >= 0; i-- {
		siftWindow(windows, i)
	}
	return windows
}

// limit raises the limits of the windows to what a clause could give in them.
func (c *clause) limit(p *plan, limits []float64) {
	list := c.list
	if list.blocks != nil {
		for _, b := range list.blocks {
			if int(b.window) >= len(limits) {
				return
			}
			limits[b.window] = max(limits[b.window], c.weight*impact(float64(b.most), p.burden(b.least)))
		}
		return
	}
	for at, ord := range list.ords {
		if ord >= p.bound {
			return
		}
		limits[ord>>windowBits] = max(limits[ord>>windowBits], c.gain(p, at))
	}
}

// narrow leaves the windows that hold a document in question.
func (s *searcher) narrow(some []bool) {
	at := 0
	for w := range some {
		for at < len(s.only) && s.only[at]>>windowBits < uint32(w) {
			at++
		}
		some[w] = some[w] && at < len(s.only) && s.only[at]>>windowBits == uint32(w)
	}
}

func popWindow(heap *[]window) window {
	h := *heap
	top := h[0]
	h[0] = h[len(h)-1]
	*heap = h[:len(h)-1]
	if len(*heap) > 0 {
		siftWindow(*heap, 0)
	}
	return top
}

// siftWindow orders windows by what they could score, and of equal ones the
// later first.
func siftWindow(h []window, i int) {
	before := func(a, b window) bool { return a.bound > b.bound || a.bound == b.bound && a.number > b.number }
	for {
		down := 2*i + 1
		if down >= len(h) {
			return
		}
		if down+1 < len(h) && before(h[down+1], h[down]) {
			down++
		}
		if !before(h[down], h[i]) {
			return
		}
		h[i], h[down] = h[down], h[i]
		i = down
	}
}

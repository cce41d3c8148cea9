package search

import (
	"sort"

	"abagraph/fact"
)

// Moment is the record time that a search reads at: the store's tx or, where
// ByKnown is set, everything that counts as known at an instant.
type Moment struct {
	Tx      uint64
	Known   fact.Instant
	ByKnown bool
}

// corpus is what the facts of a moment are, as a whole: every piece of every
// statement that the store had then, of whatever status.
type corpus struct {
	x      *Index
	at     Moment
	bound  uint32 // the documents of a tx are those before it
	count  int
	length float64 // of the average document
}

// at sums up the documents of a moment. Callers hold mu.
func (x *Index) at(m Moment) corpus {
	c := corpus{x: x, at: m, bound: uint32(len(x.docs))}
	total := uint64(0)
	if m.ByKnown {
		c.count, total = x.knownTotals(m.Known)
	} else {
		c.bound = uint32(sort.Search(len(x.docs), func(i int) bool { return x.docs[i].firstTx > m.Tx }))
		c.count, total = int(c.bound), x.lengthBelow(c.bound)
	}
	if c.count > 0 {
		c.length = float64(total) / float64(c.count)
	}
	return c
}

// lengthBelow sums the lengths of the documents before one.
func (x *Index) lengthBelow(ord uint32) uint64 {
	if ord == 0 {
		return 0
	}
	window := (ord - 1) >> windowBits
	sum := x.sums[window]
	for _, n := range x.lengths[window<<windowBits : ord] {
		sum += uint64(n)
	}
	return sum
}

// knownTotals counts the documents that were known at an instant, and sums their
// lengths.
func (x *Index) knownTotals(t fact.Instant) (count int, total uint64) {
	for w, r := range x.ranges {
		from, to := w<<windowBits, min(len(x.docs), (w+1)<<windowBits)
		switch {
		case r.greatest <= t:
			count += to - from
			total += x.windowLength(w)
		case r.least <= t:
			for ord := from; ord < to; ord++ {
				if x.knowns[ord] <= t {
					count++
					total += uint64(x.lengths[ord])
				}
			}
		}
	}
	return count, total
}

// frequency counts the corpus's documents that have a term.
func (c *corpus) frequency(p *postings) int {
	switch {
	case p == nil:
		return 0
	case !c.at.ByKnown:
		return p.below(c.bound)
	case p.blocks == nil:
		return c.known(p.ords)
	}
	n := 0
	for i, b := range p.blocks {
		end := len(p.ords)
		if i+1 < len(p.blocks) {
			end = int(p.blocks[i+1].start)
		}
		switch r := c.x.ranges[b.window]; {
		case r.greatest <= c.at.Known:
			n += end - int(b.start)
		case r.least <= c.at.Known:
			n += c.known(p.ords[b.start:end])
		}
	}
	return n
}

func (c *corpus) known(ords []uint32) int {
	n := 0
	for _, ord := range ords {
		if c.x.knowns[ord] <= c.at.Known {
			n++
		}
	}
	return n
}

// version is what a document was at a moment: status and valid time.
type version struct {
	from, until fact.Instant
	status      fact.Status
}

// see returns the version of a document that a moment shows; ok is false where
// it shows none.
func (x *Index) see(d *doc, m *Moment) (v version, ok bool) {
	if m.ByKnown {
		return x.seeKnown(d, m.Known)
	}
	if d.tx <= m.Tx {
		return version{d.from, d.until, d.status}, true
	}
	for i := d.prev; i >= 0; {
		p := &x.past[i]
		if p.tx <= m.Tx {
			return version{p.from, p.until, p.status}, true
		}
		i = p.prev
	}
	return version{}, false
}

// seeKnown finds the version that was known at an instant and not yet replaced by
// another known one. Declared versions can be known in another order than they
// were recorded in.
func (x *Index) seeKnown(d *doc, t fact.Instant) (v version, ok bool) {
	if d.known <= t {
		return version{d.from, d.until, d.status}, true
	}
	end := d.known
	for i := d.prev; i >= 0; {
		p := &x.past[i]
		if p.known <= t && t < end {
			return version{p.from, p.until, p.status}, true
		}
		end, i = p.known, p.prev
	}
	return version{}, false
}

package search

import "abagraph/fact"

// calm tells of a window's calm documents: facts that are as they were written,
// active and without an end, as most are. Whether all of them pass a filter is
// known without a look at any.
type calm struct {
	docs       bitmap
	latest     fact.Instant // when the last of them begins to hold
	confidence float64      // the least
}

// isCalm tells whether a document never changed, is active and has no end.
func (x *Index) isCalm(ord uint32) bool {
	d := &x.docs[ord]
	return d.prev < 0 && d.tx == d.firstTx && d.known == x.knowns[ord] && d.status == fact.Active && d.until == fact.Forever && d.from < fact.Forever
}

// noteCalm takes a new document into its window's record.
func (x *Index) noteCalm(ord uint32) {
	w := int(ord >> windowBits)
	if w == len(x.calm) {
		x.calm = append(x.calm, calm{latest: fact.NoInstant, confidence: 1})
	}
	if !x.isCalm(ord) {
		return
	}
	c, d := &x.calm[w], &x.docs[ord]
	c.docs.set(ord % windowSize)
	c.latest, c.confidence = max(c.latest, d.from), min(c.confidence, d.confidence)
}

// calmPass tells whether all calm documents of a window pass the filters, those of
// them that lie below the bound and in the list of what comes into question.
func (s *searcher) calmPass(w uint32) bool {
	c, f := &s.x.calm[w], s.filter
	if s.bySubject && s.byPred || c.confidence < f.MinConfidence || !f.Statuses.Has(fact.Active) {
		return false
	}
	if f.Moment.ByKnown && s.x.ranges[w].greatest > f.Moment.Known {
		return false
	}
	return !f.From.Given() || c.latest < f.Until && f.From < fact.Forever
}

// gatherWindow lists the documents of a window that pass every filter, and tells how
// many there are. There is room for all of those below the bound.
func (s *denseSearch) gatherWindow(w uint32, to []uint32) int {
	var none bitmap
	docs, base, n := &none, w<<windowBits, 0
	if s.calmPass(w) {
		docs = &s.x.calm[w].docs
	}
	for i, calm := range docs {
		first := uint32(i) * 64
		end := min(first+64, uint32(len(to)))
		all := calm == ^uint64(0)
		for slot := first; slot < end; slot++ {
			if all || calm>>(slot%64)&1 == 1 || s.passes(base+slot) {
				to[n] = base + slot
				n++
			}
		}
	}
	return n
}

package search

import "abagraph/fact"

// calm tells of a window's calm documents: facts that are as they were written,
// active and without an end, as most are. Whether all of them pass a filter is
// known without a look at any.
type calm struct {
	docs bitmap
	calmest
}

// calmest is what filters ask of calm documents, of all at once.
type calmest struct {
	latest     fact.Instant // when the last of them begins to hold
	known      fact.Instant // when the last of them was known
	confidence float64      // the least
}

// noneCalm is what includes none.
var noneCalm = calmest{fact.NoInstant, fact.NoInstant, 1}

func (c *calmest) include(d *doc) {
	c.latest, c.known, c.confidence = max(c.latest, d.from), max(c.known, d.known), min(c.confidence, d.confidence)
}

// pass tells whether all of them pass a filter, those that are known at its moment.
func (c *calmest) pass(f *Filter) bool {
	if c.confidence < f.MinConfidence || !f.Statuses.Has(fact.Active) || f.Moment.ByKnown && c.known > f.Moment.Known {
		return false
	}
	return !f.From.Given() || c.latest < f.Until && f.From < fact.Forever
}

// isCalm tells whether a document never changed, is active and has no end.
func (x *Index) isCalm(ord uint32) bool {
	d := &x.docs[ord]
	return d.prev < 0 && d.tx == d.firstTx && d.known == x.knowns[ord] && d.status == fact.Active && d.until == fact.Forever && d.from < fact.Forever
}

// noteCalm takes a new document, the next one, into the records of its window and its
// predicate.
func (x *Index) noteCalm(ord uint32) {
	w, d := int(ord>>windowBits), &x.docs[ord]
	if w == len(x.calm) {
		x.calm = append(x.calm, calm{calmest: noneCalm})
	}
	calm := x.isCalm(ord)
	x.noteRun(d, calm)
	if !calm {
		return
	}
	x.calm[w].docs.set(ord % windowSize)
	x.calm[w].include(d)
}

// disturb notes that a document is calm no longer.
func (x *Index) disturb(ord uint32) {
	x.calm[ord>>windowBits].docs[ord%windowSize/64] &^= 1 << (ord % 64)
	x.disturbRun(ord)
}

// calmPass tells whether all calm documents of a window pass the filters, those of
// them that lie below the bound and in the list of what comes into question.
func (s *searcher) calmPass(w uint32) bool {
	return !(s.bySubject && s.byPred) && s.x.calm[w].pass(s.filter)
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

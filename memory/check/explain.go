package check

import (
	"slices"

	"abagraph/fact"
)

// Reasons say why a fact is believed, or is not any more: what stands around it
// in its own timeline.
type Reasons struct {
	// EndedBy is the fact that ended this piece; nil = none, or it is not there
	// any more.
	EndedBy *fact.Fact
	// Ended are the facts that a piece of the statement ended.
	Ended []fact.Fact
	// Agreeing say the same for some of the same time, Sources are their
	// sources and the fact's own, each once.
	Agreeing []fact.Fact
	Sources  []string
	// Disagreeing say something else for some of the same time: facts that hold
	// beside it, and candidates.
	Disagreeing []fact.Fact
}

// Explain looks at a fact within its history. Each list is by valid_from.
func Explain(h *fact.History) *Reasons {
	r := &Reasons{}
	ids := make(map[fact.ID]bool, len(h.Pieces))
	for i := range h.Pieces {
		ids[h.Pieces[i].ID] = true
	}
	r.source(&h.Fact)
	for i := range h.Timeline {
		f := &h.Timeline[i]
		if f.ID == h.Fact.SupersededBy {
			r.EndedBy = f
		}
		if f.Statement() == h.Fact.Statement() {
			continue
		}
		if ids[f.SupersededBy] {
			r.Ended = append(r.Ended, *f)
		}
		if f.Status == fact.Retracted || !overlaps(f, h.Pieces) {
			continue
		}
		switch {
		case !f.Object.Equal(h.Fact.Object):
			r.Disagreeing = append(r.Disagreeing, *f)
		case f.Status != fact.Candidate:
			r.Agreeing = append(r.Agreeing, *f)
			r.source(f)
		}
	}
	return r
}

func (r *Reasons) source(f *fact.Fact) {
	if f.Source != nil && !slices.Contains(r.Sources, *f.Source) {
		r.Sources = append(r.Sources, *f.Source)
	}
}

func overlaps(f *fact.Fact, pieces []fact.Fact) bool {
	return slices.ContainsFunc(pieces, func(p fact.Fact) bool {
		return f.ValidFrom < f.ValidUntil && p.ValidFrom < p.ValidUntil && f.ValidFrom < p.ValidUntil && p.ValidFrom < f.ValidUntil
	})
}

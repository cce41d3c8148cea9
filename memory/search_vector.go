package memory

import (
	"context"
	"fmt"
	"slices"

	"abagraph/fact"
	"abagraph/memory/search"
)

// SearchedVectors tells of a search by stored vectors.
type SearchedVectors struct {
	Model fact.Model
	// Candidates are the facts that passed the filters, and Missing those of them
	// that have no vector of the model.
	Candidates, Missing int
}

// checkVector refuses a vector of the caller's that can be compared with none.
func (s *Service) checkVector(q *SearchQuery) error {
	if q.Vector == nil || s.embed.from == nil {
		return nil
	}
	m := s.embed.from.Model()
	if len(q.Vector) != m.Dim {
		return fact.Invalid("query_vector", fmt.Sprintf("has %d numbers, and the vectors of %s have %d", len(q.Vector), m.Name, m.Dim))
	}
	if !fact.Unit(slices.Clone(q.Vector)) {
		return fact.Invalid("query_vector", "has no direction: it must hold a number that is not 0")
	}
	return nil
}

// askAhead has the vector of a question made before a view is opened: its provider
// may take its time. What it answers is remembered, and so is that it failed.
func (s *Service) askAhead(ctx context.Context, question string) {
	if s.embed.from != nil && question != "" {
		_, _ = s.embedQuestion(ctx, question) // a failure is told by who needs the vector
	}
}

// dense returns what a search compares vectors with; nil where there is nothing,
// and then the warnings say why.
func (s *Service) dense(r *reading, q *SearchQuery) *search.Dense {
	if q.Mode == LexicalSearch {
		if q.Vector != nil {
			r.warnOnce("query_vector was not used: a lexical search goes by words alone")
		}
		return nil
	}
	if s.embed.from == nil {
		if q.Vector != nil {
			r.warnOnce("query_vector was not used: no fact here has a vector that it could be compared with")
		}
		return nil
	}
	d := &search.Dense{Model: s.embed.from.Model(), Tx: r.meta.Tx, Exact: r.at.Past() || q.KnownAt.Given()}
	switch {
	case q.Vector != nil && r.unasked == nil:
		d.Vector = slices.Clone(q.Vector)
		fact.Unit(d.Vector)
	case q.Question == "":
		return nil
	default:
		if r.unasked == nil {
			d.Vector, r.unasked = s.embedQuestion(r.ctx, q.Question)
		}
		if r.unasked != nil {
			r.warnOnce("words alone were searched for, because " + r.unasked.Error())
			return nil
		}
	}
	return d
}

// warnOnce adds a warning, unless the answer has it already.
func (r *reading) warnOnce(text string) {
	if !slices.Contains(r.meta.Warnings, text) {
		r.meta.Warnings = append(r.meta.Warnings, text)
	}
}

// tellVectors notes what a search by vectors had to do without.
func (r *reading) tellVectors(answer *SearchAnswer, d *search.Dense, got *search.Answer) {
	if got.NoRoom {
		answer.Mode = LexicalSearch
		r.warnOnce("words alone were searched for, because the vectors do not fit into memory (ABAGRAPH_SEARCH_BYTES)")
		return
	}
	if d == nil || r.sight != nil {
		return // the figures would count what the caller may not see
	}
	if answer.Vectors == nil {
		answer.Vectors = &SearchedVectors{Model: d.Model}
	}
	answer.Vectors.Candidates += got.Candidates
	answer.Vectors.Missing += got.Missing
}

// warnMissing says of how many facts only the words were searched.
func (r *reading) warnMissing(v *SearchedVectors) {
	if v != nil && v.Missing > 0 {
		r.warnOnce(fmt.Sprintf("%d of %d facts that were searched have no vector of %s (%d): words alone find them", v.Missing, v.Candidates, v.Model.Name, v.Model.Dim))
	}
}

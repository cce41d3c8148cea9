package memory

import (
	"abagraph/fact"
	"abagraph/internal/dates"
	"abagraph/memory/search"
)

// SearchTime is the time that a question names in words. A day or less means its
// middle: AsOf is that instant, as if it had been given. Of a longer time AsOf is
// NoInstant, and the facts that hold at some instant of it are searched.
type SearchTime struct {
	Text        string // as the question has it
	AsOf        fact.Instant
	From, Until fact.Instant // fact.MinInstant and fact.Forever where it has no bound
	start, end  int
}

// asked reads the time that a question names, where the query names none, and
// moves the read there if it is one instant.
func (r *reading) asked(q *SearchQuery) *SearchTime {
	if r.at.AsOf.Given() {
		return nil
	}
	w, ok := dates.Find(q.Question, r.at.Now)
	if !ok {
		return nil
	}
	t := &SearchTime{Text: q.Question[w.Start:w.End], AsOf: fact.NoInstant, From: w.From, Until: w.Until, start: w.Start, end: w.End}
	if at, point := w.Point(); point {
		t.AsOf, r.at.AsOf = at, at
	}
	return t
}

// narrow makes a filter let through what holds in a time that is no instant.
func (t *SearchTime) narrow(f *search.Filter) {
	if t.AsOf.Given() {
		return
	}
	if !f.StatusGiven {
		f.Statuses = f.Statuses.With(fact.Superseded)
	}
	f.From, f.Until = t.From, t.Until
}

// searchMode is the mode that a search can have here: without the word table and
// without a vector of the question the ranking is lexical.
func (s *Service) searchMode(r *reading, q *SearchQuery, dense *search.Dense) SearchMode {
	if s.words != nil || dense != nil || q.Mode == LexicalSearch {
		return q.Mode
	}
	if q.Mode == VectorSearch && s.embed.from == nil {
		r.warnOnce("there are no vectors here (ABAGRAPH_EMBEDDING is off): the ranking is lexical")
	}
	return LexicalSearch
}

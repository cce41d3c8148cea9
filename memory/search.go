package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"abagraph/fact"
	"abagraph/memory/search"
)

// Bounds of a search (C-53).
const (
	DefaultTop       = 8
	MaxTop           = 1_000
	MaxQuestionBytes = 16 << 10
	MaxSeeds         = 64
)

// The parts of a ranking, as a search names them.
type (
	SearchMode = search.Mode
	Why        = search.Why
)

// The modes of a search.
const (
	HybridSearch  = search.Hybrid
	LexicalSearch = search.Lexical
	VectorSearch  = search.Vector
)

// ParseSearchMode reads hybrid, lexical or vector.
func ParseSearchMode(field, text string) (SearchMode, error) { return search.ParseMode(field, text) }

// SearchOrder is how the hits of a search are listed.
type SearchOrder uint8

// The orders: the best first, or those that were recorded last or first.
const (
	ByScore SearchOrder = iota
	NewestFirst
	OldestFirst
)

// ParseSearchOrder reads an order.
func ParseSearchOrder(field, text string) (SearchOrder, error) {
	switch text {
	case "score":
		return ByScore, nil
	case "desc":
		return NewestFirst, nil
	case "asc":
		return OldestFirst, nil
	}
	return 0, fact.Invalid(field, "has no such value: "+shorten(text)+" (score, desc or asc)")
}

// SearchQuery asks for the facts that answer a question best. Make its Read with
// NewRead.
type SearchQuery struct {
	Read
	Question string
	Top      int // 1 … MaxTop; 0 = DefaultTop
	Mode     SearchMode
	Order    SearchOrder
	// MinScore is the least score that is answered, where MinScoreGiven is set.
	MinScore      float64
	MinScoreGiven bool
	// What a fact must be to be answered; empty fields let everything pass.
	Subject          string
	Predicate        string
	Statuses         fact.StatusSet
	StatusGiven      bool
	IncludeRetracted bool
	MinConfidence    float64
	// Seeds are entities near which facts count more.
	Seeds []string
	// Vector stands for the question, in place of one that is made of it; of any
	// length but 0. nil = none.
	Vector []float32
}

// Found is one hit of a search.
type Found struct {
	Fact  fact.Fact
	Score float64
	Why   Why
}

// SearchAnswer is what a search found, in the order asked for.
type SearchAnswer struct {
	Mode     SearchMode
	Hits     []Found
	Entities []string         // that the hits speak of, each once
	Time     *SearchTime      // the time that the question names; nil = none, or as_of was given
	Vectors  *SearchedVectors // nil where no stored vectors were searched, or not all may be seen
	// Corpus is how many facts the rarity of a word was judged by.
	Corpus  int
	scanned int
	cosines map[string]search.Cosines // by tenant
}

// Search ranks the facts that the caller may see, at one point of both times, by
// how well they answer a question. Every filter applies before the best are
// chosen, and the figures behind the scores are those of the caller's tenant at
// the record time read (C-57).
func (s *Service) Search(ctx context.Context, c Caller, q *SearchQuery, trace *Trace) (*SearchAnswer, Meta, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	if err := s.checkVector(q); err != nil {
		return nil, Meta{}, err
	}
	leave, err := s.heavy.enter(ctx, c)
	if err != nil {
		return nil, Meta{}, err
	}
	defer leave()
	if q.Vector == nil && q.Mode != LexicalSearch {
		s.askAhead(ctx, q.Question)
	}
	r, err := s.beginSearch(ctx, c, q.Read, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer r.close()
	answer, err := s.findAt(r, q, r.asked(q))
	if err != nil {
		return nil, r.meta, err
	}
	if err := s.speakOf(r, answer); err != nil {
		return nil, r.meta, err
	}
	if len(answer.Hits) == 0 {
		if q.Question != "" && !strings.ContainsFunc(q.Question, wordRune) {
			r.warnOnce("the question holds no letter and no digit: no word can be found by it")
		}
		if err := r.warnIfEmpty(); err != nil {
			return nil, r.meta, err
		}
	}
	r.meta.Backfilled = foundBackfilled(answer.Hits)
	explainSearch(trace, q, answer)
	return answer, r.meta, nil
}

func wordRune(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) }

// find searches in a state that is open, at its point of both times, whatever time
// the question names.
func (s *Service) find(r *reading, q *SearchQuery) (*SearchAnswer, error) {
	return s.findAt(r, q, nil)
}

func (s *Service) findAt(r *reading, q *SearchQuery, when *SearchTime) (*SearchAnswer, error) {
	scopes, err := r.searchScopes()
	if err != nil {
		return nil, err
	}
	near, err := r.near(q.Seeds)
	if err != nil {
		return nil, err
	}
	query := s.searchQuery(r, q, near)
	answer := &SearchAnswer{Mode: query.Mode, Time: when, cosines: map[string]search.Cosines{}}
	if when != nil {
		query.Text = q.Question[:when.start] + " " + q.Question[when.end:]
		when.narrow(&query.Filter)
	}
	var hits []search.Hit
	for _, scope := range scopes {
		got, err := s.indexes.Search(r.ctx, scope, r.raw, query)
		if err != nil {
			return nil, searchError(err)
		}
		if got.Early != nil { // then all scopes go by words alone
			r.unasked = fmt.Errorf("the vectors of the search index are being read (%d %% so far)", got.Early.Percent)
			return s.findAt(r, q, when)
		}
		hits = append(hits, got.Hits...)
		answer.scanned += got.Scanned
		answer.Corpus += got.Corpus
		r.tellVectors(answer, query.Dense, got)
		if query.Dense != nil {
			answer.cosines[scope.Tenant] = got.Cosines
		}
	}
	r.warnMissing(answer.Vectors)
	if err := r.fetch(answer, hits); err != nil {
		return nil, err
	}
	if r.sight != nil && len(hits) == fact.MaxLimit && len(answer.Hits) < cmp.Or(q.Top, DefaultTop) {
		r.warnOnce("there may be further hits: give subject, predicate or as_of to search among fewer facts")
	}
	answer.arrange(q)
	if when != nil && len(answer.Hits) == 0 {
		r.warnOnce("nothing that matches holds " + shorten(when.Text) + ", the time that the question names: give as_of to search another one")
	}
	return answer, nil
}

// beginSearch opens a read once the indexes that it needs are built, so that no
// view is held meanwhile.
func (s *Service) beginSearch(ctx context.Context, c Caller, read Read, trace *Trace) (*reading, error) {
	basis, err := s.await(ctx, read, 0, trace)
	if err != nil {
		return nil, err
	}
	if err := s.indexed(ctx, c.Scope(read.Branch)); err != nil {
		return nil, err
	}
	trace.Step("index", "")
	return s.open(ctx, c, read, basis, trace)
}

// indexed has the indexes built that a scope needs.
func (s *Service) indexed(ctx context.Context, scope fact.Scope) error {
	scopes := []fact.Scope{scope}
	if scope.All {
		view, err := s.view(ctx)
		if err != nil {
			return fmt.Errorf("open a view: %w", err)
		}
		r := reading{ctx: ctx, view: view, scope: scope}
		scopes, err = r.searchScopes()
		view.Close()
		if err != nil {
			return err
		}
	}
	for _, one := range scopes {
		if err := s.indexes.Ready(ctx, one, s.engine.Position); err != nil {
			return searchError(err)
		}
	}
	return nil
}

// searchScopes lists the scopes whose facts a search may see: those of each
// tenant where it spans all.
func (r *reading) searchScopes() ([]fact.Scope, error) {
	if !r.scope.All {
		return []fact.Scope{r.scope}, nil
	}
	tenants, err := r.view.DataTenants(r.ctx)
	if err != nil {
		return nil, fmt.Errorf("list the tenants: %w", err)
	}
	scopes := make([]fact.Scope, len(tenants))
	for i, tenant := range tenants {
		scopes[i] = fact.Scope{Tenant: tenant, Branch: r.scope.Branch}
	}
	return scopes, nil
}

// source opens the present state for the building of an index.
func (s *Service) source() (search.Source, func(), error) {
	view, err := s.view(context.Background())
	if err != nil {
		return nil, nil, fmt.Errorf("open a view: %w", err)
	}
	return view, view.Close, nil
}

// searchError says that it was the index that a search waited for in vain.
func searchError(err error) error {
	var building *search.Building
	if errors.As(err, &building) && errors.Is(err, context.DeadlineExceeded) {
		what := "its index is being built"
		if building.Vectors {
			what = "the vectors of its index are being read"
		}
		return fact.Errorf(fact.Timeout, "the search timed out; %s (%d %% so far): try again", what, building.Percent)
	}
	if fact.CodeOf(err) == "" && errors.Is(err, context.DeadlineExceeded) {
		return &fact.Error{Code: fact.Timeout, Message: "the search timed out; its index is being built: try again"}
	}
	return fmt.Errorf("search: %w", err)
}

// searchQuery says what is searched in the terms of the index.
func (s *Service) searchQuery(r *reading, q *SearchQuery, near []search.Near) *search.Query {
	dense := s.dense(r, q)
	query := &search.Query{
		Filter: r.searchFilter(q), Text: q.Question, Mode: s.searchMode(r, q, dense), Near: near, Words: s.words, Dense: dense,
		Top: q.Top, MinScore: math.Inf(-1),
	}
	if query.Top == 0 {
		query.Top = DefaultTop
	}
	if r.sight != nil {
		query.Top = fact.MaxLimit // what may not be seen is taken out of the hits
		query.Alone = true        // and must not be heard through its neighbours
	}
	if q.MinScoreGiven {
		query.MinScore = q.MinScore
	}
	return query
}

// moment is the record time that is read, as the index knows it.
func (r *reading) moment() search.Moment {
	switch {
	case r.at.Pinned:
		return search.Moment{Tx: r.at.Tx}
	case r.at.KnownAt.Given() && !r.at.NoBackfill:
		return search.Moment{ByKnown: true, Known: r.at.KnownAt}
	}
	return search.Moment{Tx: r.meta.Tx}
}

// searchFilter judges versions as every read does (C-20, C-21).
func (r *reading) searchFilter(q *SearchQuery) search.Filter {
	f := search.Filter{
		Moment: r.moment(), Subject: q.Subject, Predicate: q.Predicate, MinConfidence: q.MinConfidence,
		Statuses: fact.StatusSet(0).With(fact.Active), From: r.at.AsOf, Until: r.at.AsOf + 1,
	}
	switch {
	case q.StatusGiven:
		f.Statuses, f.StatusGiven = q.Statuses, true
	case r.at.AsOf.Given():
		f.Statuses = f.Statuses.With(fact.Superseded)
		if q.IncludeRetracted {
			f.Statuses = f.Statuses.With(fact.Retracted)
		}
	default:
		f.From, f.Until = r.at.Now, r.at.Now+1
		if q.IncludeRetracted {
			f.Statuses, f.Retracted = f.Statuses.With(fact.Retracted), true
		}
	}
	return f
}

// fetch reads the facts of the hits, as they were at the point that is read.
func (r *reading) fetch(answer *SearchAnswer, hits []search.Hit) error {
	slices.SortStableFunc(hits, func(a, b search.Hit) int { return cmp.Compare(b.Score, a.Score) }) // of several tenants
	answer.Hits = make([]Found, 0, len(hits))
	weight := 0
	for i, h := range hits {
		if weight > fact.MaxAnswerBytes {
			left := strconv.Itoa(len(hits) - i)
			if r.sight != nil {
				left = "further"
			}
			r.meta.Warnings = append(r.meta.Warnings, left+" hits are left out, because an answer holds at most "+
				strconv.Itoa(fact.MaxAnswerBytes>>20)+" MiB of facts: ask for fewer with top_k")
			return nil
		}
		f, err := r.view.GetFrom(r.ctx, r.scope, &h.Place, r.at)
		if err != nil {
			return fmt.Errorf("read a hit: %w", err)
		}
		if f == nil {
			continue // the index is ahead of the view, and it is gone by now
		}
		weight += f.Weight()
		answer.Hits = append(answer.Hits, Found{Fact: *f, Score: h.Score, Why: h.Why})
	}
	return nil
}

// arrange chooses the best hits of all tenants, and puts them in the order that
// was asked for. Of equal scores, the fact that was made last comes first, then
// the lower id.
func (a *SearchAnswer) arrange(q *SearchQuery) {
	slices.SortFunc(a.Hits, func(x, y Found) int {
		return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(y.Fact.FirstTx, x.Fact.FirstTx), slices.Compare(x.Fact.ID[:], y.Fact.ID[:]))
	})
	top := q.Top
	if top == 0 {
		top = DefaultTop
	}
	a.Hits = a.Hits[:min(top, len(a.Hits))]
	if q.Order == ByScore {
		return
	}
	slices.SortStableFunc(a.Hits, func(x, y Found) int {
		newest := cmp.Or(cmp.Compare(y.Fact.FirstTx, x.Fact.FirstTx), slices.Compare(x.Fact.ID[:], y.Fact.ID[:]))
		if q.Order == OldestFirst {
			return -newest
		}
		return newest
	})
}

// speakOf lists the entities that the hits speak of: their subjects, and their
// objects where these are nodes. Most objects are none, which the index knows.
func (s *Service) speakOf(r *reading, a *SearchAnswer) error {
	g, at := newGrapher(r, nil), r.raw.Position()
	g.noSubject = func(scope fact.Scope, name string) bool { return s.indexes.NoSubject(scope, at, name) }
	seen := map[string]bool{}
	say := func(name string) {
		if !seen[name] {
			seen[name] = true
			a.Entities = append(a.Entities, name)
		}
	}
	for i := range a.Hits {
		f := &a.Hits[i].Fact
		say(f.Subject)
		to, ok, err := g.target(r.ctx, f)
		if err != nil {
			return err
		}
		if ok {
			say(to)
		}
	}
	return nil
}

func foundBackfilled(hits []Found) []fact.BatchCount {
	return countBatches(len(hits), func(i int) uint64 { return hits[i].Fact.Batch })
}

func explainSearch(trace *Trace, q *SearchQuery, a *SearchAnswer) {
	if trace == nil {
		return
	}
	trace.Step("execute", "inverted index")
	trace.Name("search", "terms → filters inside the scan → "+a.Mode.String()+" ranking")
	trace.Text("mode", a.Mode.String())
	trace.Int("corpus", a.Corpus)
	trace.Int("candidates_scanned", a.scanned)
	if v := a.Vectors; v != nil {
		trace.Name("search", "filters → cosines of stored vectors → "+a.Mode.String()+" ranking")
		trace.Text("model", v.Model.Name)
		trace.Int("vectors_compared", v.Candidates-v.Missing)
		trace.Int("vectors_missing", v.Missing)
	}
	trace.Int("seeds", len(q.Seeds))
	trace.Int("results", len(a.Hits))
}

package memory

import (
	"context"
	"fmt"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/span"
)

// FactsQuery selects facts. Make its Read with NewRead; names are as Name
// returns them; empty fields select everything.
type FactsQuery struct {
	Read
	Subject          string
	Predicate        string
	Objects          []fact.Object
	Statuses         fact.StatusSet
	StatusGiven      bool
	IncludeRetracted bool
	Cursor           *Cursor // tx_gt
	Limit            int     // 0 = fact.DefaultLimit
}

// CheckLimit refuses a limit outside 0 … 10,000 (C-24).
func CheckLimit(n int64) (int, error) {
	if n < 0 || n > fact.MaxLimit {
		return 0, fact.Invalid("limit", "must be from 0 to "+strconv.Itoa(fact.MaxLimit))
	}
	return int(n), nil
}

// Facts lists facts in the fixed order of C-25.
func (s *Service) Facts(ctx context.Context, c Caller, q *FactsQuery, trace *Trace) (*fact.Page, Meta, error) {
	ctx, part := span.Start(ctx, "memory.read", span.Internal)
	defer part.End()
	ctx, cancel := within(ctx, s.timeout)
	defer cancel()
	var needs uint64
	if q.Cursor != nil {
		needs = q.Cursor.Tx
	}
	basis, err := s.await(ctx, q.Read, needs, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	page, meta, ok := s.hot(c, q, basis)
	if !ok {
		page, meta, err = s.list(ctx, c, q, basis, trace)
	}
	if err != nil {
		return nil, meta, err
	}
	if trace != nil {
		trace.Step("execute", page.Scan.Index)
		explainFacts(trace, q, page)
	}
	return page, meta, nil
}

func (q *FactsQuery) in(scope fact.Scope, at fact.At) *fact.Query {
	return &fact.Query{
		Scope: scope, Subject: q.Subject, Predicate: q.Predicate, Objects: q.Objects, Statuses: q.Statuses,
		StatusGiven: q.StatusGiven, IncludeRetracted: q.IncludeRetracted, At: at, Limit: q.Limit,
	}
}

// hot answers a live read from memory, where the engine can.
func (s *Service) hot(c Caller, q *FactsQuery, basis fact.Basis) (*fact.Page, Meta, bool) {
	if q.Pinned || q.KnownAt.Given() || q.AsOf.Given() || q.Cursor != nil || c.key != nil && c.key.version != s.version() {
		return nil, Meta{}, false
	}
	if c.governed() { // a policy that is not remembered needs a view
		set := s.policies.get(c.Tenant, s.policyVersion())
		if set == nil || set.Active() {
			return nil, Meta{}, false
		}
	}
	page, at, ok := s.live(q.in(c.Scope(q.Branch), fact.Present(basis.Now)))
	if !ok {
		return nil, Meta{}, false
	}
	return page, Meta{Tx: at.Tx, Now: max(basis.Now, at.RecordedAt), Epoch: at.Epoch}, true
}

// list answers a read from a view.
func (s *Service) list(ctx context.Context, c Caller, q *FactsQuery, basis fact.Basis, trace *Trace) (*fact.Page, Meta, error) {
	r, err := s.open(ctx, c, q.Read, basis, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer r.close()
	query := q.in(r.scope, r.at)
	if q.Cursor != nil {
		if gone := q.Cursor.check(r.current); gone != nil {
			gone.Field = "tx_gt"
			return nil, r.meta, gone
		}
		query.TxGt, query.TxGtGiven = q.Cursor.Tx, true
	}
	page, err := r.view.Facts(r.ctx, query)
	if err != nil {
		return nil, r.meta, fmt.Errorf("list facts: %w", err)
	}
	r.meta.Backfilled = page.Backfilled
	return page, r.meta, nil
}

// explainFacts fills in the plan and the stats of a list (C-27).
func explainFacts(trace *Trace, q *FactsQuery, page *fact.Page) {
	plan := "pick " + page.Scan.Index + " index"
	glue := " → "
	for _, tail := range [...]struct {
		used bool
		text string
	}{
		{q.StatusGiven, "status filter"},
		{q.AsOf.Given(), "as_of time travel"},
		{q.Pinned || q.KnownAt.Given(), "record time travel"},
		{q.Cursor != nil, "tx cursor"},
		{page.Scan.LimitHit, "limit early-stop"},
	} {
		if tail.used {
			plan += glue + tail.text
			glue = ", "
		}
	}
	trace.Name("query_facts", plan)
	for _, input := range [...][2]string{{"input.subject", q.Subject}, {"input.predicate", q.Predicate}} {
		if input[1] != "" {
			trace.Text(input[0], input[1])
		}
	}
	trace.Int("candidates_scanned", page.Scan.Scanned)
	trace.Int("results", len(page.Facts))
	trace.Bool("limit_hit", page.Scan.LimitHit)
}

// Fact returns one fact of whatever status, with the pieces of its statement
// (C-16). The id is opaque: one that is no id at all is not found either.
func (s *Service) Fact(ctx context.Context, c Caller, read Read, id string, trace *Trace) (*fact.Statement, Meta, error) {
	parsed, ok := fact.ParseID(id)
	if !ok {
		return nil, Meta{}, NoFact(id)
	}
	r, err := s.begin(ctx, c, read, 0, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer r.close()
	st, err := r.view.Fact(r.ctx, r.scope, parsed, r.at)
	if err != nil {
		return nil, r.meta, noFactOr(err, id, "read a fact")
	}
	trace.Step("execute", "by_id")
	trace.Name("get_fact", "pick by_id index")
	trace.Int("results", 1)
	trace.Int("pieces", len(st.Pieces))
	trace.Bool("limit_hit", st.Cut)
	return st, r.meta, nil
}

// History returns the life of one statement (C-58), in lists of at most limit
// rows each; 0 = fact.MaxLimit.
func (s *Service) History(ctx context.Context, c Caller, read Read, id string, limit int, trace *Trace) (*fact.History, Meta, error) {
	parsed, ok := fact.ParseID(id)
	if !ok {
		return nil, Meta{}, NoFact(id)
	}
	r, err := s.begin(ctx, c, read, 0, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer r.close()
	h, err := r.view.History(r.ctx, r.scope, parsed, limit)
	if err != nil {
		return nil, r.meta, noFactOr(err, id, "read a history")
	}
	trace.Step("execute", "by_id")
	trace.Name("history", "pick by_id index → versions → timeline")
	trace.Int("pieces", len(h.Pieces))
	trace.Int("versions", len(h.Versions))
	trace.Int("timeline", len(h.Timeline))
	trace.Bool("limit_hit", h.PiecesCut || h.VersionsCut || h.TimelineCut)
	return h, r.meta, nil
}

// NoFact is the error of a fact that does not exist, or is another's (C-42):
// both in the same words.
func NoFact(id string) *fact.Error {
	return &fact.Error{Code: fact.NotFound, Message: "fact " + shorten(id) + " not found"}
}

func noFactOr(err error, id, doing string) error {
	if fact.CodeOf(err) == fact.NotFound {
		return NoFact(id)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

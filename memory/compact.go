package memory

import (
	"context"
	"fmt"
	"math"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory/packet"
)

// CompactQuery is a list of whole facts that is to fit into a budget.
type CompactQuery struct {
	Facts []fact.Fact
	// Raw are the facts as they were sent, to be sent back.
	Raw    []jsonx.Value
	Budget int
	caller Caller
}

// Compact reads the body of a request to compact. The facts are whole ones, as
// answers carry them; what is not looked at comes back as it came.
func (in *Input) Compact(v jsonx.Value) (*CompactQuery, error) {
	f := jsonx.Open(v, "")
	q := &CompactQuery{caller: in.caller}
	list, ok := f.Get("facts")
	switch {
	case !ok:
		f.Fail(fact.Invalid("facts", "is required"))
	case list.Kind != jsonx.Array:
		f.Fail(fact.Invalid("facts", "must be an array, not "+list.Kind.String()))
	case len(list.Kids) > fact.MaxTransactRows:
		f.Fail(fact.Invalid("facts", fmt.Sprintf("holds more than %d facts", fact.MaxTransactRows)))
	default:
		q.Raw = list.Kids
	}
	given := ""
	q.Budget, given = budget(f)
	if given == "" {
		f.Fail(fact.Invalid("token_budget", "is required"))
	}
	if err := f.Done(); err != nil {
		return nil, err
	}
	q.Facts = make([]fact.Fact, len(q.Raw))
	for i := range q.Raw {
		var err error
		if q.Facts[i], err = in.whole(q.Raw[i], jsonx.Index("facts", i)); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// unranked are fields of a fact that say nothing that a ranking goes by.
var unranked = [...]string{
	"declared_known_at", "stated_from", "stated_until", "dated", "continues", "superseded_by", "policy", "properties", "transient", "branch", "tenant", "recorded_at",
}

// shownWith are fields that answers put beside a fact: what it is a piece of, how it
// was found, and what writing it did.
var shownWith = [...]string{
	"pieces", "corroboration", "cut", "score", "why", "embedding", "superseded", "superseded_ids", "continuations", "pii_masked", "warnings",
}

// whole reads a fact as answers carry it. What it must have is what a statement
// has, and an id.
func (in *Input) whole(v jsonx.Value, path string) (fact.Fact, error) {
	f := jsonx.Open(v, path)
	got := fact.Fact{Confidence: 1, Status: fact.Active, ValidUntil: fact.Forever, DeclaredKnownAt: fact.NoInstant}
	if id := f.Required("id"); id == "" {
		f.Fail(fact.Invalid(f.Path("id"), "must not be empty: whole facts are compacted"))
	} else if parsed, ok := fact.ParseID(id); ok {
		got.ID = parsed
	}
	got.Subject, got.Predicate = name(f, "subject"), name(f, "predicate")
	if o, ok := f.Any("object"); ok {
		got.Object = object(f, "object", o)
	}
	if c, ok := f.Any("confidence"); ok {
		got.Confidence = confidence(f, "confidence", c)
	}
	if t := in.time(f, "valid_from"); t.Given() {
		got.ValidFrom = t
	}
	if t := in.time(f, "valid_until"); t.Given() {
		got.ValidUntil = t
	}
	got.Source = source(f)
	if text, ok := f.Text("status"); ok {
		if _, known := fact.ParseStatus(text); !known {
			f.Fail(fact.Invalid(f.Path("status"), "has no such value: "+shorten(text)+" (active, candidate, superseded or retracted)"))
		}
	}
	if n, ok := f.Integer("tx", 0, math.MaxInt64); ok {
		got.Tx = uint64(n)
	}
	for _, field := range unranked {
		f.Ignore(field)
	}
	for _, field := range shownWith {
		f.Ignore(field)
	}
	return got, f.Done()
}

// Compact ranks facts and keeps those that fit. It reads nothing of the store, but
// has a read's time: a long list with a large budget is much to count. Only a few
// such are counted at a time, as reads that look at everything are.
func (s *Service) Compact(ctx context.Context, q *CompactQuery) (*packet.Compacted, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	if len(q.Facts) > packet.MaxFacts {
		leave, err := s.whole.enter(ctx, q.caller)
		if err != nil {
			return nil, err
		}
		defer leave()
	}
	done, err := packet.Compact(q.Facts, q.Budget, s.tokens.within(ctx))
	if err != nil {
		return nil, fmt.Errorf("compact facts: %w", err)
	}
	return done, nil
}

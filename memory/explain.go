package memory

import (
	"context"
	"fmt"

	"abagraph/fact"
	"abagraph/memory/check"
)

// Explanation says why a fact is believed, or is not any more: the life of its
// statement and of its subject and predicate, and what in it speaks for the fact,
// against it, and what ended it.
type Explanation struct {
	fact.History
	check.Reasons
}

// ExplainNote says how to read an explanation's history.
const ExplainNote = "history = the subject+predicate lifecycle ordered by valid_from; supersession links are derived from validity intervals, not stored."

// ExplainFact explains one fact of whatever status, as things stand. Its lists
// have at most limit rows each; 0 = fact.MaxLimit. A fact that does not exist, or
// is another tenant's, is NotFound.
func (s *Service) ExplainFact(ctx context.Context, c Caller, read Read, id string, limit int, trace *Trace) (*Explanation, Meta, error) {
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
		return nil, r.meta, noFactOr(err, id, "explain a fact")
	}
	e := &Explanation{History: *h, Reasons: *check.Explain(h)}
	if !h.Fact.SupersededBy.IsZero() && e.EndedBy == nil {
		// It may lie beyond the rows that the history shows.
		at := fact.Scope{Tenant: h.Fact.Tenant, Branch: r.scope.Branch}
		st, err := r.view.Fact(r.ctx, at, h.Fact.SupersededBy, r.at)
		if err != nil && fact.CodeOf(err) != fact.NotFound {
			return nil, r.meta, fmt.Errorf("explain a fact: %w", err)
		}
		if err == nil {
			e.EndedBy = &st.Fact
		}
	}
	trace.Step("execute", "by_id")
	trace.Name("explain_fact", "pick by_id index → versions → timeline → compare")
	trace.Int("versions", len(e.Versions))
	trace.Int("timeline", len(e.Timeline))
	trace.Int("agreeing", len(e.Agreeing))
	trace.Int("disagreeing", len(e.Disagreeing))
	trace.Bool("limit_hit", e.PiecesCut || e.VersionsCut || e.TimelineCut)
	return e, r.meta, nil
}

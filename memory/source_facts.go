package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"abagraph/fact"
)

// SourceFacts are the facts of one source that hold.
type SourceFacts struct {
	Holding int
	// Recent are the newest of them, as many as were asked for.
	Recent []fact.Fact
}

// SourceFacts counts what holds of some sources in the caller's tenant, in the order
// of the sources; an operator who names none asks about the ownerless scope. It
// looks at every fact that holds.
func (s *Service) SourceFacts(ctx context.Context, c Caller, read Read, sources []string, recent int, trace *Trace) ([]SourceFacts, Meta, error) {
	r, done, err := s.lookingFor(ctx, wholeTime, c, read, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer done()
	r.scope.All = false
	list := make([]SourceFacts, len(sources))
	place := make(map[string]int, len(sources))
	for i, source := range sources {
		place[source] = i
	}
	err = r.view.Each(r.ctx, &fact.Query{Scope: r.scope, At: r.at}, func(f *fact.Fact) bool {
		if f.Source == nil {
			return true
		}
		if i, asked := place[*f.Source]; asked {
			list[i].take(f, recent)
		}
		return true
	})
	if err != nil {
		return nil, r.meta, fmt.Errorf("look for the facts of sources: %w", err)
	}
	for i := range list {
		list[i].trim(recent)
	}
	trace.Step("execute", "full_scan")
	return list, r.meta, nil
}

func (l *SourceFacts) take(f *fact.Fact, recent int) {
	l.Holding++
	if recent == 0 {
		return
	}
	l.Recent = append(l.Recent, *f)
	if len(l.Recent) >= 8*recent {
		l.trim(recent)
	}
}

// trim keeps the newest, in the order of lists (C-25).
func (l *SourceFacts) trim(recent int) {
	slices.SortFunc(l.Recent, func(a, b fact.Fact) int {
		return cmp.Or(cmp.Compare(b.Tx, a.Tx), slices.Compare(a.ID[:], b.ID[:]))
	})
	if len(l.Recent) > recent {
		clear(l.Recent[recent:])
		l.Recent = l.Recent[:recent]
	}
}

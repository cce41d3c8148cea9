package memory

import (
	"context"
	"fmt"
	"strings"

	"abagraph/fact"
)

// Kept visits the facts of one predicate that hold of the caller's own tenant and of
// subjects that begin with a prefix, however many others the predicate has. So what
// the server keeps as facts is found whatever else a tenant writes. An operator who
// names no tenant has all of them.
func (s *Service) Kept(ctx context.Context, c Caller, read Read, prefix, predicate string, trace *Trace, visit func(*fact.Fact)) (Meta, error) {
	r, err := s.begin(ctx, c, read, 0, trace)
	if err != nil {
		return Meta{}, err
	}
	defer r.close()
	err = r.view.Each(r.ctx, &fact.Query{Scope: r.scope, Predicate: predicate, At: r.at}, func(f *fact.Fact) bool {
		if strings.HasPrefix(f.Subject, prefix) {
			visit(f)
		}
		return true
	})
	if err != nil {
		return r.meta, fmt.Errorf("read facts of predicate %s: %w", predicate, err)
	}
	trace.Step("execute", "by_predicate")
	return r.meta, nil
}

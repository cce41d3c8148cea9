package memory

import (
	"context"
	"errors"
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

// KeptOfAll visits the facts that Kept visits, of every tenant that is not deleted: what
// a tenant had the server do by itself ends with the tenant.
func (s *Service) KeptOfAll(ctx context.Context, c Caller, prefix, predicate string, visit func(*fact.Fact)) error {
	view, err := s.view(ctx)
	if err != nil {
		return fmt.Errorf("open a view: %w", err)
	}
	defer view.Close()
	living := newLiving(view)
	_, err = s.Kept(ctx, c, NewRead(), prefix, predicate, nil, func(f *fact.Fact) {
		if living.has(ctx, f.Tenant) {
			visit(f)
		}
	})
	return errors.Join(err, living.err)
}

// living tells which tenants are not deleted. One that was never registered has data
// only, which an administrator wrote, and is not deleted.
type living struct {
	view  View
	known map[string]bool
	err   error // what was met first
}

func newLiving(view View) *living { return &living{view: view, known: make(map[string]bool)} }

func (l *living) has(ctx context.Context, tenant string) bool {
	lives, known := l.known[tenant]
	if known || l.err != nil {
		return lives
	}
	record, err := l.view.Tenant(ctx, tenant)
	if err != nil && fact.CodeOf(err) != fact.NotFound {
		l.err = fmt.Errorf("look whether a tenant is deleted: %w", err)
		return false
	}
	lives = record == nil || record.Status == "active"
	l.known[tenant] = lives
	return lives
}

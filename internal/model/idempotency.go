package model

import (
	"slices"

	"abagraph/fact"
)

const (
	keptFor       fact.Instant = 24 * 60 * 60 * 1000 // milliseconds
	keptPerTenant              = 10_000
)

// outcome is what a request with an idempotency key was told (C-31).
type outcome struct {
	req    *fact.Request
	result *fact.Result
	erased bool // something that it told was purged: only its key and time count
}

// recall answers a request from the outcome of the same key: once more, if it
// is the same request, with a refusal, if it is another.
func (m *Model) recall(req *fact.Request) *fact.Result {
	if req.Idem == nil {
		return nil
	}
	i := slices.IndexFunc(m.kept, func(o outcome) bool { return o.ofKey(req) })
	if i < 0 || m.last-m.kept[i].result.RecordedAt >= keptFor {
		return nil
	}
	if m.kept[i].erased {
		return m.refused(fact.Errorf(fact.Conflict, "the idempotency key was used for a request of which something was purged"))
	}
	if m.kept[i].req.Idem.Hash != req.Idem.Hash {
		return m.refused(fact.Errorf(fact.Conflict, "the idempotency key was used for another request"))
	}
	again := *m.kept[i].result
	again.Replayed = true
	return &again
}

// remember stores the outcome of a request that has a key, refusals included,
// but for those that only say that another write came first.
func (m *Model) remember(req *fact.Request, result *fact.Result) {
	if req.Idem == nil || overtaken(req, result) {
		return
	}
	m.kept = slices.DeleteFunc(m.kept, func(o outcome) bool { return o.ofKey(req) })
	m.kept = append(m.kept, outcome{req: req, result: result})
	count := 0
	for i := len(m.kept) - 1; i >= 0; i-- {
		if m.kept[i].req.Tenant != req.Tenant {
			continue
		}
		if count++; count > keptPerTenant {
			m.kept = slices.Delete(m.kept, i, i+1)
		}
	}
}

// overtaken reports whether what the writer was shown held no longer.
func overtaken(req *fact.Request, result *fact.Result) bool {
	if result.Err == nil || req.Write == nil {
		return false
	}
	for _, f := range result.Err.Failures {
		for _, g := range req.Write.Guards {
			if g.Kind == fact.GuardSame && f.Subject == g.Subject && f.Predicate == g.Predicate && f.Expected.Equal(g.Object) {
				return true
			}
		}
	}
	return false
}

func (o *outcome) ofKey(req *fact.Request) bool {
	a, b := o.req.Idem, req.Idem
	return o.req.Tenant == req.Tenant && a.Key == b.Key && a.Method == b.Method && a.Path == b.Path
}

// tells reports whether an outcome would show any of the facts that are gone.
func (o *outcome) tells(names func(tenant, subject string) bool, gone []version) bool {
	met := slices.Clone(o.result.RetractedIDs)
	show := func(facts ...fact.Fact) {
		for i := range facts {
			met = append(met, facts[i].ID)
		}
	}
	for i := range o.result.Asserts {
		a := &o.result.Asserts[i]
		show(a.Fact)
		show(a.Superseded...)
		show(a.Moved...)
		show(a.Continuations...)
	}
	if b := o.result.Branching; b != nil {
		met = append(met, b.Superseded...)
		for i := range b.Conflicts {
			show(b.Conflicts[i].Fact)
			show(b.Conflicts[i].With...)
		}
	}
	if err := o.result.Err; err != nil {
		met = append(met, err.IDs...)
		for _, f := range err.Failures {
			if len(f.Current) > 0 && names(o.req.Tenant, f.Subject) {
				return true
			}
		}
	}
	return slices.ContainsFunc(ids(gone), func(id fact.ID) bool { return slices.Contains(met, id) })
}

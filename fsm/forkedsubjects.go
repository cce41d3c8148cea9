package fsm

import (
	"slices"

	"abagraph/fact"
)

// layered is run on a branch: the layers have the subjects that the branch has,
// and each is read as any read of it would.
func (p *subjectPass) layered(only, after string, _ bool) (more bool, err error) {
	more = true
	visit := func(subject string) (bool, error) {
		more, err = p.layeredOne(subject)
		return more, err
	}
	if only != "" {
		if only <= after {
			return true, nil
		}
		_, err := visit(only)
		return more, err
	}
	err = p.v.names(p.space, famTimeline, after, visit)
	return more, err
}

func (p *subjectPass) layeredOne(subject string) (more bool, err error) {
	p.weight = 0
	p.found = &fact.SubjectFacts{
		SubjectPlace: fact.SubjectPlace{Tenant: p.space.tenant, Subject: subject}, Lists: make([][]fact.Fact, len(p.sels)),
	}
	empty := true
	for i, sel := range p.sels {
		q := *sel.q
		q.Subject = subject
		err := p.v.gather(p.ctx, fact.Scope{Tenant: p.space.tenant, Branch: p.space.branch}, &q, func(f *fact.Fact) { p.add(i, f) })
		if err == nil {
			err = p.step()
		}
		if err != nil {
			return false, err
		}
		list := p.found.Lists[i]
		slices.SortFunc(list, func(a, b fact.Fact) int { return compareNewest(&a, &b) })
		empty = empty && len(list) == 0
	}
	if empty {
		return true, nil
	}
	return p.visit(p.found)
}

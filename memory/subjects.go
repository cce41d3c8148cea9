package memory

import (
	"context"
	"slices"
	"strings"
	"time"

	"abagraph/fact"
)

// Narrow says which subjects a look at subject after subject goes through. Names
// are as Name returns them; empty fields select everything.
type Narrow struct {
	Subject   string
	Predicate string
	Objects   []fact.Object
	// After is where a list goes on: what Next said before.
	After string
	// Limit ends a page after the subject that reaches it; 0 =
	// fact.DefaultLimit.
	Limit int

	// omit leaves facts out; most bounds how many are looked at, and full tells that
	// there were more. For looks of the server's own.
	omit func(*fact.Fact) bool
	most int
	full bool
	seen int
}

// admit takes out of a subject's facts what is to be left out, and tells whether the
// subject is still to be looked at.
func (n *Narrow) admit(s *fact.SubjectFacts) bool {
	if n.omit == nil {
		return true
	}
	if n.full = n.full || n.seen >= n.most; n.full {
		return false
	}
	for i := range s.Lists {
		s.Lists[i] = slices.DeleteFunc(s.Lists[i], func(f fact.Fact) bool { return n.omit(&f) })
		n.seen += len(s.Lists[i])
	}
	return true
}

func (n *Narrow) size() int {
	if n.Limit == 0 {
		return fact.DefaultLimit
	}
	return n.Limit
}

// query selects what holds at a point in time.
func (n *Narrow) query(at fact.At) fact.Query {
	return fact.Query{Predicate: n.Predicate, Objects: n.Objects, At: at}
}

// byStatus selects the facts of one status whose time includes an instant, or of
// any time where it is not given.
func (n *Narrow) byStatus(at fact.At, status fact.Status, instant fact.Instant) fact.Query {
	q := n.query(at)
	q.Statuses, q.StatusGiven = fact.StatusSet(0).With(status), true
	q.At.AsOf = instant
	return q
}

// subjects says it to a view.
func (n *Narrow) subjects(r *reading, queries ...fact.Query) *fact.SubjectQuery {
	return &fact.SubjectQuery{Scope: r.scope, Subject: n.Subject, After: r.place(n.After), Queries: queries}
}

// place reads what next has written.
func (r *reading) place(after string) fact.SubjectPlace {
	if !r.scope.All {
		return fact.SubjectPlace{Tenant: r.scope.Tenant, Subject: after}
	}
	tenant, subject, _ := strings.Cut(after, "/")
	return fact.SubjectPlace{Tenant: tenant, Subject: subject}
}

// next says where a list goes on after a subject: its name and, for an operator
// who sees all tenants, whose it is.
func (r *reading) next(at fact.SubjectPlace) string {
	if !r.scope.All {
		return at.Subject
	}
	return at.Tenant + "/" + at.Subject
}

// instant is the valid time of a read: as of when, or now.
func (r *reading) instant() fact.Instant {
	if r.at.AsOf.Given() {
		return r.at.AsOf
	}
	return r.at.Now
}

// listing counts what a page holds and tells where it ends: after the subject with
// which it is full, by number or by weight.
type listing struct {
	limit, rows, weight int
	full                bool
	last                fact.SubjectPlace
}

// end notes that a subject has been listed.
func (p *listing) end(at fact.SubjectPlace) {
	p.last = at
	p.full = p.rows >= p.limit || p.weight >= fact.MaxAnswerBytes
}

func (p *listing) add(facts []fact.Fact) {
	for i := range facts {
		p.weight += facts[i].Weight()
	}
}

// looking begins a look at subject after subject, of which few go on at a time.
func (s *Service) looking(ctx context.Context, c Caller, read Read, trace *Trace) (*reading, func(), error) {
	return s.lookingFor(ctx, s.timeout, c, read, trace)
}

// lookingFor is looking for one that may take longer than other reads, once its turn
// has come.
func (s *Service) lookingFor(ctx context.Context, limit time.Duration, c Caller, read Read, trace *Trace) (*reading, func(), error) {
	waiting, enough := context.WithTimeout(ctx, s.timeout)
	defer enough()
	leave, err := s.whole.enter(waiting, c)
	if err != nil {
		return nil, nil, err
	}
	r, err := s.beginFor(ctx, limit, c, read, 0, trace)
	if err != nil {
		leave()
		return nil, nil, err
	}
	return r, func() {
		r.close()
		leave()
	}, nil
}

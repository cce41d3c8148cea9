package memory

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"abagraph/fact"
	"abagraph/memory/check"
	"abagraph/memory/mask"
)

// watchActor is who writes what alerts say.
const watchActor = "alerts"

func watching(tenant string) Caller {
	return Caller{Operator: true, Tenant: tenant, Role: fact.RoleAdmin, Actor: watchActor}
}

// WatchedTenants lists the tenants that have alerts, and are not deleted.
func (s *Service) WatchedTenants(ctx context.Context) ([]string, error) {
	view, err := s.view(ctx)
	if err != nil {
		return nil, fmt.Errorf("open a view: %w", err)
	}
	defer view.Close()
	all, err := view.DataTenants(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the tenants: %w", err)
	}
	var list []string
	living := newLiving(view)
	for _, tenant := range all {
		q := &fact.Query{Scope: fact.Scope{Tenant: tenant, Branch: fact.MainBranch}, Predicate: fact.AlertRule, At: fact.Present(s.instant()), Limit: 1}
		page, err := view.Facts(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("look for alerts: %w", err)
		}
		if tenant != "" && len(page.Facts) > 0 && living.has(ctx, tenant) {
			list = append(list, tenant)
		}
	}
	return list, living.err
}

// LookAtAlerts measures what the alerts of a tenant watch, and writes what has
// become another state. It returns those that changed. One that cannot be measured
// holds up no other: the error tells of all of them.
func (s *Service) LookAtAlerts(ctx context.Context, tenant string) ([]Alert, error) {
	c := watching(tenant)
	list, _, err := s.Alerts(ctx, c, NewRead(), nil)
	if err != nil {
		return nil, err
	}
	tallies, now, err := s.tallies(ctx, c, list)
	if err != nil {
		return nil, fmt.Errorf("measure alerts: %w", err)
	}
	var changed []Alert
	var failed []error
	for i := range list {
		a := &list[i]
		value, err := s.measure(ctx, c, a, &tallies[i], now)
		if err != nil {
			failed = append(failed, fmt.Errorf("measure alert %s: %w", a.Name, err))
			continue
		}
		state := a.judge(value)
		if state == a.State {
			continue
		}
		is, err := s.say(ctx, c, a, state, value)
		if err != nil {
			failed = append(failed, fmt.Errorf("write the state of alert %s: %w", a.Name, err))
		} else if is != nil {
			changed = append(changed, *is)
		}
	}
	return changed, errors.Join(failed...)
}

// judge says what a value means. Without one there is nothing to warn of, but that
// nothing has come.
func (a *Alert) judge(value float64) string {
	switch {
	case math.IsNaN(value):
		if a.Kind == "freshness" {
			return AlertFiring
		}
	case a.Kind == "confidence" && value < a.Threshold, a.Kind != "confidence" && value > a.Threshold:
		return AlertFiring
	}
	return AlertOK
}

// say writes a state, if it is still another one than before; nil where another
// node was first.
func (s *Service) say(ctx context.Context, c Caller, a *Alert, state string, value float64) (*Alert, error) {
	guard := fact.Guard{Subject: fact.AlertKind + a.Name, Predicate: fact.AlertState, Kind: fact.GuardAbsent}
	if a.State != "" {
		guard.Kind, guard.Object = fact.GuardExpect, fact.TextObject(a.State)
	}
	properties := []byte(`{"kind":"` + a.Kind + `","value":` + formatNumber(value) + `,"threshold":` + formatNumber(a.Threshold) + `}`)
	w := &fact.Write{Guards: []fact.Guard{ruleGuard(a.Name, a), guard}, Asserts: []fact.Assert{alertFact(a.Name, fact.AlertState, state, fact.AlertSource, properties)}}
	result, err := s.Transact(ctx, c, WriteOptions{Mask: mask.Off}, w, nil)
	if overtaken(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	now := *a
	now.read(&result.Asserts[0].Fact)
	now.Told = false
	return &now, nil
}

// MarkAlertTold notes that a webhook has taken the state of an alert.
func (s *Service) MarkAlertTold(ctx context.Context, tenant string, a *Alert) error {
	w := &fact.Write{
		Guards:  []fact.Guard{ruleGuard(a.Name, a)},
		Asserts: []fact.Assert{alertFact(a.Name, fact.AlertTold, a.stateID.String(), fact.AlertSource, nil)},
	}
	_, err := s.Transact(ctx, watching(tenant), WriteOptions{Mask: mask.Off}, w, nil)
	if overtaken(err) {
		return nil // the rule is another one now, or gone
	}
	return err
}

// UntoldAlerts lists the alerts of a tenant whose state a webhook has not taken. The
// first ok of an alert that never fired is nothing to tell.
func (s *Service) UntoldAlerts(ctx context.Context, tenant string) ([]Alert, error) {
	list, _, err := s.Alerts(ctx, watching(tenant), NewRead(), nil)
	if err != nil {
		return nil, err
	}
	var untold []Alert
	for _, a := range list {
		if a.Webhook != "" && a.State != "" && !a.Told {
			untold = append(untold, a)
		}
	}
	return untold, nil
}

// StateID is the id of the fact that says the alert's state.
func (a *Alert) StateID() string { return a.stateID.String() }

// measure returns what one rule is about, with what it has seen of the facts.
func (s *Service) measure(ctx context.Context, c Caller, a *Alert, seen *tally, now fact.Instant) (float64, error) {
	switch a.Kind {
	case "contradictions":
		q := &FactcheckQuery{Read: NewRead(), Rules: check.Rules{Kinds: check.AllKinds}, Narrow: Narrow{Predicate: a.Predicate, Limit: 1}}
		found, _, err := s.factcheckFor(ctx, wholeTime, c, q, nil)
		if err != nil {
			return 0, err
		}
		return float64(found.Total), nil
	case "cost":
		return s.written(ctx, c, now-fact.Instant(a.Window*1000))
	}
	return seen.value(a.Kind, now), nil
}

// tallies passes over the facts once for all the rules that need it, and tells at which
// instant.
func (s *Service) tallies(ctx context.Context, c Caller, list []Alert) ([]tally, fact.Instant, error) {
	r, err := s.beginFor(ctx, wholeTime, c, NewRead(), 0, nil)
	if err != nil {
		return nil, 0, err
	}
	defer r.close()
	tallies, now := make([]tally, len(list)), r.at.Now
	if !slices.ContainsFunc(list, func(a Alert) bool { return a.Kind != "contradictions" && a.Kind != "cost" }) {
		return tallies, now, nil
	}
	err = r.view.Each(r.ctx, &fact.Query{Scope: r.scope, Statuses: fact.AllStatuses, StatusGiven: true, At: r.at}, func(f *fact.Fact) bool {
		if strings.HasPrefix(f.Subject, fact.AlertKind) {
			return true // alerts do not watch themselves
		}
		for i := range list {
			if list[i].watches(f) {
				tallies[i].add(&list[i], f, now)
			}
		}
		return true
	})
	return tallies, now, err
}

func (a *Alert) watches(f *fact.Fact) bool {
	return (a.Predicate == "" || fact.MatchesAny([]string{a.Predicate}, &f.Predicate)) && (a.Source == "" || fact.MatchesAny([]string{a.Source}, f.Source))
}

// tally is what one rule has seen.
type tally struct {
	hold, changed int
	confidence    float64
	newest        fact.Instant
	any           bool
}

func (t *tally) add(a *Alert, f *fact.Fact, now fact.Instant) {
	if f.Status == fact.Candidate {
		return
	}
	if f.Status != fact.Retracted && (!t.any || f.RecordedAt > t.newest) {
		t.newest, t.any = f.RecordedAt, true
	}
	if f.Status == fact.Active && f.Holds(now) {
		t.hold++
		t.confidence += f.Confidence
	}
	if f.Status == fact.Superseded && f.VersionAt >= now-fact.Instant(a.Window*1000) {
		t.changed++
	}
}

func (t *tally) value(kind string, now fact.Instant) float64 {
	switch {
	case kind == "freshness" && t.any:
		return float64(now-t.newest) / 1000
	case kind == "confidence" && t.hold > 0:
		return t.confidence / float64(t.hold)
	case kind == "drift" && t.hold+t.changed > 0:
		return float64(t.changed) / float64(t.hold+t.changed)
	}
	return math.NaN()
}

// written counts the facts that the tenant's writes touched since an instant, but
// for those of alerts.
func (s *Service) written(ctx context.Context, c Caller, from fact.Instant) (float64, error) {
	q := &AuditRequest{Read: NewRead(), Forward: true, From: from, To: fact.NoInstant, Limit: fact.MaxLimit}
	sum := uint64(0)
	for {
		page, _, err := s.Audit(ctx, c, q, nil)
		if err != nil {
			return 0, err
		}
		for i := range page.Records {
			if a := &page.Records[i]; a.Tenant == c.Tenant && a.Actor != watchActor {
				sum += a.Asserted + a.Superseded + a.Retracted
			}
		}
		if q.After = page.Next; page.Next == 0 {
			return float64(sum), nil
		}
	}
}

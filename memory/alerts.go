package memory

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"abagraph/fact"
	"abagraph/memory/mask"
)

// Alerts are facts of the tenant they watch: `Alert:x alert_rule confidence`, and
// what the rule says, `Alert:x alert_state firing`, which is written when it
// changes. So they are told on the stream, have a history, and any node shows them.

// SetAlert makes or changes a rule of the caller's tenant.
func (s *Service) SetAlert(ctx context.Context, c Caller, o WriteOptions, a *Alert, trace *Trace) (*Alert, *fact.Result, error) {
	if err := c.mayWatch(o.Branch); err != nil {
		return nil, nil, err
	}
	list, _, err := s.Alerts(ctx, c, NewRead(), nil)
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(list, func(b Alert) bool { return b.Name == a.Name })
	if i < 0 && len(list) >= MaxAlerts {
		return nil, nil, fact.Errorf(fact.SchemaInvalid, "a tenant may have at most 100 alerts")
	}
	w := &fact.Write{Asserts: []fact.Assert{alertFact(a.Name, fact.AlertRule, a.Kind, fact.AlertRuleSource, a.definition())}}
	if i >= 0 {
		// The same statement with another definition is made anew.
		if same := list[i].Kind == a.Kind && string(list[i].definition()) == string(a.definition()); same {
			return &list[i], &fact.Result{Tx: s.Position().Tx, RecordedAt: s.instant()}, nil
		}
		w.Retracts = []fact.Retract{{ID: list[i].ruleID, KnownAt: fact.NoInstant}}
	}
	o.Mask = mask.Off
	result, err := s.Transact(ctx, c, o, w, trace)
	if err != nil {
		return nil, result, err
	}
	trace.Name("set_alert", "retract → assert, in one tx")
	made := *a
	made.read(&result.Asserts[0].Fact)
	made.Value = math.NaN()
	if i >= 0 {
		made.State, made.Value, made.Since, made.Told = list[i].State, list[i].Value, list[i].Since, list[i].Told
	}
	return &made, result, nil
}

func alertFact(name, predicate, object, source string, properties []byte) fact.Assert {
	return fact.Assert{
		Subject: fact.AlertKind + name, Predicate: predicate, Object: fact.TextObject(object), Properties: properties, Source: &source, Confidence: 1,
		ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, KnownAt: fact.NoInstant,
	}
}

// mayWatch refuses who may not make alerts, and where there are none.
func (c Caller) mayWatch(branch string) error {
	if err := c.Require(fact.RoleAdmin); err != nil {
		return err
	}
	if branch != "" && branch != fact.MainBranch {
		return fact.Invalid("branch", "cannot be named here: alerts are of the main branch")
	}
	if c.Tenant == "" {
		return fact.Invalid("tenant", "is required here: an alert is a tenant's")
	}
	return nil
}

// DeleteAlert ends a rule, and what it said.
func (s *Service) DeleteAlert(ctx context.Context, c Caller, o WriteOptions, name string, trace *Trace) (*fact.Result, error) {
	if err := c.mayWatch(o.Branch); err != nil {
		return nil, err
	}
	a, _, err := s.Alert(ctx, c, NewRead(), name, nil)
	if err != nil {
		return nil, err
	}
	w := &fact.Write{Retracts: []fact.Retract{{ID: a.ruleID, KnownAt: fact.NoInstant}}}
	if !a.stateID.IsZero() {
		w.Retracts = append(w.Retracts, fact.Retract{ID: a.stateID, KnownAt: fact.NoInstant})
	}
	result, err := s.Transact(ctx, c, o, w, trace)
	trace.Name("delete_alert", "retracts, in one tx")
	return result, err
}

// Alert returns one alert.
func (s *Service) Alert(ctx context.Context, c Caller, read Read, name string, trace *Trace) (*Alert, Meta, error) {
	list, meta, err := s.Alerts(ctx, c, read, trace)
	if err != nil {
		return nil, meta, err
	}
	if i := slices.IndexFunc(list, func(a Alert) bool { return a.Name == name }); i >= 0 {
		return &list[i], meta, nil
	}
	return nil, meta, &fact.Error{Code: fact.NotFound, Message: "no alert: " + shorten(name)}
}

// Alerts lists the alerts of the caller's tenant by name, each with what it says.
func (s *Service) Alerts(ctx context.Context, c Caller, read Read, trace *Trace) ([]Alert, Meta, error) {
	if err := c.mayWatch(read.Branch); err != nil {
		return nil, Meta{}, err
	}
	read.bare = true
	r, err := s.begin(ctx, c, read, 0, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer r.close()
	of := map[string]*Alert{}
	told := map[string]string{}
	scope := fact.Scope{Tenant: c.Tenant, Branch: fact.MainBranch}
	for _, predicate := range [...]string{fact.AlertRule, fact.AlertState, fact.AlertTold} {
		err := r.view.Each(r.ctx, &fact.Query{Scope: scope, Predicate: predicate, At: r.at}, func(f *fact.Fact) bool {
			name, ours := strings.CutPrefix(f.Subject, fact.AlertKind)
			if !ours || f.Object.Kind != fact.Text {
				return true
			}
			if predicate == fact.AlertRule {
				of[name] = &Alert{Name: name, Value: math.NaN()}
			}
			if a := of[name]; a != nil {
				a.read(f)
			}
			if predicate == fact.AlertTold {
				told[name] = f.Object.Text
			}
			return true
		})
		if err != nil {
			return nil, r.meta, fmt.Errorf("list alerts: %w", err)
		}
	}
	var list []Alert
	for _, a := range of {
		if a.Kind != "" {
			a.Told = !a.stateID.IsZero() && told[a.Name] == a.stateID.String()
			list = append(list, *a)
		}
	}
	slices.SortFunc(list, func(a, b Alert) int { return strings.Compare(a.Name, b.Name) })
	trace.Step("execute", "by_predicate")
	trace.Name("alerts", "pick by_predicate index")
	trace.Int("results", len(list))
	return list, r.meta, nil
}

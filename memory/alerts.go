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
	if err := s.refuseAlert(c, a); err != nil {
		return nil, nil, err
	}
	trace.Name("set_alert", "guard → retract → assert, in one tx")
	s.warnOfSecret(ctx, c, o, a.Secret)
	if name, ref := strings.CutPrefix(a.Webhook, secretReference); ref {
		s.warnOfSecret(ctx, c, o, name)
	}
	o.Mask = mask.Off
	for range maxAlertTries {
		list, _, err := s.Alerts(ctx, c, NewRead(), nil)
		if err != nil {
			return nil, nil, err
		}
		var known *Alert
		if i := slices.IndexFunc(list, func(b Alert) bool { return b.Name == a.Name }); i >= 0 {
			known = &list[i]
		}
		if known == nil && len(list) >= MaxAlerts {
			return nil, nil, fact.Errorf(fact.SchemaInvalid, "a tenant may have at most 100 alerts")
		}
		if known.same(a) && o.Idem == nil {
			return known, &fact.Result{Tx: s.Position().Tx, RecordedAt: s.instant()}, nil
		}
		w := a.rule(known)
		if known.same(a) {
			w.Retracts = nil // said again it changes nothing, and the outcome is kept under the key
		}
		result, err := s.Transact(ctx, c, o, w, trace)
		if overtaken(err) {
			continue
		}
		if err != nil {
			return nil, result, err
		}
		if result.Replayed && len(result.RetractedIDs) == 0 && !result.Asserts[0].Duplicate {
			known = nil // there was none at the time of the first answer
		}
		return a.made(&result.Asserts[0].Fact, known), result, nil
	}
	return nil, nil, errAlertBusy
}

// maxAlertTries is how often a change is worked out anew because another one came
// between.
const maxAlertTries = 8

var errAlertBusy = fact.Errorf(fact.Conflict, "the alert was changed by others each time it was about to be changed: try again")

// refuseAlert refuses a webhook that may not be called, and personal data: a rule must
// stay as it is, so that it cannot be masked. A source is named as its facts have it.
func (s *Service) refuseAlert(c Caller, a *Alert) error {
	if address := a.Webhook; s.mayCall != nil && address != "" && !strings.HasPrefix(address, secretReference) {
		if err := s.mayCall(address); err != nil {
			return fact.Invalid("webhook", err.Error())
		}
	}
	masker := s.Masker(c, mask.Unsaid)
	if !strings.HasSuffix(a.Source, "*") {
		a.Source, _ = masker.Source(a.Source)
	}
	for _, text := range [...][2]string{{"name", a.Name}, {"predicate", a.Predicate}, {"source", a.Source}, {"webhook", a.Webhook}, {"secret", a.Secret}} {
		if _, n := masker.Text(text[1]); n > 0 {
			return fact.Invalid(text[0], "looks like personal data, which is not stored")
		}
	}
	return nil
}

// warnOfSecret says that what was set needs a secret that is not there.
func (s *Service) warnOfSecret(ctx context.Context, c Caller, o WriteOptions, name string) {
	if name == "" {
		return
	}
	if _, err := s.Secret(ctx, c.Tenant, name); err != nil {
		o.warn("the secret " + name + " is not there, or cannot be read on this node: nothing is sent without it")
	}
}

// same reports whether a rule is there already.
func (a *Alert) same(b *Alert) bool {
	return a != nil && a.Kind == b.Kind && string(a.definition()) == string(b.definition())
}

// rule is the write of a rule in place of the one that is known, if that is there
// still; nil = none is.
func (a *Alert) rule(known *Alert) *fact.Write {
	w := &fact.Write{
		Guards:  []fact.Guard{ruleGuard(a.Name, known)},
		Asserts: []fact.Assert{alertFact(a.Name, fact.AlertRule, a.Kind, fact.AlertRuleSource, a.definition())},
	}
	if known != nil { // the same statement with another definition is made anew
		w.Retracts = []fact.Retract{{ID: known.ruleID, KnownAt: fact.NoInstant}}
	}
	return w
}

// made is a rule that was written, with what the one before it said.
func (a *Alert) made(f *fact.Fact, known *Alert) *Alert {
	made := *a
	made.read(f)
	made.Value = math.NaN()
	if known != nil {
		made.State, made.Value, made.Since, made.Told = known.State, known.Value, known.Since, known.Told
	}
	return &made
}

// ruleGuard holds while the rule of an alert is the one that was read; nil = none.
func ruleGuard(name string, known *Alert) fact.Guard {
	var shown []fact.Fact
	if known != nil {
		shown = []fact.Fact{{ID: known.ruleID, Tx: known.Tx}}
	}
	return fact.SameGuard(fact.AlertKind+name, fact.AlertRule, shown)
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
	trace.Name("delete_alert", "guard → retracts, in one tx")
	for range maxAlertTries {
		a, _, err := s.Alert(ctx, c, NewRead(), name, nil)
		if fact.CodeOf(err) == fact.NotFound {
			if result, failed := s.Repeated(ctx, c, o, fact.AlertKind+name, fact.AlertRule); result != nil || failed != nil {
				return result, failed
			}
		}
		if err != nil {
			return nil, err
		}
		w := &fact.Write{Guards: []fact.Guard{ruleGuard(name, a)}}
		for _, id := range [...]fact.ID{a.ruleID, a.stateID, a.toldID} {
			if !id.IsZero() {
				w.Retracts = append(w.Retracts, fact.Retract{ID: id, KnownAt: fact.NoInstant})
			}
		}
		result, err := s.Transact(ctx, c, o, w, trace)
		if !overtaken(err) {
			return result, err
		}
	}
	return nil, errAlertBusy
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
			return true
		})
		if err != nil {
			return nil, r.meta, fmt.Errorf("list alerts: %w", err)
		}
	}
	var list []Alert
	for _, a := range of {
		if a.Kind != "" {
			a.Told = !a.stateID.IsZero() && a.told == a.stateID.String()
			list = append(list, *a)
		}
	}
	slices.SortFunc(list, func(a, b Alert) int { return strings.Compare(a.Name, b.Name) })
	trace.Step("execute", "by_predicate")
	trace.Name("alerts", "pick by_predicate index")
	trace.Int("results", len(list))
	return list, r.meta, nil
}

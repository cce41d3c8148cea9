package connect

import (
	"context"
	"errors"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/internal/outbound"
	"abagraph/memory"
	"abagraph/memory/mask"
)

// What a connector is made of: "Connector:<name> connector <settings>" and
// "Connector:<name> connector_state <state>", both texts of JSON.
const (
	Prefix         = fact.ConnectorKind
	predicate      = fact.ConnectorSettings
	statePredicate = "connector_state"
	// source is that of the facts about connectors, which no connector's own are.
	source = "abagraph:connectors"
)

// maxSettingsBytes bounds the settings of one connector.
const maxSettingsBytes = 64 << 10

// MaxConnectors is the most connectors of one tenant.
const MaxConnectors = 1_000

// maxTries is how often a change is worked out anew because another one came
// between.
const maxTries = 8

// NoConnector is the error of a connector that is not there, or is another's.
func NoConnector(name string) *fact.Error {
	if len(name) > MaxNameBytes {
		name = name[:MaxNameBytes] + "…"
	}
	return fact.Errorf(fact.NotFound, "no connector: %q", name)
}

// errSends is the error of who would have a secret sent somewhere and is no admin.
var errSends = &fact.Error{Code: fact.Forbidden, Field: "pull.auth", Message: "sends a secret of the tenant's to the connector's URL: this needs a key of role admin"}

// Registered is what became of a registration.
type Registered struct {
	Connector *Connector
	// Existed tells that a connector of this name was there: it is shown, and was
	// left as it is. Differs tells that it is not what was asked for.
	Existed bool
	Differs bool
}

// Register makes a connector. One of the same name is returned as it is; one whose
// name only looks different is a Conflict. With replace, one of the same name takes
// the new settings.
func (s *Service) Register(ctx context.Context, c memory.Caller, o memory.WriteOptions, k *Connector, replace bool, trace *memory.Trace) (*Registered, *fact.Result, error) {
	if err := c.Require(fact.RoleWrite); err != nil {
		return nil, nil, err
	}
	if err := s.checkURL(k.URL); err != nil {
		return nil, nil, err
	}
	if k.Pull.Secret != "" && c.Require(fact.RoleAdmin) != nil {
		return nil, nil, errSends
	}
	masker := s.memory.Masker(c, mask.Unsaid)
	if err := k.refusePersonal(&masker); err != nil {
		return nil, nil, err
	}
	kept := []byte(k.kept())
	if len(kept) > maxSettingsBytes {
		return nil, nil, fact.Invalid("mapping", "is too large: the settings of a connector may have 64 KiB")
	}
	s.warnOfSecrets(ctx, c, o, k)
	for range maxTries {
		all, err := s.all(ctx, c, trace)
		if err != nil {
			return nil, nil, err
		}
		known := find(all, k.Name)
		switch {
		case known == nil && len(all) >= MaxConnectors:
			return nil, nil, fact.Errorf(fact.SchemaInvalid, "there are %d connectors already, which is the most", MaxConnectors)
		case known != nil && known.Given != k.Given:
			return nil, nil, fact.Errorf(fact.Conflict, "a connector named %q has the name %s already, as which %q would be known too", known.Given, k.Name, k.Given)
		case known != nil && !replace && o.Idem == nil:
			return &Registered{Connector: known, Existed: true, Differs: known.kept() != string(kept)}, nil, nil
		}
		var result *fact.Result
		if known != nil && !replace {
			result, err = s.memory.Transact(ctx, c, o, Again(&known.fact), trace)
		} else {
			result, err = s.write(ctx, c, o, k, known, kept, trace)
		}
		if Overtaken(err) {
			continue
		}
		if err != nil {
			return nil, result, err
		}
		return k.registered(&result.Asserts[0], string(kept), replace), result, nil
	}
	return nil, nil, errBusy
}

// registered is what became of a registration, by what it wrote or met: so that a
// repeated request is answered as the first was (C-31).
func (k *Connector) registered(a *fact.AssertResult, kept string, replace bool) *Registered {
	done := &Registered{Connector: k, Existed: a.Duplicate || len(a.Superseded) > 0}
	if shown := connectorOf(&a.Fact); shown != nil {
		done.Connector = shown
	}
	k.of(&a.Fact)
	done.Differs = done.Existed && !replace && done.Connector.kept() != kept
	return done
}

// kept are the settings as they are kept.
func (k *Connector) kept() string { return string(append(k.Append(nil), '}')) }

// Again says once more what is said: it changes nothing, and its outcome is kept under
// an Idempotency-Key.
func Again(f *fact.Fact) *fact.Write {
	w := Statement(f.Subject, f.Predicate, f.Object.Text, f)
	w.Asserts[0].Source, w.Asserts[0].Confidence = f.Source, f.Confidence
	return w
}

func (s *Service) write(ctx context.Context, c memory.Caller, o memory.WriteOptions, k, known *Connector, kept []byte, trace *memory.Trace) (*fact.Result, error) {
	w := Statement(Prefix+k.Name, predicate, string(kept), nil)
	if known != nil {
		w = Statement(Prefix+k.Name, predicate, string(kept), &known.fact)
		if !k.reads(known) {
			if err := s.forget(ctx, c, known, w); err != nil {
				return nil, err
			}
		}
	}
	o.Mask = mask.Off // the settings are no text: what they name must stay as it is
	return s.memory.Transact(ctx, c, o, w, trace)
}

// forget has a write take back what is known of a connector's source too.
func (s *Service) forget(ctx context.Context, c memory.Caller, k *Connector, w *fact.Write) error {
	st, err := s.state(ctx, c, k, nil)
	if err != nil {
		return err
	}
	w.Guards = k.guards(st)
	if st.fact != nil {
		w.Retracts = append(w.Retracts, fact.Retract{ID: st.fact.ID, KnownAt: fact.NoInstant})
	}
	return nil
}

// warnOfSecrets says that a connector needs a secret that is not there.
func (s *Service) warnOfSecrets(ctx context.Context, c memory.Caller, o memory.WriteOptions, k *Connector) {
	names := []string{k.Pull.Secret}
	if k.Signature != nil {
		names = append(names, k.Signature.Secret)
	}
	for _, name := range names {
		if name == "" || o.Warn == nil {
			continue
		}
		if s.secret != nil {
			if _, err := s.secret(ctx, c.Tenant, name); err == nil {
				continue
			}
		}
		o.Warn("the secret " + name + " is not there, or cannot be read on this node: the connector needs it")
	}
}

// Statement says something new of a connector, if what was read of it still holds
// then; nil = nothing held.
func Statement(subject, predicate, text string, was *fact.Fact) *fact.Write {
	var shown []fact.Fact
	if was != nil {
		shown = []fact.Fact{*was}
	}
	from := source
	return &fact.Write{
		Guards: []fact.Guard{fact.SameGuard(subject, predicate, shown)},
		Asserts: []fact.Assert{{
			Subject: subject, Predicate: predicate, Object: fact.TextObject(text), ValidFrom: fact.NoInstant, ValidUntil: fact.Forever,
			Confidence: 1, Source: &from, KnownAt: fact.NoInstant,
		}},
	}
}

// Overtaken reports whether a write was refused only because what it was worked out
// from holds no longer.
func Overtaken(err error) bool {
	var e *fact.Error
	return errors.As(err, &e) && e.Code == fact.CompareFailed
}

func (s *Service) checkURL(url string) error {
	if url == "" {
		return nil
	}
	if s.guard == nil {
		return fact.Invalid("url", "cannot be called: this server calls no one")
	}
	var refused *outbound.Failure
	if err := s.guard.Check(url); errors.As(err, &refused) {
		return fact.Invalid("url", refused.Error())
	} else if err != nil {
		return err
	}
	return nil
}

// all reads the connectors of the caller's tenant, by name.
func (s *Service) all(ctx context.Context, c memory.Caller, trace *memory.Trace) ([]*Connector, error) {
	list, _, err := s.list(ctx, c, memory.NewRead(), trace)
	return list, err
}

func (s *Service) list(ctx context.Context, c memory.Caller, read memory.Read, trace *memory.Trace) ([]*Connector, memory.Meta, error) {
	var list []*Connector
	meta, err := s.memory.Kept(ctx, c, read, Prefix, predicate, trace, func(f *fact.Fact) {
		if f.Tenant != c.Tenant {
			return // an operator who names no tenant has the ownerless ones
		}
		if k := connectorOf(f); k != nil {
			list = append(list, k)
		}
	})
	if err != nil {
		return nil, meta, err
	}
	list = sortByName(list)
	return list, meta, nil
}

func find(list []*Connector, name string) *Connector {
	for _, k := range list {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// connectorOf reads a connector from its fact; nil where that is none, as one that
// was written by hand.
func connectorOf(f *fact.Fact) *Connector {
	v, err := jsonx.Parse([]byte(f.Object.Text))
	if err != nil {
		return nil
	}
	k, err := Read(v)
	if err != nil || f.Subject != Prefix+k.Name {
		return nil
	}
	k.of(f)
	return k
}

func (k *Connector) of(f *fact.Fact) { k.fact = *f }

// Get returns a connector by its name in any spelling.
func (s *Service) Get(ctx context.Context, c memory.Caller, read memory.Read, name string, trace *memory.Trace) (*Connector, memory.Meta, error) {
	slug, err := Slug(name)
	if err != nil {
		return nil, memory.Meta{}, NoConnector(name)
	}
	page, meta, err := s.memory.Facts(ctx, c, &memory.FactsQuery{Read: read, Subject: Prefix + slug, Predicate: predicate}, trace.Part())
	if err != nil {
		return nil, meta, err
	}
	for i := range page.Facts {
		if f := &page.Facts[i]; f.Tenant == c.Tenant {
			if k := connectorOf(f); k != nil {
				return k, meta, nil
			}
		}
	}
	return nil, meta, NoConnector(name)
}

// Delete ends a connector. What it brought stays.
func (s *Service) Delete(ctx context.Context, c memory.Caller, o memory.WriteOptions, name string, trace *memory.Trace) (*Connector, *fact.Result, error) {
	if err := c.Require(fact.RoleWrite); err != nil {
		return nil, nil, err
	}
	trace.Name("delete_connector", "by_subject index → guards → retracts, in one tx")
	for range maxTries {
		k, _, err := s.Get(ctx, c, memory.NewRead(), name, trace)
		if fact.CodeOf(err) == fact.NotFound {
			return s.deleted(ctx, c, o, name, err)
		}
		if err != nil {
			return nil, nil, err
		}
		w := &fact.Write{Retracts: []fact.Retract{{ID: k.fact.ID, KnownAt: fact.NoInstant}}}
		if err := s.forget(ctx, c, k, w); err != nil {
			return nil, nil, err
		}
		result, err := s.memory.Transact(ctx, c, o, w, trace)
		if !Overtaken(err) {
			return k, result, err
		}
	}
	return nil, nil, errBusy
}

// deleted answers a deletion again whose answer was lost.
func (s *Service) deleted(ctx context.Context, c memory.Caller, o memory.WriteOptions, name string, gone error) (*Connector, *fact.Result, error) {
	slug, err := Slug(name)
	if err != nil {
		return nil, nil, gone
	}
	result, err := s.memory.Repeated(ctx, c, o, Prefix+slug, predicate)
	if result == nil && err == nil {
		err = gone
	}
	return &Connector{Name: slug}, result, err
}

var errBusy = fact.Errorf(fact.Conflict, "the connector was changed by others each time it was about to be changed: try again")

// Row is a connector with the number of facts that hold and that it brought.
type Row struct {
	*Connector
	Ingested int
}

// List lists the connectors of the caller's tenant by name.
func (s *Service) List(ctx context.Context, c memory.Caller, read memory.Read, trace *memory.Trace) ([]Row, memory.Meta, error) {
	trace.Name("list_connectors", "by_predicate index → full scan to count")
	list, meta, err := s.list(ctx, c, read, trace)
	trace.Int("results", len(list))
	if err != nil || len(list) == 0 {
		return nil, meta, err
	}
	names := make([]string, len(list))
	for i, k := range list {
		names[i] = k.Name
	}
	counts, meta, err := s.memory.SourceFacts(ctx, c, read, names, 0, trace)
	if err != nil {
		return nil, meta, err
	}
	rows := make([]Row, len(list))
	for i, k := range list {
		rows[i] = Row{k, counts[i].Holding}
	}
	return rows, meta, nil
}

// Recent is how many of a connector's newest facts are shown.
const Recent = 20

// Shown is a connector with what it brought and how its pulls stand.
type Shown struct {
	Row
	Recent []fact.Fact
	State  State
}

// Show returns one connector.
func (s *Service) Show(ctx context.Context, c memory.Caller, read memory.Read, name string, trace *memory.Trace) (*Shown, memory.Meta, error) {
	k, meta, err := s.Get(ctx, c, read, name, trace)
	if err != nil {
		return nil, meta, err
	}
	facts, meta, err := s.memory.SourceFacts(ctx, c, read, []string{k.Name}, Recent, trace)
	if err != nil {
		return nil, meta, err
	}
	st, err := s.state(ctx, c, k, trace)
	if err != nil {
		return nil, meta, err
	}
	trace.Name("get_connector", "by_subject index → full scan to count")
	return &Shown{Row: Row{k, facts[0].Holding}, Recent: facts[0].Recent, State: st.State}, meta, nil
}

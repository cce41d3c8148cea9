package trigger

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"

	"abagraph/fact"
	"abagraph/ingest/connect"
	"abagraph/internal/jsonx"
	"abagraph/internal/span"
	"abagraph/memory"
	"abagraph/memory/mask"
)

// What a trigger is made of: "Trigger:<name> trigger <settings>" and "Trigger:<name>
// trigger_state <state>", both texts of JSON.
const (
	Prefix         = "Trigger:"
	predicate      = "trigger"
	statePredicate = "trigger_state"
)

// MaxTriggers is the most triggers of one tenant.
const MaxTriggers = 100

// maxTries is how often a change is worked out anew because another one came between.
const maxTries = 8

// Options are what a Service needs.
type Options struct {
	Memory  *memory.Service
	Connect *connect.Service
	Logger  *slog.Logger // nil = nobody is told
	Tracer  span.Tracer  // of runs in parts; nil = nobody keeps them
}

// Service keeps triggers and runs them. It is safe for concurrent use.
type Service struct {
	memory  *memory.Service
	connect *connect.Service
	logger  *slog.Logger
	tracer  span.Tracer
}

// New makes a Service.
func New(o Options) (*Service, error) {
	if o.Memory == nil || o.Connect == nil {
		return nil, errors.New("trigger: a door to the memory and the connectors are required")
	}
	s := &Service{memory: o.Memory, connect: o.Connect, logger: o.Logger, tracer: o.Tracer}
	if s.logger == nil {
		s.logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	return s, nil
}

func noTrigger(name string) *fact.Error {
	if len(name) > connect.MaxNameBytes {
		name = name[:connect.MaxNameBytes] + "…"
	}
	return fact.Errorf(fact.NotFound, "no trigger: %q", name)
}

// Declared is what became of a declaration.
type Declared struct {
	Trigger *Trigger
	// Existed tells that a trigger of this name was there; Differs that it was left as
	// it is, and is not what was asked for.
	Existed bool
	Differs bool
}

// Declare makes a trigger. One of the same name is returned as it is; with replace, it
// takes the new settings.
func (s *Service) Declare(ctx context.Context, c memory.Caller, o memory.WriteOptions, t *Trigger, replace bool, trace *memory.Trace) (*Declared, *fact.Result, error) {
	if err := c.Require(fact.RoleWrite); err != nil {
		return nil, nil, err
	}
	masker := s.memory.Masker(c, mask.Unsaid)
	if _, n := masker.Text(t.Given); n > 0 {
		return nil, nil, fact.Invalid("name", "looks like personal data, which is not stored")
	}
	if err := s.fits(ctx, c, t); err != nil {
		return nil, nil, err
	}
	trace.Name("declare_trigger", "by_predicate index → guard → assert")
	for range maxTries {
		all, _, err := s.list(ctx, c, memory.NewRead(), trace)
		if err != nil {
			return nil, nil, err
		}
		known := find(all, t.Name)
		switch {
		case known == nil && len(all) >= MaxTriggers:
			return nil, nil, fact.Errorf(fact.SchemaInvalid, "there are %d triggers already, which is the most", MaxTriggers)
		case known != nil && known.Given != t.Given:
			return nil, nil, fact.Errorf(fact.Conflict, "a trigger named %q has the name %s already, as which %q would be known too", known.Given, t.Name, t.Given)
		case known != nil && !replace && o.Idem == nil:
			return &Declared{Trigger: known, Existed: true, Differs: known.kept() != t.kept()}, nil, nil
		}
		var result *fact.Result
		if known != nil && !replace {
			result, err = s.memory.Transact(ctx, c, o, connect.Again(&known.fact), trace)
		} else {
			result, err = s.save(ctx, c, o, t, known, trace)
		}
		if connect.Overtaken(err) {
			continue
		}
		if err != nil {
			return nil, result, err
		}
		return t.declared(&result.Asserts[0], replace), result, nil
	}
	return nil, nil, errBusy
}

// declared is what became of a declaration, by what it wrote or met: so that a repeated
// request is answered as the first was (C-31).
func (t *Trigger) declared(a *fact.AssertResult, replace bool) *Declared {
	done := &Declared{Trigger: t, Existed: a.Duplicate || len(a.Superseded) > 0}
	if shown := triggerOf(&a.Fact); shown != nil {
		done.Trigger = shown
	}
	t.fact = a.Fact
	done.Differs = done.Existed && !replace && done.Trigger.kept() != t.kept()
	return done
}

var errBusy = fact.Errorf(fact.Conflict, "the trigger was changed by others each time it was about to be changed: try again")

// fits refuses a trigger whose connector could not be pulled.
func (s *Service) fits(ctx context.Context, c memory.Caller, t *Trigger) error {
	k, _, err := s.connect.Get(ctx, c, memory.NewRead(), t.Connector, nil)
	if fact.CodeOf(err) == fact.NotFound {
		return fact.Invalid("connector", "is not registered: "+t.Connector)
	}
	switch {
	case err != nil:
		return err
	case k.URL == "":
		return fact.Invalid("connector", "has no url to be pulled from")
	case t.Schedule == "" && k.Pull.CursorField == "":
		return fact.Invalid("every_secs", "needs a connector with pull.cursor, which tells what has changed")
	}
	return nil
}

func (t *Trigger) kept() string { return string(append(t.Append(nil), '}')) }

func (s *Service) save(ctx context.Context, c memory.Caller, o memory.WriteOptions, t, known *Trigger, trace *memory.Trace) (*fact.Result, error) {
	var was *fact.Fact
	if known != nil {
		was = &known.fact
	}
	o.Mask = mask.Off // the settings must stay as they are; personal data was refused
	return s.memory.Transact(ctx, c, o, connect.Statement(Prefix+t.Name, predicate, t.kept(), was), trace)
}

// Pause stops the runs of a trigger, or lets it run again. What was missed meanwhile is
// not made up for.
func (s *Service) Pause(ctx context.Context, c memory.Caller, o memory.WriteOptions, name string, paused bool, trace *memory.Trace) (*Trigger, *fact.Result, error) {
	if err := c.Require(fact.RoleWrite); err != nil {
		return nil, nil, err
	}
	op := "resume_trigger"
	if paused {
		op = "pause_trigger"
	}
	trace.Name(op, "by_subject index → guard → assert")
	for range maxTries {
		known, _, err := s.Get(ctx, c, memory.NewRead(), name, trace)
		if err != nil {
			return nil, nil, err
		}
		if known.Paused == paused && o.Idem == nil {
			return known, nil, nil
		}
		t := *known
		t.Paused = paused
		result, err := s.save(ctx, c, o, &t, known, trace)
		if connect.Overtaken(err) {
			continue
		}
		if err != nil {
			return nil, result, err
		}
		t.fact = result.Asserts[0].Fact
		return &t, result, nil
	}
	return nil, nil, errBusy
}

// Delete ends a trigger. Its connector stays.
func (s *Service) Delete(ctx context.Context, c memory.Caller, o memory.WriteOptions, name string, trace *memory.Trace) (*Trigger, *fact.Result, error) {
	if err := c.Require(fact.RoleWrite); err != nil {
		return nil, nil, err
	}
	trace.Name("delete_trigger", "by_subject index → guards → retracts, in one tx")
	for range maxTries {
		t, _, err := s.Get(ctx, c, memory.NewRead(), name, trace)
		if fact.CodeOf(err) == fact.NotFound {
			return s.deleted(ctx, c, o, name, err)
		}
		if err != nil {
			return nil, nil, err
		}
		st, err := s.state(ctx, c, t)
		if err != nil {
			return nil, nil, err
		}
		// A run that ends meanwhile would leave its state behind.
		result, err := s.memory.Transact(ctx, c, o, t.end(st), trace)
		if !connect.Overtaken(err) {
			return t, result, err
		}
	}
	return nil, nil, errBusy
}

// end is the write that takes back a trigger and its state, if both are as they were.
func (t *Trigger) end(st *stated) *fact.Write {
	w := &fact.Write{Retracts: []fact.Retract{{ID: t.fact.ID, KnownAt: fact.NoInstant}}}
	var states []fact.Fact
	if st.fact != nil {
		states = append(states, *st.fact)
		w.Retracts = append(w.Retracts, fact.Retract{ID: st.fact.ID, KnownAt: fact.NoInstant})
	}
	w.Guards = []fact.Guard{
		fact.SameGuard(Prefix+t.Name, predicate, []fact.Fact{t.fact}), fact.SameGuard(Prefix+t.Name, statePredicate, states),
	}
	return w
}

// deleted answers a deletion again whose answer was lost.
func (s *Service) deleted(ctx context.Context, c memory.Caller, o memory.WriteOptions, name string, gone error) (*Trigger, *fact.Result, error) {
	slug, err := connect.Slug(name)
	if err != nil {
		return nil, nil, gone
	}
	result, err := s.memory.Repeated(ctx, c, o, Prefix+slug, predicate)
	if result == nil && err == nil {
		err = gone
	}
	return &Trigger{Name: slug}, result, err
}

// triggerOf reads a trigger from its fact; nil where that is none.
func triggerOf(f *fact.Fact) *Trigger {
	v, err := jsonx.Parse([]byte(f.Object.Text))
	if err != nil {
		return nil
	}
	t, err := Read(v)
	if err != nil || f.Subject != Prefix+t.Name {
		return nil
	}
	t.fact = *f
	return t
}

func find(list []*Trigger, name string) *Trigger {
	for _, t := range list {
		if t.Name == name {
			return t
		}
	}
	return nil
}

func (s *Service) list(ctx context.Context, c memory.Caller, read memory.Read, trace *memory.Trace) ([]*Trigger, memory.Meta, error) {
	var list []*Trigger
	meta, err := s.memory.Kept(ctx, c, read, Prefix, predicate, trace, func(f *fact.Fact) {
		if f.Tenant == c.Tenant {
			if t := triggerOf(f); t != nil && find(list, t.Name) == nil {
				list = append(list, t)
			}
		}
	})
	if err != nil {
		return nil, meta, err
	}
	slices.SortFunc(list, func(a, b *Trigger) int { return strings.Compare(a.Name, b.Name) })
	return list, meta, nil
}

// Get returns a trigger by its name in any spelling.
func (s *Service) Get(ctx context.Context, c memory.Caller, read memory.Read, name string, trace *memory.Trace) (*Trigger, memory.Meta, error) {
	slug, err := connect.Slug(name)
	if err != nil {
		return nil, memory.Meta{}, noTrigger(name)
	}
	page, meta, err := s.memory.Facts(ctx, c, &memory.FactsQuery{Read: read, Subject: Prefix + slug, Predicate: predicate}, trace.Part())
	if err != nil {
		return nil, meta, err
	}
	for i := range page.Facts {
		if f := &page.Facts[i]; f.Tenant == c.Tenant {
			if t := triggerOf(f); t != nil {
				return t, meta, nil
			}
		}
	}
	return nil, meta, noTrigger(name)
}

// Row is a trigger with what became of its last run and when the next one is due.
type Row struct {
	*Trigger
	State State
	Next  fact.Instant // NoInstant = it is paused, or looks for changes
}

// Show returns one trigger.
func (s *Service) Show(ctx context.Context, c memory.Caller, read memory.Read, name string, trace *memory.Trace) (*Row, memory.Meta, error) {
	trace.Name("get_trigger", "by_subject index")
	t, meta, err := s.Get(ctx, c, read, name, trace)
	if err != nil {
		return nil, meta, err
	}
	row, err := s.row(ctx, c, t, meta.Now)
	return row, meta, err
}

func (s *Service) row(ctx context.Context, c memory.Caller, t *Trigger, now fact.Instant) (*Row, error) {
	st, err := s.state(ctx, c, t)
	if err != nil {
		return nil, err
	}
	r := &Row{Trigger: t, State: st.State, Next: fact.NoInstant}
	if !t.Paused && t.schedule != nil {
		r.Next = t.Next(now)
	}
	return r, nil
}

// List lists the triggers of the caller's tenant by name.
func (s *Service) List(ctx context.Context, c memory.Caller, read memory.Read, trace *memory.Trace) ([]*Row, memory.Meta, error) {
	list, meta, err := s.list(ctx, c, read, trace)
	if err != nil {
		return nil, meta, err
	}
	rows := make([]*Row, len(list))
	for i, t := range list {
		if rows[i], err = s.row(ctx, c, t, meta.Now); err != nil {
			return nil, meta, err
		}
	}
	trace.Name("list_triggers", "by_predicate index")
	trace.Int("results", len(rows))
	return rows, meta, nil
}

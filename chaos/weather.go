package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"abagraph/client"
	"abagraph/fact"
)

// Weather writes everything that a store can be told, in a small world in which
// statements often meet: facts with and without dates, candidates and what
// promotes them, facts that expire, corroboration and restatement, retractions,
// batches with guards, declared history, and purges. What is refused is part of
// it. The same seed makes the same writes, apart from ids and order.
type Weather struct {
	Nodes   []*Node
	Tenants []string
	Seed    uint64
	Workers int
	Writes  int // by each worker
}

// Seen is what a run of Weather learned and reads can ask about.
type Seen struct {
	mu       sync.Mutex
	IDs      []string
	Written  int
	Refused  int
	Statuses map[int]int
}

// forecaster is one worker.
type forecaster struct {
	*Weather
	r    *rand.Rand
	n    int
	ids  []string
	seen *Seen
}

// Run writes it all.
func (w *Weather) Run(ctx context.Context) (*Seen, error) {
	seen := &Seen{Statuses: make(map[int]int)}
	errs := make([]error, w.Workers)
	var wg sync.WaitGroup
	for i := range w.Workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			f := &forecaster{Weather: w, r: rand.New(rand.NewPCG(w.Seed, uint64(i))), n: i, seen: seen}
			errs[i] = f.run(ctx)
		}()
	}
	wg.Wait()
	return seen, errors.Join(errs...)
}

func (f *forecaster) run(ctx context.Context) error {
	clients, closing, err := Clients(f.Nodes)
	if err != nil {
		return err
	}
	defer closing()
	for i := range f.Writes {
		write := client.Write{Tenant: f.Tenants[f.r.IntN(len(f.Tenants))], IdempotencyKey: fmt.Sprintf("weather-%d-%d-%d", f.Seed, f.n, i)}
		send := f.next(write)
		err := Until(ctx, clients, f.r.IntN(len(clients)), send)
		if err != nil && (passes(err) || client.StatusOf(err) >= 500) {
			return fmt.Errorf("write %s: %w", write.IdempotencyKey, err)
		}
		f.seen.note(err)
	}
	f.seen.mu.Lock()
	defer f.seen.mu.Unlock()
	f.seen.IDs = append(f.seen.IDs, f.ids...)
	return nil
}

func (s *Seen) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Written++
	if err != nil {
		s.Refused++
		s.Statuses[client.StatusOf(err)]++
	}
}

type sender = func(context.Context, *client.Client) error

// next decides on a write.
func (f *forecaster) next(w client.Write) sender {
	switch k := f.r.IntN(20); {
	case k < 10:
		a := f.assert()
		return func(ctx context.Context, c *client.Client) error {
			got, err := c.Assert(ctx, a, w)
			if err == nil {
				f.ids = append(f.ids, got.Fact.ID)
			}
			return err
		}
	case k < 12:
		id := f.someID()
		return func(ctx context.Context, c *client.Client) error {
			_, err := c.Retract(ctx, id, w)
			return err
		}
	case k < 16:
		return f.transact(f.batch(), w)
	case k < 19:
		return f.transact(f.history(), w)
	}
	target := client.PurgeTarget{Subject: f.subject(), Tenant: w.Tenant}
	return func(ctx context.Context, c *client.Client) error {
		_, err := c.Purge(ctx, target)
		return err
	}
}

func (f *forecaster) transact(t *client.Transact, w client.Write) sender {
	return func(ctx context.Context, c *client.Client) error {
		got, err := c.Transact(ctx, t, w)
		if err == nil {
			for i := range got.Facts {
				f.ids = append(f.ids, got.Facts[i].ID)
			}
		}
		return err
	}
}

func (f *forecaster) subject() string { return "Thing:" + strconv.Itoa(f.r.IntN(8)) }
func (f *forecaster) predicate() string {
	return [...]string{"is_in", "costs", "gehört_zu"}[f.r.IntN(3)]
}

func (f *forecaster) object() fact.Object {
	switch f.r.IntN(6) {
	case 0:
		return fact.BoolObject(f.r.IntN(2) == 0)
	case 1:
		return fact.Object{} // null
	case 2:
		return fact.TextObject(f.subject())
	}
	return fact.TextObject([...]string{"Oslo", "Bergen", "東京", "a \"quoted\" word"}[f.r.IntN(4)])
}

func (f *forecaster) someID() string {
	if len(f.ids) == 0 || f.r.IntN(8) == 0 {
		return "0190a5b0-7c3e-7000-8000-000000000000"
	}
	return f.ids[f.r.IntN(len(f.ids))]
}

// day is one of a few days of the past, so that dated facts often overlap.
func (f *forecaster) day() string {
	return time.Date(2020, 1, 1+f.r.IntN(12), 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
}

func (f *forecaster) assert() client.Assert {
	a := client.Assert{Subject: f.subject(), Predicate: f.predicate(), Object: f.object()}
	if f.r.IntN(2) == 0 {
		source := [...]string{"register", "hearsay"}[f.r.IntN(2)]
		a.Source = &source
	}
	if f.r.IntN(3) == 0 {
		confidence := [...]float64{0.2, 0.5, 0.75, 0.9}[f.r.IntN(4)]
		a.Confidence = &confidence
	}
	if f.r.IntN(2) == 0 { // large enough that a few hundred writes fill a log
		a.Properties = []byte(`{"note":"` + strings.Repeat("from the weather ", f.r.IntN(200)) + `"}`)
	}
	a.Policy = [...]string{"", "", "", "coexist", "reject"}[f.r.IntN(5)]
	switch f.r.IntN(6) {
	case 0:
		a.ValidFrom = f.day()
	case 1:
		a.ValidFrom, a.ValidUntil = "2020-01-0"+strconv.Itoa(1+f.r.IntN(5)), "2020-01-0"+strconv.Itoa(6+f.r.IntN(4))
	case 2: // soon over
		a.ValidUntil = strconv.FormatInt(time.Now().Add(time.Duration(f.r.IntN(2000))*time.Millisecond).UnixMilli(), 10)
		a.Transient = f.r.IntN(3) > 0
	case 3:
		a.ValidUntil = "2190-01-01"
	}
	return a
}

func (f *forecaster) batch() *client.Transact {
	t := &client.Transact{}
	for range 1 + f.r.IntN(4) {
		t.Asserts = append(t.Asserts, f.assert())
	}
	if f.r.IntN(3) == 0 {
		t.Retracts = append(t.Retracts, client.Retract{ID: f.someID()})
	}
	if f.r.IntN(3) == 0 {
		o := f.object()
		t.Compares = append(t.Compares, client.Compare{Subject: f.subject(), Predicate: f.predicate(), Object: &o})
	}
	return t
}

// history is a batch that declares when its rows were known.
func (f *forecaster) history() *client.Transact {
	t := &client.Transact{Backfill: &client.Backfill{Reason: "from the old books"}}
	for range 1 + f.r.IntN(3) {
		a := f.assert()
		a.Policy, a.Transient, a.ValidUntil = "coexist", false, ""
		if f.r.IntN(4) == 0 {
			a.Policy = ""
		}
		a.DeclaredKnownAt = f.day()
		t.Asserts = append(t.Asserts, a)
	}
	if f.r.IntN(4) == 0 {
		t.Retracts = append(t.Retracts, client.Retract{ID: f.someID(), DeclaredKnownAt: f.day()})
	}
	return t
}

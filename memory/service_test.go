package memory_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/internal/onenode"
	"abagraph/memory"
)

func assert(t *testing.T, s *memory.Service, c memory.Caller, subject, object string) *fact.Result {
	t.Helper()
	r, err := s.Assert(context.Background(), c, memory.WriteOptions{}, &fact.Assert{
		Subject: subject, Predicate: "p", Object: fact.TextObject(object), Confidence: 1,
		ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, KnownAt: fact.NoInstant,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func resolve(t *testing.T, s *memory.Service, key string) memory.Caller {
	t.Helper()
	c, err := s.Resolve(context.Background(), key)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestWhoAKeyStandsFor(t *testing.T) {
	ctx := context.Background()
	n := onenode.Start(t)
	s := n.Service(t, memory.Options{AdminKey: "root"})
	admin := resolve(t, s, "root")
	if !admin.Operator || !admin.Scope("").All || admin.Tenant != "" {
		t.Errorf("admin: %+v", admin)
	}
	named, err := admin.In("a")
	if err != nil || named.Scope("").All || named.Scope("").Tenant != "a" {
		t.Errorf("in tenant a: %+v, %v", named, err)
	}
	for _, wrong := range []string{"", "Root", "root ", "roo"} {
		if _, err := s.Resolve(ctx, wrong); err != error(memory.Denied()) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	_, secret, err := s.CreateTenant(ctx, admin, memory.WriteOptions{}, memory.NewTenant{ID: "a", Role: fact.RoleWrite}, nil)
	if err != nil || !strings.HasPrefix(secret, "aba_") || len(secret) != 47 {
		t.Fatalf("key %q, %v", secret, err)
	}
	a := resolve(t, s, secret)
	if a.Operator || a.Tenant != "a" || a.Actor != "a/default" {
		t.Errorf("tenant: %+v", a)
	}
	if b, err := a.In("b"); err != nil || b.Tenant != "a" {
		t.Errorf("a scoped caller named a tenant: %+v, %v", b, err)
	}

	dev := n.Service(t, memory.Options{})
	if c := resolve(t, dev, "anything"); !c.Operator || c.Tenant != memory.DefaultTenant {
		t.Errorf("development: %+v", c)
	}
	if c := resolve(t, dev, secret); c.Operator || c.Tenant != "a" {
		t.Errorf("a tenant's key in development: %+v", c)
	}
}

// C-41: a revoked key is of no use from the moment that its revocation was
// acknowledged, also to a caller that was resolved before.
func TestRevocationIsAtOnce(t *testing.T) {
	ctx := context.Background()
	for _, leads := range []bool{true, false} {
		var version atomic.Uint64
		s := onenode.Start(t).Service(t, memory.Options{AdminKey: "root", Leads: func() bool { return leads }, RegistryVersion: version.Load})
		admin := resolve(t, s, "root")
		made, secret, err := s.CreateTenant(ctx, admin, memory.WriteOptions{}, memory.NewTenant{ID: "a", Role: fact.RoleWrite}, nil)
		if err != nil {
			t.Fatal(err)
		}
		version.Add(1)
		a := resolve(t, s, secret)
		assert(t, s, a, "A:1", "x")
		feed, _, err := s.Follow(ctx, a, memory.EventFilter{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.RevokeKey(ctx, admin, memory.WriteOptions{}, "a", made.Key.ID, nil); err != nil {
			t.Fatal(err)
		}
		version.Add(1)
		if _, err := s.Resolve(ctx, secret); !errors.Is(err, error(memory.Denied())) {
			t.Errorf("resolve: %v", err)
		}
		if _, _, err := s.Facts(ctx, a, &memory.FactsQuery{Read: memory.NewRead()}, nil); !errors.Is(err, error(memory.Denied())) {
			t.Errorf("read: %v", err)
		}
		if _, err := s.Retract(ctx, a, memory.WriteOptions{}, made.Key.ID, nil); !errors.Is(err, error(memory.Denied())) {
			t.Errorf("write: %v", err)
		}
		if _, err := feed.Next(ctx, time.Second); !errors.Is(err, error(memory.Denied())) {
			t.Errorf("feed: %v", err)
		}
	}
}

// C-33: between what is replayed and what is live nothing is lost or told twice.
func TestFeedHasNoGapAndNoRepeat(t *testing.T) {
	ctx := context.Background()
	s := onenode.Start(t).Service(t, memory.Options{})
	c := resolve(t, s, "")
	const writes = 300
	for i := range writes / 2 {
		assert(t, s, c, fmt.Sprintf("A:%d", i%7), fmt.Sprint(i))
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := writes / 2; i < writes; i++ {
			assert(t, s, c, fmt.Sprintf("A:%d", i%7), fmt.Sprint(i))
		}
	}()
	feed, resync, err := s.Follow(ctx, c, memory.EventFilter{}, &memory.Cursor{Tx: 0})
	if err != nil || resync != nil {
		t.Fatal(err, resync)
	}
	next := 0
	for next < writes {
		events, err := feed.Next(ctx, 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if e.Fact.Object.Text != fmt.Sprint(next) || e.Tx != uint64(next)+1 {
				t.Fatalf("event %d is %s of tx %d", next, e.Fact.Object.Text, e.Tx)
			}
			next++
		}
	}
	<-done
	if events, err := feed.Next(ctx, time.Millisecond); err != nil || len(events) != 0 || feed.Cursor().Tx != writes {
		t.Errorf("after the last: %v, %v, %+v", events, err, feed.Cursor())
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := feed.Next(cancelled, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestKnownAtOfThePresentSaysWhere(t *testing.T) {
	ctx := context.Background()
	n := onenode.Start(t)
	s := n.Service(t, memory.Options{})
	c := resolve(t, s, "")
	first := assert(t, s, c, "A:1", "x")
	n.Advance(time.Minute)
	second := assert(t, s, c, "A:1", "y")
	for _, tt := range []struct {
		knownAt fact.Instant
		object  string
		tx      uint64
		now     fact.Instant
	}{
		{first.RecordedAt, "x", 1, first.RecordedAt},
		{second.RecordedAt - 1, "x", 1, second.RecordedAt - 1},
		{second.RecordedAt, "y", 2, second.RecordedAt},
	} {
		q := memory.FactsQuery{Read: memory.NewRead()}
		q.KnownAt = tt.knownAt
		page, meta, err := s.Facts(ctx, c, &q, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Facts) != 1 || page.Facts[0].Object.Text != tt.object || meta.Tx != tt.tx || meta.Now != tt.now {
			t.Errorf("known_at %d: %v, %+v", tt.knownAt, page.Facts, meta)
		}
	}
	q := memory.FactsQuery{Read: memory.NewRead()}
	q.KnownAt = fact.MaxInstant
	_, meta, err := s.Facts(ctx, c, &q, nil)
	if err != nil || meta.Tx != 2 || meta.Now > n.Now() {
		t.Errorf("known_at the end of time: %+v, %v", meta, err)
	}
	q.Pinned = true
	if _, _, err := s.Facts(ctx, c, &q, nil); fact.CodeOf(err) != fact.SchemaInvalid {
		t.Errorf("tx with known_at: %v", err)
	}
}

func TestThresholdIsChecked(t *testing.T) {
	n := onenode.Start(t)
	for _, bad := range []float64{-0.1, 1.1} {
		if _, err := memory.New(memory.Options{Engine: n, View: n.View, Threshold: &bad}); err == nil {
			t.Errorf("threshold %v was accepted", bad)
		}
	}
	low := 0.5
	s := n.Service(t, memory.Options{Threshold: &low})
	r, err := s.Assert(context.Background(), resolve(t, s, ""), memory.WriteOptions{}, &fact.Assert{
		Subject: "A:1", Predicate: "p", Confidence: 0.5, ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, KnownAt: fact.NoInstant,
	}, nil)
	if err != nil || r.Asserts[0].Fact.Status != fact.Active {
		t.Errorf("at the threshold: %v, %v", r, err)
	}
}

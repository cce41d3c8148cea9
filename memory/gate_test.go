package memory

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"abagraph/fact"
)

// TestOneTenantNeverTakesAllPlaces fills a gate with one tenant's reads: another's
// comes in at once, and the first one's next ones are told to come again.
func TestOneTenantNeverTakesAllPlaces(t *testing.T) {
	var refused refusals
	g := newGate(4, 2, time.Millisecond, "looks", &refused)
	a, b := Caller{Tenant: "a"}, Caller{Tenant: "b"}
	var leaves []func()
	enter := func(c Caller) error {
		leave, err := g.enter(t.Context(), c)
		if err == nil {
			leaves = append(leaves, leave)
		}
		return err
	}
	for range 2 {
		if err := enter(a); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if err := enter(a); fact.CodeOf(err) != fact.RateLimited {
			t.Fatalf("beyond its share a tenant got %v", err)
		}
	}
	if err := enter(b); err != nil {
		t.Fatalf("another tenant found no place: %v", err)
	}
	if got := refused[refusedHeavy].Load(); got != 3 {
		t.Errorf("%d refusals are counted, not 3", got)
	}
	for _, leave := range leaves {
		leave()
	}
	if g.taken != 0 || len(g.held) != 0 || len(g.waiting) != 0 || len(g.tenants) != 0 {
		t.Errorf("an empty gate holds %d, %v, %v, %v", g.taken, g.held, g.waiting, g.tenants)
	}
}

// TestPlacesGoInTurn: of those that wait, the tenant that holds the fewest is next,
// and a tenant's own come in the order of coming.
func TestPlacesGoInTurn(t *testing.T) {
	var refused refusals
	g := newGate(2, 2, time.Minute, "looks", &refused)
	first, err := g.enter(t.Context(), Caller{Tenant: "a"})
	if err != nil {
		t.Fatal(err)
	}
	second, err := g.enter(t.Context(), Caller{Tenant: "a"})
	if err != nil {
		t.Fatal(err)
	}
	came := make(chan string, 3)
	wait := func(tenant string, n int) {
		go func() {
			leave, err := g.enter(context.Background(), Caller{Tenant: tenant})
			if err != nil {
				came <- err.Error()
				return
			}
			came <- fmt.Sprint(tenant, n)
			leave()
		}()
		for begun := false; !begun; {
			g.mu.Lock()
			begun = len(g.waiting[tenant]) == n
			g.mu.Unlock()
		}
	}
	wait("a", 1)
	wait("a", 2)
	wait("b", 1)
	first()
	for _, want := range []string{"b1", "a1", "a2"} {
		if got := <-came; got != want {
			t.Errorf("%s came where %s was next", got, want)
		}
	}
	second()
}

// TestGivingUpLeavesTheLine: a read that is given up takes no place later.
func TestGivingUpLeavesTheLine(t *testing.T) {
	var refused refusals
	g := newGate(1, 1, time.Minute, "looks", &refused)
	leave, err := g.enter(t.Context(), Caller{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.enter(ctx, Caller{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a read that was given up got %v", err)
	}
	for range maxWaiting {
		if _, err := g.ask(""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := g.enter(t.Context(), Caller{}); fact.CodeOf(err) != fact.RateLimited {
		t.Errorf("a line that is full lets in: %v", err)
	}
	leave()
	if g.taken != 1 || len(g.waiting[""]) != maxWaiting-1 {
		t.Errorf("%d places are taken and %d wait", g.taken, len(g.waiting[""]))
	}
}

// TestBucketsAreOfOneTenant: what one tenant spends costs another nothing, what was
// refused is not spent, and time fills a bucket up to its burst.
func TestBucketsAreOfOneTenant(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	b := newBuckets(10, 1)
	for i := range 20 {
		if wait := b.spend("a", 1, now); wait != 0 {
			t.Fatalf("request %d has to wait %v", i, wait)
		}
	}
	for range 5 {
		if wait := b.spend("a", 1, now); wait != 100*time.Millisecond {
			t.Fatalf("the next one has to wait %v", wait)
		}
	}
	if wait := b.spend("b", 20, now); wait != 0 {
		t.Errorf("another tenant has to wait %v", wait)
	}
	if wait := b.spend("a", 1, now.Add(100*time.Millisecond)); wait != 0 {
		t.Errorf("after a tenth of a second it has to wait %v", wait)
	}
	if wait := b.spend("a", 1_000_000, now.Add(time.Hour)); wait != 0 {
		t.Errorf("more than a whole bucket is never let through: %v", wait)
	}
	if newBuckets(0, 1).spend("a", 1, now) != 0 {
		t.Error("no limit is a limit")
	}
}

// TestBucketsAreBounded: tenants of long ago are forgotten.
func TestBucketsAreBounded(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	b := newBuckets(1, 1)
	for i := range maxBuckets + 10 {
		b.spend(fmt.Sprint("t", i), 1, now)
	}
	if len(b.all) > maxBuckets {
		t.Errorf("%d buckets are kept", len(b.all))
	}
	b.spend("busy", 2, now.Add(time.Hour))
	for i := range maxBuckets {
		b.spend(fmt.Sprint("u", i), 1, now)
	}
	if len(b.all) > maxBuckets {
		t.Errorf("%d buckets are kept", len(b.all))
	}
}

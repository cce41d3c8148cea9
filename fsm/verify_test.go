package fsm_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/internal/model"
	"abagraph/log/entry"

	"github.com/cockroachdb/pebble/v2"
)

// verified deep-checks a machine.
func verified(t *testing.T, m *fsm.Machine) (*fsm.Verified, error) {
	t.Helper()
	view, err := m.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	return view.Verify(t.Context(), nil)
}

// TestVerifyOfSoundStores: whatever history made a store, its deep check finds
// nothing to tell, and counts what there is.
func TestVerifyOfSoundStores(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			n := newNode(t, fsm.Options{})
			r := model.NewRandom(seed)
			if seed%2 == 1 {
				r = model.NewRandomForks(seed)
			}
			for _, s := range r.History(120) {
				n.put(bytesOf(s))
			}
			n.apply()
			got, err := verified(t, n.m)
			if err != nil || len(got.Problems) > 0 {
				t.Fatalf("%+v, %v", got, err)
			}
			if got.Tx != n.m.Position().Tx || got.Facts == 0 || got.Events == 0 || got.Versions == 0 || got.Tenants == 0 {
				t.Errorf("it has seen %+v", got)
			}
		})
	}
}

// TestVerifyFindsWhatIsBroken: a key that is gone, in whatever family, is found, and
// so are a changed counter, a state that is not the last tx's, and a fact that lies
// elsewhere. No text of a fact is told.
func TestVerifyFindsWhatIsBroken(t *testing.T) {
	const (
		missing = "is missing in"
		counts  = "the store says"
	)
	for _, c := range []struct {
		name   string
		family byte // 0 = a key of the store's own
		within []byte
		says   string
	}{
		{"counters", 'C', nil, counts}, {"predicate", 'N', nil, counts}, {"id", 'F', nil, "does not lead to it"},
		{"by predicate", 'P', nil, missing}, {"by object", 'O', nil, missing},
		{"vector", 'W', nil, counts}, {"place of a vector", 'U', nil, "does not lead to its vector"},
		{"row", 'T', []byte{1}, counts}, {"outcome", 'I', nil, counts}, {"tx record", 0, []byte{0x01, 'x'}, "are missing"},
		{"tenant", 0, []byte{0x01, 't'}, "is not listed"}, {"audit trail", 'A', nil, "is missing in the audit trail"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			n := newNode(t, fsm.Options{Dir: dir, CacheBytes: 8 << 20})
			e := &embedded{rnd: rand.New(rand.NewPCG(5, 9))}
			for _, s := range model.NewRandom(5).History(80) {
				n.put(bytesOf(e.decorate(s)))
			}
			n.apply()
			if err := n.m.Close(); err != nil {
				t.Fatal(err)
			}
			remove(t, dir, c.family, c.within)
			m, err := fsm.Open(fsm.Options{Dir: dir, ReadOnly: true, CacheBytes: 8 << 20})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			got, err := verified(t, m)
			if err != nil {
				t.Fatal(err)
			}
			if told := strings.Join(got.Problems, "\n"); !strings.Contains(told, c.says) {
				t.Errorf("not told that something %s: %s", c.says, told)
			}
		})
	}
}

// remove deletes the first key of a family of a tenant's main branch or, where there
// is none, of what it shares; or the first one with a prefix.
func remove(t *testing.T, dir string, family byte, within []byte) {
	t.Helper()
	db, err := pebble.Open(dir, &pebble.Options{Logger: quiet{}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	it, err := db.NewIter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for ok := it.First(); ok; ok = it.Next() {
		k := bytes.Clone(it.Key())
		hit := family == 0 && bytes.HasPrefix(k, within)
		if family != 0 && k[0] == 0x02 {
			at := bytes.Index(k, []byte("main\x00\x01"))
			if at < 0 {
				at = bytes.Index(k, []byte("\x00\x01\x00\x01")) - 2
			}
			hit = at >= 0 && k[at+6] == family && (within == nil || bytes.Contains(k[at+6:], append([]byte("\x00\x01"), within...)))
		}
		if hit {
			if err := it.Close(); err != nil {
				t.Fatal(err)
			}
			if err := db.Delete(k, pebble.Sync); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatal("there is no such key")
}

// A check that is interrupted says so.
func TestVerifyInterrupted(t *testing.T) {
	n := full(t)
	view, err := n.m.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := view.Verify(ctx, nil); err != nil && err != context.Canceled {
		t.Error(err)
	}
}

// TestOutcomesAreBounded: the kept outcomes of a tenant end at their bound, over
// many entries and restarts, the oldest going first (C-31).
func TestOutcomesAreBounded(t *testing.T) {
	n := newNode(t, fsm.Options{Dir: filepath.Join(t.TempDir(), "store"), CacheBytes: 8 << 20})
	const each, rounds, bound = 500, 22, 10_000
	now := fact.Instant(1_700_000_000_000)
	for round := range rounds {
		batch := entry.Batch{ProposedAt: now}
		for i := range each {
			key := fmt.Sprintf("key-%d-%d", round, i)
			batch.Requests = append(batch.Requests, entry.EncodeRequest(&fact.Request{
				Tenant: "t", Branch: fact.MainBranch, Idem: &fact.Idempotency{Key: key, Method: "POST", Path: "/api/facts"},
				Purge: &fact.Purge{Subject: "Nobody:1"}, // changes nothing
			}))
		}
		now++
		n.put(entry.EncodeBatch(batch))
		n.apply()
		if round == rounds/2 {
			if err := n.m.Close(); err != nil {
				t.Fatal(err)
			}
			var err error
			if n.m, err = fsm.Open(n.options); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := verified(t, n.m)
	if err != nil || got.Outcomes != bound || len(got.Problems) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// quiet is a logger for what a test does to a store by hand.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(format string, args ...any) {
	panic(fmt.Sprintf(format, args...))
}

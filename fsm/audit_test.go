package fsm_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/internal/model"

	"github.com/cockroachdb/pebble/v2"
)

var everyone = fact.Scope{All: true, Branch: fact.MainBranch}

func trail(t *testing.T, m *fsm.Machine, q fact.AuditQuery) *fact.AuditPage {
	t.Helper()
	view, err := m.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	page, err := view.Audit(t.Context(), &q)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// TestAuditTellsEveryTx: whatever history made a store, each tx has a record that
// counts what its events tell, and the trail does not depend on how the entries
// were batched.
func TestAuditTellsEveryTx(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			n, once := newNode(t, fsm.Options{}), newNode(t, fsm.Options{})
			r := model.NewRandom(seed)
			if seed%2 == 1 {
				r = model.NewRandomForks(seed)
			}
			for _, s := range r.History(100) {
				before := n.m.Position().Tx
				n.step(s)
				once.put(bytesOf(s))
				for tx := before + 1; tx <= n.m.Position().Tx; tx++ {
					tellsWhatHappened(t, n.m, tx, s)
				}
			}
			once.apply()
			all := trail(t, n.m, fact.AuditQuery{Scope: everyone, Limit: 10_000, Forward: true})
			if uint64(len(all.Records)) != n.m.Position().Tx || all.Next != 0 {
				t.Fatalf("%d records of %d txs, next %d", len(all.Records), n.m.Position().Tx, all.Next)
			}
			if other := trail(t, once.m, fact.AuditQuery{Scope: everyone, Limit: 10_000, Forward: true}); !reflect.DeepEqual(all, other) {
				t.Error("the trail of entries that were applied at once is another")
			}
			trailsOfTenants(t, n.m, all.Records)
			if got := audited(t, n.m, 0, ""); len(got.Problems) > 0 || got.From != 1 || got.Records != n.m.Position().Tx {
				t.Errorf("the chain: %+v", got)
			}
		})
	}
}

// tellsWhatHappened holds the record of a tx to its events.
func tellsWhatHappened(t *testing.T, m *fsm.Machine, tx uint64, s model.Step) {
	t.Helper()
	page := trail(t, m, fact.AuditQuery{Scope: everyone, After: tx - 1, Before: tx + 1})
	if len(page.Records) != 1 || page.Records[0].Tx != tx || page.Next != 0 {
		t.Fatalf("tx %d: %+v", tx, page)
	}
	a := page.Records[0]
	if s.Request != nil && a.Actor != s.Request.Actor || s.Request == nil && a.Action != "sweep" {
		t.Errorf("tx %d by %q is told as %+v", tx, s.Request.Actor, a)
	}
	view, err := m.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	branch := a.Branch
	if s.Request != nil && s.Request.Branching != nil {
		branch = s.Request.Branching.Parent // a promotion is told there
		if a.Target != s.Request.Branching.Name || !strings.HasPrefix(a.Action, "branch.") {
			t.Errorf("tx %d of branch %s is told as %+v", tx, s.Request.Branching.Name, a)
		}
		if branch == "" {
			return
		}
	}
	events, err := view.Events(t.Context(), &fact.EventQuery{Scope: fact.Scope{Tenant: a.Tenant, Branch: branch}, After: tx - 1, Limit: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	var want [4]uint64
	for _, e := range events.Events {
		if e.Tx != tx {
			continue
		}
		want[e.Op-1]++
		want[fact.OpSupersede-1] += uint64(len(e.Superseded))
	}
	// What an assert only moved counts as superseded too.
	if got := [4]uint64{a.Asserted, a.Retracted, a.Superseded, a.Expired}; got[0] != want[0] || got[1] != want[1] || got[2] < want[2] || got[3] != want[3] {
		t.Errorf("tx %d counts %v, and its events %v", tx, got, want)
	}
}

// trailsOfTenants holds the trail of each tenant, page by page and both ways, to
// the whole.
func trailsOfTenants(t *testing.T, m *fsm.Machine, all []fact.AuditRecord) {
	t.Helper()
	tenants := map[string]bool{}
	for _, a := range all {
		tenants[a.Tenant] = true
	}
	for tenant := range tenants {
		var forward, back []uint64
		for q := (fact.AuditQuery{Scope: fact.Scope{Tenant: tenant}, Forward: true, Limit: 7}); ; {
			page := trail(t, m, q)
			for _, a := range page.Records {
				forward = append(forward, a.Tx)
				if a.Counted != (a.Tenant == tenant && a.Action != "purge") {
					t.Errorf("tx %d of tenant %q shows its counts to %q: %v", a.Tx, a.Tenant, tenant, a.Counted)
				}
			}
			if q.After = page.Next; page.Next == 0 {
				break
			}
		}
		for q := (fact.AuditQuery{Scope: fact.Scope{Tenant: tenant}, Limit: 5}); ; {
			page := trail(t, m, q)
			for _, a := range page.Records {
				back = append([]uint64{a.Tx}, back...)
			}
			if q.Before = page.Next; page.Next == 0 {
				break
			}
		}
		if fmt.Sprint(forward) != fmt.Sprint(back) {
			t.Errorf("tenant %q: forward %v, back %v", tenant, forward, back)
		}
		for _, a := range all {
			target, _, _ := strings.Cut(a.Target, "/")
			registry := strings.HasPrefix(a.Action, "tenant.") || strings.HasPrefix(a.Action, "key.")
			// A purge of all is told to those of whom it erased something.
			if told := slices.Contains(forward, a.Tx); told != (a.Tenant == tenant || registry && target == tenant) && !a.AllTenants {
				t.Errorf("tenant %q, tx %d of tenant %q: told is %v", tenant, a.Tx, a.Tenant, told)
			}
		}
	}
}

func audited(t *testing.T, m *fsm.Machine, noted uint64, hash string) *fsm.AuditVerified {
	t.Helper()
	view, err := m.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	got, err := view.VerifyAudit(t.Context(), noted, hash, nil)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestAuditChainBreaks: a record that was changed, left out, or rewritten with a
// chain of its own is told, the last by a hash that was noted elsewhere.
func TestAuditChainBreaks(t *testing.T) {
	key := func(tx uint64) []byte { return binary.BigEndian.AppendUint64([]byte{0x01, 'x'}, tx) }
	for name, c := range map[string]struct {
		damage func(t *testing.T, db *pebble.DB)
		says   string
	}{
		"nothing": {func(*testing.T, *pebble.DB) {}, ""},
		"another actor": {func(t *testing.T, db *pebble.DB) {
			rewrite(t, db, key(3), func(b []byte) []byte { return bytes.Replace(b, []byte("alice"), []byte("mally"), 1) })
		}, "tx 3: the audit record or the one before it is not what was written"},
		"another digest": {func(t *testing.T, db *pebble.DB) {
			rewrite(t, db, key(2), func(b []byte) []byte { b[10] ^= 1; return b })
		}, "tx 2: the audit record"},
		"left out": {func(t *testing.T, db *pebble.DB) {
			if err := db.Delete(key(4), pebble.Sync); err != nil {
				t.Fatal(err)
			}
		}, "the records of the txs from 4 to 4 are missing"},
		"cut short": {func(t *testing.T, db *pebble.DB) {
			rewrite(t, db, key(2), func(b []byte) []byte { return b[:len(b)-1] })
		}, "cannot be read"},
		"unchained": {func(t *testing.T, db *pebble.DB) {
			rewrite(t, db, key(5), func(b []byte) []byte { return b[:len(b)-32-len("\x01\x04main\x00\x00\x01\x00\x00\x00")] })
		}, "tx 5: the audit record is not chained"},
		"left out of the tenant's trail": {func(t *testing.T, db *pebble.DB) {
			it, err := db.NewIter(nil)
			if err != nil {
				t.Fatal(err)
			}
			for ok := it.First(); ok; ok = it.Next() {
				if k := it.Key(); bytes.Contains(k, []byte("acme")) && bytes.HasSuffix(k, key(4)[2:]) && len(it.Value()) == 0 {
					if err := db.Delete(k, pebble.Sync); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := it.Close(); err != nil {
				t.Fatal(err)
			}
		}, `tx 4 is missing in the audit trail of tenant "acme"`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			n := newNode(t, fsm.Options{Dir: dir, CacheBytes: 8 << 20})
			for i := range 6 {
				n.put(bytesOf(model.Step{ProposedAt: fact.Instant(1_700_000_000_000 + i), Request: &fact.Request{
					Tenant: "acme", Branch: fact.MainBranch, Actor: "acme/alice", Threshold: 0.75, Write: &fact.Write{Asserts: []fact.Assert{{
						ID: fact.NewID(1, [10]byte{byte(i)}), Subject: fmt.Sprint("s", i), Predicate: "p", Object: fact.TextObject("o"),
						ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, Confidence: 1, KnownAt: fact.NoInstant,
					}}}}}))
			}
			n.apply()
			sound := audited(t, n.m, 0, "")
			if err := n.m.Close(); err != nil {
				t.Fatal(err)
			}
			db, err := pebble.Open(dir, &pebble.Options{Logger: quiet{}})
			if err != nil {
				t.Fatal(err)
			}
			c.damage(t, db)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			m, err := fsm.Open(fsm.Options{Dir: dir, ReadOnly: true, CacheBytes: 8 << 20})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			got := audited(t, m, 0, "")
			if told := strings.Join(got.Problems, "\n"); !strings.Contains(told, c.says) || c.says == "" && told != "" {
				t.Errorf("told: %q", told)
			}
			if c.says != "" {
				return
			}
			page := trail(t, m, fact.AuditQuery{Scope: everyone, After: 3, Before: 5})
			hash := hex.EncodeToString(page.Records[0].Hash[:])
			for _, noted := range []struct {
				tx   uint64
				hash string
				good bool
			}{{4, hash, true}, {6, sound.Hash, true}, {5, hash, false}, {7, hash, false}} {
				if got := audited(t, m, noted.tx, noted.hash); len(got.Problems) == 0 != noted.good {
					t.Errorf("noted tx %d: %v", noted.tx, got.Problems)
				}
			}
		})
	}
}

// rewrite changes the value of a key.
func rewrite(t *testing.T, db *pebble.DB, key []byte, change func([]byte) []byte) {
	t.Helper()
	value, closer, err := db.Get(key)
	if err != nil {
		t.Fatal(err)
	}
	changed := change(bytes.Clone(value))
	if err := closer.Close(); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(value, changed) {
		t.Fatal("nothing was changed")
	}
	if err := db.Set(key, changed, pebble.Sync); err != nil {
		t.Fatal(err)
	}
}

package memory_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/internal/onenode"
	"abagraph/memory"
	"abagraph/memory/mask"
)

// TestMaskingCommutesWithWriting: what raw writes leave behind is what the same
// writes leave that were masked by hand before: duplicates, conflicts, candidates and
// guards included, in two tenants and in every mode.
func TestMaskingCommutesWithWriting(t *testing.T) {
	texts := []string{"a@example.com", "b@example.com", "call 202-555-0143", "born 2001-02-03", "Person:a@example.com", "plain", "mailto:a@example.com", "4111 1111 1111 1111 or 123-45-6789"}
	for _, mode := range []mask.Mode{mask.Redact, mask.Hash, mask.ShiftDate, mask.Off} {
		raw, masked := onenode.Start(t), onenode.Start(t)
		door := raw.Service(t, memory.Options{Mask: mode, MaskKey: "k"})
		byHand := masked.Service(t, memory.Options{Mask: mask.Off})
		rnd := rand.New(rand.NewPCG(7, uint64(mode)))
		pick := func() string { return texts[rnd.IntN(len(texts))] }
		for i := range 150 {
			caller := memory.Caller{Tenant: []string{"ta", "tb"}[rnd.IntN(2)], Role: fact.RoleWrite, Actor: "test"}
			w := randomWrite(rnd, pick)
			m := mask.Masker{Mode: mode, Tenant: caller.Tenant, Key: "k"}
			hand := &fact.Write{Guards: append([]fact.Guard(nil), w.Guards...), Asserts: append([]fact.Assert(nil), w.Asserts...)}
			count := 0
			for k := range hand.Asserts {
				n, err := m.Assert(&hand.Asserts[k])
				if err != nil {
					t.Fatal(err)
				}
				count += n
			}
			for k := range hand.Guards {
				hand.Guards[k].Subject, _ = m.Name(hand.Guards[k].Subject)
				hand.Guards[k].Object, _ = m.Object(hand.Guards[k].Object)
			}
			got, err := door.Transact(t.Context(), caller, memory.WriteOptions{}, w, nil)
			want, wanted := byHand.Transact(t.Context(), caller, memory.WriteOptions{}, hand, nil)
			if fact.CodeOf(err) != fact.CodeOf(wanted) || got == nil != (want == nil) {
				t.Fatalf("write %d: %v, by hand %v", i, err, wanted)
			}
			if err == nil && (got.Masked != count || got.Tx != want.Tx) {
				t.Fatalf("write %d: %d masked at tx %d, by hand %d at %d", i, got.Masked, got.Tx, count, want.Tx)
			}
		}
		for _, tenant := range []string{"ta", "tb"} {
			if got, want := everything(t, door, tenant), everything(t, byHand, tenant); got != want || mode != mask.Off && strings.Contains(got, "b@example.com") {
				t.Errorf("mode %d, %s:\n%s\nby hand\n%s", mode, tenant, got, want)
			}
		}
	}
}

func randomWrite(rnd *rand.Rand, pick func() string) *fact.Write {
	w := &fact.Write{}
	for range 1 + rnd.IntN(3) {
		source := pick()
		a := fact.Assert{
			Subject: pick(), Predicate: []string{"p", "q"}[rnd.IntN(2)], Object: fact.TextObject(pick()), ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, KnownAt: fact.NoInstant,
			Confidence: 0.5 + float64(rnd.IntN(2))/2, Source: &source, Policy: []fact.Policy{fact.AutoSupersede, fact.Coexist, fact.Reject}[rnd.IntN(3)],
			Properties: []byte(`{"why":"` + pick() + `","n":4111111111111111}`),
		}
		w.Asserts = append(w.Asserts, a)
	}
	if rnd.IntN(3) == 0 {
		w.Guards = append(w.Guards, fact.Guard{Subject: pick(), Predicate: "p", Kind: []fact.GuardKind{fact.GuardExpect, fact.GuardObject}[rnd.IntN(2)], Object: fact.TextObject(pick())})
	}
	return w
}

// everything tells all facts of a tenant, ids and times apart.
func everything(t *testing.T, s *memory.Service, tenant string) string {
	t.Helper()
	q := &memory.FactsQuery{Read: memory.NewRead(), Statuses: fact.AllStatuses, StatusGiven: true, Limit: fact.MaxLimit}
	page, _, err := s.Facts(t.Context(), memory.Caller{Tenant: tenant, Role: fact.RoleRead}, q, nil)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for i := range page.Facts {
		f := &page.Facts[i]
		lines = append(lines, fmt.Sprintln(f.Tx, f.Subject, f.Predicate, f.Object.Text, *f.Source, f.Status, f.Confidence, string(f.Properties)))
	}
	slices.Sort(lines) // facts of one tx stand in the order of their ids
	return strings.Join(lines, "")
}

package model

import (
	"fmt"
	"slices"
	"testing"

	"abagraph/fact"
)

// kit speaks to a model in few words: one tenant, full confidence, ids in the
// order of writing.
type kit struct {
	*testing.T
	*Model
	now    fact.Instant
	nextID byte
}

func newKit(t *testing.T) *kit { return &kit{T: t, Model: New(), now: 1000} }

func (k *kit) id() fact.ID {
	k.nextID++
	return fact.NewID(1, [10]byte{9: k.nextID})
}

// say makes an undated, open assert by auto_supersede.
func (k *kit) say(subject, predicate, object string) fact.Assert {
	return fact.Assert{
		ID: k.id(), Subject: subject, Predicate: predicate, Object: fact.TextObject(object),
		ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, Confidence: 1, KnownAt: fact.NoInstant,
	}
}

func dated(a fact.Assert, from, until fact.Instant) fact.Assert {
	a.ValidFrom, a.ValidUntil = from, until
	return a
}

func by(a fact.Assert, policy fact.Policy) fact.Assert {
	a.Policy = policy
	return a
}

func sure(a fact.Assert, confidence float64) fact.Assert {
	a.Confidence = confidence
	return a
}

func known(a fact.Assert, at fact.Instant) fact.Assert {
	a.KnownAt = at
	return a
}

func request(w *fact.Write) *fact.Request {
	return &fact.Request{Tenant: "t", Branch: fact.MainBranch, Threshold: fact.DefaultThreshold, Write: w}
}

func (k *kit) batch(w *fact.Write) *fact.Result { return k.Apply(k.now, request(w)) }

// must asserts one row and fails the test where it is refused.
func (k *kit) must(a fact.Assert) fact.AssertResult {
	k.Helper()
	r := k.batch(&fact.Write{Asserts: []fact.Assert{a}})
	if r.Err != nil {
		k.Fatalf("refused: %v", r.Err)
	}
	return r.Asserts[0]
}

func (k *kit) scope() fact.Scope { return fact.Scope{Tenant: "t", Branch: fact.MainBranch} }

func (k *kit) asOf(t fact.Instant) fact.At {
	at := fact.Present(k.now)
	at.AsOf = t
	return at
}

// objects lists the objects that a read answers, sorted.
func (k *kit) objects(at fact.At, subject, predicate string) []string {
	var list []string
	for _, f := range k.Facts(&fact.Query{Scope: k.scope(), At: at, Subject: subject, Predicate: predicate}) {
		list = append(list, f.Object.Text)
	}
	slices.Sort(list)
	return list
}

func (k *kit) want(what string, got, want any) {
	k.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		k.Errorf("%s: got %s, want %s", what, g, w)
	}
}

// shape is a fact in few words: object [from,until) status.
func shape(f fact.Fact) string {
	until := fmt.Sprint(f.ValidUntil)
	if f.ValidUntil == fact.Forever {
		until = "∞"
	}
	pending := ""
	if f.Pending {
		pending = "…"
	}
	return fmt.Sprintf("%s[%d,%s)%s%s", f.Object.Text, f.ValidFrom, until, f.Status, pending)
}

func shapes(list []fact.Fact) []string {
	var words []string
	for _, f := range list {
		words = append(words, shape(f))
	}
	return words
}

// timeline lists every fact of a subject and predicate.
func (k *kit) timeline(subject, predicate string) []string {
	all := k.Facts(&fact.Query{
		Scope: k.scope(), At: fact.Present(k.now), Subject: subject, Predicate: predicate,
		StatusGiven: true, Statuses: fact.AllStatuses,
	})
	if len(all) == 0 {
		return nil
	}
	return shapes(k.History(k.scope(), all[0].ID).Timeline)
}

package model

import (
	"testing"

	"abagraph/fact"
)

const (
	jan1  fact.Instant = 1735689600000 // 2025, UTC
	feb1  fact.Instant = 1738368000000
	feb28 fact.Instant = 1740700800000
	mar1  fact.Instant = 1740787200000
	mar15 fact.Instant = 1741996800000
	jun1  fact.Instant = 1748736000000
	jun15 fact.Instant = 1749945600000
	jul1  fact.Instant = 1751328000000
	later fact.Instant = 1764547200000 // 1 Dec
)

func TestTIM01(t *testing.T) {
	k := newKit(t)
	k.must(k.say("Person:p7", "works_at", "Org:a"))
	k.must(k.say("Person:p7", "administers", "Org:b"))
	k.must(k.say("Person:p8", "works_at", "Org:a"))
	k.must(k.say("Person:p7", "knows", "Person:p8"))
	k.now = 2000
	r := k.must(k.say("Person:p7", "administers", "Org:c"))
	s := k.must(by(k.say("Person:p7", "knows", "Person:p9"), fact.Coexist))

	k.want("closed", shapes(r.Superseded), "[Org:b[1000,2000)superseded]")
	k.want("closed by coexist", shapes(s.Superseded), "[]")
	k.want("administers", k.objects(fact.Present(2000), "Person:p7", "administers"), "[Org:c]")
	k.want("p7 works at", k.objects(fact.Present(2000), "Person:p7", "works_at"), "[Org:a]")
	k.want("p8 works at", k.objects(fact.Present(2000), "Person:p8", "works_at"), "[Org:a]")
	k.want("knows", k.objects(fact.Present(2000), "Person:p7", "knows"), "[Person:p8 Person:p9]")

	other := request(&fact.Write{Asserts: []fact.Assert{k.say("Person:p7", "administers", "Org:d")}})
	other.Tenant = "u"
	k.want("closed in another tenant", len(k.Apply(2001, other).Asserts[0].Superseded), 0)
	fork := request(nil)
	fork.Branching = &fact.BranchChange{Op: fact.BranchCreate, Name: "b", Parent: fact.MainBranch, AsOf: 999}
	k.Apply(2001, fork)
	other = request(&fact.Write{Asserts: []fact.Assert{k.say("Person:p7", "administers", "Org:e")}})
	other.Branch = "b"
	k.want("closed in another branch", len(k.Apply(2002, other).Asserts[0].Superseded), 0)
}

func TestTIM02(t *testing.T) {
	k := newKit(t)
	k.now = later
	say := func(from, until fact.Instant) fact.AssertResult {
		return k.must(dated(k.say("Person:p7", "assigned_to", "Project:pay"), from, until))
	}
	first, second := say(jan1, feb1), say(jun1, jul1)
	k.want("duplicates", []bool{first.Duplicate, second.Duplicate}, "[false false]")
	k.want("15 March", k.objects(k.asOf(mar15), "Person:p7", ""), "[]")
	k.want("15 June", k.objects(k.asOf(jun15), "Person:p7", ""), "[Project:pay]")
	k.want("periods", len(k.timeline("Person:p7", "assigned_to")), 2)

	again := say(jan1, feb1)
	k.want("said again", again.Duplicate, true)
	k.want("said again", again.Fact.ID, first.Fact.ID)
	k.want("tx", k.Tx(), 2)
}

func TestTIM10(t *testing.T) {
	k := newKit(t)
	k.now = later
	k.must(dated(k.say("Price:x", "amount", "A"), jan1, fact.Forever))
	r := k.must(dated(k.say("Price:x", "amount", "B"), mar1, jun1))
	k.must(k.say("Price:y", "amount", "C"))

	k.want("cut", shapes(r.Superseded), "[A[1735689600000,1740787200000)superseded]")
	k.want("went on", shapes(r.Continuations), "[A[1748736000000,∞)active]")
	k.want("continues", r.Continuations[0].Continues, r.Superseded[0].ID)
	k.want("ended by", r.Superseded[0].SupersededBy, r.Fact.ID)

	for at, want := range map[fact.Instant]string{
		jan1 - 1: "[]", feb28: "[A]", mar1 - 1: "[A]", mar1: "[B]", jun1 - 1: "[B]", jun1: "[A]", later: "[A]",
	} {
		k.want("by subject", k.objects(k.asOf(at), "Price:x", ""), want)
		k.want("by both", k.objects(k.asOf(at), "Price:x", "amount"), want)
		one := k.Facts(&fact.Query{Scope: k.scope(), At: k.asOf(at), Subject: "Price:x", Limit: 1})
		k.want("limit 1", len(one), len(want)-2)
		byHand := 0
		for _, f := range k.Facts(&fact.Query{Scope: k.scope(), At: k.asOf(at)}) {
			if f.Subject == "Price:x" {
				byHand++
			}
		}
		k.want("no filter", byHand, len(want)-2)
	}
	k.want("live", k.objects(fact.Present(later), "Price:x", ""), "[A]")
}

// The documents' own example: no dates, one value after the other.
func TestPlainCase(t *testing.T) {
	k := newKit(t)
	first := k.must(k.say("Person:sarah", "works_at", "Org:globex"))
	k.now = 2000
	r := k.must(k.say("Person:sarah", "works_at", "Org:acme"))
	k.want("new", shape(r.Fact), "Org:acme[2000,∞)active")
	k.want("old", shapes(r.Superseded), "[Org:globex[1000,2000)superseded]")
	k.want("one tx", []uint64{r.Fact.Tx, r.Superseded[0].Tx}, "[2 2]")
	k.want("who closed it", r.Superseded[0].SupersededBy, r.Fact.ID)
	k.want("before and after", []int{r.ActiveBefore, r.ActiveAfter}, "[1 1]")

	before := fact.Present(0)
	before.KnownAt = 1999
	k.want("as known before", k.objects(before, "", ""), "[Org:globex]")
	_, pieces := k.Fact(k.scope(), first.Fact.ID, fact.Present(2000))
	k.want("pieces", shapes(pieces), "[Org:globex[1000,2000)superseded]")

	k.now = 3000
	k.must(k.say("Person:sarah", "works_at", "Org:globex"))
	k.want("A, B, A is three facts", len(k.timeline("Person:sarah", "works_at")), 3)
	again := k.must(k.say("Person:sarah", "works_at", "Org:globex"))
	k.want("said again", again.Duplicate, true)
}

// News about the past never overwrites a dated present, and a close that lies
// ahead leaves the fact active until the sweep (C-13).
func TestSupersession_PastAndFuture(t *testing.T) {
	k := newKit(t)
	k.must(dated(k.say("s", "p", "now"), 900, fact.Forever))
	r := k.must(dated(k.say("s", "p", "past"), 500, fact.Forever))
	k.want("news about the past", shape(r.Fact), "past[500,900)superseded")
	k.want("it closed", len(r.Superseded), 0)

	ahead := k.must(dated(k.say("s", "p", "ahead"), 5000, 6000))
	k.want("a close ahead", shapes(ahead.Superseded), "[now[900,5000)active…]")
	k.want("and what follows", shapes(ahead.Continuations), "[now[6000,∞)active]")
	removed, superseded := k.Sweep(4999)
	k.want("too early", []int{removed, superseded}, "[0 0]")
	k.want("no tx", k.Tx(), 3)
	removed, superseded = k.Sweep(5000)
	k.want("due", []int{removed, superseded}, "[0 1]")
	k.want("a tx of its own", k.Tx(), 4)
	k.want("timeline", k.timeline("s", "p"),
		"[past[500,900)superseded now[900,5000)superseded ahead[5000,6000)active now[6000,∞)active]")
	events := k.Events(k.scope(), 3)
	k.want("told", events[0].Op.String()+" "+shape(events[0].Fact), "supersede now[900,5000)superseded")
}

// A fact without time is superseded and holds nowhere; one that only loses its
// beginning keeps its id (C-13).
func TestSupersession_NoTimeLeftAndMoved(t *testing.T) {
	k := newKit(t)
	k.must(dated(k.say("s", "p", "a"), 100, 200))
	r := k.must(dated(k.say("s", "p", "b"), 100, 300))
	k.want("no time left", shapes(r.Superseded), "[a[100,100)superseded]")
	k.now = 150
	k.must(dated(k.say("s", "q", "a"), 400, fact.Forever))
	r = k.must(dated(k.say("s", "q", "b"), 400, 500))
	k.want("moved", shapes(r.Moved), "[a[500,∞)active]")
	k.want("not superseded", len(r.Superseded), 0)
}

func TestCandidate_PromotionAndDuplicates(t *testing.T) {
	k := newKit(t)
	k.must(k.say("s", "p", "old"))
	c := k.must(sure(k.say("s", "p", "new"), 0.5))
	k.want("candidate", c.Fact.Status, fact.Candidate)
	k.want("closes nothing", k.objects(fact.Present(1000), "s", "p"), "[old]")
	k.want("again", k.must(sure(k.say("s", "p", "new"), 0.5)).Duplicate, true)
	k.want("of another confidence", k.must(sure(k.say("s", "p", "new"), 0.6)).Duplicate, false)

	k.now = 2000
	r := k.must(k.say("s", "p", "new"))
	k.want("promotion", shapes(r.Superseded),
		"[old[1000,2000)superseded new[1000,1000)superseded new[1000,1000)superseded]")
	k.want("by", r.Superseded[1].SupersededBy, r.Fact.ID)
}

// A former candidate is no statement that a dated one could repeat (C-15).
func TestCandidate_IsNeverAStatement(t *testing.T) {
	k := newKit(t)
	k.must(dated(k.say("s", "p", "old"), 500, fact.Forever))
	k.must(dated(sure(k.say("s", "p", "new"), 0.7495), 1000, fact.Forever))
	k.now = 2000
	k.must(k.say("s", "p", "new"))
	r := k.must(dated(sure(k.say("s", "p", "new"), 0.75), 1000, fact.Forever))
	k.want("duplicate", r.Duplicate, false)
}

func TestPolicy_CoexistAndReject(t *testing.T) {
	k := newKit(t)
	a := k.must(by(k.say("s", "tag", "a"), fact.Coexist))
	k.must(by(k.say("s", "tag", "b"), fact.Coexist))
	k.want("both", k.objects(fact.Present(1000), "s", "tag"), "[a b]")
	k.want("again", k.must(by(k.say("s", "tag", "a"), fact.Coexist)).Duplicate, true)
	r := k.batch(&fact.Write{Asserts: []fact.Assert{by(k.say("s", "tag", "c"), fact.Reject)}})
	k.want("refused", r.Err.Code, fact.Conflict)
	k.want("both named, newest first", len(r.Err.IDs) == 2 && r.Err.IDs[1] == a.Fact.ID, true)
	k.want("no tx", r.Tx, 2)
	k.want("a duplicate first", k.must(by(k.say("s", "tag", "a"), fact.Reject)).Duplicate, true)
}

func TestRetract_WholeStatement(t *testing.T) {
	k := newKit(t)
	a := k.must(dated(k.say("s", "p", "a"), 100, fact.Forever))
	b := k.must(dated(k.say("s", "p", "b"), 200, 300))
	piece := b.Continuations[0].ID
	r := k.batch(&fact.Write{Retracts: []fact.Retract{{ID: piece, KnownAt: fact.NoInstant}}})
	k.want("every piece", shapes(r.Retracted), "[a[100,200)retracted a[300,1000)retracted]")
	k.want("asked for", r.RetractedIDs, []fact.ID{piece})
	k.want("not reopened", k.objects(k.asOf(250), "s", "p"), "[b]")
	again := k.batch(&fact.Write{Retracts: []fact.Retract{{ID: a.Fact.ID, KnownAt: fact.NoInstant}}})
	k.want("again", []any{again.Err == nil, again.Tx, again.Wrote, len(again.RetractedIDs)}, "[true 3 false 1]")
	k.want("new after a retraction", k.must(dated(k.say("s", "p", "a"), 100, fact.Forever)).Duplicate, false)

	unknown := k.batch(&fact.Write{Retracts: []fact.Retract{{ID: k.id(), KnownAt: fact.NoInstant}}})
	k.want("unknown", unknown.Err.Code, fact.NotFound)
	elsewhere := request(&fact.Write{Retracts: []fact.Retract{{ID: b.Fact.ID, KnownAt: fact.NoInstant}}})
	elsewhere.Tenant = "u"
	k.want("another tenant's", k.Apply(k.now, elsewhere).Err.Code, fact.NotFound)
}

func TestGuards(t *testing.T) {
	k := newKit(t)
	k.must(by(k.say("s", "p", "a"), fact.Coexist))
	k.must(by(k.say("s", "p", "b"), fact.Coexist))
	guard := func(kind fact.GuardKind, predicate, object string) fact.Guard {
		return fact.Guard{Subject: "s", Predicate: predicate, Kind: kind, Object: fact.TextObject(object)}
	}
	row := k.say("s", "q", "x")
	r := k.batch(&fact.Write{Asserts: []fact.Assert{row}, Guards: []fact.Guard{
		guard(fact.GuardObject, "p", "a"), guard(fact.GuardExpect, "p", "a"), guard(fact.GuardAbsent, "p", ""),
	}})
	k.want("refused", r.Err.Code, fact.CompareFailed)
	k.want("failures", len(r.Err.Failures), 2)
	k.want("current", r.Err.Failures[0].Current, []fact.Object{fact.TextObject("b"), fact.TextObject("a")})
	k.want("nothing written", k.objects(fact.Present(1000), "s", "q"), "[]")
	r = k.batch(&fact.Write{Asserts: []fact.Assert{row}, Guards: []fact.Guard{guard(fact.GuardAbsent, "q", "")}})
	k.want("absent", r.Err == nil, true)
	r = k.batch(&fact.Write{Guards: []fact.Guard{guard(fact.GuardExpect, "q", "x")}})
	k.want("only guards", []any{r.Err == nil, r.Tx, r.Wrote}, "[true 3 false]")
}

func TestBackfill(t *testing.T) {
	k := newKit(t)
	reason := &fact.Backfill{KnownAt: fact.NoInstant, Reason: "import"}
	tell := func(a fact.Assert) *fact.Result {
		return k.batch(&fact.Write{Asserts: []fact.Assert{a}, Backfill: reason})
	}
	a := tell(known(k.say("s", "p", "a"), 100)).Asserts[0]
	k.want("starts when it was known", shape(a.Fact), "a[100,∞)active")
	k.want("honest", []fact.Instant{a.Fact.RecordedAt, a.Fact.DeclaredKnownAt}, "[1000 100]")
	k.want("batch", a.Fact.Batch, 1)
	tell(known(k.say("s", "p", "b"), 200))
	k.want("in order", k.timeline("s", "p"), "[a[100,200)superseded b[200,∞)active]")
	k.want("redelivered", tell(known(dated(k.say("s", "p", "a"), 100, fact.Forever), 100)).Asserts[0].Duplicate, true)

	k.want("known at once", tell(known(k.say("s", "p", "b2"), 200)).Err == nil, true)
	r := tell(known(k.say("s", "p", "c"), 150))
	k.want("out of order", r.Err.Code, fact.Conflict)
	k.want("in coexist", tell(known(by(k.say("s", "p", "c"), fact.Coexist), 150)).Err == nil, true)
	k.want("of the future", tell(known(k.say("s", "p", "d"), 1001)).Err.Code, fact.SchemaInvalid)
	r = k.batch(&fact.Write{Asserts: []fact.Assert{known(k.say("s", "p", "d"), 900)}})
	k.want("without a reason", r.Err.Code, fact.SchemaInvalid)

	at := func(t fact.Instant, honest bool) []string {
		at := fact.Present(k.now)
		at.KnownAt, at.NoBackfill = t, honest
		return k.objects(at, "s", "p")
	}
	k.want("known at 99", at(99, false), "[]")
	k.want("known at 120", at(120, false), "[a]")
	k.want("known at 220", at(220, false), "[b2 c]")
	k.want("without declarations", at(220, true), "[]")

	end := func(id fact.ID, known fact.Instant) *fact.Result {
		return k.batch(&fact.Write{Retracts: []fact.Retract{{ID: id, KnownAt: known}}, Backfill: reason})
	}
	k.want("retracted before it was cut", end(a.Fact.ID, 150).Err.Code, fact.Conflict)
	k.want("and after", shapes(end(a.Fact.ID, 250).Retracted), "[a[100,200)retracted]")
}

func TestIdempotency(t *testing.T) {
	k := newKit(t)
	keyed := func(hash byte, object string) *fact.Request {
		req := request(&fact.Write{Asserts: []fact.Assert{by(k.say("s", "p", object), fact.Reject)}})
		req.Idem = &fact.Idempotency{Key: "k", Method: "POST", Path: "/", Hash: [32]byte{hash}}
		return req
	}
	first := k.Apply(1000, keyed(1, "a"))
	again := k.Apply(2000, keyed(1, "a"))
	k.want("again", []any{again.Replayed, again.Tx, again.RecordedAt}, "[true 1 1000]")
	k.want("same fact", again.Asserts[0].Fact.ID, first.Asserts[0].Fact.ID)
	k.want("another body", k.Apply(2000, keyed(2, "b")).Err.Code, fact.Conflict)
	other := keyed(1, "a")
	other.Tenant = "u"
	k.want("another tenant", k.Apply(2000, other).Replayed, false)
	refused := k.Apply(1000+keptFor, keyed(2, "b"))
	k.want("a day later it is judged anew", []any{refused.Replayed, len(refused.Err.IDs)}, "[false 1]")
	k.want("a refusal is kept too", k.Apply(1001+keptFor, keyed(2, "b")).Replayed, true)

	k.Apply(1002+keptFor, &fact.Request{Tenant: "t", Branch: fact.MainBranch, Purge: &fact.Purge{Subject: "s"}})
	late := k.Apply(1003+keptFor, keyed(2, "b"))
	k.want("after a purge the key is used up", []any{late.Wrote, late.Replayed, late.Err.Code, len(late.Err.IDs)}, "[false false Conflict 0]")
}

func TestSweep_Transient(t *testing.T) {
	k := newKit(t)
	a := dated(k.say("s", "p", "a"), 500, 1500)
	a.Transient = true
	k.must(a)
	k.must(k.say("s", "q", "b"))
	removed, _ := k.Sweep(1499)
	k.want("not yet", removed, 0)
	removed, _ = k.Sweep(1500)
	k.want("expired", removed, 1)
	k.want("gone from the past too", k.objects(fact.At{Pinned: true, Tx: 1, AsOf: fact.NoInstant, KnownAt: fact.NoInstant}, "s", "p"), "[]")
	events := k.Events(k.scope(), 0)
	k.want("told", []any{len(events), events[1].Op, events[1].Fact.ID, events[1].Fact.Object.Kind}, []any{2, fact.OpExpire, a.ID, fact.Null})
	left := events[1].Fact
	k.want("all but the content", []any{left.Transient, left.Dated, left.Confidence, left.Tx, left.FirstTx, left.ValidUntil}, []any{true, true, a.Confidence, 3, 1, 1500})
}

// What an expired fact had closed stays closed, and the stream goes on telling so.
func TestSweep_WhatTheExpiredHadClosed(t *testing.T) {
	k := newKit(t)
	k.must(dated(k.say("s", "p", "old"), 100, fact.Forever))
	brief := dated(k.say("s", "p", "brief"), 500, 1500)
	brief.Transient = true
	k.must(brief)
	k.Sweep(1500)
	events := k.Events(k.scope(), 1)
	k.want("the close first", []any{events[0].Op, events[0].Tx, shape(events[0].Fact)}, []any{fact.OpSupersede, 2, "old[100,500)superseded"})
	k.want("the expiry last", events[len(events)-1].Op, fact.OpExpire)
}

func TestPurge(t *testing.T) {
	k := newKit(t)
	k.must(k.say("Job:1", "p", "a"))
	k.must(k.say("Job:1", "p", "b"))
	k.must(k.say("Person:1", "p", "c"))
	r := k.Apply(1000, &fact.Request{Tenant: "t", Branch: fact.MainBranch, Purge: &fact.Purge{Prefix: "Job:"}})
	k.want("facts, not versions", []uint64{r.Purged, r.Tx}, "[2 4]")
	k.want("what is left", k.Entities(&fact.EntityQuery{Scope: k.scope(), At: fact.Present(1000)}), "[{Person:1 1}]")
	k.want("events", len(k.Events(k.scope(), 0)), 1)
	k.want("stats", k.Stats(k.scope()).Total(), 1)
}

// A tx leaves one version of a fact, and every row of a batch is answered with
// the facts as the whole tx left them (C-24, C-34).
func TestBatch_TouchesAFactTwice(t *testing.T) {
	k := newKit(t)
	first := k.must(dated(k.say("s", "p", "a"), 100, fact.Forever))
	r := k.batch(&fact.Write{Asserts: []fact.Assert{
		dated(k.say("s", "p", "b"), 800, fact.Forever), dated(k.say("s", "p", "c"), 500, fact.Forever),
	}})
	k.want("first row", shapes(r.Asserts[0].Superseded), "[a[100,500)superseded]")
	k.want("second row", shapes(r.Asserts[1].Superseded), "[a[100,500)superseded]")
	k.want("its own end", shape(r.Asserts[1].Fact), "c[500,800)superseded")
	k.want("versions", len(k.History(k.scope(), first.Fact.ID).Versions), 2)
	events := k.Events(k.scope(), 1)
	k.want("told as the tx left it", shapes(events[0].Superseded), "[a[100,500)superseded]")
}

func TestTxGt_PagesEndBetweenTxs(t *testing.T) {
	k := newKit(t)
	k.must(k.say("s", "p", "a"))
	k.batch(&fact.Write{Asserts: []fact.Assert{k.say("s", "q", "b"), k.say("s", "r", "c"), k.say("s", "t", "d")}})
	k.must(k.say("s", "p", "e"))
	page := func(after uint64, limit int) int {
		return len(k.Facts(&fact.Query{Scope: k.scope(), At: fact.Present(1000), TxGtGiven: true, TxGt: after, Limit: limit}))
	}
	k.want("all", page(0, 0), 5)
	k.want("inside a tx", page(1, 4), 3)
	k.want("a larger tx comes whole", page(1, 2), 3)
	k.want("the last", page(2, 2), 2)
}

package model

import (
	"math/rand/v2"
	"slices"
	"strconv"

	"abagraph/fact"
)

// Step is one thing that happens to a store: a request, or a sweep where
// Request is nil. Nothing may change a Request, since later steps repeat it.
type Step struct {
	ProposedAt fact.Instant
	Request    *fact.Request
}

// Apply does the step and returns what a request was answered, or nil.
func (s Step) Apply(m *Model) *fact.Result {
	if s.Request == nil {
		m.Sweep(s.ProposedAt)
		return nil
	}
	return m.Apply(s.ProposedAt, s.Request)
}

// Random makes histories from a seed: the same seed gives the same steps and
// the same queries. Its alphabets are small and its times lie close together
// on a coarse grid, so that statements repeat, overlap, touch and cut one
// another all the time.
type Random struct {
	// Model has taken every step made so far: what it answers is right now.
	// Only Step may change it.
	Model *Model
	// Answer is what the last request was answered.
	Answer *fact.Result
	// Forks tells that branches are made, written, read and closed.
	Forks bool

	rnd   *rand.Rand
	clock fact.Instant
	ids   map[string][]fact.ID // of every fact that was seen, by tenant
	said  []fact.Assert        // what may be said again
	keyed []*fact.Request      // those that may come again with their keys
}

// The alphabets; what stands in one more often is picked more often. One number
// is written in two ways, and one text looks like it.
var (
	tenants    = []string{"ta", "ta", "ta", "tb"}
	subjects   = []string{"Person:a", "Person:a", "Person:b", "Job:c"}
	predicates = []string{"works_at", "works_at", "works_at", "likes"}
	objects    = []fact.Object{
		fact.TextObject("Org:x"), fact.TextObject("1"),
		{Kind: fact.Number, Text: "1"}, {Kind: fact.Number, Text: "1.0"}, {Kind: fact.Null},
	}
	confidences = []float64{0.5, 0.74, 0.75, 0.9, 0.9005, 1, 1, 1}
	policies    = []fact.Policy{fact.AutoSupersede, fact.AutoSupersede, fact.AutoSupersede, fact.Coexist, fact.Reject}
)

const (
	gridStep fact.Instant = 20 // milliseconds
	gridSize              = 9
)

// NewRandom makes a source of steps and queries.
func NewRandom(seed uint64) *Random {
	const epoch fact.Instant = 1_700_000_000_000
	return &Random{
		Model: New(), rnd: rand.New(rand.NewPCG(seed, 0)), clock: epoch, ids: map[string][]fact.ID{},
	}
}

// NewRandomForks makes a source that goes through branches too, and branches of
// branches.
func NewRandomForks(seed uint64) *Random {
	r := NewRandom(seed)
	r.Forks = true
	return r
}

// History returns the next n steps.
func (r *Random) History(n int) []Step {
	steps := make([]Step, n)
	for i := range steps {
		steps[i] = r.Step()
	}
	return steps
}

// Step returns the next step, which Model has taken when it returns.
func (r *Random) Step() Step {
	r.tick()
	s := Step{ProposedAt: r.clock, Request: r.request()}
	if r.oneIn(20) {
		s.Request = nil
	}
	if s.Request == nil || s.Request.Purge != nil {
		// What is deleted may be missing from a kept answer: such answers are
		// for tests of their own.
		r.keyed = nil
	}
	if r.Answer = s.Apply(r.Model); r.Answer != nil {
		r.learn(s.Request.Tenant, r.Answer)
	}
	return s
}

// tick moves the clock: a little, not at all, back, and now and then by more
// than a key is kept.
func (r *Random) tick() {
	switch {
	case r.oneIn(15):
		r.clock -= fact.Instant(r.rnd.IntN(15))
	case r.oneIn(120):
		r.clock += keptFor + 1
	default:
		r.clock += fact.Instant(r.rnd.IntN(6))
	}
}

func (r *Random) learn(tenant string, result *fact.Result) {
	for i := range result.Asserts {
		a := &result.Asserts[i]
		r.ids[tenant] = append(r.ids[tenant], a.Fact.ID)
		for j := range a.Continuations {
			r.ids[tenant] = append(r.ids[tenant], a.Continuations[j].ID)
		}
	}
}

func (r *Random) request() *fact.Request {
	if len(r.keyed) > 0 && r.oneIn(12) {
		return r.again()
	}
	req := &fact.Request{Tenant: pick(r, tenants), Branch: fact.MainBranch, Actor: "test", Threshold: fact.DefaultThreshold}
	switch {
	case r.oneIn(60):
		req.Purge = r.purge()
	case r.Forks && r.oneIn(6):
		req.Branching = r.branching(req.Tenant)
	default:
		req.Branch = r.branch(req.Tenant)
		req.Write = r.write(req.Tenant)
	}
	if r.oneIn(5) {
		req.Idem = &fact.Idempotency{
			Key: strconv.Itoa(r.rnd.IntN(20)), Method: "POST", Path: "/api/transact",
			Hash: [32]byte{byte(r.rnd.IntN(256)), byte(r.rnd.IntN(256))},
		}
		r.keyed = append(r.keyed, req)
	}
	return req
}

// again repeats a request that has a key, sometimes under another method, which
// makes it another one, and with ids of its own, which it must not use.
func (r *Random) again() *fact.Request {
	req := *pick(r, r.keyed)
	idem := *req.Idem
	if r.oneIn(5) {
		idem.Method = "DELETE"
	}
	req.Idem = &idem
	if req.Write != nil {
		write := *req.Write
		write.Asserts = append([]fact.Assert(nil), write.Asserts...)
		for i := range write.Asserts {
			write.Asserts[i].ID = r.newID()
		}
		req.Write = &write
	}
	return &req
}

// branch returns main or a branch of the tenant, closed or open, seldom one that
// is not there.
func (r *Random) branch(tenant string) string {
	if !r.Forks || r.oneIn(3) {
		return fact.MainBranch
	}
	list := r.Model.Branches(tenant)
	if len(list) == 0 || r.oneIn(40) {
		return "none"
	}
	open := slices.DeleteFunc(slices.Clone(list), func(b fact.Branch) bool { return b.Status != fact.BranchOpen })
	if len(open) == 0 || r.oneIn(8) {
		return pick(r, list).Name
	}
	return pick(r, open[max(0, len(open)-4):]).Name
}

func (r *Random) branching(tenant string) *fact.BranchChange {
	c := &fact.BranchChange{Op: fact.BranchCreate, Parent: r.branch(tenant), AsOf: fact.NoInstant}
	if !r.oneIn(3) {
		c.Op = fact.BranchOp(1 + r.rnd.IntN(3))
	}
	if c.Op != fact.BranchCreate {
		c.Name, c.Parent, c.DryRun = c.Parent, "", r.oneIn(3)
		return c
	}
	c.Name = "b" + strconv.Itoa(r.rnd.IntN(40))
	if r.oneIn(3) {
		c.AsOf = r.known() + fact.Instant(r.rnd.IntN(3))
	}
	return c
}

func (r *Random) purge() *fact.Purge {
	p := &fact.Purge{AllTenants: r.oneIn(3)}
	if r.oneIn(2) {
		p.Prefix = "Job:"
	} else {
		p.Subject = pick(r, subjects)
	}
	return p
}

func (r *Random) write(tenant string) *fact.Write {
	w := &fact.Write{}
	if r.oneIn(6) {
		w.Backfill = r.backfill()
	}
	for r.oneIn(8) {
		w.Guards = append(w.Guards, fact.Guard{
			Subject: pick(r, subjects), Predicate: pick(r, predicates),
			Kind: fact.GuardKind(r.rnd.IntN(3)), Object: pick(r, objects),
		})
	}
	for r.oneIn(8) {
		w.Guards = append(w.Guards, r.sameGuard(tenant))
	}
	for r.oneIn(6) {
		w.Retracts = append(w.Retracts, fact.Retract{ID: r.anyID(tenant), KnownAt: r.declared(w)})
	}
	if len(w.Retracts) > 0 && r.oneIn(2) {
		return w
	}
	w.Asserts = append(w.Asserts, r.assert(w))
	for r.oneIn(3) {
		w.Asserts = append(w.Asserts, r.assert(w))
	}
	return w
}

// sameGuard is a guard on what holds, or on what held before.
func (r *Random) sameGuard(tenant string) fact.Guard {
	q := &fact.Query{Scope: fact.Scope{Tenant: tenant, Branch: fact.MainBranch}, Subject: pick(r, subjects), Predicate: pick(r, predicates), At: fact.Present(r.now())}
	if r.oneIn(3) {
		q.At.Pinned, q.At.Tx = true, r.tx()
	}
	if !r.oneIn(3) {
		return fact.SameGuard(q.Subject, q.Predicate, r.Model.Facts(q))
	}
	q.At.AsOf, q.StatusGiven, q.Statuses = r.valid(), true, fact.StatusSet(0).With(fact.Active)
	return fact.SameGuardAt(q.Subject, q.Predicate, q.At.AsOf, r.Model.Facts(q))
}

func (r *Random) assert(w *fact.Write) fact.Assert {
	a := r.newAssert(w)
	if len(r.said) > 0 && r.oneIn(4) {
		a = pick(r, r.said[max(0, len(r.said)-20):])
		a.ID, a.KnownAt = r.newID(), r.declared(w)
	}
	r.said = append(r.said, a)
	return a
}

func (r *Random) newAssert(w *fact.Write) fact.Assert {
	a := fact.Assert{
		ID: r.newID(), Subject: pick(r, subjects), Predicate: pick(r, predicates), Object: pick(r, objects),
		ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, Confidence: pick(r, confidences),
		Source: r.source(), Policy: pick(r, policies), Transient: r.oneIn(10), KnownAt: r.declared(w),
	}
	if r.oneIn(2) {
		a.ValidFrom = r.valid()
	}
	switch {
	case r.oneIn(30):
		a.ValidUntil = r.valid() // often too early
	case r.oneIn(2) && a.ValidFrom.Given():
		a.ValidUntil = a.ValidFrom + gridStep*fact.Instant(1+r.rnd.IntN(5))
	case r.oneIn(3):
		a.ValidUntil = r.clock - r.clock%gridStep + gridStep*fact.Instant(1+r.rnd.IntN(4))
	}
	if r.oneIn(4) {
		a.Properties = []byte(`{"note":"n"}`)
	}
	return a
}

// backfill declares, now and then wrongly: without a reason, or for the future.
func (r *Random) backfill() *fact.Backfill {
	b := &fact.Backfill{KnownAt: fact.NoInstant, Reason: "import"}
	if r.oneIn(2) {
		b.KnownAt = r.clock - fact.Instant(r.rnd.IntN(100))
	}
	if r.oneIn(20) {
		b.Reason = ""
	}
	return b
}

func (r *Random) declared(w *fact.Write) fact.Instant {
	if w.Backfill == nil || r.oneIn(2) {
		return fact.NoInstant
	}
	return r.clock + 10 - fact.Instant(r.rnd.IntN(100))
}

// valid returns a valid time: on the grid around the clock, or the clock's own.
func (r *Random) valid() fact.Instant {
	if r.oneIn(10) {
		return r.clock
	}
	return r.clock - r.clock%gridStep + gridStep*fact.Instant(r.rnd.IntN(gridSize)-gridSize/2)
}

func (r *Random) source() *string {
	switch r.rnd.IntN(3) {
	case 0:
		return nil
	case 1:
		s := "hr"
		return &s
	}
	s := "crm"
	return &s
}

// anyID returns the id of a fact that was seen, seldom of another tenant's or
// of none.
func (r *Random) anyID(tenant string) fact.ID {
	if r.oneIn(15) {
		tenant = pick(r, tenants)
	}
	seen := r.ids[tenant]
	if len(seen) == 0 || r.oneIn(15) {
		return r.newID()
	}
	return pick(r, seen[max(0, len(seen)-20):])
}

func (r *Random) newID() fact.ID {
	var random [10]byte
	for i := range random {
		random[i] = byte(r.rnd.IntN(256))
	}
	return fact.NewID(r.clock, random)
}

func (r *Random) oneIn(n int) bool { return r.rnd.IntN(n) == 0 }

func pick[T any](r *Random, from []T) T { return from[r.rnd.IntN(len(from))] }

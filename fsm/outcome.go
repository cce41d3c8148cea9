package fsm

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"abagraph/fact"
)

// Bounds of what is kept for Idempotency-Key (C-31).
const (
	outcomeLifetime = 24 * 60 * 60 * 1000 // ms, by the log's own clock
	maxOutcomes     = 10_000              // per tenant; the oldest goes first
)

// outcome is what is kept of a request that came with an Idempotency-Key: no
// content, only what the answer can be rebuilt from.
type outcome struct {
	Hash       [32]byte
	Tx         uint64
	RecordedAt fact.Instant
	Wrote      bool
	Refused    *refusedOutcome `json:",omitempty"`
	Asserts    []assertOutcome `json:",omitempty"`
	Retracted  []fact.ID       `json:",omitempty"`
	Asked      []fact.ID       `json:",omitempty"`
	Tenant     string          `json:",omitempty"`
	KeyID      string          `json:",omitempty"`
	Purged     uint64          `json:",omitempty"`
	Branching  *branchOutcome  `json:",omitempty"`
	// Erased marks one that is left of an outcome when something that it names was
	// purged: the time, and that the key was used.
	Erased bool `json:",omitempty"`
}

type refusedOutcome struct {
	Code    fact.Code
	Message string
	Field   string     `json:",omitempty"`
	IDs     []fact.ID  `json:",omitempty"`
	Met     []metGuard `json:",omitempty"`
}

// metGuard is a guard that failed, by its place in the request, and the facts
// that it met.
type metGuard struct {
	Guard int
	IDs   []fact.ID
}

type assertOutcome struct {
	ID            fact.ID
	Duplicate     bool      `json:",omitempty"`
	Superseded    []fact.ID `json:",omitempty"`
	Moved         []fact.ID `json:",omitempty"`
	Continuations []fact.ID `json:",omitempty"`
	Before, After int
}

// outcomeHash names a key within its tenant.
func outcomeHash(q *fact.Idempotency) [32]byte {
	h := sha256.New()
	for _, s := range []string{q.Key, q.Method, q.Path} {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	var sum [32]byte
	h.Sum(sum[:0])
	return sum
}

// outcomeKey names a kept outcome: two tenants may use one key.
type outcomeKey struct {
	tenant string
	hash   [32]byte
}

// outcomeMemo holds the outcomes that one Apply call adds for a tenant.
type outcomeMemo struct {
	space space
	added map[[32]byte]*outcome
	order [][32]byte
}

// replay answers a request whose key was seen before; nil where it was not.
func (l *ledger) replay(req *fact.Request, now fact.Instant) (*fact.Result, error) {
	s := space{tenant: req.Tenant}
	o, err := l.seen(s, outcomeHash(req.Idem))
	if err != nil || o == nil || now-o.RecordedAt >= outcomeLifetime {
		return nil, err
	}
	problem := ""
	switch {
	case o.Erased:
		problem = "this Idempotency-Key was used with a request that named what was purged since; nothing was written"
	case o.Hash != req.Idem.Hash:
		problem = "this Idempotency-Key was used with another request"
	default:
		return l.rebuild(req, o)
	}
	return &fact.Result{Tx: l.state.Tx, RecordedAt: now,
		Err: &fact.Error{Code: fact.Conflict, Field: fact.IdempotencyField, Message: problem}}, nil
}

func (l *ledger) seen(s space, hash [32]byte) (*outcome, error) {
	if memo := l.outcomes[s]; memo != nil && memo.added[hash] != nil {
		return memo.added[hash], nil
	}
	if l.dropped[outcomeKey{s.tenant, hash}] {
		return nil, nil
	}
	b, err := get(l.base, s.outcome(hash))
	if err != nil || b == nil {
		return nil, err
	}
	return decodeOutcome(b)
}

func decodeOutcome(b []byte) (*outcome, error) {
	var o outcome
	if err := json.Unmarshal(b, &o); err != nil {
		return nil, fact.Errorf(fact.StorageCorruption, "an idempotent outcome cannot be read: %v", err)
	}
	return &o, nil
}

// keep remembers the outcome of a request that came with a key.
func (l *ledger) keep(req *fact.Request, res *fact.Result, met []metGuard) {
	l.outcomesOf(space{tenant: req.Tenant}).add(outcomeHash(req.Idem), outcomeOf(req, res, met))
}

func (l *ledger) outcomesOf(s space) *outcomeMemo {
	memo := l.outcomes[s]
	if memo == nil {
		memo = &outcomeMemo{space: s, added: make(map[[32]byte]*outcome)}
		l.outcomes[s] = memo
		l.outOrder = append(l.outOrder, memo)
	}
	return memo
}

func (m *outcomeMemo) add(hash [32]byte, o *outcome) {
	if m.added[hash] == nil {
		m.order = append(m.order, hash)
	}
	m.added[hash] = o
}

// erased is what stays of an outcome when something that it names is purged. Without it
// the same request, which may still be on its way, would write all of that again.
func (o *outcome) erased() *outcome { return &outcome{RecordedAt: o.RecordedAt, Erased: true} }

func outcomeOf(req *fact.Request, res *fact.Result, met []metGuard) *outcome {
	o := &outcome{
		Hash: req.Idem.Hash, Tx: res.Tx, RecordedAt: res.RecordedAt, Wrote: res.Wrote,
		Retracted: idsOf(res.Retracted), Asked: res.RetractedIDs, Purged: res.Purged,
	}
	if e := res.Err; e != nil {
		o.Refused = &refusedOutcome{Code: e.Code, Message: e.Message, Field: e.Field, IDs: e.IDs, Met: met}
	}
	for i := range res.Asserts {
		a := &res.Asserts[i]
		o.Asserts = append(o.Asserts, assertOutcome{
			ID: a.Fact.ID, Duplicate: a.Duplicate, Superseded: idsOf(a.Superseded), Moved: idsOf(a.Moved),
			Continuations: idsOf(a.Continuations), Before: a.ActiveBefore, After: a.ActiveAfter,
		})
	}
	if res.Tenant != nil {
		o.Tenant = res.Tenant.ID
	}
	if res.Key != nil {
		o.Tenant, o.KeyID = res.Key.Tenant, res.Key.ID
	}
	if res.Branching != nil {
		o.Branching = branchOutcomeOf(res.Branching)
	}
	return o
}

// rebuild makes the answer anew, with every fact as it was at the outcome's tx.
func (l *ledger) rebuild(req *fact.Request, o *outcome) (*fact.Result, error) {
	at := &rebuilder{l: l, space: space{req.Tenant, req.Branch}, tx: o.Tx}
	res := &fact.Result{Tx: o.Tx, RecordedAt: o.RecordedAt, Wrote: o.Wrote, Replayed: true, RetractedIDs: o.Asked, Purged: o.Purged}
	if o.Refused != nil {
		res.Err = at.refusal(req, o.Refused)
		return res, at.err
	}
	for i := range o.Asserts {
		a := &o.Asserts[i]
		res.Asserts = append(res.Asserts, fact.AssertResult{
			Fact: at.fact(a.ID), Duplicate: a.Duplicate, Superseded: at.facts(a.Superseded), Moved: at.facts(a.Moved),
			Continuations: at.facts(a.Continuations), ActiveBefore: a.Before, ActiveAfter: a.After,
		})
	}
	res.Retracted = at.facts(o.Retracted)
	if o.Branching != nil {
		at.branching(res, o.Branching)
	}
	if o.Tenant != "" {
		at.registry(res, o)
	}
	return res, at.err
}

// rebuilder reads facts as they were at a tx; its first failure sticks.
type rebuilder struct {
	l     *ledger
	space space
	tx    uint64
	err   error
}

// fact returns a fact at the tx. One that was deleted since is answered by its
// id alone: nothing of it is left.
func (r *rebuilder) fact(id fact.ID) fact.Fact {
	f, err := r.l.seenAt(r.space, id, r.tx)
	if err != nil && r.err == nil {
		r.err = err
	}
	if f == nil {
		return fact.Fact{ID: id, Tenant: r.space.tenant, Branch: r.space.branch, DeclaredKnownAt: fact.NoInstant}
	}
	return *f
}

func (r *rebuilder) facts(ids []fact.ID) []fact.Fact {
	var facts []fact.Fact
	for _, id := range ids {
		facts = append(facts, r.fact(id))
	}
	return facts
}

func (r *rebuilder) refusal(req *fact.Request, o *refusedOutcome) *fact.Error {
	e := &fact.Error{Code: o.Code, Message: o.Message, Field: o.Field, IDs: o.IDs}
	for _, m := range o.Met {
		if req.Write == nil || m.Guard >= len(req.Write.Guards) {
			continue
		}
		g := &req.Write.Guards[m.Guard]
		e.Failures = append(e.Failures, failureOf(g, distinctObjects(r.facts(m.IDs))))
	}
	return e
}

func (r *rebuilder) registry(res *fact.Result, o *outcome) {
	t, err := r.l.tenantRecord(o.Tenant)
	if err != nil && r.err == nil {
		r.err = err
	}
	res.Tenant = t
	if o.KeyID == "" {
		return
	}
	k, err := r.l.keyByID(o.Tenant, o.KeyID)
	if err != nil && r.err == nil {
		r.err = err
	}
	res.Key = k
}

// flushOutcomes writes the kept outcomes and lets the oldest go.
func (l *ledger) flushOutcomes() error {
	for _, memo := range l.outOrder {
		counts, err := l.space(memo.space)
		if err != nil {
			return err
		}
		for _, hash := range memo.order {
			if err := l.flushOutcome(memo, counts, hash); err != nil {
				return err
			}
		}
		if over := counts.counters.Outcomes - maxOutcomes; over > 0 {
			if err := l.dropOutcomes(counts, int(over), fact.NoInstant); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *ledger) flushOutcome(memo *outcomeMemo, counts *spaceMemo, hash [32]byte) error {
	o, s := memo.added[hash], memo.space
	old, err := get(l.base, s.outcome(hash))
	if err != nil {
		return err
	}
	if old != nil && !l.dropped[outcomeKey{s.tenant, hash}] {
		before, err := decodeOutcome(old)
		if err != nil {
			return err
		}
		if err := l.batch.Delete(s.outcomeAge(before.RecordedAt, hash), nil); err != nil {
			return err
		}
		counts.counters.Outcomes--
	}
	counts.counters.Outcomes++
	v, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("encode an idempotent outcome: %w", err)
	}
	if err := l.batch.Set(s.outcome(hash), v, nil); err != nil {
		return err
	}
	return l.batch.Set(s.outcomeAge(o.RecordedAt, hash), nil, nil)
}

// dropOutcomes deletes the store's oldest outcomes: up to most of them, and,
// where before is given, only those recorded before it.
func (l *ledger) dropOutcomes(counts *spaceMemo, most int, before fact.Instant) error {
	s := counts.space
	prefix := s.shared().prefix(famOutcomeAge)
	it, err := openIter(l.base, prefix, successor(prefix))
	if err != nil {
		return err
	}
	defer it.Close()
	for ok := it.First(); ok && most > 0; ok = it.Next() {
		k := it.Key()
		if before.Given() && timeAt(k[len(prefix):]) >= before {
			break
		}
		var hash [32]byte
		copy(hash[:], k[len(prefix)+8:])
		if memo := l.outcomes[s]; l.dropped[outcomeKey{s.tenant, hash}] || memo != nil && memo.added[hash] != nil {
			continue // dropped, or given a new outcome, in this call
		}
		l.dropped[outcomeKey{s.tenant, hash}] = true
		if err := l.batch.Delete(append([]byte(nil), k...), nil); err != nil {
			return err
		}
		if err := l.batch.Delete(s.outcome(hash), nil); err != nil {
			return err
		}
		counts.counters.Outcomes--
		most--
	}
	return it.Error()
}

func idsOf(facts []fact.Fact) []fact.ID {
	var ids []fact.ID
	for i := range facts {
		ids = append(ids, facts[i].ID)
	}
	return ids
}

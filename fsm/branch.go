package fsm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"abagraph/fact"
	"abagraph/log/entry"

	"github.com/cockroachdb/pebble/v2"
)

// The registry of branches lies with its tenant's data. A branch is a record and
// nothing else until something is written on it: no fact is ever copied (C-55).

// branch returns the record of a branch, changes of this call included; nil where
// there is none.
func (l *ledger) branch(s space) (*fact.Branch, error) {
	if rec, known := l.branches[s]; known {
		return rec, nil
	}
	rec, err := readBranch(l.base, s)
	if err != nil {
		return nil, err
	}
	if l.branches == nil {
		l.branches = make(map[space]*fact.Branch)
	}
	l.branches[s] = rec
	return rec, nil
}

func readBranch(r pebble.Reader, s space) (*fact.Branch, error) {
	b, err := get(r, s.record())
	if err != nil || b == nil {
		return nil, err
	}
	return decodeBranch(b)
}

func decodeBranch(b []byte) (*fact.Branch, error) {
	rec, err := entry.DecodeBranch(b)
	if err != nil {
		return nil, fact.Errorf(fact.StorageCorruption, "a branch cannot be read: %v", err)
	}
	return &rec, nil
}

// setBranch keeps a record that this call has made or changed.
func (l *ledger) setBranch(s space, rec *fact.Branch) error {
	if _, err := l.space(s); err != nil { // the tenant holds data now
		return err
	}
	if _, err := l.branch(s); err != nil {
		return err
	}
	l.branches[s] = rec
	delete(l.forkNames, s.tenant)
	return l.batch.Set(s.record(), entry.EncodeBranch(rec), nil)
}

// closedBranch refuses a write on a branch that is not there, or not open.
func (l *ledger) closedBranch(s space) (*fact.Error, error) {
	if s.branch == fact.MainBranch {
		return nil, nil
	}
	rec, err := l.branch(s)
	if err != nil {
		return nil, err
	}
	return closed(rec, s.branch), nil
}

func closed(rec *fact.Branch, name string) *fact.Error {
	switch {
	case rec == nil:
		return noBranch(name)
	case rec.Status != fact.BranchOpen:
		e := fact.Errorf(fact.Conflict, "branch is not open: %s was %s", name, rec.Status)
		e.Field = "branch"
		return e
	}
	return nil
}

// branching judges a change to the branches, as one tx.
func (l *ledger) branching(req *fact.Request, now fact.Instant) (*fact.Result, error) {
	c := req.Branching
	res := &fact.Result{Tx: l.state.Tx, RecordedAt: now}
	var refused *fact.Error
	var err error
	switch c.Op {
	case fact.BranchCreate:
		refused, err = l.fork(req, now, res)
	case fact.BranchPromote:
		refused, err = l.promotion(req, now, res)
	case fact.BranchDiscard:
		refused, err = l.discard(req, now, res)
	default:
		refused = fact.Errorf(fact.SchemaInvalid, "no such change of the branches: %d", c.Op)
	}
	if errors.Is(err, errTooHeavy) {
		refused, err = errTooHeavy, nil
	}
	if err != nil {
		return nil, err
	}
	if refused != nil {
		return &fact.Result{Tx: l.state.Tx, RecordedAt: now, Err: refused}, nil
	}
	return res, nil
}

// fork makes a branch.
func (l *ledger) fork(req *fact.Request, now fact.Instant, res *fact.Result) (*fact.Error, error) {
	c := req.Branching
	s := space{req.Tenant, c.Name}
	if rec, err := l.branch(s); rec != nil || err != nil {
		return fact.Errorf(fact.Conflict, "branch %s exists already: a name is used once", c.Name), err
	}
	rec := &fact.Branch{
		Tenant: req.Tenant, Name: c.Name, Parent: c.Parent, Depth: 1, BaseTx: l.state.Tx, BaseTs: now,
		CreatedAt: now, CreatedTx: l.state.Tx + 1, CreatedBy: req.Actor, ClosedAt: fact.NoInstant,
	}
	if c.Parent != fact.MainBranch {
		parent, err := l.branch(space{req.Tenant, c.Parent})
		if err != nil {
			return nil, err
		}
		if refused := closed(parent, c.Parent); refused != nil {
			return refused, nil
		}
		if rec.Depth = parent.Depth + 1; rec.Depth > fact.MaxBranchDepth {
			return fact.Invalid("parent", fmt.Sprintf("stands upon %d others already, which is as deep as branches go", fact.MaxBranchDepth-1)), nil
		}
	}
	if c.AsOf.Given() {
		if c.AsOf > now {
			return fact.Invalid("as_of", "is in the future"), nil
		}
		var err error
		if rec.BaseTx, err = l.txAt(c.AsOf); err != nil {
			return nil, err
		}
		rec.BaseTs = c.AsOf
	}
	var err error
	if rec.BaseAt, err = l.recordTime(rec.BaseTx); err != nil {
		return nil, err
	}
	res.Branching = &fact.BranchResult{Op: c.Op, Branch: *rec}
	return nil, l.register(req, s, rec, l.begin(req, now), res)
}

// register ends a change of the registry: it keeps the record and takes the tx.
func (l *ledger) register(req *fact.Request, s space, rec *fact.Branch, t *txn, res *fact.Result) error {
	if err := l.setBranch(s, rec); err != nil {
		return err
	}
	t.extra = append([]byte("branch"), entry.EncodeBranch(rec)...)
	res.Tx, res.Wrote = t.tx, true
	return t.commit(txRecord{
		Kind: "branch", Tenant: req.Tenant, Actor: req.Actor, Reason: branchReasons[req.Branching.Op] + rec.Name, DeclaredKnownAt: fact.NoInstant,
		auditPart: auditPart{Op: branchOps[req.Branching.Op], Target: rec.Name},
	})
}

var branchReasons = [...]string{fact.BranchCreate: "create ", fact.BranchPromote: "promote ", fact.BranchDiscard: "discard "}

// close marks a branch as promoted or discarded by the tx at hand.
func (t *txn) close(rec *fact.Branch, status fact.BranchStatus) *fact.Branch {
	done := *rec
	done.Status, done.ClosedAt, done.ClosedTx, done.ClosedBy = status, t.now, t.tx, t.req.Actor
	return &done
}

// discard closes a branch. Its rows stay where they are, for reads of the time
// before; no later read looks at them.
func (l *ledger) discard(req *fact.Request, now fact.Instant, res *fact.Result) (*fact.Error, error) {
	s := space{req.Tenant, req.Branching.Name}
	rec, err := l.branch(s)
	if err != nil {
		return nil, err
	}
	if refused := closed(rec, s.branch); refused != nil {
		return refused, nil
	}
	n, err := l.countMade(s, rec.BaseTx)
	if err != nil {
		return nil, err
	}
	t := l.begin(req, now)
	rec = t.close(rec, fact.BranchDiscarded)
	res.Branching = &fact.BranchResult{Op: req.Branching.Op, Branch: *rec, Discarded: n}
	return nil, l.register(req, s, rec, t, res)
}

// countMade counts the facts that were made on a branch and are there, changes of
// this call included. What it has changed of its parents' is not among them.
func (l *ledger) countMade(s space, base uint64) (int, error) {
	c, err := readCounters(l.base, s)
	if err != nil {
		return 0, err
	}
	stats := c.stats()
	n := int(stats.Total())
	forked, err := l.idsUnder(s.prefix(famForked))
	if err != nil {
		return 0, err
	}
	for _, id := range forked {
		there, err := has(l.base, s.id(id))
		if err != nil {
			return 0, err
		}
		if there {
			n--
		}
	}
	for _, r := range l.order {
		if r.space != s {
			continue
		}
		if r.orig != nil && r.orig.FirstTx > base {
			n--
		}
		if !r.gone && !r.untouched() && r.f.FirstTx > base {
			n++
		}
	}
	return n, nil
}

// recordTime returns the record time of a tx, one of this call included;
// NoInstant for tx 0.
func (l *ledger) recordTime(tx uint64) (fact.Instant, error) {
	before := l.m.state.Tx
	switch {
	case tx == 0:
		return fact.NoInstant, nil
	case tx > before:
		return l.times[tx-before-1], nil
	}
	rec, err := readTx(l.base, tx)
	return rec.RecordedAt, err
}

// txAt returns the last tx that was not recorded later than t.
func (l *ledger) txAt(t fact.Instant) (uint64, error) {
	return searchTx(context.Background(), l.state.Tx, t, l.recordTime)
}

// searchTx finds the last tx, up to last, that was not recorded later than t;
// record times never run backwards.
func searchTx(ctx context.Context, last uint64, t fact.Instant, recordTime func(uint64) (fact.Instant, error)) (uint64, error) {
	low, high := uint64(0), last
	for low < high {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		mid := low + (high-low+1)/2
		at, err := recordTime(mid)
		if err != nil {
			return 0, err
		}
		if at <= t {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low, nil
}

// branchNames lists the branches of a tenant, in byte order, those of this call
// included.
func (l *ledger) branchNames(tenant string) ([]string, error) {
	var names []string
	err := eachBranch(l.base, tenant, "", func(rec *fact.Branch) bool {
		names = append(names, rec.Name)
		return true
	})
	for s, rec := range l.branches { // map order: sorted below
		if s.tenant == tenant && rec != nil {
			names = append(names, s.branch)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// eachBranch visits the branches of a tenant after a name, in byte order, until
// visit answers false.
func eachBranch(r pebble.Reader, tenant, after string, visit func(*fact.Branch) bool) error {
	prefix := space{tenant: tenant}.prefix(famBranch)
	lower := prefix
	if after != "" {
		lower = append(space{tenant, after}.record(), 0)
	}
	it, err := openIter(r, lower, successor(prefix))
	if err != nil {
		return err
	}
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		b, err := it.ValueAndErr()
		if err != nil {
			return storageError("read a branch", err)
		}
		rec, err := decodeBranch(b)
		if err != nil {
			return err
		}
		if !visit(rec) {
			return nil
		}
	}
	return it.Error()
}

// Branch returns the record of a branch of a scope, or NotFound. In a scope of
// all tenants it is the one of the first that has such a branch.
func (v *View) Branch(_ context.Context, scope fact.Scope, name string) (*fact.Branch, error) {
	tenants, err := v.tenants(scope)
	if err != nil {
		return nil, err
	}
	for _, tenant := range tenants {
		rec, err := readBranch(v.snap, space{tenant, name})
		if rec != nil || err != nil {
			return rec, err
		}
	}
	return nil, noBranch(name)
}

// Branches lists the branches of a scope by name, then owner.
func (v *View) Branches(ctx context.Context, q *fact.BranchQuery) ([]fact.Branch, error) {
	limit := q.Limit
	if limit <= 0 {
		limit = fact.MaxLimit
	}
	tenants, err := v.tenants(q.Scope)
	if err != nil {
		return nil, err
	}
	var list []fact.Branch
	for _, tenant := range tenants {
		taken := 0
		err := eachBranch(v.snap, tenant, q.After, func(rec *fact.Branch) bool {
			if !q.StatusGiven || rec.Status == q.Status {
				list = append(list, *rec)
				taken++
			}
			return taken < limit && ctx.Err() == nil
		})
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(list, func(a, b fact.Branch) int { return strings.Compare(a.Name, b.Name) })
	return list[:min(len(list), limit)], nil
}

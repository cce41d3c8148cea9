package fsm

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"abagraph/fact"

	"github.com/cockroachdb/pebble/v2"
)

// purge erases every fact of the subjects that it names: rows, versions, index
// keys, events and idempotent answers (C-56). The tx's record keeps only that
// it ran.
func (l *ledger) purge(req *fact.Request, now fact.Instant) (*fact.Result, error) {
	t := l.begin(req, now)
	tenants := []string{req.Tenant}
	if req.Purge.AllTenants {
		var err error
		if tenants, err = l.dataTenants(); err != nil {
			return nil, err
		}
	}
	res := &fact.Result{Tx: l.state.Tx, RecordedAt: now}
	for _, tenant := range tenants {
		n, err := l.purgeBranches(tenant, req.Purge)
		if err != nil {
			return nil, err
		}
		if res.Purged += n; n > 0 {
			t.auditFor = append(t.auditFor, tenant)
		}
	}
	if res.Purged == 0 {
		return res, nil
	}
	l.purged, l.state.Purge = true, t.tx
	t.extra = binary.AppendUvarint([]byte("purge"), res.Purged)
	res.Tx, res.Wrote = t.tx, true
	return res, t.commit(txRecord{
		Kind: "purge", Tenant: req.Tenant, AllTenants: req.Purge.AllTenants, Actor: req.Actor, DeclaredKnownAt: fact.NoInstant,
	})
}

// dataTenants lists the tenants that hold data, those of this call included.
func (l *ledger) dataTenants() ([]string, error) {
	tenants, err := dataTenants(l.base)
	if err != nil {
		return nil, err
	}
	for _, memo := range l.spaces {
		if !slices.Contains(tenants, memo.space.tenant) {
			tenants = append(tenants, memo.space.tenant)
		}
	}
	slices.Sort(tenants)
	return tenants, nil
}

func dataTenants(r pebble.Reader) ([]string, error) {
	prefix := storeKeyOf(storeTenant)
	it, err := openIter(r, prefix, successor(prefix))
	if err != nil {
		return nil, err
	}
	defer it.Close()
	var tenants []string
	for ok := it.First(); ok; ok = it.Next() {
		name, _, ok := cutString(it.Key()[len(prefix):])
		if !ok {
			return nil, fact.Errorf(fact.StorageCorruption, "a tenant's key cannot be read")
		}
		tenants = append(tenants, name)
	}
	return tenants, it.Error()
}

// purgeBranches erases on every branch of a tenant, closed ones included.
func (l *ledger) purgeBranches(tenant string, p *fact.Purge) (uint64, error) {
	branches, err := l.branchNames(tenant)
	if err != nil {
		return 0, err
	}
	var n uint64
	for _, branch := range append([]string{fact.MainBranch}, branches...) {
		more, err := l.purgeTenant(space{tenant, branch}, p)
		if err != nil {
			return 0, err
		}
		n += more
	}
	return n, nil
}

func (l *ledger) purgeTenant(s space, p *fact.Purge) (uint64, error) {
	subjects, err := l.purgeSubjects(s, p)
	if err != nil {
		return 0, err
	}
	var n uint64
	gone := make(map[fact.ID]bool)
	for _, subject := range subjects {
		rows, err := l.rowsOf(s, subject)
		if err != nil {
			return 0, err
		}
		for _, r := range rows {
			gone[r.f.ID] = true
			r.purged = true
			if err := l.dropBlob(s, subject, r.f.Object); err != nil {
				return 0, err
			}
			if s.branch != fact.MainBranch {
				if err := l.batch.Delete(s.forked(r.f.ID), nil); err != nil {
					return 0, err
				}
			}
		}
		forget := func(key []byte) error { return l.batch.Delete(key, nil) }
		if err := l.erase(s, subject, rows, forget); err != nil {
			return 0, err
		}
		n += uint64(len(rows))
	}
	if err := l.forgetExpiries(s, p); err != nil {
		return 0, err
	}
	if n == 0 {
		return 0, nil
	}
	return n, l.forgetOutcomes(s, gone)
}

// purgeSubjects lists the subjects that a purge names, in byte order.
func (l *ledger) purgeSubjects(s space, p *fact.Purge) ([]string, error) {
	subjects, err := subjectsFrom(l.base, s, p)
	if err != nil {
		return nil, err
	}
	for _, r := range l.order {
		if !r.gone && !r.untouched() && r.space == s && selects(p, r.f.Subject) {
			subjects = append(subjects, r.f.Subject)
		}
	}
	slices.Sort(subjects)
	return slices.Compact(subjects), nil
}

func selects(p *fact.Purge, subject string) bool {
	if p.Subject != "" {
		return subject == p.Subject
	}
	return len(subject) >= len(p.Prefix) && subject[:len(p.Prefix)] == p.Prefix
}

// subjectsFrom lists a store's subjects that a purge names.
func subjectsFrom(r pebble.Reader, s space, p *fact.Purge) ([]string, error) {
	if p.Subject != "" {
		there, err := has(r, s.marker(p.Subject))
		if err != nil || !there {
			return nil, err
		}
		return []string{p.Subject}, nil
	}
	var subjects []string
	err := eachSubject(r, s, p.Prefix, func(subject string) (bool, error) {
		if !selects(p, subject) {
			return subject < p.Prefix, nil
		}
		subjects = append(subjects, subject)
		return true, nil
	})
	return subjects, err
}

// eachSubject visits the subjects from a name on, in byte order, until visit
// answers false.
func eachSubject(r pebble.Reader, s space, from string, visit func(string) (bool, error)) error {
	prefix := s.prefix(famTimeline)
	it, err := openIter(r, prefix, successor(prefix))
	if err != nil {
		return err
	}
	defer it.Close()
	start := s.subject(from)
	ok := it.SeekGE(start[:len(start)-2]) // without its end, so that longer names count
	for ok {
		subject, _, fine := cutString(it.Key()[len(prefix):])
		if !fine {
			return fact.Errorf(fact.StorageCorruption, "a subject's key cannot be read")
		}
		more, err := visit(subject)
		if err != nil || !more {
			return err
		}
		ok = it.SeekGE(successor(s.subject(subject)))
	}
	return it.Error()
}

// rowsOf returns every row of a subject, changes of this call included.
func (l *ledger) rowsOf(s space, subject string) ([]*row, error) {
	var rows []*row
	for status := fact.Active; status <= fact.Retracted; status++ {
		prefix := s.class(subject, status)
		it, err := l.seek(prefix, successor(prefix))
		if err != nil {
			return nil, err
		}
		for ok := it.First(); ok; ok = it.Next() {
			f, err := rowValue(it)
			if err != nil {
				return nil, err
			}
			if l.changed(s, f.ID) == nil {
				rows = append(rows, l.newRow(s, &f, &f))
			}
		}
		if err := it.Error(); err != nil {
			return nil, storageError("read the rows of a subject", err)
		}
	}
	for _, r := range l.order {
		if !r.gone && !r.untouched() && r.space == s && r.f.Subject == subject {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b *row) int { return bytes.Compare(a.f.ID[:], b.f.ID[:]) })
	return rows, nil
}

// erase deletes rows of one subject for good, with their versions. What becomes
// of the events that tell of them is the caller's.
func (l *ledger) erase(s space, subject string, rows []*row, event func(key []byte) error) error {
	ids := make(map[fact.ID]bool, len(rows))
	var txs []uint64
	for _, r := range rows {
		ids[r.f.ID] = true
		txs = append(txs, r.f.Tx, r.f.FirstTx)
	}
	prefix := appendString(s.prefix(famVersion), subject)
	it, err := l.seek(prefix, successor(prefix))
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		id, tx := versionOf(it.Key())
		if !ids[id] {
			continue
		}
		txs = append(txs, tx)
		if err := l.batch.Delete(bytes.Clone(it.Key()), nil); err != nil {
			return err
		}
	}
	if err := it.Error(); err != nil {
		return storageError("read the versions of a subject", err)
	}
	for _, r := range rows {
		l.adopt(r)
		r.forked = r.forkTx()
		r.gone, r.past, r.ends = true, nil, nil
	}
	if err := l.dropVectors(rows); err != nil {
		return err
	}
	if err := l.dropInheritedVectors(s, rows); err != nil {
		return err
	}
	l.emptied = append(l.emptied, lineKey{space: s, subject: subject})
	slices.Sort(txs)
	return l.eachEvent(s, slices.Compact(txs), ids, event)
}

// eachEvent visits the events of some facts at some txs.
func (l *ledger) eachEvent(s space, txs []uint64, ids map[fact.ID]bool, visit func(key []byte) error) error {
	for _, tx := range txs {
		prefix := s.events(tx)
		it, err := l.seek(prefix, successor(prefix))
		if err != nil {
			return err
		}
		for ok := it.First(); ok; ok = it.Next() {
			b, err := it.ValueAndErr()
			if err != nil {
				return storageError("read an event", err)
			}
			e, err := decodeEvent(b)
			if err != nil {
				return err
			}
			if ids[e.id] {
				if err := visit(bytes.Clone(it.Key())); err != nil {
					return err
				}
			}
		}
		if err := it.Error(); err != nil {
			return storageError("read the events of a tx", err)
		}
	}
	return nil
}

// forgetExpiries deletes what the events still tell of facts that expired before.
func (l *ledger) forgetExpiries(s space, p *fact.Purge) error {
	for i := range l.events {
		if e := &l.events[i]; e.row.gone && e.space == s && selects(p, e.row.f.Subject) {
			e.op = 0 // told by nobody any more
		}
	}
	start := s.expiries(p.Prefix + p.Subject)
	prefix := start[:len(start)-2] // without the end of the name
	it, err := l.seek(prefix, successor(prefix))
	if err != nil {
		return err
	}
	family := len(s.told().prefix(famExpired))
	for ok := it.First(); ok; ok = it.Next() {
		subject, place, fine := cutString(it.Key()[family:])
		if !fine {
			return fact.Errorf(fact.StorageCorruption, "an expiry's key cannot be read")
		}
		if !selects(p, subject) {
			continue
		}
		if err := l.batch.Delete(bytes.Clone(it.Key()), nil); err != nil {
			return err
		}
		if err := l.batch.Delete(append(s.told().prefix(famEvent), place...), nil); err != nil {
			return err
		}
	}
	return it.Error()
}

// forgetOutcomes erases the idempotent answers that name any of the facts.
func (l *ledger) forgetOutcomes(s space, gone map[fact.ID]bool) error {
	shared := s.shared()
	memo := l.outcomesOf(shared)
	for _, hash := range memo.order {
		if o := memo.added[hash]; o.names(gone) {
			memo.add(hash, o.erased())
		}
	}
	prefix := shared.prefix(famOutcome)
	it, err := l.seek(prefix, successor(prefix))
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		b, err := it.ValueAndErr()
		if err != nil {
			return storageError("read an idempotent outcome", err)
		}
		o, err := decodeOutcome(b)
		if err != nil {
			return err
		}
		var hash [32]byte
		copy(hash[:], it.Key()[len(prefix):])
		if o.names(gone) && memo.added[hash] == nil && !l.dropped[outcomeKey{s.tenant, hash}] {
			memo.add(hash, o.erased())
		}
	}
	return it.Error()
}

// names reports whether an outcome's answer would show any of the facts.
func (o *outcome) names(gone map[fact.ID]bool) bool {
	any := func(ids []fact.ID) bool { return slices.ContainsFunc(ids, func(id fact.ID) bool { return gone[id] }) }
	if any(o.Retracted) || any(o.Asked) {
		return true
	}
	if r := o.Refused; r != nil && (any(r.IDs) || slices.ContainsFunc(r.Met, func(m metGuard) bool { return any(m.IDs) })) {
		return true
	}
	if b := o.Branching; b != nil && (any(b.Superseded) ||
		slices.ContainsFunc(b.Conflicts, func(c conflictOutcome) bool { return gone[c.ID] || any(c.With) })) {
		return true
	}
	return slices.ContainsFunc(o.Asserts, func(a assertOutcome) bool {
		return gone[a.ID] || any(a.Superseded) || any(a.Moved) || any(a.Continuations)
	})
}

// flushEmptied takes subjects off the list that have no row left.
func (l *ledger) flushEmptied() error {
	slices.SortFunc(l.emptied, func(a, b lineKey) int {
		return cmp.Or(strings.Compare(a.space.tenant, b.space.tenant), strings.Compare(a.space.branch, b.space.branch),
			strings.Compare(a.subject, b.subject))
	})
	for _, k := range slices.Compact(l.emptied) {
		there, err := has(l.base, k.space.marker(k.subject))
		if err != nil {
			return err
		}
		left, err := l.rowsOf(k.space, k.subject)
		if err != nil {
			return err
		}
		if !there || len(left) > 0 {
			continue
		}
		memo, err := l.space(k.space)
		if err != nil {
			return err
		}
		memo.counters.Entities--
		if err := l.batch.Delete(k.space.marker(k.subject), nil); err != nil {
			return err
		}
	}
	return nil
}

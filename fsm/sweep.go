package fsm

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"abagraph/fact"

	"github.com/cockroachdb/pebble/v2"
)

// maxSweep is the most rows that one sweep entry settles; what is left waits
// for the next one.
const maxSweep = 1_000

// SweepReport tells what a sweep did.
type SweepReport struct {
	Removed    int  // transient facts that were deleted (C-17)
	Superseded int  // closes that took effect (C-13)
	More       bool // something due was left for another sweep
}

// sweep settles what is due at the entry's record time, tenant by tenant, each
// in a tx of its own, and drops idempotent outcomes that have lived their time.
func (l *ledger) sweep(now fact.Instant) (*SweepReport, error) {
	report := &SweepReport{}
	tenants, err := l.dataTenants()
	if err != nil {
		return nil, err
	}
	budget, room := maxSweep, maxSweepBytes
	for _, tenant := range tenants {
		rows, more, err := l.due(tenant, now, budget, room)
		if err != nil {
			return nil, err
		}
		report.More = report.More || more
		budget -= len(rows)
		room -= weightOf(rows)
		for _, rows := range byBranch(rows) {
			if err := l.settleDue(rows, now, report); err != nil {
				return nil, err
			}
		}
		counts, err := l.space(space{tenant: tenant})
		if err != nil {
			return nil, err
		}
		if err := l.dropOutcomes(counts, maxSweep, now-outcomeLifetime); err != nil {
			return nil, err
		}
	}
	return report, nil
}

// due returns up to most rows of a tenant that a sweep has something to do with,
// by the time at which they became due, and whether there are more. A row is
// taken for as long as the ones before it have left room.
func (l *ledger) due(tenant string, now fact.Instant, most, room int) (rows []*row, more bool, err error) {
	due, err := l.dueIDs(tenant, now, most+1+len(l.order))
	if err != nil {
		return nil, false, err
	}
	loaded := 0
	for _, d := range due {
		if l.changed(d.space, d.id) != nil {
			continue
		}
		if loaded >= room { // nothing that comes later is taken
			more = true
			break
		}
		r, err := l.find(d.space, d.id)
		if err != nil {
			return nil, false, err
		}
		if r != nil {
			rows = append(rows, r)
			loaded += r.f.Weight()
		}
	}
	for _, r := range l.order {
		if at, due := dueAt(&r.f); due && at <= now && !r.gone && !r.untouched() && r.space.tenant == tenant {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b *row) int {
		return cmp.Or(cmp.Compare(a.f.ValidUntil, b.f.ValidUntil), bytes.Compare(a.f.ID[:], b.f.ID[:]))
	})
	for i, r := range rows {
		if i == most || room <= 0 {
			return rows[:i], true, nil
		}
		room -= r.f.Weight()
	}
	return rows, more, nil
}

// byBranch splits rows by their branch: main first, then the others in byte order.
func byBranch(rows []*row) [][]*row {
	of := make(map[string][]*row)
	var names []string
	for _, r := range rows {
		name := r.space.branch
		if of[name] == nil {
			names = append(names, name)
		}
		of[name] = append(of[name], r)
	}
	slices.SortFunc(names, func(a, b string) int {
		switch {
		case a == b:
			return 0
		case a == fact.MainBranch:
			return -1
		case b == fact.MainBranch:
			return 1
		}
		return cmp.Compare(a, b)
	})
	parts := make([][]*row, len(names))
	for i, name := range names {
		parts[i] = of[name]
	}
	return parts
}

// dueIDs returns the first rows, up to most, that were due in the store before
// this call.
func (l *ledger) dueIDs(tenant string, now fact.Instant, most int) ([]forkKey, error) {
	prefix := space{tenant: tenant}.prefix(famDue)
	it, err := l.seek(prefix, appendTime(bytes.Clone(prefix), now+1))
	if err != nil {
		return nil, err
	}
	var ids []forkKey
	for ok := it.First(); ok && len(ids) < most; ok = it.Next() {
		s := space{tenant: tenant}
		var id fact.ID
		s.branch, id = dueOf(it.Key()[len(prefix)+8:])
		ids = append(ids, forkKey{s, id})
	}
	if err := it.Error(); err != nil {
		return nil, storageError("read what is due", err)
	}
	return ids, nil
}

// settleDue settles rows of one branch.
func (l *ledger) settleDue(rows []*row, now fact.Instant, report *SweepReport) error {
	s := rows[0].space
	t := l.begin(&fact.Request{Tenant: s.tenant, Branch: s.branch}, now)
	for _, r := range rows {
		if r.f.Transient && r.f.StatedUntil != fact.Forever {
			continue
		}
		f := t.touch(r)
		f.Status, f.Pending = fact.Superseded, false
		t.tell(fact.OpSupersede, r)
		report.Superseded++
	}
	for _, r := range rows {
		if !r.f.Transient || r.f.StatedUntil == fact.Forever {
			continue
		}
		t.touch(r)
		t.tell(fact.OpExpire, r)
		// The events stay: they also tell what the fact did to others. Where they
		// are is noted, so that a purge of the subject finds them.
		note := func(key []byte) error {
			return l.batch.Set(append(r.space.expiries(r.f.Subject), key[len(key)-16:]...), nil, nil)
		}
		if err := l.erase(r.space, r.f.Subject, []*row{r}, note); err != nil {
			return err
		}
		report.Removed++
		l.state.Expiry = t.tx
	}
	t.extra = binary.AppendUvarint([]byte("sweep"), uint64(report.Removed))
	return t.commit(txRecord{Kind: "sweep", Tenant: s.tenant, DeclaredKnownAt: fact.NoInstant})
}

// sweepDue reports whether a sweep at this time would find anything to do.
func (v *View) sweepDue(now fact.Instant) (bool, error) {
	tenants, err := dataTenants(v.snap)
	if err != nil {
		return false, err
	}
	for _, tenant := range tenants {
		s := space{tenant: tenant}
		due := s.prefix(famDue)
		old := s.prefix(famOutcomeAge)
		for _, r := range [][2][]byte{
			{due, appendTime(bytes.Clone(due), now+1)},
			{old, appendTime(bytes.Clone(old), now-outcomeLifetime)},
		} {
			there, err := anyIn(v.snap, r[0], r[1])
			if err != nil || there {
				return there, err
			}
		}
	}
	return false, nil
}

// anyIn reports whether a range holds any key.
func anyIn(r pebble.Reader, lower, upper []byte) (bool, error) {
	it, err := openIter(r, lower, upper)
	if err != nil {
		return false, err
	}
	there := it.First()
	if err := it.Error(); err != nil {
		it.Close()
		return false, storageError("look into a range", err)
	}
	return there, it.Close()
}

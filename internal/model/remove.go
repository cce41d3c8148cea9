package model

import (
	"cmp"
	"slices"
	"strings"

	"abagraph/fact"
)

// retract ends the whole statement that a fact is a piece of (C-16).
func (d *draft) retract(r *fact.Retract) *fact.Error {
	named := only(d.current(), func(v *version) bool { return d.owns(v) && v.ID == r.ID })
	if len(named) == 0 {
		return fact.Errorf(fact.NotFound, "fact %s not found", r.ID)
	}
	d.result.RetractedIDs = append(d.result.RetractedIDs, r.ID)
	pieces := byTime(only(d.current(), func(v *version) bool {
		return d.owns(v) && v.Statement() == named[0].Statement() && v.Status != fact.Retracted
	}))
	known, declared := d.known(r.KnownAt)
	later := only(pieces, func(v *version) bool { return v.VersionKnownAt > known })
	if declared && len(later) > 0 {
		return conflict("the retraction was declared to be known before what it ends", later)
	}
	for _, p := range pieces {
		p.Status, p.Pending = fact.Retracted, false
		p.ValidUntil = max(p.ValidFrom, min(p.ValidUntil, known))
		d.result.Retracted = append(d.result.Retracted, d.put(p, known).Fact)
		d.tell(fact.OpRetract, p.ID)
	}
	return nil
}

// Sweep does what is due at its cut-off, the record time (C-13, C-17), one tx
// for each tenant and branch that it touches, in the order of their bytes, main
// first. What a branch inherits is its parent's business. It returns how
// many transient facts it deleted and how many closes it made due.
func (m *Model) Sweep(proposedAt fact.Instant) (removed, superseded int) {
	m.last = max(m.last, proposedAt)
	for _, tenant := range m.tenants() {
		branches := []string{fact.MainBranch}
		for _, b := range m.Branches(tenant) {
			branches = append(branches, b.Name)
		}
		for _, branch := range branches {
			d := m.begin(&fact.Request{Tenant: tenant, Branch: branch})
			superseded += d.closeDue()
			removed += d.expire()
			if d.wrote {
				d.commit()
			}
		}
	}
	return removed, superseded
}

func (d *draft) closeDue() int {
	due := only(d.current(), func(v *version) bool {
		return d.owns(v) && v.home == v.on && v.Pending && v.ValidUntil <= d.last && !expires(v)
	})
	slices.SortFunc(due, byEnd)
	for _, v := range due {
		v.Status, v.Pending = fact.Superseded, false
		d.put(v, d.last)
		d.tell(fact.OpSupersede, v.ID)
	}
	return len(due)
}

// expires reports whether a fact is deleted at its end: it is transient, and was
// stated to end (C-17).
func expires(v *version) bool { return v.Transient && v.StatedUntil != fact.Forever }

func byEnd(a, b version) int { return cmp.Or(cmp.Compare(a.ValidUntil, b.ValidUntil), byID(a, b)) }

func (d *draft) expire() int {
	expired := only(d.current(), func(v *version) bool {
		return d.owns(v) && v.home == v.on && expires(v) && v.ValidUntil <= d.last
	})
	slices.SortFunc(expired, byEnd)
	for i := range expired {
		d.tellExpired(&expired[i])
	}
	for _, v := range expired {
		d.forget(v)
	}
	return len(expired)
}

// forget deletes an expired fact: wherever it is read, that version and what was
// replaced by it, on the branches that have it from here too.
func (d *draft) forget(gone version) {
	d.wrote = true
	last := map[string]int{}
	for i, v := range d.versions {
		if v.ID == gone.ID && v.home == gone.on {
			last[v.on] = i
		}
	}
	var left []version
	for i, v := range d.versions {
		if upTo, there := last[v.on]; v.ID != gone.ID || !there || i > upTo {
			left = append(left, v)
		}
	}
	d.versions = left
}

// purge deletes every trace of the facts it names (C-56).
func (d *draft) purge(p *fact.Purge) {
	names := func(tenant, subject string) bool {
		mine := p.AllTenants || tenant == d.req.Tenant
		return mine && (subject == p.Subject || p.Subject == "" && strings.HasPrefix(subject, p.Prefix))
	}
	gone := only(d.current(), func(v *version) bool { return names(v.Tenant, v.Subject) && v.home == v.on })
	d.erase(gone)
	d.events = slices.DeleteFunc(d.events, func(e event) bool {
		return e.expired != nil && names(e.expired.Tenant, e.expired.Subject)
	})
	d.kept = slices.Clone(d.kept)
	for i := range d.kept {
		d.kept[i].erased = d.kept[i].erased || d.kept[i].tells(names, gone)
	}
	d.result.Purged = uint64(len(gone))
}

// erase deletes facts with all their versions.
func (d *draft) erase(gone []version) {
	d.wrote = d.wrote || len(gone) > 0
	d.versions = slices.DeleteFunc(d.versions, func(v version) bool { return contains(gone, &v) })
}

// tenants returns the tenants that have any fact, in the order of their bytes.
func (m *Model) tenants() []string {
	var names []string
	for i := range m.versions {
		names = append(names, m.versions[i].Tenant)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

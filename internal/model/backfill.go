package model

import "abagraph/fact"

// known returns when a row was known: as it declares, as its batch does, or
// now (C-28).
func (d *draft) known(row fact.Instant) (known fact.Instant, declared bool) {
	if !row.Given() && d.req.Write.Backfill != nil {
		row = d.req.Write.Backfill.KnownAt
	}
	if row.Given() {
		return row, true
	}
	return d.last, false
}

// checkDeclarations refuses what C-28 does: a declaration without a reason, and
// one of the future.
func (d *draft) checkDeclarations(w *fact.Write) *fact.Error {
	var declared []fact.Instant
	if w.Backfill != nil {
		declared = append(declared, w.Backfill.KnownAt)
	}
	for i := range w.Retracts {
		declared = append(declared, w.Retracts[i].KnownAt)
	}
	for i := range w.Asserts {
		declared = append(declared, w.Asserts[i].KnownAt)
	}
	for _, t := range declared {
		switch {
		case !t.Given():
		case w.Backfill == nil || w.Backfill.Reason == "":
			return fact.Invalid("backfill.reason", "is required where declared_known_at is given")
		case t > d.last:
			return fact.Invalid("declared_known_at", "must not lie in the future")
		}
	}
	return nil
}

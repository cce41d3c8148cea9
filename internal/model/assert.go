package model

import (
	"slices"

	"abagraph/fact"
)

// assert lays one statement over its timeline: validate, candidate, duplicate,
// conflict, timeline (C-10 to C-15).
func (d *draft) assert(row *fact.Assert) *fact.Error {
	n, known := d.newFact(row)
	if n.ValidUntil <= n.ValidFrom {
		return fact.Invalid("valid_until", "must be later than the start of the fact")
	}
	line := d.line(n.Subject, n.Predicate)
	foes := only(line, func(e *version) bool { return conflicts(&n, e) })
	strong := only(foes, func(e *version) bool { return e.Dated && e.StatedFrom > n.StatedFrom })
	mine := less([]span{n.span()}, spans(strong))

	before := len(live(line, d.last))
	if old := duplicates(&n, mine, line); len(old) > 0 {
		d.result.Asserts = append(d.result.Asserts, fact.AssertResult{
			Fact: old[0].Fact, Duplicate: true, ActiveBefore: before, ActiveAfter: before,
		})
		return nil
	}
	if err := refusal(&n, known, foes); err != nil {
		return err
	}

	own := d.lay(n, mine, strong, known)
	result := fact.AssertResult{Fact: own[0].Fact, Continuations: facts(own[1:]), ActiveBefore: before}
	for i := range line {
		e := &line[i]
		switch {
		case promotes(&n, e, known):
			result.Superseded = append(result.Superseded, d.void(*e, own[0].ID, known).Fact)
		case conflicts(&n, e) && !contains(strong, e):
			d.giveWay(e, own, known, &result)
		}
	}
	result.ActiveAfter = len(live(d.line(n.Subject, n.Predicate), d.last))
	d.result.Asserts = append(d.result.Asserts, result)
	d.tellAssert(&result)
	return nil
}

// newFact makes the fact that a row asserts, as if nothing else were there,
// and tells when it was known (C-28).
func (d *draft) newFact(row *fact.Assert) (n version, known fact.Instant) {
	known, declared := d.known(row.KnownAt)
	from := row.ValidFrom
	if !from.Given() {
		from = known
	}
	n.on = d.req.Branch
	n.Fact = fact.Fact{
		ID: row.ID, Tenant: d.req.Tenant, Branch: d.req.Branch,
		Subject: row.Subject, Predicate: row.Predicate, Object: row.Object,
		ValidFrom: from, ValidUntil: row.ValidUntil,
		StatedFrom: from, StatedUntil: row.ValidUntil, Dated: row.ValidFrom.Given(),
		Confidence: row.Confidence, Source: row.Source, Properties: row.Properties,
		Policy: row.Policy, Transient: row.Transient, Status: fact.Active,
		RecordedAt: d.last, DeclaredKnownAt: fact.NoInstant, FirstTx: d.tx,
	}
	if declared {
		n.DeclaredKnownAt, n.Batch = known, d.tx
	}
	if row.Confidence < d.req.Threshold {
		n.Status, n.staged = fact.Candidate, true
	}
	return n, known
}

// conflicts reports whether e is a conflict of n (C-12). A candidate and a
// coexisting fact meet none: they close nothing (C-14, C-15).
func conflicts(n, e *version) bool {
	if n.staged || n.Policy == fact.Coexist || !stands(e) || !overlap(n, e) {
		return false
	}
	return !e.Object.Equal(n.Object) || fact.SameSource(e.Source, n.Source)
}

// promotes reports whether n, known when it was, is the promotion of the
// candidate e (C-15). What was known only later was not there to be promoted
// (C-28).
func promotes(n, e *version, known fact.Instant) bool {
	return !n.staged && e.Status == fact.Candidate && e.Object.Equal(n.Object) && overlap(n, e) && e.VersionKnownAt <= known
}

func overlap(a, b *version) bool {
	return max(a.ValidFrom, b.ValidFrom) < min(a.ValidUntil, b.ValidUntil)
}

func stands(e *version) bool { return e.Status == fact.Active || e.Status == fact.Superseded }

// duplicates returns what the new fact n would only repeat (C-10), first the
// one to answer with. mine is the time that n would take.
func duplicates(n *version, mine []span, line []version) []version {
	holding := only(line, stands)
	same := only(line, func(e *version) bool {
		ofOneKind := e.Status == fact.Candidate
		if !n.staged {
			ofOneKind = stands(e) && !e.staged
		}
		return ofOneKind && e.Object.Equal(n.Object) && fact.SameSource(e.Source, n.Source) &&
			fact.SameConfidence(e.Confidence, n.Confidence)
	})
	saidSo := only(same, func(e *version) bool {
		return e.StatedFrom == n.StatedFrom && e.StatedUntil == n.StatedUntil
	})
	holdsThen := only(same, func(e *version) bool { return e.Holds(n.ValidFrom) })

	switch free := n.staged || n.Policy == fact.Coexist; {
	case free && n.Dated:
		return saidSo
	case free:
		return holdsThen
	case n.Dated && len(less([]span{n.span()}, spans(holding))) == 0:
		return saidSo
	case n.Dated:
		return nil // it fills time in which nothing holds
	case len(less(mine, spans(same))) == 0:
		return holdsThen
	}
	return nil
}

// refusal tells why n may not be laid over its conflicts: it was to be refused
// if it met any (C-14), or history is told out of order (C-28).
func refusal(n *version, known fact.Instant, foes []version) *fact.Error {
	later := only(foes, func(e *version) bool { return e.VersionKnownAt > known })
	switch {
	case n.Policy == fact.Reject && len(foes) > 0:
		return conflict("the fact conflicts with others", foes)
	case n.DeclaredKnownAt.Given() && len(later) > 0:
		return conflict("the fact was declared to be known before others that it conflicts with", later)
	}
	return nil
}

func conflict(message string, met []version) *fact.Error {
	err := fact.Errorf(fact.Conflict, "%s", message)
	err.IDs = ids(newestFirst(met))
	return err
}

// giveWay leaves to e what the new fact's own pieces do not take (C-13).
func (d *draft) giveWay(e *version, own []version, known fact.Instant, result *fact.AssertResult) {
	rest := less([]span{e.span()}, spans(own))
	if len(rest) == 0 {
		taker := only(own, func(o *version) bool { return o.Holds(e.ValidFrom) })
		result.Superseded = append(result.Superseded, d.void(*e, taker[0].ID, known).Fact)
		return
	}
	if rest[0] == e.span() {
		return // where they overlap, a third one is stronger than both
	}
	pieces := d.lay(*e, rest, own, known)
	if pieces[0].ValidUntil == e.ValidUntil {
		result.Moved = append(result.Moved, pieces[0].Fact)
	} else {
		result.Superseded = append(result.Superseded, pieces[0].Fact)
	}
	result.Continuations = append(result.Continuations, facts(pieces[1:])...)
}

// lay writes a fact as the pieces that it keeps. The first keeps its id, the
// others continue it. A piece with an end of its own was ended by the one of
// the enders that begins there, now or, where that lies ahead, when the sweep
// comes by.
func (d *draft) lay(v version, keeps []span, enders []version, known fact.Instant) []version {
	var pieces []version
	for i, s := range keeps {
		p := v
		p.ValidFrom, p.ValidUntil = s.from, s.until
		if i > 0 {
			d.pieces++
			p.ID, p.Continues = fact.ContinuationID(v.ID, d.tx, d.pieces), v.Statement()
			p.RecordedAt, p.FirstTx = d.last, d.tx
		}
		if s.until < v.ValidUntil {
			p.SupersededBy = beginner(enders, s.until)
			p.Pending = s.until > d.last
			p.Status = fact.Superseded
			if p.Pending {
				p.Status = fact.Active
			}
		}
		pieces = append(pieces, d.put(p, known))
	}
	return pieces
}

// beginner returns the fact that begins at t, of several the one of the lowest id.
func beginner(rows []version, t fact.Instant) fact.ID {
	at := only(rows, func(v *version) bool { return v.ValidFrom == t })
	return slices.MinFunc(at, byID).ID
}

// void leaves a fact no time: it is superseded and holds nowhere.
func (d *draft) void(v version, by fact.ID, known fact.Instant) version {
	v.Status, v.ValidUntil, v.SupersededBy, v.Pending = fact.Superseded, v.ValidFrom, by, false
	return d.put(v, known)
}

func contains(rows []version, v *version) bool {
	return slices.ContainsFunc(rows, func(r version) bool { return r.ID == v.ID })
}

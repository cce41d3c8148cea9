package check

import (
	"cmp"
	"slices"
	"strings"

	"abagraph/fact"
)

// Copies are facts that say the same of one subject for exactly the same time,
// the one with the highest score first.
type Copies []fact.Fact

// FindCopies finds the copies among facts of one subject that hold, by
// predicate. Predicates of several values are left out.
func FindCopies(holding []fact.Fact, r *Rules) []Copies {
	var found []Copies
	for _, facts := range byPredicate(holding) {
		if len(facts) < 2 || !r.Functional(facts[0].Predicate) {
			continue
		}
		slices.SortStableFunc(facts, func(a, b fact.Fact) int {
			return cmp.Or(strings.Compare(a.Object.Canonical(), b.Object.Canonical()), cmp.Compare(a.ValidFrom, b.ValidFrom), cmp.Compare(a.ValidUntil, b.ValidUntil))
		})
		for _, same := range groups(facts, isCopy) {
			if len(same) > 1 {
				slices.SortStableFunc(same, byScore)
				found = append(found, same)
			}
		}
	}
	return found
}

func isCopy(a, b *fact.Fact) bool {
	return a.ValidFrom == b.ValidFrom && a.ValidUntil == b.ValidUntil && a.Object.Equal(b.Object)
}

// byScore puts what is more certain before what is less, then what is newer
// before what is older.
func byScore(a, b fact.Fact) int {
	return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(b.FirstTx, a.FirstTx), slices.Compare(a.ID[:], b.ID[:]))
}

// Whole reports whether a fact is all of its statement: nothing has cut it.
func Whole(f *fact.Fact) bool {
	return f.Continues.IsZero() && f.ValidFrom == f.StatedFrom && f.ValidUntil == f.StatedUntil
}

// SameTimes reports whether the pieces of two statements hold at just the same
// times. A retraction ends every piece of a statement, so that one may stand for
// the other only then.
func SameTimes(a, b []fact.Fact) bool {
	return slices.Equal(times(a), times(b))
}

type span struct{ from, until fact.Instant }

func times(pieces []fact.Fact) []span {
	var spans []span
	for i := range pieces {
		f := &pieces[i]
		if f.Status != fact.Retracted && f.ValidFrom < f.ValidUntil {
			spans = append(spans, span{f.ValidFrom, f.ValidUntil})
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.until, b.until)) })
	return spans
}

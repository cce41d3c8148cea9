package model

import (
	"reflect"
	"testing"

	"abagraph/fact"
)

const (
	seeds = 10
	steps = 100
)

// The past does not change: what was read at a tx is read again with tx=N
// whatever has come since, short of deletion (C-22). And a request that was
// refused, or changed nothing, leaves every answer as it was (C-24).
func TestRandom_ThePastStays(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds) {
		r := NewRandom(seed)
		type reading struct {
			now   fact.Instant
			facts []fact.Fact
		}
		past := map[uint64]reading{}
		for range steps {
			tx, before := r.Model.Tx(), everything(r.Model)
			s := r.Step()
			after := everything(r.Model)
			if r.Model.Tx() == tx && !reflect.DeepEqual(before, after) {
				t.Fatalf("seed %d: a step without a tx changed what is read", seed)
			}
			if s.Request == nil || s.Request.Purge != nil {
				clear(past)
			} else if r.Model.Tx() > tx {
				past[r.Model.Tx()] = reading{r.Model.RecordedAt(), after}
			}
		}
		for tx, then := range past {
			at := fact.Present(r.Model.RecordedAt())
			at.Pinned, at.Tx = true, tx
			if got := readAll(r.Model, at); !reflect.DeepEqual(got, then.facts) {
				t.Fatalf("seed %d: tx %d reads otherwise than it did", seed, tx)
			}
		}
	}
}

func everything(m *Model) []fact.Fact { return readAll(m, fact.Present(m.RecordedAt())) }

func readAll(m *Model, at fact.At) []fact.Fact {
	return m.Facts(&fact.Query{
		Scope: fact.Scope{All: true, Branch: fact.MainBranch}, At: at,
		StatusGiven: true, Statuses: fact.AllStatuses, Limit: fact.MaxLimit,
	})
}

// Whatever happens, each fact's own figures agree, and the pieces of a
// statement never overlap (C-13).
func TestRandom_FactsAreSound(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds) {
		r := NewRandom(seed + 1000)
		for range steps {
			r.Step()
		}
		rows := everything(r.Model)
		for i := range rows {
			f := &rows[i]
			if problem := unsound(f); problem != "" {
				t.Errorf("seed %d: %s: %s %+v", seed, problem, shape(*f), *f)
			}
			_, pieces := r.Model.Fact(fact.Scope{All: true, Branch: fact.MainBranch}, f.ID, fact.Present(0))
			for j := range pieces[1:] {
				if pieces[j].ValidUntil > pieces[j+1].ValidFrom {
					t.Errorf("seed %d: pieces overlap: %v", seed, shapes(pieces))
				}
			}
		}
	}
}

func unsound(f *fact.Fact) string {
	switch {
	case f.ValidUntil < f.ValidFrom || f.ValidFrom < f.StatedFrom || f.ValidUntil > f.StatedUntil:
		return "holds when it does not say so"
	case f.Pending && (f.Status != fact.Active || f.SupersededBy.IsZero()):
		return "is pending without being active, or for no one"
	case f.Status == fact.Superseded && f.SupersededBy.IsZero():
		return "is superseded by no one"
	case f.FirstTx > f.Tx || f.Tx == 0 || f.RecordedAt > f.VersionAt:
		return "was touched before it was made"
	case f.Batch != 0 != f.DeclaredKnownAt.Given():
		return "is of a batch without a declaration, or the other way round"
	case f.DeclaredKnownAt.Given() && f.DeclaredKnownAt > f.RecordedAt:
		return "was declared for the future"
	}
	return ""
}

// The generator reaches what it is for.
func TestRandom_ReachesEverything(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for seed := range uint64(seeds) {
		r := NewRandom(seed)
		for range steps {
			before := r.Model.Tx()
			s := r.Step()
			if s.Request == nil && r.Model.Tx() > before {
				seen["sweep"]++
			}
		}
		for _, e := range r.Model.Events(fact.Scope{All: true, Branch: fact.MainBranch}, 0) {
			seen[e.Op.String()]++
		}
		replay(t, seed, seen)
	}
	for _, what := range []string{
		"written", "purged", "replayed", "duplicate", "continuation", "superseded", "moved", "candidate", "retracted", "guarded",
		"declared", "time steps back", "sweep", "assert", "retract", "supersede", "expire",
		string(fact.Conflict), string(fact.NotFound), string(fact.CompareFailed), string(fact.SchemaInvalid),
	} {
		if seen[what] < 5 {
			t.Errorf("%s: seen %d times in %d histories", what, seen[what], seeds)
		}
	}
	t.Log(seen)
}

// replay runs the history of a seed on a model of its own and counts what came
// of it.
func replay(t *testing.T, seed uint64, seen map[string]int) {
	t.Helper()
	r, m, last := NewRandom(seed), New(), fact.NoInstant
	count := func(what string, n int) { seen[what] += n }
	one := map[bool]int{true: 1}
	for _, s := range r.History(steps) {
		count("time steps back", one[s.ProposedAt < last])
		last = s.ProposedAt
		result := s.Apply(m)
		if result == nil {
			continue
		}
		if result.Err != nil {
			count(string(result.Err.Code), 1)
		}
		count("written", one[result.Wrote])
		count("purged", one[result.Purged > 0])
		count("replayed", one[result.Replayed])
		count("retracted", len(result.Retracted))
		count("guarded", one[result.Err == nil && s.Request.Write != nil && len(s.Request.Write.Guards) > 0])
		for i := range result.Asserts {
			a := &result.Asserts[i]
			count("duplicate", one[a.Duplicate])
			count("continuation", len(a.Continuations))
			count("superseded", len(a.Superseded))
			count("moved", len(a.Moved))
			count("candidate", one[a.Fact.Status == fact.Candidate])
			count("declared", one[a.Fact.DeclaredKnownAt.Given()])
		}
	}
	if !reflect.DeepEqual(everything(m), everything(r.Model)) {
		t.Errorf("seed %d: the same steps gave another store", seed)
	}
}

// Any query of any kind is answered, and a limit only shortens an answer.
func TestRandom_Queries(t *testing.T) {
	t.Parallel()
	rows := 0
	for seed := range uint64(seeds) {
		r := NewRandom(seed)
		for range steps {
			r.Step()
			q := r.Query()
			page := r.Model.Facts(q)
			whole := *q
			whole.Limit = fact.MaxLimit
			all := r.Model.Facts(&whole)
			if len(page) > 0 && !reflect.DeepEqual(page, all[:len(page)]) || len(page) == 0 && len(all) > 0 {
				t.Fatalf("seed %d: a page is not the beginning of the whole: %+v", seed, q)
			}
			rows += len(page)
			entities := r.EntityQuery()
			for _, name := range r.Model.Predicates(entities) {
				if name <= entities.After {
					t.Errorf("seed %d: %q comes after %q", seed, name, entities.After)
				}
			}
			rows += len(r.Model.Entities(entities))
			if h := r.Model.History(r.Scope(), r.ID()); h != nil && len(h.Versions) < len(h.Pieces) {
				t.Errorf("seed %d: fewer versions than pieces: %+v", seed, h)
			}
		}
	}
	if rows == 0 {
		t.Error("every query was answered with nothing")
	}
}

package check

import (
	"cmp"
	"slices"
	"strings"

	"abagraph/fact"
)

// Kind says in which way facts contradict.
type Kind uint8

// The kinds of contradictions, in the order of lists.
const (
	MultipleActive Kind = iota
	ExpiredButActive
	CandidateConflict
	kinds
)

var kindNames = [...]string{"multiple_active", "expired_but_active", "candidate_conflict"}

// String returns the word that answers carry.
func (k Kind) String() string { return kindNames[k] }

// Kinds is a set of kinds.
type Kinds uint8

// AllKinds holds every kind.
const AllKinds Kinds = 1<<kinds - 1

// Has reports whether a kind is in the set.
func (s Kinds) Has(k Kind) bool { return s&(1<<k) != 0 }

// ParseKinds reads a comma list of kinds.
func ParseKinds(field, text string) (Kinds, error) {
	var set Kinds
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		i := slices.Index(kindNames[:], word)
		if i < 0 {
			return 0, fact.Invalid(field, "has no such value: "+clip(word)+" ("+strings.Join(kindNames[:], ", ")+")")
		}
		set |= 1 << i
	}
	return set, nil
}

// clip bounds a text of the caller's that is quoted back.
func clip(s string) string {
	if len(s) > 64 {
		return strings.ToValidUTF8(s[:64], "") + "…"
	}
	return s
}

// SetValued are the predicates that may always have several values at a time.
var SetValued = [...]string{"references", "tag", "knows", "member_of", "cites"}

// MeantToEnd are the predicates whose facts have an end from the start, so that one
// which has passed tells of nothing wrong: of leases.
var MeantToEnd = [...]string{"lease_held_by"}

// Rules say what counts as a contradiction.
type Rules struct {
	Kinds Kinds
	// Coexist are further predicates that may have several values at a time.
	Coexist []string
}

// Functional reports whether a predicate has one value at a time.
func (r *Rules) Functional(predicate string) bool {
	return !slices.Contains(SetValued[:], predicate) && !slices.Contains(r.Coexist, predicate)
}

// Contradiction is facts of one subject and predicate that do not go together.
type Contradiction struct {
	Subject   string
	Predicate string
	Kind      Kind
	Facts     []fact.Fact
}

// State is what is looked at of one subject at an instant: what holds then, what
// is active whatever its time, and the candidates that would hold then. Each list
// is in the order of lists.
type State struct {
	At         fact.Instant
	Holding    []fact.Fact
	Active     []fact.Fact
	Candidates []fact.Fact
}

// Contradictions finds those of one subject, by predicate, then by kind.
func Contradictions(s *State, r *Rules) []Contradiction {
	var found []Contradiction
	add := func(kind Kind, facts []fact.Fact) {
		if len(facts) > 0 && r.Kinds.Has(kind) {
			found = append(found, Contradiction{Subject: facts[0].Subject, Predicate: facts[0].Predicate, Kind: kind, Facts: facts})
		}
	}
	holding := byPredicate(s.Holding)
	for _, facts := range holding {
		if r.Functional(facts[0].Predicate) && !agree(facts) {
			add(MultipleActive, facts)
		}
	}
	for _, facts := range byPredicate(s.Active) {
		if slices.Contains(MeantToEnd[:], facts[0].Predicate) {
			continue
		}
		add(ExpiredButActive, slices.DeleteFunc(facts, func(f fact.Fact) bool { return f.ValidUntil > s.At }))
	}
	for _, facts := range byPredicate(s.Candidates) {
		if r.Functional(facts[0].Predicate) {
			add(CandidateConflict, disagreeing(facts, of(holding, facts[0].Predicate)))
		}
	}
	slices.SortStableFunc(found, func(a, b Contradiction) int {
		return cmp.Or(strings.Compare(a.Predicate, b.Predicate), cmp.Compare(a.Kind, b.Kind))
	})
	return found
}

// disagreeing returns the candidates of which nothing that holds says the same,
// and then what holds instead; nil where nothing holds, or all agree.
func disagreeing(candidates, holding []fact.Fact) []fact.Fact {
	if len(holding) == 0 {
		return nil
	}
	var facts []fact.Fact
	for i := range candidates {
		if !slices.ContainsFunc(holding, func(f fact.Fact) bool { return f.Object.Equal(candidates[i].Object) }) {
			facts = append(facts, candidates[i])
		}
	}
	if facts == nil {
		return nil
	}
	return append(facts, holding...)
}

// agree reports whether all facts say the same.
func agree(facts []fact.Fact) bool {
	for i := range facts[1:] {
		if !facts[0].Object.Equal(facts[i+1].Object) {
			return false
		}
	}
	return true
}

// byPredicate groups facts, which keep their order, by predicate.
func byPredicate(facts []fact.Fact) [][]fact.Fact {
	sorted := slices.Clone(facts)
	slices.SortStableFunc(sorted, func(a, b fact.Fact) int { return strings.Compare(a.Predicate, b.Predicate) })
	return groups(sorted, func(a, b *fact.Fact) bool { return a.Predicate == b.Predicate })
}

// groups cuts a list wherever two neighbours do not belong together.
func groups(facts []fact.Fact, together func(a, b *fact.Fact) bool) [][]fact.Fact {
	var list [][]fact.Fact
	start := 0
	for i := 1; i <= len(facts); i++ {
		if i == len(facts) || !together(&facts[start], &facts[i]) {
			if i > start {
				list = append(list, facts[start:i:i])
			}
			start = i
		}
	}
	return list
}

func of(list [][]fact.Fact, predicate string) []fact.Fact {
	for _, facts := range list {
		if facts[0].Predicate == predicate {
			return facts
		}
	}
	return nil
}

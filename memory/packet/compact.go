package packet

import "abagraph/fact"

// Compacted is a list of facts that fits into a budget.
type Compacted struct {
	// Kept are the places of the facts that fit, in the list that was given, the
	// best first.
	Kept []int
	// Tokens is what the lines of those that are kept take in a plain prompt,
	// TotalTokens about what all would.
	Tokens      int
	TotalTokens int
}

// Compact ranks facts as a packet without a goal does, and keeps what fits.
// Nothing is merged: who sends a fact twice has two. A text of more than
// MaxValueBytes counts with the part that a prompt would show.
func Compact(facts []fact.Fact, budget int, counter Counter) (*Compacted, error) {
	list := make([]claim, len(facts))
	at := make(map[*Candidate]int, len(facts))
	for i := range facts {
		c := &Candidate{Fact: facts[i], Distance: Unreached}
		list[i] = claim{Candidate: c, corroboration: Corroboration{Agree: 1}}
		at[c] = i
	}
	rank(list)
	p := &prompt{form: &forms[Generic], counter: counter, budget: budget}
	done := &Compacted{Kept: []int{}}
	misses, rest := 0, 0
	for i := range list {
		c := &list[i]
		taken := false
		if misses < maxMisses {
			var err error
			if taken, err = p.take(p.form.factLine(c, false)); err != nil {
				return nil, err
			}
		}
		if !taken {
			misses++
			rest += estimate(&c.Fact)
			continue
		}
		misses = 0
		done.Kept = append(done.Kept, at[c.Candidate])
	}
	done.Tokens = p.used.most()
	done.TotalTokens = done.Tokens + rest
	return done, nil
}

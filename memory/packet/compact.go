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
// Nothing is merged: who sends a fact twice has two. Facts go back whole, so that a
// text counts as a whole, too, where a packet would have cut it.
func Compact(facts []fact.Fact, budget int, counter Counter) (*Compacted, error) {
	list := make([]claim, len(facts))
	at := make(map[*fact.Fact]int, len(facts))
	for i := range facts {
		list[i] = claim{Candidate: Candidate{Fact: &facts[i], Distance: Unreached}, corroboration: Corroboration{Agree: 1}}
		at[&facts[i]] = i
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
			if taken, err = p.takeWhole(p.form.factLine(c, false), uncut(c.Fact)); err != nil {
				return nil, err
			}
		}
		if !taken {
			misses++
			rest += estimate(c.Fact) + len(uncut(c.Fact))/4
			continue
		}
		misses = 0
		done.Kept = append(done.Kept, at[c.Fact])
	}
	done.Tokens = p.used.most()
	done.TotalTokens = done.Tokens + rest
	return done, nil
}

// uncut is what a line leaves out of a long text.
func uncut(f *fact.Fact) string {
	if f.Object.Kind != fact.Text {
		return ""
	}
	shown, _ := cut(f.Object.Text, MaxValueBytes)
	return f.Object.Text[len(shown):]
}

// takeWhole is take for a line with more text behind it, which is counted piece by
// piece, and no further than there is room.
func (p *prompt) takeWhole(line, more string) (bool, error) {
	t, err := p.counter.Tokens(line)
	for err == nil && more != "" && p.fits(t) {
		piece, _ := cut(more, MaxValueBytes)
		var n Tokens
		n, err = p.counter.Tokens(piece)
		t, more = t.add(n), more[len(piece):]
	}
	if err != nil || !p.fits(t) {
		return false, err
	}
	p.used = p.used.add(t)
	return true, nil
}

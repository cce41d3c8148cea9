package fsm

import (
	"slices"

	"abagraph/fact"
)

// maxListBytes bounds each of the lists of an answer that has several.
const maxListBytes = fact.MaxAnswerBytes / 4

// firsts gathers facts in whatever order they come, and keeps the first ones of
// another order: not more than a limit, nor much more than it has room for.
type firsts struct {
	limit   int
	compare func(a, b *fact.Fact) int
	facts   []fact.Fact
	weight  int
	cut     bool
}

func (k *firsts) add(f *fact.Fact) {
	k.facts = append(k.facts, *f)
	k.weight += f.Weight()
	if len(k.facts) > 2*k.limit+64 || k.weight > 2*maxListBytes {
		k.trim()
	}
}

func (k *firsts) trim() {
	slices.SortFunc(k.facts, func(a, b fact.Fact) int { return k.compare(&a, &b) })
	k.weight = 0
	for i := range k.facts {
		w := k.facts[i].Weight()
		if i == k.limit || i > 0 && k.weight+w > maxListBytes {
			clear(k.facts[i:])
			k.facts, k.cut = k.facts[:i], true
			return
		}
		k.weight += w
	}
}

// list returns what was kept, in order, and whether anything was not.
func (k *firsts) list() ([]fact.Fact, bool) {
	k.trim()
	return k.facts, k.cut
}

package packet

import (
	"bytes"
	"cmp"
	"slices"

	"abagraph/fact"
)

// setValued are the predicates of which several objects are meant to hold at
// once: they never contradict each other.
var setValued = []string{"cites", "knows", "member_of", "references", "tag"}

// SetValued reports whether several objects of a predicate never contradict each
// other.
func SetValued(predicate string) bool { return slices.Contains(setValued, predicate) }

// Corroboration tells what other facts say about one, itself included.
type Corroboration struct {
	Agree    int      // facts that hold with the same subject, predicate and object
	Conflict int      // facts that hold, or are candidates, with another object
	Sources  []string // distinct sources of those that agree, sorted
}

// claim is one statement, said by one or several facts.
type claim struct {
	*Candidate
	corroboration Corroboration
	score         Score
	target        string // the entity that the object of a kept claim names
	// line is the claim as the prompt shows it, and cost what that takes.
	line string
	cost Tokens
}

type topic struct{ tenant, subject, predicate string }

// claims merges facts that say the same, and looks for those that contradict.
// The best of each stays: by confidence, then the newest, then by id.
func claims(list []Candidate) (kept []claim, collapsed int) {
	byTopic := make(map[topic][]int)
	var order []topic
	for i := range list {
		f := &list[i].Fact
		t := topic{f.Tenant, f.Subject, f.Predicate}
		if byTopic[t] == nil {
			order = append(order, t)
		}
		byTopic[t] = append(byTopic[t], i)
	}
	for _, t := range order {
		at := len(kept)
		kept = merge(kept, list, byTopic[t])
		for _, i := range byTopic[t] {
			if list[i].Fact.Status != fact.Candidate {
				collapsed++
			}
		}
		collapsed -= len(kept) - at
	}
	return kept, collapsed
}

// voices counts the facts of a topic, or of one object of it.
type voices struct{ all, coexist int }

func (v *voices) hear(f *fact.Fact) {
	v.all++
	if f.Policy == fact.Coexist {
		v.coexist++
	}
}

// merge adds the claims of one subject and predicate.
func merge(kept []claim, list []Candidate, members []int) []claim {
	start := len(kept)
	byObject := make(map[string]int)
	said := make(map[string]voices)
	var total voices
	for _, i := range members {
		c := &list[i]
		key := c.Fact.Object.Canonical()
		own := said[key]
		own.hear(&c.Fact)
		said[key] = own
		total.hear(&c.Fact)
		if c.Fact.Status == fact.Candidate {
			continue
		}
		at, seen := byObject[key]
		if !seen {
			at = len(kept)
			byObject[key] = at
			kept = append(kept, claim{Candidate: c})
		}
		kept[at].join(c)
	}
	for i := start; i < len(kept); i++ {
		kept[i].finish(total, said[kept[i].Fact.Object.Canonical()])
	}
	return kept
}

// join counts one more fact that says the same.
func (c *claim) join(other *Candidate) {
	c.corroboration.Agree++
	if other.Fact.Source != nil {
		c.corroboration.Sources = append(c.corroboration.Sources, *other.Fact.Source)
	}
	best := c.Candidate
	if better(&other.Fact, &best.Fact) {
		best = other
	}
	if best == c.Candidate && other.Distance >= best.Distance && other.Relevance <= best.Relevance {
		return
	}
	// The reason to be here is that of the nearest and of the most relevant.
	merged := *best
	merged.Distance = min(c.Distance, other.Distance)
	if c.Relevance > merged.Relevance {
		merged.Relevance, merged.Why = c.Relevance, c.Why
	}
	if other.Relevance > merged.Relevance {
		merged.Relevance, merged.Why = other.Relevance, other.Why
	}
	c.Candidate = &merged
}

// finish settles what others say. Facts that speak of the same are no conflict,
// nor are the values of a predicate that has many, nor facts that were both
// written to stand beside others.
func (c *claim) finish(total, own voices) {
	slices.Sort(c.corroboration.Sources)
	c.corroboration.Sources = slices.Compact(c.corroboration.Sources)
	if SetValued(c.Fact.Predicate) {
		return
	}
	c.corroboration.Conflict = total.all - own.all
	if c.Fact.Policy == fact.Coexist {
		c.corroboration.Conflict -= total.coexist - own.coexist
	}
}

// better orders facts that say the same.
func better(a, b *fact.Fact) bool {
	return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(b.Tx, a.Tx), bytes.Compare(a.ID[:], b.ID[:])) < 0
}

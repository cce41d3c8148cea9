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
	Candidate
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
	next := make([]int32, len(list)) // 1 + the next of the same topic; 0 = none
	last := make(map[topic]int32, len(list))
	first := make([]int32, 0, len(list))
	for i := range list {
		f := list[i].Fact
		t := topic{f.Tenant, f.Subject, f.Predicate}
		if at, seen := last[t]; seen {
			next[at] = int32(i) + 1
		} else {
			first = append(first, int32(i))
		}
		last[t] = int32(i)
	}
	kept = make([]claim, 0, len(list))
	m := merger{}
	for _, i := range first {
		at, said := len(kept), 0
		m.begin()
		for i := i + 1; i > 0; i = next[i-1] {
			c := &list[i-1]
			if c.Fact.Status != fact.Candidate {
				said++
			}
			kept = m.take(kept, c)
		}
		m.finish(kept)
		collapsed += said - (len(kept) - at)
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

// merger makes the claims of one subject and predicate after the other.
type merger struct {
	objects []statedObject
	at      map[string]int // the objects by their canonical form, where they are many
	total   voices
}

// statedObject is one object of a topic, with who speaks for it.
type statedObject struct {
	object *fact.Object
	claim  int // its place; -1 = only candidates have it
	voices voices
}

// manyObjects is how many objects of one topic are compared one by one.
const manyObjects = 16

func (m *merger) begin() { *m = merger{objects: m.objects[:0]} }

// take adds one fact to the claims.
func (m *merger) take(kept []claim, c *Candidate) []claim {
	o := m.find(&c.Fact.Object)
	o.voices.hear(c.Fact)
	m.total.hear(c.Fact)
	switch {
	case c.Fact.Status == fact.Candidate:
		return kept
	case o.claim < 0:
		o.claim = len(kept)
		kept = append(kept, claim{Candidate: *c})
	}
	kept[o.claim].join(c)
	return kept
}

// find returns what is known of an object.
func (m *merger) find(object *fact.Object) *statedObject {
	if len(m.objects) < manyObjects {
		for i := range m.objects {
			if m.objects[i].object.Equal(*object) {
				return &m.objects[i]
			}
		}
	} else if i, there := m.index()[object.Canonical()]; there {
		return &m.objects[i]
	}
	m.objects = append(m.objects, statedObject{object: object, claim: -1})
	if m.at != nil {
		m.at[object.Canonical()] = len(m.objects) - 1
	}
	return &m.objects[len(m.objects)-1]
}

func (m *merger) index() map[string]int {
	if m.at == nil {
		m.at = make(map[string]int)
		for i := range m.objects {
			m.at[m.objects[i].object.Canonical()] = i
		}
	}
	return m.at
}

func (m *merger) finish(kept []claim) {
	for i := range m.objects {
		if o := &m.objects[i]; o.claim >= 0 {
			kept[o.claim].finish(m.total, o.voices)
		}
	}
}

// join counts one more fact that says the same.
func (c *claim) join(other *Candidate) {
	c.corroboration.Agree++
	if other.Fact.Source != nil {
		c.corroboration.Sources = append(c.corroboration.Sources, *other.Fact.Source)
	}
	// The reason to be here is that of the nearest and of the most relevant.
	if better(other.Fact, c.Fact) {
		c.Fact = other.Fact
		if other.Relevance == c.Relevance {
			c.Why = other.Why
		}
	}
	c.Distance = min(c.Distance, other.Distance)
	if other.Relevance > c.Relevance {
		c.Relevance, c.Why = other.Relevance, other.Why
	}
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

package entry

import "abagraph/fact"

// Repeats reads facts that lie beside each other and say the same names: what was met
// lately is not copied again. The zero Repeats has met nothing.
type Repeats struct {
	tenant, subject string
	predicates      [repeatsKept]string
	sources         [repeatsKept]*string
}

// repeatsKept is how many predicates, and sources, are remembered, each in the place
// that a few of its bytes say. It is a power of two.
const repeatsKept = 64

// DecodeFact is DecodeFact of the package. Facts may share their texts and their Source.
func (p *Repeats) DecodeFact(b []byte) (fact.Fact, error) {
	r := reader{b: b, repeats: p}
	f := r.fact()
	return f, r.done()
}

// same returns a text as the one before, or as a copy that is the one before from then
// on.
func same(b []byte, before *string) string {
	if string(b) != *before {
		*before = string(b)
	}
	return *before
}

func repeatsPlace(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	return (len(b)*31 + int(b[0])*7 + int(b[len(b)/2])*5 + int(b[len(b)-1])) % repeatsKept
}

func (p *Repeats) source(b []byte) *string {
	at := &p.sources[repeatsPlace(b)]
	if *at == nil || string(b) != **at {
		s := string(b)
		*at = &s
	}
	return *at
}

// names reads the tenant, the branch, the subject and the predicate of a fact.
func (r *reader) names(f *fact.Fact) {
	p := r.repeats
	if p == nil {
		f.Tenant, f.Branch, f.Subject, f.Predicate = r.string(), r.branch(), r.string(), r.string()
		return
	}
	f.Tenant, f.Branch = same(r.text(), &p.tenant), r.branch()
	f.Subject = same(r.text(), &p.subject)
	predicate := r.text()
	f.Predicate = same(predicate, &p.predicates[repeatsPlace(predicate)])
}

func (r *reader) source() *string {
	b := r.text()
	if r.repeats != nil {
		return r.repeats.source(b)
	}
	s := string(b)
	return &s
}

package page

import (
	"slices"
	"strconv"
	"strings"

	"abagraph/fact"
)

// Draft is a page as its writer wants it, whole.
type Draft struct {
	Subject   string
	ID        string
	Title     string // "" = none
	Body      string
	Source    string
	Citations []Citation
}

// Check refuses a draft that cannot be kept as one batch.
func (d *Draft) Check() error {
	for _, text := range [...]struct{ field, text string }{{"title", d.Title}, {"body", d.Body}} {
		if err := fact.TextObject(text.text).Validate(text.field); err != nil {
			return err
		}
	}
	if n := len(Links(d.Body)); n > MaxLinks {
		return fact.Invalid("body", "links to "+strconv.Itoa(n)+" targets: a page may link to "+strconv.Itoa(MaxLinks))
	}
	sources := gather(d.Citations)
	if len(sources) > MaxCitations {
		return fact.Invalid("citations", "cite "+strconv.Itoa(len(sources))+" URLs: a page may cite "+strconv.Itoa(MaxCitations))
	}
	for _, s := range sources {
		if len(properties(s.quotes)) > fact.MaxPropertiesBytes {
			return fact.Invalid("citations", "quote more than 64 KiB of one URL")
		}
	}
	return nil
}

// Warnings tell of links that lead to no entity: they are kept as facts, and no
// walk follows them unless their target is a subject.
func (d *Draft) Warnings() []string {
	n, first := 0, ""
	for _, l := range Links(d.Body) {
		if _, _, ok := fact.SplitEntity(l.Target); ok {
			continue
		}
		if n == 0 {
			first = l.Target
		}
		n++
	}
	if n == 0 {
		return nil
	}
	if len(first) > 128 {
		first = strings.ToValidUTF8(first[:128], "") + "…"
	}
	if n == 1 {
		return []string{"1 link target is no entity reference (Type:id), and a walk follows it only if it is a subject: " + first}
	}
	return []string{strconv.Itoa(n) + " link targets are no entity references (Type:id), and a walk follows them only if they are subjects: " + first + " and others"}
}

// Plan returns what makes the page that holds into the draft: what is gone is
// retracted, what is new is asserted, and what stays is left alone. The guards
// make it valid only while what holds is what the plan was made from.
func Plan(was *Facts, d *Draft) *fact.Write {
	p := &planner{draft: d, write: &fact.Write{}}
	p.one(d.Subject, Of, was.Of, fact.TextObject(d.ID))
	p.one(d.ID, Body, was.Bodies, fact.TextObject(d.Body))
	if d.Title != "" {
		p.one(d.ID, Title, was.Titles, fact.TextObject(d.Title))
	} else {
		p.guard(d.ID, Title, was.Titles)
		p.retract(was.Titles)
	}
	p.links(was)
	p.citations(was)
	return p.write
}

type planner struct {
	draft *Draft
	write *fact.Write
}

func (p *planner) guard(subject, predicate string, was []fact.Fact) {
	p.write.Guards = append(p.write.Guards, fact.SameGuard(subject, predicate, was))
}

func (p *planner) retract(list []fact.Fact) {
	for i := range list {
		p.write.Retracts = append(p.write.Retracts, fact.Retract{ID: list[i].ID, KnownAt: fact.NoInstant})
	}
}

func (p *planner) assert(subject, predicate string, o fact.Object, policy fact.Policy, properties []byte) {
	source := p.draft.Source
	p.write.Asserts = append(p.write.Asserts, fact.Assert{
		Subject: subject, Predicate: predicate, Object: o, ValidFrom: fact.NoInstant, ValidUntil: fact.Forever,
		Confidence: 1, Source: &source, Properties: properties, Policy: policy, KnownAt: fact.NoInstant,
	})
}

// one plans a predicate that has one value. Another value closes the old one. The
// same value from another source stands beside it, and the newest of them says
// what the page's source is: where the wanted one is there but not the newest,
// those before it are retracted.
func (p *planner) one(subject, predicate string, was []fact.Fact, want fact.Object) {
	p.guard(subject, predicate, was)
	same := true
	stands := -1
	for i := range was {
		equal := was[i].Object.Equal(want)
		same = same && equal
		if stands < 0 && equal && p.ours(&was[i]) {
			stands = i
		}
	}
	if stands > 0 {
		for i := range was[:stands] {
			if was[i].Object.Equal(want) {
				p.retract(was[i : i+1])
			}
		}
	}
	if stands < 0 || !same {
		p.assert(subject, predicate, want, fact.AutoSupersede, nil)
	}
}

func (p *planner) ours(f *fact.Fact) bool { return f.Source != nil && *f.Source == p.draft.Source }

// links plans one reference for each target of the body. Those of the page that
// it does not link to any more are gone; those of other sources are not its own.
func (p *planner) links(was *Facts) {
	p.guard(p.draft.Subject, References, was.References)
	wanted := make(map[string]bool)
	links := Links(p.draft.Body)
	for _, l := range links {
		wanted[l.Target] = true
	}
	there := make(map[string]bool)
	for _, f := range was.Own() {
		if p.ours(&f) && f.Object.Kind == fact.Text && wanted[f.Object.Text] && !there[f.Object.Text] {
			there[f.Object.Text] = true
			continue
		}
		p.retract([]fact.Fact{f})
	}
	for _, l := range links {
		if !there[l.Target] {
			p.assert(p.draft.Subject, References, fact.TextObject(l.Target), fact.Coexist, nil)
		}
	}
}

// citations plans one fact for each URL that is cited, with its quotes. Other
// quotes make another fact: a repeated statement would change nothing.
func (p *planner) citations(was *Facts) {
	p.guard(p.draft.ID, Cites, was.Cites)
	wanted := make(map[string][]string)
	sources := gather(p.draft.Citations)
	for _, s := range sources {
		wanted[s.url] = s.quotes
	}
	there := make(map[string]bool)
	source := was.Source()
	for i := range was.Cites {
		f := &was.Cites[i]
		if !fact.SameSource(f.Source, source) {
			continue
		}
		quotes, stays := wanted[f.Object.Text]
		if p.ours(f) && f.Object.Kind == fact.Text && stays && !there[f.Object.Text] && slices.Equal(quotes, QuotesOf(f.Properties)) {
			there[f.Object.Text] = true
			continue
		}
		p.retract(was.Cites[i : i+1])
	}
	for _, s := range sources {
		if !there[s.url] {
			p.assert(p.draft.ID, Cites, fact.TextObject(s.url), fact.Coexist, properties(s.quotes))
		}
	}
}

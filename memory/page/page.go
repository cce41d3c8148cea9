package page

import (
	"slices"

	"abagraph/fact"
)

// The predicates that a page is made of.
const (
	Of         = "wiki_page"  // subject → page
	Title      = "title"      // page → title
	Body       = "wiki_body"  // page → body
	References = "references" // subject → what the body links to
	Cites      = "cites"      // page → URL, with the quotes in its properties
)

// Bounds of one page, so that a save fits into one batch.
const (
	MaxLinks     = 2_000
	MaxCitations = 2_000 // URLs
)

// prefix makes the id of a page out of its subject.
const prefix = "Page:"

// ID returns the id that the page about a subject has by convention.
func ID(subject string) string { return prefix + subject }

// SubjectOf returns the entity that a page's conventional id names; ok is false
// for an id of another form.
func SubjectOf(id string) (subject string, ok bool) {
	if len(id) <= len(prefix) || id[:len(prefix)] != prefix {
		return "", false
	}
	subject = id[len(prefix):]
	_, _, ok = fact.SplitEntity(subject)
	return subject, ok
}

// DefaultSource is the source of a page that names none.
func DefaultSource(id string) string { return "wiki:" + id }

// Facts are the facts of a page that hold at one point of both times, each list
// newest first, as reads answer them.
type Facts struct {
	Of         []fact.Fact
	Titles     []fact.Fact
	Bodies     []fact.Fact
	References []fact.Fact // of the subject, of whatever source
	Cites      []fact.Fact
}

// Empty reports whether nothing makes a page.
func (f *Facts) Empty() bool {
	named := slices.ContainsFunc(f.Of, func(of fact.Fact) bool { return of.Object.Kind == fact.Text })
	return !named && len(f.Titles)+len(f.Bodies) == 0
}

// Source is the provenance that the page's facts share: that of its body, or
// else of what there is of it.
func (f *Facts) Source() *string {
	for _, list := range [...][]fact.Fact{f.Bodies, f.Of, f.Titles} {
		if len(list) > 0 {
			return list[0].Source
		}
	}
	return nil
}

// Own returns those references that came with the page: they have its source.
func (f *Facts) Own() []fact.Fact {
	source := f.Source()
	var own []fact.Fact
	for i := range f.References {
		if fact.SameSource(f.References[i].Source, source) {
			own = append(own, f.References[i])
		}
	}
	return own
}

// Citation is a source with what it says.
type Citation struct {
	URL   string
	Quote string // "" = none
}

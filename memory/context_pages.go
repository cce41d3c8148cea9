package memory

import (
	"fmt"
	"slices"

	"abagraph/fact"
	"abagraph/memory/packet"
	"abagraph/memory/page"
)

// readPages reads the pages of the entities that were looked at, the seeds'
// first, as many as the packet may hold.
func (b *briefing) readPages() error {
	seen := map[pageRef]bool{}
	refs := b.pageOf
	for _, name := range b.seeds {
		refs = append(refs, pageRef{b.r.scope.Tenant, name, name}) // a seed may be a page itself
	}
	for _, ref := range refs {
		if len(b.pages) == b.q.MaxPages {
			break
		}
		same := pageRef{tenant: ref.tenant, id: ref.id}
		if seen[same] {
			continue
		}
		seen[same] = true
		p, err := b.readPage(ref)
		if err != nil {
			return err
		}
		if p != nil {
			b.pages = append(b.pages, *p)
		}
	}
	b.dropTitles()
	b.step(fmt.Sprintf("wiki lookup: %d pages", len(b.pages)))
	return nil
}

// dropTitles leaves out the facts that are only the titles of the pages shown.
func (b *briefing) dropTitles() {
	shown := make(map[string]bool, len(b.pages))
	for i := range b.pages {
		shown[b.pages[i].ID] = true
	}
	b.candidates = slices.DeleteFunc(b.candidates, func(c packet.Candidate) bool {
		return c.Fact.Predicate == page.Title && shown[c.Fact.Subject]
	})
}

// readPage reads one page; nil where it has no body.
func (b *briefing) readPage(ref pageRef) (*packet.Page, error) {
	if _, err := Name("", ref.id); err != nil {
		return nil, nil
	}
	body, err := b.pageFact(ref, page.Body)
	if err != nil || body == nil {
		return nil, err
	}
	title, err := b.pageFact(ref, page.Title)
	if err != nil {
		return nil, err
	}
	p := &packet.Page{ID: ref.id, Subject: ref.subject, Body: body.Object.Text, Plain: page.Plain(body.Object.Text), Source: body.Source}
	if title != nil {
		p.Title = title.Object.Text
	}
	return p, nil
}

// pageFact returns the newest text that a page has for a predicate.
func (b *briefing) pageFact(ref pageRef, predicate string) (*fact.Fact, error) {
	list, _, err := b.facts(fact.Query{Subject: ref.id, Predicate: predicate}, maxNeighbourFacts)
	if err != nil {
		return nil, err
	}
	for i := range list {
		f := &list[i]
		if f.Tenant == ref.tenant && f.Status != fact.Candidate && f.Object.Kind == fact.Text {
			return f, nil
		}
	}
	return nil, nil
}

package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"abagraph/fact"
	"abagraph/memory/page"
)

// Page is a page as it reads at one point of both times.
type Page struct {
	ID      string
	Subject string
	Tenant  string
	Title   *string // nil = none
	Body    string
	// Source is the provenance that the page's facts share; nil = none.
	Source    *string
	Links     []PageLink
	Citations []PageCitation
	// Saved is the fact that says what the body is, or, without one, the fact
	// that makes the page.
	Saved fact.Fact
}

// PageLink is a link of the body, or a reference that came with the page and is
// no link of it.
type PageLink struct {
	page.Link
	Fact fact.ID // of the reference; zero where none holds
}

// PageCitation is a source that the page cites.
type PageCitation struct {
	page.Citation
	Source *string
	Fact   fact.ID
}

// PageQuery asks for the page about an entity. Make its Read with NewRead.
type PageQuery struct {
	Read
	// Name is the entity, or the page's own id.
	Name string
	// IncludeRetracted shows what has been retracted since, too: with AsOf what
	// was on the page then and is not any more.
	IncludeRetracted bool
}

// Page reads a page.
func (s *Service) Page(ctx context.Context, c Caller, q *PageQuery, trace *Trace) (*Page, Meta, error) {
	name, err := Name("subject", q.Name)
	if err != nil {
		return nil, Meta{}, noPage(q.Name)
	}
	if q.IncludeRetracted && !q.AsOf.Given() {
		return nil, Meta{}, fact.Invalid("include_retracted", "needs as_of: a page shows what was retracted since only as of a time")
	}
	r, err := s.begin(ctx, c, q.Read, 0, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer r.close()
	b := &pageReader{r: r, retracted: q.IncludeRetracted}
	p, err := b.page(name)
	if err != nil {
		return nil, r.meta, err
	}
	r.meta.Backfilled = b.backfilled
	trace.Step("execute", "by_subject")
	trace.Name("page", "pick by_subject index → title, body, links, citations")
	trace.Text("input.subject", name)
	trace.Int("candidates_scanned", b.scanned)
	trace.Int("links", len(p.Links))
	trace.Int("citations", len(p.Citations))
	return p, r.meta, nil
}

func noPage(name string) *fact.Error {
	return &fact.Error{Code: fact.NotFound, Message: "no page: " + shorten(name)}
}

// pageReader reads the facts of one page.
type pageReader struct {
	r          *reading
	retracted  bool
	whole      bool // all of it is needed, and less is an error
	subject    string
	id         string
	facts      page.Facts
	scanned    int
	backfilled []fact.BatchCount
}

// find reads what a subject and a predicate hold.
func (b *pageReader) find(q fact.Query) ([]fact.Fact, error) {
	q.Scope, q.At, q.IncludeRetracted = b.r.scope, b.r.at, b.retracted
	if q.Limit == 0 {
		q.Limit = fact.MaxLimit
	}
	got, err := b.r.view.Facts(b.r.ctx, &q)
	if err != nil {
		return nil, fmt.Errorf("read a page: %w", err)
	}
	b.scanned += got.Scan.Scanned
	if got.Scan.LimitHit {
		if b.whole {
			return nil, fact.Errorf(fact.TooLarge, "%s has more %s than a page may be saved beside", shorten(q.Subject), q.Predicate)
		}
		b.r.meta.Warnings = append(b.r.meta.Warnings, "the page shows the newest "+strconv.Itoa(len(got.Facts))+" of its "+q.Predicate+" only")
	}
	b.backfilled = addCounts(b.backfilled, got.Backfilled)
	return got.Facts, nil
}

// page reads the page that a name stands for.
func (b *pageReader) page(name string) (*Page, error) {
	if err := b.load(name); err != nil {
		return nil, err
	}
	if b.facts.Empty() {
		return nil, noPage(name)
	}
	return b.shown(), nil
}

// load finds out which page a name stands for, and reads its facts.
func (b *pageReader) load(name string) error {
	if err := b.locate(name); err != nil {
		return err
	}
	for _, part := range [...]struct {
		subject, predicate string
		into               *[]fact.Fact
	}{
		{b.subject, page.Of, &b.facts.Of},
		{b.id, page.Title, &b.facts.Titles},
		{b.id, page.Body, &b.facts.Bodies},
		{b.subject, page.References, &b.facts.References},
		{b.id, page.Cites, &b.facts.Cites},
	} {
		list, err := b.find(fact.Query{Subject: part.subject, Predicate: part.predicate})
		if err != nil {
			return err
		}
		*part.into = b.within(list)
	}
	return nil
}

// locate finds the subject and the id of a page. Both may name it: first the
// entity that has a page, then the page that an entity has, then the id that it
// would have by convention. An operator who sees all tenants is shown the page of
// one of them.
func (b *pageReader) locate(name string) error {
	of, err := b.find(fact.Query{Subject: name, Predicate: page.Of})
	if err != nil {
		return err
	}
	if len(of) > 0 && of[0].Object.Kind == fact.Text {
		b.keep(of[0].Tenant)
		b.subject, b.id = name, normalise(of[0].Object.Text)
		return nil
	}
	got, err := b.r.view.Facts(b.r.ctx, &fact.Query{
		Predicates: []string{page.Of}, Objects: []fact.Object{fact.TextObject(name)}, Scope: b.r.scope, At: b.r.at, Limit: 1,
	})
	if err != nil {
		return fmt.Errorf("find the subject of a page: %w", err)
	}
	b.scanned += got.Scan.Scanned
	if len(got.Facts) > 0 {
		b.keep(got.Facts[0].Tenant)
		b.subject, b.id = got.Facts[0].Subject, name
		return nil
	}
	b.subject, b.id = name, page.ID(name)
	if subject, ok := page.SubjectOf(name); ok {
		b.subject, b.id = subject, name
	}
	return nil
}

// keep settles on one tenant.
func (b *pageReader) keep(tenant string) {
	if b.r.scope.All {
		b.r.scope.All, b.r.scope.Tenant = false, tenant
	}
}

// within keeps to one tenant where nothing has named one yet.
func (b *pageReader) within(list []fact.Fact) []fact.Fact {
	if b.r.scope.All && len(list) > 0 {
		b.keep(list[0].Tenant)
		var own []fact.Fact
		for i := range list {
			if list[i].Tenant == b.r.scope.Tenant {
				own = append(own, list[i])
			}
		}
		return own
	}
	return list
}

// shown makes the page out of its facts.
func (b *pageReader) shown() *Page {
	p := &Page{ID: b.id, Subject: b.subject, Source: b.facts.Source()}
	for _, list := range [...][]fact.Fact{b.facts.Titles, b.facts.Of, b.facts.Bodies} {
		if len(list) > 0 {
			p.Saved = list[0]
		}
	}
	p.Tenant = p.Saved.Tenant
	if titles := b.facts.Titles; len(titles) > 0 {
		title := value(titles[0].Object)
		p.Title = &title
	}
	if bodies := b.facts.Bodies; len(bodies) > 0 {
		p.Body = value(bodies[0].Object)
	}
	p.Links = links(p.Body, b.facts.Own())
	p.Citations = citations(b.facts.Cites)
	return p
}

// links lists the links of a body with the facts that they made, and then what
// else the page refers to.
func links(body string, own []fact.Fact) []PageLink {
	made := make(map[string]fact.ID)
	for i := len(own) - 1; i >= 0; i-- {
		if own[i].Object.Kind == fact.Text {
			made[own[i].Object.Text] = own[i].ID
		}
	}
	var list []PageLink
	for _, l := range page.Links(body) {
		list = append(list, PageLink{Link: l, Fact: made[l.Target]})
		delete(made, l.Target)
	}
	for i := range own {
		target := own[i].Object.Text
		if id, left := made[target]; left && id == own[i].ID {
			list = append(list, PageLink{Link: page.Link{Target: target, Text: target}, Fact: id})
		}
	}
	return list
}

// citations lists what the facts cite in the order of the telling, one for each
// quote.
func citations(facts []fact.Fact) []PageCitation {
	facts = slices.SortedFunc(slices.Values(facts), func(a, b fact.Fact) int {
		return cmp.Or(cmp.Compare(a.FirstTx, b.FirstTx), slices.Compare(a.ID[:], b.ID[:]))
	})
	var list []PageCitation
	for i := range facts {
		f := &facts[i]
		c := PageCitation{Citation: page.Citation{URL: value(f.Object)}, Source: f.Source, Fact: f.ID}
		quotes := page.QuotesOf(f.Properties)
		if len(quotes) == 0 {
			list = append(list, c)
		}
		for _, q := range quotes {
			c.Quote = q
			list = append(list, c)
		}
	}
	return list
}

package memory

import (
	"context"
	"errors"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory/mask"
	"abagraph/memory/page"
)

// maxSaves is how often a save is worked out anew because another write came
// between its read and its write.
const maxSaves = 32

// PageInput is a page to save. What it leaves out is gone afterwards.
type PageInput struct {
	Name      string // the entity, or the page's own id
	Title     string // "" = none
	Body      string
	Source    *string // nil = wiki:<id>
	Citations []page.Citation
}

// SavedPage is what a save has done.
type SavedPage struct {
	Page *Page
	// Created tells that there was no page before.
	Created bool
	// Asserted and Retracted are the facts that the save has made and ended,
	// Superseded those that were closed because their value is another now.
	Asserted   []fact.Fact
	Retracted  []fact.Fact
	Superseded []fact.Fact
	// Warnings tell of links that no walk can follow.
	Warnings []string
}

// Page reads the body of a save.
func (in *Input) Page(v jsonx.Value, name string) (*PageInput, error) {
	f := jsonx.Open(v, "")
	p := &PageInput{Name: name, Body: f.Required("body"), Source: source(f)}
	p.Title, _ = f.Text("title")
	if p.Source != nil && *p.Source == "" {
		p.Source = nil
	}
	for i, c := range f.Array("citations") {
		p.Citations = append(p.Citations, citation(f, c, jsonx.Index("citations", i)))
	}
	if subject, ok := f.Text("subject"); ok && subject != name && page.ID(subject) != name {
		f.Fail(fact.Invalid("subject", "is not the one that the path names"))
	}
	in.common(f)
	return p, f.Done()
}

func citation(f *jsonx.Fields, v jsonx.Value, path string) page.Citation {
	g := jsonx.Open(v, path)
	c := page.Citation{URL: g.Required("url")}
	c.Quote, _ = g.Text("quote")
	if c.URL == "" {
		g.Fail(fact.Invalid(path+".url", "must not be empty"))
	}
	if err := fact.TextObject(c.URL).Validate(path + ".url"); err != nil {
		g.Fail(err)
	}
	if err := g.Done(); err != nil {
		f.Fail(err)
	}
	return c
}

// SavePage makes a page what the input says, whole, in one tx: what it does not
// have any more is retracted. A save is worked out from what holds, and applied
// only if that still holds then, so that two saves at the same time never mix:
// one comes after the other.
func (s *Service) SavePage(ctx context.Context, c Caller, o WriteOptions, in *PageInput, trace *Trace) (*SavedPage, *fact.Result, error) {
	if err := c.Require(fact.RoleWrite); err != nil {
		return nil, nil, err
	}
	name, err := Name("subject", in.Name)
	if err != nil {
		return nil, nil, err
	}
	masker := s.Masker(c, o.Mask)
	in, name, masked := in.mask(&masker, name)
	o.Mask = masker.Again()
	for range maxSaves {
		saved, result, err := s.trySave(ctx, c, o, in, name, &masker, trace)
		if result != nil {
			result.Masked += masked
		}
		if !overtaken(err) {
			return saved, result, err
		}
	}
	return nil, nil, fact.Errorf(fact.Conflict, "the page was changed by others each time it was about to be saved: try again")
}

// overtaken reports whether a write was refused only because what it was worked
// out from holds no longer.
func overtaken(err error) bool {
	var e *fact.Error
	return errors.As(err, &e) && e.Code == fact.CompareFailed
}

// pageFields tells errors about the rows of a page of the field that they come from:
// what is retracted is not in it any more.
func pageFields(w *fact.Write) func(string, int) string {
	return func(list string, i int) string {
		predicate := ""
		switch {
		case list == "asserts" && i < len(w.Asserts):
			predicate = w.Asserts[i].Predicate
		case list == "compares" && i < len(w.Guards):
			predicate = w.Guards[i].Predicate
		default:
			return ""
		}
		switch predicate {
		case page.Title:
			return "title"
		case page.Cites:
			return "citations"
		}
		return "body"
	}
}

func (s *Service) trySave(ctx context.Context, c Caller, o WriteOptions, in *PageInput, name string, m *mask.Masker, trace *Trace) (*SavedPage, *fact.Result, error) {
	was, draft, err := s.draft(ctx, c, o, in, name, m, trace)
	if err != nil {
		return nil, nil, err
	}
	plan := page.Plan(was, draft)
	o.Blames = pageFields(plan)
	result, err := s.Transact(ctx, c, o, plan, trace)
	if err != nil {
		return nil, result, err
	}
	saved := &SavedPage{Retracted: result.Retracted, Warnings: draft.Warnings()}
	for i := range result.Asserts {
		a := &result.Asserts[i]
		if !a.Duplicate {
			saved.Asserted = append(saved.Asserted, a.Fact)
		}
		saved.Superseded = append(saved.Superseded, a.Superseded...)
	}
	if saved.Page, err = s.pageAt(ctx, c, o.Branch, draft.Subject, result.Tx, trace); err != nil {
		return nil, result, err
	}
	if result.Wrote {
		// A repeated answer must say the same as the first one did.
		before, err := s.pageAt(ctx, c, o.Branch, draft.Subject, result.Tx-1, nil)
		if err != nil {
			return nil, result, err
		}
		saved.Created = before == nil
	}
	trace.Name("save_page", "by_subject index → guards → retracts → asserts, in one tx")
	trace.Int("asserts", len(saved.Asserted))
	trace.Int("retracts", len(saved.Retracted))
	trace.Int("superseded", len(saved.Superseded))
	return saved, result, nil
}

// pageAt returns the caller's own page as it was at a tx; nil where there was
// none.
func (s *Service) pageAt(ctx context.Context, c Caller, branch, subject string, tx uint64, trace *Trace) (*Page, error) {
	read := NewRead()
	read.Branch, read.Level, read.MinTx = branch, fact.Stale, tx
	read.Tx, read.Pinned = tx, true
	r, err := s.beginOwn(ctx, c, read, trace)
	if err != nil {
		return nil, err
	}
	defer r.close()
	b := &pageReader{r: r}
	p, err := b.page(subject)
	if fact.CodeOf(err) == fact.NotFound {
		return nil, nil
	}
	return p, err
}

// draft reads what the page is and checks what it shall be.
func (s *Service) draft(ctx context.Context, c Caller, o WriteOptions, in *PageInput, name string, m *mask.Masker, trace *Trace) (*page.Facts, *page.Draft, error) {
	read := NewRead()
	read.Branch = o.Branch
	r, err := s.beginOwn(ctx, c, read, trace)
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	b := &pageReader{r: r, whole: true}
	if err := b.load(name); err != nil {
		return nil, nil, err
	}
	d := &page.Draft{Subject: b.subject, ID: b.id, Title: in.Title, Body: in.Body, Source: page.DefaultSource(b.id), Citations: in.Citations}
	if in.Source != nil {
		d.Source = *in.Source
	}
	// A default source may name an entity that is an address; it is kept as any
	// source is, so that the next save knows it again.
	d.Source, _ = m.Source(d.Source)
	if err := fact.CheckName("subject", d.ID); err != nil {
		return nil, nil, fact.Invalid("subject", "is too long for a page: its id would be longer than 1,024 bytes")
	}
	if err := fact.CheckSource("source", d.Source); err != nil {
		return nil, nil, fact.Invalid("source", "is required here: wiki:"+shorten(d.ID)+" is longer than 1,024 bytes")
	}
	return &b.facts, d, d.Check()
}

// beginOwn begins a read of what the caller's writes go to: for an operator who
// names no tenant, the ownerless scope and not everyone's.
func (s *Service) beginOwn(ctx context.Context, c Caller, read Read, trace *Trace) (*reading, error) {
	r, err := s.begin(ctx, c, read, 0, trace)
	if err == nil {
		r.scope.All = false
	}
	return r, err
}

// addCounts adds up counts by batch.
func addCounts(sum, more []fact.BatchCount) []fact.BatchCount {
	for _, m := range more {
		i := 0
		for i < len(sum) && sum[i].Batch < m.Batch {
			i++
		}
		if i == len(sum) || sum[i].Batch != m.Batch {
			sum = append(sum[:i], append([]fact.BatchCount{{Batch: m.Batch}}, sum[i:]...)...)
		}
		sum[i].Rows += m.Rows
	}
	return sum
}

package ingest

import (
	"context"
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/net/idna"

	"abagraph/fact"
	"abagraph/ingest/scrape"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// maxRecalled is how many facts about a brand an answer shows.
const maxRecalled = 50

const siteFocus = "\nThe text is a company's public page. Look for what the company is, what it offers and for whom, where it is, who leads it, its customers, partners, prices and numbers. " +
	"The company itself is the subject that the text is About."

// Site is a company's page to be read.
type Site struct {
	Digest
	URL     string
	Scraper *scrape.Scraper
	Note    string // how the address was found; "" = it was given
}

// Scraped is what became of a page.
type Scraped struct {
	*Receipt
	Brand    string
	Host     string
	Label    string
	Recalled []fact.Fact // what the memory knows of the brand now
	Bytes    int
}

// ReadSite reads the body of a scrape.
func ReadSite(in *memory.Input, v jsonx.Value) (*Site, error) {
	f := jsonx.Open(v, "")
	s := &Site{Scraper: &scrape.Scraper{Provider: scrape.HTTP}}
	s.Mode, s.Threshold = mode(in, f), threshold(f)
	s.Date = fact.NoInstant
	given := s.address(f)
	raw, ok := f.Get("scraper")
	for _, name := range modelFields {
		f.Ignore(name)
	}
	if err := in.Scope(v); err != nil {
		f.Fail(err)
	}
	f.Ignore("branch")
	f.Ignore("tenant")
	if err := f.Done(); err != nil {
		return nil, err
	}
	if !given {
		return nil, fact.Invalid("company", "is required, or domain, or url")
	}
	if ok {
		var err error
		if s.Scraper, err = scrape.Read(raw, "scraper"); err != nil {
			return nil, err
		}
	}
	if err := s.readModels(f); err != nil {
		return nil, err
	}
	if !s.Extract.Given() {
		return nil, fact.Invalid("extract_model", "is required, or model")
	}
	return s, nil
}

// address reads one of url, domain and company.
func (s *Site) address(f *jsonx.Fields) bool {
	n := 0
	for _, name := range [...]string{"url", "domain", "company"} {
		text, ok := f.Text(name)
		if !ok {
			continue
		}
		if n++; n > 1 {
			f.Fail(fact.Invalid(name, "means the same as another field: give one of company, domain and url"))
		}
		text = strings.TrimSpace(text)
		switch {
		case text == "":
			f.Fail(fact.Invalid(name, "is required and must not be empty"))
		case name == "url" || strings.Contains(text, "://"):
			s.URL = text
		case strings.Contains(text, ".") && !strings.ContainsAny(text, " /"):
			s.URL = "https://" + text + "/"
		case name == "domain":
			f.Fail(fact.Invalid(name, "must be a domain such as acme.com"))
		case strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }):
			f.Fail(fact.Invalid(name, "has letters of which no domain can be guessed: send domain or url"))
		default:
			s.URL = "https://" + slug(text) + ".com/"
			s.Note = "the name of the company was read as " + s.URL + ": send domain or url where that is another one's"
		}
	}
	return n > 0
}

// slug is a name in the letters that a domain has.
func slug(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-") && (r == '.' || r == '-'):
			b.WriteByte('-')
		}
	}
	return strings.Trim(b.String(), "-")
}

// hostOf names the site that was asked for. Where it redirects to is known to some
// fetchers only, and the same site must be the same brand by whichever.
func hostOf(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fact.Invalid("url", "is not a URL")
	}
	host := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
	if ascii, err := idna.Lookup.ToASCII(host); err == nil { // two names must not be one brand for want of their letters
		host = ascii
	}
	return host, nil
}

// Scrape fetches a company's page and digests it.
func (d *Desk) Scrape(ctx context.Context, c memory.Caller, o memory.WriteOptions, s *Site, trace *memory.Trace) (*Scraped, *fact.Result, error) {
	if err := c.Require(fact.RoleWrite); err != nil {
		return nil, nil, err
	}
	if err := d.checkModels(s.Extract, s.Judge); err != nil {
		return nil, nil, err
	}
	if d.Guard == nil {
		return nil, nil, fact.Invalid("url", "cannot be fetched: this node fetches nothing")
	}
	page, err := scrape.Fetch(ctx, d.Guard, s.Scraper, s.URL)
	if err != nil {
		return nil, nil, err
	}
	trace.Step("fetch", s.Scraper.Provider)
	u, err := url.Parse(page.URL)
	if err != nil {
		return nil, nil, fact.Invalid("url", "leads to an address that cannot be read")
	}
	host, err := hostOf(s.URL)
	if err != nil {
		return nil, nil, err
	}
	out := &Scraped{Brand: "Brand:" + slug(host), Host: host, Label: host, Bytes: page.Bytes}
	u.User, u.RawQuery, u.Fragment = nil, "", "" // a query may hold a secret
	source := cut(u.String(), fact.MaxSourceBytes)
	s.Content, s.Kind, s.Subject, s.Source, s.Focus = page.Text, page.Kind, out.Brand, &source, siteFocus
	r, result, err := d.read(ctx, c, o, &s.Digest, trace)
	if err != nil {
		return nil, result, err
	}
	out.Receipt = r
	if s.Note != "" {
		r.Notes = append(r.Notes, s.Note)
	}
	if r.title != "" {
		out.Label = r.title
	}
	read := memory.NewRead()
	read.Branch, read.MinTx = o.Branch, result.Tx
	known, _, err := d.Memory.Facts(ctx, c, &memory.FactsQuery{Read: read, Subject: out.Brand, Limit: maxRecalled}, nil)
	if err != nil {
		return nil, result, err
	}
	out.Recalled = known.Facts
	return out, result, nil
}

package scrape

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"abagraph/fact"
	"abagraph/ingest/load"
	"abagraph/internal/byok"
	"abagraph/internal/jsonx"
	"abagraph/internal/outbound"
)

// The fetchers.
const (
	HTTP      = "http"
	Firecrawl = "firecrawl"
	Tavily    = "tavily"
)

// Bounds of a fetch.
const (
	maxBytes  = 4 << 20
	fetchTime = 60 * time.Second
)

// Scraper says who fetches.
type Scraper struct {
	Provider string
	Key      byok.Key
	Endpoint string // "" = the provider's own
}

// Read reads a scraper of a body; without one the server fetches by itself.
func Read(v jsonx.Value, path string) (*Scraper, error) {
	f := jsonx.Open(v, path)
	s := &Scraper{Provider: HTTP}
	if text, ok := f.Text("provider"); ok {
		s.Provider = text
	}
	key, _ := f.Text("key")
	s.Endpoint, _ = f.Text("endpoint")
	s.Key = byok.NewKey(key)
	switch {
	case s.Provider != HTTP && s.Provider != Firecrawl && s.Provider != Tavily:
		f.Fail(fact.Invalid(f.Path("provider"), "has no such value (http, firecrawl or tavily)"))
	case s.Provider != HTTP && (key == "" || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' })):
		f.Fail(fact.Invalid(f.Path("key"), "is required for "+s.Provider+", of printable ASCII characters without spaces"))
	case s.Provider == HTTP && key != "":
		f.Fail(fact.Invalid(f.Path("key"), "is of no use: http fetches by itself, and firecrawl and tavily are named as provider"))
	case s.Provider == HTTP && s.Endpoint != "":
		f.Fail(fact.Invalid(f.Path("endpoint"), "is of no use: http fetches by itself"))
	}
	if err := f.Done(); err != nil {
		return nil, err
	}
	return s, nil
}

// Page is what was fetched.
type Page struct {
	URL   string // where it came from
	Kind  string // one of package load's
	Text  string
	Bytes int
}

// Fetch fetches a page. Errors name the field url, or scraper where that is at fault.
func Fetch(ctx context.Context, guard *outbound.Guard, s *Scraper, address string) (*Page, error) {
	if err := guard.Check(address); err != nil {
		return nil, fact.Invalid("url", err.Error())
	}
	switch s.Provider {
	case Firecrawl:
		return s.ask(ctx, guard, address, "https://api.firecrawl.dev/v1", "/scrape", map[string]any{"url": address, "formats": []string{"markdown"}}, fromFirecrawl)
	case Tavily:
		return s.ask(ctx, guard, address, "https://api.tavily.com", "/extract", map[string]any{"urls": []string{address}}, fromTavily)
	}
	return fetch(ctx, guard, address)
}

func told(field string, err error) error {
	var f *outbound.Failure
	if !errors.As(err, &f) {
		return err
	}
	code := fact.Closed
	switch f.Kind {
	case outbound.Refused, outbound.TooLarge:
		code = fact.SchemaInvalid
	case outbound.TimedOut:
		code = fact.Timeout
	}
	return &fact.Error{Code: code, Field: field, Message: field + " " + f.Error()}
}

// fetch fetches a page as a browser would, unless robots.txt forbids it.
func fetch(ctx context.Context, guard *outbound.Guard, address string) (*Page, error) {
	limits := outbound.Limits{Bytes: maxBytes, Time: fetchTime}
	u, err := url.Parse(address)
	if err != nil {
		return nil, fact.Invalid("url", "is not a URL")
	}
	robots := &robots{ctx: ctx, guard: guard, sites: map[string]string{}}
	if err := robots.ask(u); err != nil {
		return nil, err
	}
	r, body, err := guard.Fetch(ctx, outbound.Request{
		URL: address, Limits: limits, Header: map[string]string{"Accept": "text/html, text/markdown, text/plain;q=0.8"}, Hop: robots.ask,
	})
	if err != nil {
		return nil, told("url", err)
	}
	if r.Status != 200 {
		return nil, fact.Errorf(fact.Closed, "the site answered %d", r.Status)
	}
	kind, media := load.HTML, r.Header("Content-Type")
	if media != "" {
		if kind, err = load.KindOf("url", media); err != nil || kind == load.PDF {
			return nil, fact.Invalid("url", "leads to no page of text")
		}
	}
	return &Page{URL: r.URL, Kind: kind, Text: decoded(body, media), Bytes: len(body)}, nil
}

// decoded makes UTF-8 of a page, by what the site or the page itself says of its
// encoding.
func decoded(body []byte, media string) string {
	e, name, certain := charset.DetermineEncoding(body, media)
	if name == "utf-8" || !certain && utf8.Valid(body) {
		return string(body)
	}
	text, err := e.NewDecoder().Bytes(body)
	if err != nil {
		return string(body)
	}
	return string(text)
}

// ask has a scraper fetch a page, with its caller's key.
func (s *Scraper) ask(ctx context.Context, guard *outbound.Guard, address, base, path string, body any, take func(jsonx.Value) string) (*Page, error) {
	if s.Endpoint != "" {
		base = strings.TrimRight(s.Endpoint, "/")
	}
	if err := guard.Check(base); err != nil {
		return nil, fact.Invalid("scraper.endpoint", err.Error())
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, fact.Invalid("url", "cannot be written as JSON")
	}
	r, answer, err := guard.Fetch(ctx, outbound.Request{
		URL: base + path, Method: "POST", Body: raw, Limits: outbound.Limits{Bytes: maxBytes, Time: fetchTime},
		Header: map[string]string{"Authorization": "Bearer " + s.Key.Reveal(), "Content-Type": "application/json"},
	})
	if err != nil {
		return nil, told("scraper", err)
	}
	switch {
	case r.Status == 429:
		return nil, &fact.Error{Code: fact.RateLimited, Field: "scraper", Message: "scraper answered 429"}
	case r.Status >= 400 && r.Status < 500:
		return nil, fact.Invalid("scraper", "answered "+httpStatus(r.Status))
	case r.Status != 200:
		return nil, &fact.Error{Code: fact.Closed, Field: "scraper", Message: "scraper answered " + httpStatus(r.Status)}
	}
	v, err := jsonx.Parse(answer)
	text := ""
	if err == nil {
		text = take(v)
	}
	switch {
	case strings.TrimSpace(text) == "":
		return nil, &fact.Error{Code: fact.Closed, Field: "scraper", Message: "scraper gave no text of the page"}
	case s.Key.In(jsonx.Value{Text: text}):
		return nil, &fact.Error{Code: fact.Closed, Field: "scraper", Message: "scraper answered with the key that it was sent"}
	}
	return &Page{URL: address, Kind: load.Markdown, Text: text, Bytes: len(text)}, nil
}

func httpStatus(n int) string {
	return string([]byte{byte('0' + n/100%10), byte('0' + n/10%10), byte('0' + n%10)})
}

func fromFirecrawl(v jsonx.Value) string {
	data, _ := v.Field("data")
	text, _ := data.Field("markdown")
	return text.Text
}

func fromTavily(v jsonx.Value) string {
	results, _ := v.Field("results")
	if len(results.Kids) == 0 {
		return ""
	}
	text, _ := results.Kids[0].Field("raw_content")
	return text.Text
}

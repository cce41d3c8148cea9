package connect

import (
	"context"
	"errors"
	"io"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"abagraph/fact"
	"abagraph/ingest/records"
	"abagraph/internal/jsonx"
	"abagraph/internal/outbound"
	"abagraph/memory"
)

// Bounds of one pull.
const (
	PullTimeout   = 100 * time.Second // all of it
	maxPages      = 100
	maxPageBytes  = 256 << 20
	maxWholeBytes = 16 << 20 // of an answer that is looked into
	pageTime      = 60 * time.Second
)

// Pulled is what became of a pull.
type Pulled struct {
	Receipt
	Pages int
	// Unchanged tells that the source had nothing new.
	Unchanged bool
	// Unfetched tells that it ended where a page could not be fetched, not where one
	// could not be written.
	Unfetched bool
	Cursor    string
}

var errUnderWay = fact.Errorf(fact.Conflict, "a pull of the connector is under way")

// pullKey names a connector of a tenant.
type pullKey struct{ tenant, name string }

// pulls are those that are under way on this node.
type pulls struct {
	mu      sync.Mutex
	running map[pullKey]chan struct{} // closed when it ends
}

// enter begins a pull, or returns what the one under way closes at its end.
func (p *pulls) enter(k pullKey) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ends := p.running[k]; ends != nil {
		return ends
	}
	p.running[k] = make(chan struct{})
	return nil
}

func (p *pulls) leave(k pullKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.running[k])
	delete(p.running, k)
}

// PullInTurn is Pull that waits for a pull of the connector that is under way on this
// node, as long as one may take.
func (s *Service) PullInTurn(ctx context.Context, c memory.Caller, o memory.WriteOptions, name string) (*Pulled, error) {
	slug, err := Slug(name)
	if err != nil {
		return nil, NoConnector(name)
	}
	timer := time.NewTimer(PullTimeout)
	defer timer.Stop()
	key := pullKey{c.Tenant, slug}
	for {
		ends := s.pulls.enter(key)
		if ends == nil {
			break
		}
		select {
		case <-ends:
		case <-timer.C:
			return nil, errUnderWay
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	defer s.pulls.leave(key)
	_, done, err := s.pull(ctx, c, o, slug, nil)
	return done, err
}

// Pull fetches what a connector's URL has to say since the last time, page after
// page, and writes it. The cursor moves on only when all of it is written: what is
// read twice changes nothing.
func (s *Service) Pull(ctx context.Context, c memory.Caller, o memory.WriteOptions, name string, trace *memory.Trace) (*Connector, *Pulled, error) {
	if err := c.Require(fact.RoleWrite); err != nil {
		return nil, nil, err
	}
	slug, err := Slug(name)
	if err != nil {
		return nil, nil, NoConnector(name)
	}
	key := pullKey{c.Tenant, slug}
	if s.pulls.enter(key) != nil {
		return nil, nil, errUnderWay
	}
	defer s.pulls.leave(key)
	return s.pull(ctx, c, o, slug, trace)
}

// pull is Pull once it is this node's only one of the connector.
func (s *Service) pull(ctx context.Context, c memory.Caller, o memory.WriteOptions, name string, trace *memory.Trace) (*Connector, *Pulled, error) {
	k, _, err := s.Get(ctx, c, memory.NewRead(), name, trace)
	if err != nil {
		return nil, nil, err
	}
	if k.URL == "" {
		return k, nil, fact.Invalid("url", "is not set: the connector has nothing to pull")
	}
	if err := s.checkURL(k.URL); err != nil {
		return k, nil, err
	}
	p := &puller{s: s, c: c, o: o, k: k, done: &Pulled{}}
	if o.Branch != "" && o.Branch != fact.MainBranch {
		// What goes to a branch is not yet on main: the source is read from its
		// beginning, and where main has come to stays.
		err := p.run(ctx)
		return k, p.done, err
	}
	was, err := s.claim(ctx, c, k, trace)
	if err != nil {
		return k, nil, err
	}
	p.was, p.is, p.guards = was.State, was.State, k.guards(was)
	err = p.run(ctx)
	if Overtaken(err) {
		return k, p.done, errMoved
	}
	p.is.Problem = ""
	if err != nil {
		if ctx.Err() != nil {
			return k, nil, err // the caller has gone: nothing is known of the source
		}
		p.is = was.State
		p.is.Problem = err.Error()
		p.done.Unfetched = p.fetching
	}
	if failed := s.saveState(ctx, c, k, was, p.is); Overtaken(failed) {
		err = errMoved
	} else if err == nil {
		err = failed
	}
	p.done.Cursor = p.is.Cursor
	return k, p.done, err
}

// puller is one pull.
type puller struct {
	s       *Service
	c       memory.Caller
	o       memory.WriteOptions
	k       *Connector
	was, is State
	guards  []fact.Guard
	done    *Pulled

	fetching bool // a page is on its way; else it is being written
}

func (p *puller) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, PullTimeout)
	defer cancel()
	at, err := p.first()
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for at != "" {
		if seen[at] || p.done.Pages == maxPages {
			return fact.Invalid("url", "has pages that do not end: "+strconv.Itoa(p.done.Pages)+" were read")
		}
		seen[at] = true
		if at, err = p.page(ctx, at); err != nil {
			return err
		}
		p.done.Pages++
	}
	if p.done.Pages > 1 {
		p.is.ETag, p.is.LastModified = "", "" // they are of the first page alone
	}
	return nil
}

// first is the address of the first page: with the cursor, where there is one.
func (p *puller) first() (string, error) {
	if p.k.Pull.CursorParam == "" || p.was.Cursor == "" {
		return p.k.URL, nil
	}
	u, err := url.Parse(p.k.URL)
	if err != nil {
		return "", fact.Invalid("url", "is not a URL")
	}
	q := u.Query()
	q.Set(p.k.Pull.CursorParam, p.was.Cursor)
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// page fetches and writes one page, and returns the address of the next one.
func (p *puller) page(ctx context.Context, at string) (next string, err error) {
	p.fetching = true
	header, err := p.header(ctx)
	if err != nil {
		return "", err
	}
	answer, err := p.s.guard.Open(ctx, outbound.Request{URL: at, Header: header, Limits: outbound.Limits{Bytes: maxPageBytes, Time: pageTime}})
	if err != nil {
		return "", told(err)
	}
	defer answer.Body.Close()
	switch {
	case answer.Status == 304 && p.done.Pages == 0:
		p.done.Unchanged = true
		return "", nil
	case answer.Status == 204:
		return "", nil
	case answer.Status != 200:
		return "", fact.Invalid("url", "answered with status "+strconv.Itoa(answer.Status))
	}
	if p.done.Pages == 0 {
		p.is.ETag, p.is.LastModified = bounded(answer.Header("ETag")), bounded(answer.Header("Last-Modified"))
	}
	d := &Delivery{Source: sourceReader{answer.Body}, Format: p.k.Format, Whole: maxWholeBytes, guards: p.guards, seen: p.seen}
	if strings.HasPrefix(answer.Header("Content-Type"), "text/csv") {
		d.Format = records.CSV
	}
	link := ""
	if p.k.Pull.Items != "" || p.k.Pull.Next != "" {
		if link, err = p.lookInto(answer.Body, d); err != nil {
			return "", err
		}
	}
	p.fetching = false
	r, err := p.s.Deliver(ctx, p.c, p.o, p.k, d)
	if r != nil {
		p.done.add(r)
	}
	if err != nil {
		return "", ofSource(err)
	}
	if link == "" {
		link = nextLink(answer.Header("Link"))
	}
	return p.resolve(answer.URL, link)
}

// header is what is sent with a page: the validators of the last pull with the first
// one, and the connector's secret, which goes to no other host.
func (p *puller) header(ctx context.Context) (map[string]string, error) {
	h := map[string]string{"Accept": "application/json, application/x-ndjson, text/csv;q=0.9, */*;q=0.1"}
	if p.done.Pages == 0 && p.was.Problem == "" {
		if p.was.ETag != "" {
			h["If-None-Match"] = p.was.ETag
		}
		if p.was.LastModified != "" {
			h["If-Modified-Since"] = p.was.LastModified
		}
	}
	if p.k.Pull.Secret == "" {
		return h, nil
	}
	if p.s.secret == nil {
		return nil, fact.Errorf(fact.NotFound, "no secret: %s", p.k.Pull.Secret)
	}
	value, err := p.s.secret(ctx, p.k.Tenant(), p.k.Pull.Secret)
	if err != nil {
		return nil, err
	}
	h[p.k.Pull.Header] = p.k.Pull.Prefix + value
	return h, nil
}

// bounded leaves out a validator that is too long to keep.
func bounded(text string) string {
	if len(text) > maxPathBytes {
		return ""
	}
	return text
}

// told says of a failure outside what the connector's owner may know.
func told(err error) error {
	var f *outbound.Failure
	if errors.As(err, &f) {
		return fact.Invalid("url", f.Error())
	}
	return err
}

// ofSource names the field of what the source sent and no record is at fault for.
func ofSource(err error) error {
	var e *fact.Error
	if !errors.As(err, &e) || e.Code != fact.SchemaInvalid || e.Field != "" {
		return err
	}
	named := *e
	named.Field = "url"
	return &named
}

// sourceReader tells of a source that breaks off what may be told.
type sourceReader struct{ io.Reader }

func (r sourceReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = told(err)
	}
	return n, err
}

// lookInto reads an answer whole, and finds the records and the next page in it.
func (p *puller) lookInto(body io.Reader, d *Delivery) (next string, err error) {
	raw, err := io.ReadAll(io.LimitReader(body, maxWholeBytes+1))
	if err != nil {
		return "", told(err)
	}
	if len(raw) > maxWholeBytes {
		return "", fact.Invalid("url", "answered more than 16 MiB, which is the most where pull.items or pull.next is set")
	}
	v, err := jsonx.Parse(raw)
	if err != nil {
		return "", fact.Invalid("url", "answered what is not valid JSON: "+err.Error())
	}
	items := v
	if p.k.Pull.Items != "" {
		found, ok := dig(v, p.k.Pull.Items)
		if !ok || found.Kind != jsonx.Array && found.Kind != jsonx.Object {
			return "", fact.Invalid("pull.items", "names no records in the answer")
		}
		items = found
	}
	d.Source = strings.NewReader(items.Raw)
	if p.k.Pull.Next != "" {
		if link, ok := dig(v, p.k.Pull.Next); ok && link.Kind == jsonx.String {
			next = link.Text
		}
	}
	return next, nil
}

// dig follows a path of names with dots.
func dig(v jsonx.Value, path string) (jsonx.Value, bool) {
	for _, name := range strings.Split(path, ".") {
		var ok bool
		if v, ok = v.Field(name); !ok {
			return v, false
		}
	}
	return v, true
}

// nextLink finds the next page in a Link header (RFC 8288).
func nextLink(header string) string {
	for _, one := range strings.Split(header, ",") {
		target, params, ok := strings.Cut(strings.TrimSpace(one), ">")
		if !ok || !strings.HasPrefix(target, "<") {
			continue
		}
		for _, param := range strings.Split(params, ";") {
			name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
			if strings.EqualFold(name, "rel") && strings.EqualFold(strings.Trim(value, `"`), "next") {
				return target[1:]
			}
		}
	}
	return ""
}

// resolve makes the address of the next page, which must be of the same host: the
// secret of one is not for another.
func (p *puller) resolve(from, link string) (string, error) {
	if link == "" {
		return "", nil
	}
	base, err := url.Parse(from)
	if err != nil {
		return "", fact.Invalid("url", "is not a URL")
	}
	own, err := url.Parse(p.k.URL)
	if err != nil {
		return "", fact.Invalid("url", "is not a URL")
	}
	to, err := base.Parse(link)
	if err != nil {
		return "", fact.Invalid("url", "names a next page that is not a URL")
	}
	if to.Scheme != own.Scheme || !strings.EqualFold(to.Host, own.Host) {
		return "", fact.Invalid("url", "names a next page on another host, which is not followed")
	}
	to.Fragment = ""
	return to.String(), nil
}

// seen moves the cursor on: to the greatest value of its field.
func (p *puller) seen(record jsonx.Value) {
	if p.k.Pull.CursorField == "" {
		return
	}
	v, ok := dig(record, p.k.Pull.CursorField)
	if !ok {
		return
	}
	text := v.Raw
	if v.Kind == jsonx.String {
		text = v.Text
	}
	if v.Kind != jsonx.String && v.Kind != jsonx.Number || text == "" || len(text) > maxPathBytes {
		return
	}
	if p.is.Cursor == "" || later(text, p.is.Cursor) {
		p.is.Cursor = text
	}
}

// later compares two values of a cursor: numbers by value, anything else by its
// bytes, as dates in one form are compared.
func later(a, b string) bool {
	x, errX := fact.NumberObject("", a)
	y, errY := fact.NumberObject("", b)
	if errX == nil && errY == nil {
		return compareNumbers(x.Text, y.Text) > 0
	}
	return a > b
}

// add adds another page.
func (p *Pulled) add(r *Receipt) {
	p.Records += r.Records
	p.Skipped += r.Skipped
	p.Asserted += r.Asserted
	p.Held += r.Held
	p.Superseded += r.Superseded
	p.Duplicates += r.Duplicates
	p.Ignored += r.Ignored
	p.Masked += r.Masked
	p.suspect(r.Suspect, r.Suspicion)
	p.Batches += r.Batches
	p.Tx = max(p.Tx, r.Tx)
	p.Problems = append(p.Problems, r.Problems[:min(len(r.Problems), MaxProblems-len(p.Problems))]...)
}

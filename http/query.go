package http

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"abagraph/fact"
	"abagraph/memory"
)

// query is a query string, read strictly: a parameter that occurs twice and one
// that nobody asked for are refused by name (C-43); only a list of seeds may be
// given name by name. Getters keep the first problem; done reports it.
type query struct {
	list []param
	err  error
}

type param struct {
	name, value string
	used        bool
}

// maxParams bounds a query string.
const maxParams = 64

func (q *query) parse(raw string) error {
	for raw != "" {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, err := unescape(name)
		if err != nil {
			return fact.Errorf(fact.SchemaInvalid, "the query string is not valid percent-encoded UTF-8")
		}
		if value, err = unescape(value); err != nil {
			return fact.Invalid(shown(name), "is not valid percent-encoded UTF-8")
		}
		if err := q.add(name, value); err != nil {
			return err
		}
	}
	return nil
}

// add takes a parameter. Seeds that are given one by one are one comma list.
func (q *query) add(name, value string) error {
	for i := range q.list {
		p := &q.list[i]
		if p.name != name {
			continue
		}
		if name != "seeds" || strings.HasPrefix(p.value, "[") || strings.HasPrefix(value, "[") {
			return fact.Invalid(shown(name), "is given twice in the query")
		}
		p.value += "," + value
		return nil
	}
	if len(q.list) == maxParams {
		return fact.Errorf(fact.SchemaInvalid, "the query has more than 64 parameters")
	}
	q.list = append(q.list, param{name: name, value: value})
	return nil
}

func unescape(s string) (string, error) {
	if strings.ContainsAny(s, "%+") {
		var err error
		if s, err = url.QueryUnescape(s); err != nil {
			return "", err
		}
	}
	if !utf8.ValidString(s) {
		return "", url.EscapeError(s)
	}
	return s, nil
}

// shown bounds a parameter's name that is quoted back.
func shown(name string) string {
	if len(name) > 64 {
		return strings.ToValidUTF8(name[:64], "") + "…"
	}
	return name
}

// done refuses the first parameter that nobody asked for, or else returns the
// first problem.
func (q *query) done() error {
	for i := range q.list {
		if !q.list[i].used {
			return fact.Invalid(shown(q.list[i].name), "is not a known parameter here")
		}
	}
	return q.err
}

func (q *query) fail(err error) {
	if q.err == nil {
		q.err = err
	}
}

// text returns a parameter and whether it is given.
func (q *query) text(name string) (string, bool) {
	for i := range q.list {
		if q.list[i].name == name {
			q.list[i].used = true
			return q.list[i].value, true
		}
	}
	return "", false
}

// flag returns a parameter that is 1, true, 0 or false.
func (q *query) flag(name string) (value, given bool) {
	text, ok := q.text(name)
	if !ok {
		return false, false
	}
	switch text {
	case "1", "true":
		return true, true
	case "0", "false":
		return false, true
	}
	q.fail(fact.Invalid(name, "must be 1, true, 0 or false"))
	return false, false
}

// number returns a parameter that is a whole number, not negative.
func (q *query) number(name string) (uint64, bool) {
	text, ok := q.text(name)
	if !ok {
		return 0, false
	}
	n, err := parseCount(name, text)
	if err != nil {
		q.fail(err)
		return 0, false
	}
	return n, true
}

func parseCount(name, text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fact.Invalid(name, "must be a whole number that is not negative")
	}
	return n, nil
}

// name returns a parameter that is a subject, predicate or entity reference.
func (q *query) name(name string) string {
	text, ok := q.text(name)
	if !ok {
		return ""
	}
	text, err := memory.Name(name, text)
	if err != nil {
		q.fail(err)
	}
	return text
}

// limit returns the limit of a list (C-24).
func (q *query) limit() int {
	n, ok := q.number("limit")
	if !ok {
		return 0
	}
	if n > fact.MaxLimit {
		n = fact.MaxLimit + 1
	}
	limit, err := memory.CheckLimit(int64(n))
	if err != nil {
		q.fail(err)
	}
	return limit
}

// object returns the values that an object filter means: the text itself and,
// where it reads as another value, that one too (C-3).
func (q *query) object(name string) []fact.Object {
	text, ok := q.text(name)
	if !ok {
		return nil
	}
	return memory.ObjectFilter(text)
}

// instant returns a time in any form that C-1 accepts.
func (c *call) instant(name string) fact.Instant {
	text, ok := c.query.text(name)
	if !ok {
		return fact.NoInstant
	}
	t, err := c.input.Instant(name, text)
	if err != nil {
		c.query.fail(err)
		return fact.NoInstant
	}
	return t
}

// read returns what state to read at: branch, consistency and min_tx, which
// every read takes.
func (c *call) read() memory.Read {
	r := memory.NewRead()
	r.Branch = c.branch()
	if text, ok := c.query.text("consistency"); ok {
		level, err := consistency(text)
		if err != nil {
			c.query.fail(err)
		}
		r.Level = level
	}
	r.MinTx, _ = c.query.number("min_tx")
	n, err := c.minTx()
	if err != nil {
		c.query.fail(err)
	}
	r.MinTx = max(r.MinTx, n)
	return r
}

// onlyMain returns a read of what has no branches: to name one is a mistake, and would be
// taken for a look at that branch.
func (c *call) onlyMain(r memory.Read, what string) memory.Read {
	if r.Branch != "" && r.Branch != fact.MainBranch {
		c.query.fail(fact.Invalid("branch", "cannot be named here: "+what))
	}
	r.Branch = ""
	return r
}

// What the routes say that read nothing of a branch.
const (
	ofBranches   = "the path, or name, says which branch"
	ofTenants    = "tenants and keys have no branches"
	ofConnectors = "connectors and triggers have no branches"
	ofLeases     = "leases are of main"
)

func consistency(text string) (fact.Level, error) {
	switch text {
	case "stale":
		return fact.Stale, nil
	case "linearizable":
		return fact.Linearizable, nil
	}
	return fact.Linearizable, fact.Invalid("consistency", "must be linearizable or stale")
}

// minTx returns the tx that the header asks to have been applied, or 0.
func (c *call) minTx() (uint64, error) {
	values := c.r.Header[headerMinTx]
	if len(values) == 0 {
		return 0, nil
	}
	return parseCount(headerMinTx, values[0])
}

// past returns read with the record time to read at (C-22).
func (c *call) past() memory.Read {
	r := c.read()
	r.Tx, r.Pinned = c.query.number("tx")
	r.KnownAt = c.instant("known_at")
	if backfill, given := c.query.flag("backfill"); given {
		r.NoBackfill = !backfill
	}
	return r
}

// travel returns past with the valid time to read at (C-21).
func (c *call) travel() memory.Read {
	r := c.past()
	r.AsOf = c.instant("as_of")
	return r
}

// branch returns the branch that the query names, or "".
func (c *call) branch() string {
	text, ok := c.query.text("branch")
	if !ok {
		return ""
	}
	name, err := memory.CheckBranch(text)
	if err != nil {
		c.query.fail(err)
	}
	return name
}

// cursor reads a cursor: a tx, or EPOCH:TX; a bare tx takes the epoch of the
// X-Abagraph-Epoch header, where that is sent (C-35).
func (c *call) cursor(name, text string) (*memory.Cursor, error) {
	epoch, number, found := strings.Cut(text, ":")
	if !found {
		epoch, number = c.r.Header.Get(headerEpoch), text
	} else if epoch == "" {
		return nil, fact.Invalid(name, "must be a tx, or epoch:tx")
	}
	tx, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return nil, fact.Invalid(name, "must be a tx, or epoch:tx")
	}
	return &memory.Cursor{Epoch: epoch, Tx: tx}, nil
}

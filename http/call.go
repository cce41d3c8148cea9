package http

import (
	"net/http"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/internal/span"
	"abagraph/memory"

	"github.com/labstack/echo/v4"
)

// call is one request on its way through the server. Calls are pooled.
type call struct {
	server *Server
	route  *route
	echo   echo.Context
	w      http.ResponseWriter
	r      *http.Request
	conn   *enveloped // nil where another one listens

	caller memory.Caller
	known  bool // the caller has been authenticated
	query  query
	input  memory.Input
	trace  *memory.Trace // nil without explain
	span   span.Span     // kept nowhere unless requests are traced
	buf    []byte
	body   []byte
	status int // 0 until the header is written
}

// maxPooled is the largest buffer that is kept for another request.
const maxPooled = 64 << 10

func (s *Server) acquire(c echo.Context, rt *route) *call {
	cl := s.calls.Get().(*call)
	cl.server, cl.route, cl.echo, cl.w, cl.r = s, rt, c, c.Response().Writer, c.Request()
	cl.conn, _ = cl.r.Context().Value(connKey{}).(*enveloped)
	return cl
}

func (s *Server) release(cl *call) {
	buf, body, list := cl.buf[:0], cl.body[:0], cl.query.list[:0]
	if cap(buf) > maxPooled {
		buf = nil
	}
	if cap(body) > maxPooled {
		body = nil
	}
	clear(cl.query.list)
	*cl = call{buf: buf, body: body, query: query{list: list}}
	s.calls.Put(cl)
}

// Header values that never change; the slices are shared and only read.
var (
	typeJSON    = []string{"application/json"}
	typeEvents  = []string{"text/event-stream"}
	noStore     = []string{"no-store"}
	noCache     = []string{"no-cache"}
	noSniff     = []string{"nosniff"}
	noBuffering = []string{"no"}
)

const (
	headerTx         = "X-Abagraph-Tx"
	headerNow        = "X-Abagraph-Now"
	headerEpoch      = "X-Abagraph-Epoch"
	headerWarning    = "X-Abagraph-Warning"
	headerBackfilled = "X-Abagraph-Backfilled"
	headerMinTx      = "X-Abagraph-Min-Tx"
	headerNext       = "X-Abagraph-Next"
	headerIdem       = "Idempotency-Key"
)

// begin starts an answer: with explain, inside its envelope.
func (c *call) begin() []byte {
	if c.trace != nil {
		return append(c.buf[:0], `{"result":`...)
	}
	return c.buf[:0]
}

// finish sends an answer that begin has started.
func (c *call) finish(status int, b []byte) error {
	if c.trace != nil {
		c.trace.Step("encode", "")
		b = append(b, `,"explain":`...)
		b = append(c.trace.Append(b), '}')
	}
	c.buf = b
	return c.sendWhole(status, b)
}

// countedBytes is the length up to which net/http tells it by itself.
const countedBytes = 2048

// write sends a JSON answer with the headers that every answer has.
func (c *call) write(status int, b []byte) {
	h := c.w.Header()
	h["Content-Type"] = typeJSON
	h["Cache-Control"] = noStore
	h["X-Content-Type-Options"] = noSniff
	if len(b) > countedBytes {
		h["Content-Length"] = []string{strconv.Itoa(len(b))}
	}
	c.status = status
	if len(b) > bufferBytes && c.r.Method != http.MethodHead && c.conn != nil {
		c.conn.more = true
	}
	c.w.WriteHeader(status)
	// A write that fails has lost its reader: there is no one to tell.
	_, _ = c.w.Write(b)
}

// meta sets the headers that tell from where an answer was read, an error too: what is
// not there is not there at that point. Their values
// share one array and one text: this is done for each request.
func (c *call) meta(m *memory.Meta) {
	if m.Epoch == "" && m.Tx == 0 && m.Now == 0 {
		return // it failed before anything was read
	}
	h := c.w.Header()
	var space [40]byte
	b := strconv.AppendUint(space[:0], m.Tx, 10)
	cut := len(b)
	if m.Now.Given() {
		b = strconv.AppendInt(b, int64(m.Now), 10)
	}
	text := string(b)
	values := []string{text[:cut], m.Epoch, text[cut:]}
	h[headerTx] = values[0:1:1]
	h[headerEpoch] = values[1:2:2]
	if m.Now.Given() {
		h[headerNow] = values[2:3:3]
	}
	if n := m.Declared(); n > 0 {
		h[headerBackfilled] = []string{strconv.Itoa(n)}
		for _, b := range m.Backfilled {
			c.trace.Int("backfilled.tx_"+strconv.FormatUint(b.Batch, 10), b.Rows)
		}
	}
}

// wrote sets the same headers for a write, and tells the log of personal data
// that was masked: how much, never what.
func (c *call) wrote(r *fact.Result) {
	if r.Masked > 0 {
		c.server.config.Logger.Info("abagraph.pii.masked", "path", c.route.template, "masked", r.Masked, "tenant", c.caller.Tenant)
	}
	c.meta(&memory.Meta{Tx: r.Tx, Now: r.RecordedAt, Epoch: c.server.config.Memory.Position().Epoch})
}

// stand sets the headers for an answer that reads no facts: where this node
// stands.
func (c *call) stand() {
	p := c.server.config.Memory.Position()
	c.meta(&memory.Meta{Tx: p.Tx, Now: fact.NoInstant, Epoch: p.Epoch})
}

// warnHeader tells the warnings of an answer that is a list (C-1).
func (c *call) warnHeader() {
	for _, w := range c.input.Warnings() {
		c.w.Header().Add(headerWarning, headerText(w))
	}
}

// warnField appends the warnings of an answer that is an object.
func (c *call) warnField(b []byte) []byte {
	if w := c.input.Warnings(); len(w) > 0 {
		return jsonx.AppendStrings(append(b, `,"warnings":`...), w)
	}
	return b
}

// headerText keeps to what a header may hold.
func headerText(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c < 0x20 || c >= 0x7f {
			b[i] = '?'
		}
	}
	return string(b)
}

package http

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"abagraph/fact"
	"abagraph/ingest/connect"
	"abagraph/ingest/records"
	"abagraph/memory"
)

// maxDelivery bounds what one delivery may be, unpacked: it is streamed, so that
// this is no memory.
const maxDelivery = 16 << 30

// deliver is POST /api/connectors/:name/events. Its body is streamed: what bounds
// it is the length of a record.
func (s *Server) deliver(c *call) error {
	if err := c.caller.Require(fact.RoleWrite); err != nil {
		return err
	}
	k, _, err := s.connectors.Get(c.r.Context(), c.caller, memory.NewRead(), c.param("name"), c.trace)
	if err != nil {
		return err
	}
	d, err := c.delivery(k)
	if err != nil {
		return err
	}
	o, err := c.deliveryOptions()
	if err != nil {
		return err
	}
	header := c.r.Header.Get
	if k.Signature != nil {
		// Nothing may be read of what is not signed: it is taken whole first.
		if err := c.fill(d.Source, s.config.MaxBodyBytes); err != nil {
			return err
		}
		if err := s.connectors.Verify(c.r.Context(), k, header, c.body, time.Now()); err != nil {
			return err
		}
		d.Source = bytes.NewReader(c.body)
	}
	if d.Key = header(headerIdem); d.Key == "" {
		d.Key = k.DeliveryID(header)
	}
	return s.take(c, k, o, d)
}

// take writes a delivery and answers what became of it.
func (s *Server) take(c *call, k *connect.Connector, o memory.WriteOptions, d *connect.Delivery) error {
	started := time.Now()
	r, err := s.connectors.Deliver(c.r.Context(), c.caller, o, k, d)
	if r != nil {
		s.tellIngest(c, k, r, started)
	}
	meta := memory.Meta{Now: fact.NoInstant, Epoch: s.config.Memory.Position().Epoch}
	if meta.Tx = s.config.Memory.Position().Tx; r != nil {
		meta.Tx = max(meta.Tx, r.Tx)
	}
	c.meta(&meta)
	if err != nil {
		return err
	}
	c.explainDelivery("deliver", "records → mapping → mask → asserts, in batches", r)
	c.warnDelivered(r)
	b := appendDelivered(c.begin(), k, r)
	b = strconv.AppendUint(append(b, `,"tx":`...), meta.Tx, 10)
	return c.finish(http.StatusOK, append(c.warnField(b), '}'))
}

// warnDelivered adds what the answer should say of a delivery.
func (c *call) warnDelivered(r *connect.Receipt) {
	for _, w := range r.Warnings() {
		c.input.Warn(w)
	}
}

func (c *call) explainDelivery(op, plan string, r *connect.Receipt) {
	c.trace.Name(op, plan)
	c.trace.Int("records", r.Records)
	c.trace.Int("facts", r.Asserted+r.Held)
	c.trace.Int("batches", r.Batches)
	c.trace.Step("commit", "")
}

// deliveryOptions returns what goes with a delivery: its body names no branch.
func (c *call) deliveryOptions() (memory.WriteOptions, error) {
	branch := c.branch()
	if err := c.query.done(); err != nil {
		return memory.WriteOptions{}, err
	}
	if key := c.r.Header.Values(headerIdem); len(key) > 1 {
		return memory.WriteOptions{}, fact.Invalid(headerIdem, "is given twice")
	} else if len(key) == 1 {
		if err := memory.CheckIdempotencyKey(key[0]); err != nil {
			return memory.WriteOptions{}, err
		}
	}
	return memory.WriteOptions{Branch: branch, Warn: c.input.Warn}, nil
}

// delivery opens the body of a delivery as a stream.
func (c *call) delivery(k *connect.Connector) (*connect.Delivery, error) {
	d := &connect.Delivery{Format: k.Format, Whole: c.server.config.MaxBodyBytes, Path: c.r.URL.EscapedPath()}
	format, err := formatOf(c.r.Header.Get("Content-Type"))
	if err != nil {
		return nil, err
	}
	if format != nil {
		d.Format = *format
	}
	source := io.Reader(&untilQuiet{c: c})
	switch encoding := strings.ToLower(c.r.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		if source, err = gzip.NewReader(source); err != nil {
			return nil, bodyError(err, "the body is not gzip")
		}
	default:
		return nil, fact.Invalid("Content-Encoding", "must be gzip or identity")
	}
	d.Source = &told{r: source, left: maxDelivery}
	return d, nil
}

// formatOf reads what a Content-Type says of the format; nil = nothing.
func formatOf(text string) (*records.Format, error) {
	json, csv := records.JSON, records.CSV
	if text == "" {
		return nil, nil
	}
	media, _, err := mime.ParseMediaType(text)
	switch {
	case err != nil:
	case media == "text/csv":
		return &csv, nil
	case media == "application/json", media == "application/x-ndjson", media == "application/ndjson", media == "application/jsonl", media == "application/x-jsonlines",
		strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json"):
		return &json, nil
	case media == "application/x-www-form-urlencoded", media == "text/plain", media == "application/octet-stream":
		return nil, nil
	}
	return nil, fact.Invalid("Content-Type", "must be application/json, application/x-ndjson or text/csv")
}

// untilQuiet reads a body for as long as something comes: each piece has the time that
// a whole body has elsewhere, and the answer its time from then on. What comes slower
// than slowest, but for that time, is given up: only the waiting counts.
type untilQuiet struct {
	c      *call
	read   int64
	waited time.Duration
}

// slowest is how many bytes a second a delivery must come with.
const slowest = 1 << 10

func (p *untilQuiet) Read(b []byte) (int, error) {
	began := time.Now()
	left := DefaultBodyTimeout + time.Duration(p.read/slowest)*time.Second - p.waited
	deadline := began.Add(min(DefaultBodyTimeout, left))
	p.c.setReadDeadline(deadline)
	if d, ok := p.c.w.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = d.SetWriteDeadline(deadline.Add(writeTimeout)) // a connection without deadlines has none
	}
	n, err := p.c.r.Body.Read(b)
	p.read, p.waited = p.read+int64(n), p.waited+time.Since(began)
	if err != nil {
		p.c.doneReading(errors.Is(err, io.EOF))
	}
	return n, err
}

// told says of an error of the body what a client may be told, and bounds it.
type told struct {
	r    io.Reader
	left int64
}

func (t *told) Read(b []byte) (int, error) {
	if t.left <= 0 {
		return 0, tooLarge(maxDelivery)
	}
	n, err := t.r.Read(b[:min(int64(len(b)), t.left)])
	t.left -= int64(n)
	var timeout net.Error
	switch {
	case err == nil, errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return n, err
	case errors.As(err, &timeout) && timeout.Timeout():
		return n, fact.Errorf(fact.SchemaInvalid, "the body did not arrive in time")
	case errors.Is(err, context.Canceled):
		return n, err
	}
	return n, fact.Errorf(fact.SchemaInvalid, "the body cannot be read to its end")
}

// tellIngest tells what a delivery or a pull brought in.
func (s *Server) tellIngest(c *call, k *connect.Connector, r *connect.Receipt, started time.Time) {
	s.config.Logger.Info("abagraph.connector.ingest", append(r.Told(k.Name, c.caller.Tenant), "ms", time.Since(started).Milliseconds())...)
	if r.Masked > 0 {
		s.config.Logger.Info("abagraph.pii.masked", "path", c.route.template, "masked", r.Masked, "tenant", c.caller.Tenant)
	}
}

package http

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// smallBody is what a body may have without waiting for one of the places for
// large ones.
const smallBody = 1 << 20

// unreadTime is how long a body is waited for that nobody reads: net/http reads it
// before it answers.
const unreadTime = 5 * time.Second

// readJSON reads and parses the body.
func (c *call) readJSON() (jsonx.Value, error) {
	if err := c.readBody(); err != nil {
		return jsonx.Value{}, err
	}
	v, err := jsonx.Parse(c.body)
	c.trace.Step("decode", "")
	return v, err
}

// readOwn reads the body of a route that has no other use for the tenant that any body
// may name (C-43): it is judged, and taken out.
func (c *call) readOwn() (jsonx.Value, error) {
	v, err := c.readJSON()
	if err != nil {
		return v, err
	}
	return c.withoutTenant(v)
}

func (c *call) withoutTenant(v jsonx.Value) (jsonx.Value, error) {
	if err := c.input.Tenant(v); err != nil {
		return v, err
	}
	v.Kids = slices.DeleteFunc(v.Kids, func(kid jsonx.Value) bool { return kid.Name == "tenant" })
	return v, nil
}

// readBody reads the whole body into c.body, decompressed, within the limit.
func (c *call) readBody() error { return c.readBodyWithin(c.server.config.MaxBodyBytes) }

// readBodyWithin is readBody with a limit of its own.
func (c *call) readBodyWithin(limit int64) (err error) {
	if err := c.checkType(); err != nil {
		return err
	}
	if c.r.ContentLength > limit {
		return tooLarge(limit)
	}
	c.setReadDeadline(time.Now().Add(DefaultBodyTimeout))
	defer func() { c.doneReading(err == nil) }()
	source := io.Reader(c.r.Body)
	switch encoding := strings.ToLower(c.r.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		unzipped, err := gzip.NewReader(c.r.Body)
		if err != nil {
			return bodyError(err, "the body is not gzip")
		}
		source = unzipped
	default:
		return fact.Invalid("Content-Encoding", "must be gzip or identity")
	}
	return c.fill(source, limit)
}

// fill reads up to the limit. A body that outgrows smallBody waits for a place,
// so that few large ones are in memory at the same time.
func (c *call) fill(source io.Reader, limit int64) error {
	buf := bytes.NewBuffer(c.body[:0])
	defer func() { c.body = buf.Bytes() }()
	if n := min(c.r.ContentLength, maxPooled); n > 0 { // no more on a mere promise
		buf.Grow(int(n) + bytes.MinRead)
	}
	if _, err := buf.ReadFrom(io.LimitReader(source, min(limit+1, smallBody))); err != nil {
		return bodyError(err, "the body cannot be read")
	}
	if buf.Len() < smallBody || int64(buf.Len()) > limit {
		return within(buf.Len(), limit)
	}
	if err := c.server.uploads.Acquire(c.r.Context(), 1); err != nil {
		return err
	}
	defer c.server.uploads.Release(1)
	c.setReadDeadline(time.Now().Add(DefaultBodyTimeout))
	if _, err := buf.ReadFrom(io.LimitReader(source, limit+1-int64(buf.Len()))); err != nil {
		return bodyError(err, "the body cannot be read")
	}
	return within(buf.Len(), limit)
}

func within(size int, limit int64) error {
	if int64(size) > limit {
		return tooLarge(limit)
	}
	return nil
}

// doneReading takes back the time for the body, or, where it has not come to its end,
// leaves some for the rest.
func (c *call) doneReading(whole bool) {
	if whole {
		c.setReadDeadline(time.Time{})
		return
	}
	c.setReadDeadline(time.Now().Add(unreadTime))
}

// setReadDeadline bounds how long a client may take to send its body. It must
// be taken back: the connection is watched for its end while a handler works.
func (c *call) setReadDeadline(t time.Time) {
	if d, ok := c.w.(interface{ SetReadDeadline(time.Time) error }); ok {
		_ = d.SetReadDeadline(t) // a connection without deadlines has none
	}
}

// unwatch tells that the request is done whether its sender stays or not. It is called
// before the body is read, of which the length must be known: no other piece of it is read
// byte by byte then.
func (c *call) unwatch() {
	if c.conn != nil && c.r.ContentLength > 0 {
		c.conn.unwatched = true
	}
}

// checkType refuses a body that says it is something else than JSON. One that
// says nothing is taken for JSON, and so is what curl -d says by itself.
func (c *call) checkType() error {
	values := c.r.Header["Content-Type"]
	if len(values) == 0 || values[0] == "" || values[0] == "application/json" {
		return nil
	}
	media, _, err := mime.ParseMediaType(values[0])
	if err == nil && (media == "application/json" || media == "application/x-www-form-urlencoded" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")) {
		return nil
	}
	return fact.Invalid("Content-Type", "must be application/json")
}

func tooLarge(limit int64) error {
	return fact.Errorf(fact.TooLarge, "the body is larger than %d bytes", limit)
}

// bodyError tells why a body could not be read. It is the client's doing.
func bodyError(err error, problem string) error {
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return fact.Errorf(fact.SchemaInvalid, "the body did not arrive in time")
	case errors.Is(err, context.Canceled):
		return err
	}
	return &fact.Error{Code: fact.SchemaInvalid, Message: problem}
}

// noBody refuses a body where a route takes none, so that nothing that was sent
// is silently passed over.
func (c *call) noBody() error {
	if c.r.ContentLength == 0 || c.r.Body == nil {
		return nil
	}
	c.setReadDeadline(time.Now().Add(unreadTime))
	var one [1]byte
	n, err := io.ReadFull(c.r.Body, one[:])
	c.doneReading(errors.Is(err, io.EOF))
	switch {
	case n > 0:
		return fact.Errorf(fact.SchemaInvalid, "this request takes no body")
	case errors.Is(err, io.EOF):
		return nil
	}
	return bodyError(err, "the body cannot be read")
}

// passOver reads the body of a request that asks for something, which nothing is read
// from, so that a stream or a backup does not wait for it.
func (c *call) passOver() error {
	if c.r.Method != http.MethodGet && c.r.Method != http.MethodHead || c.r.ContentLength == 0 {
		return nil
	}
	n, err := io.CopyN(io.Discard, c.r.Body, smallBody)
	c.doneReading(errors.Is(err, io.EOF))
	switch {
	case n == smallBody:
		return fact.Errorf(fact.SchemaInvalid, "this request takes no body")
	case errors.Is(err, io.EOF):
		return nil
	}
	return bodyError(err, "the body cannot be read")
}

// idempotency returns what the Idempotency-Key header stands for, or nil. The
// body must have been read. explain asks for another view of the same answer,
// so that it is no part of the request.
func (c *call) idempotency() (*fact.Idempotency, error) {
	values := c.r.Header[headerIdem]
	if len(values) == 0 {
		return nil, nil
	}
	if len(values) > 1 {
		return nil, fact.Invalid(headerIdem, "is given twice")
	}
	if err := memory.CheckIdempotencyKey(values[0]); err != nil {
		return nil, err
	}
	path := c.r.URL.EscapedPath()
	hash := sha256.New()
	for _, part := range c.canonicalQuery() {
		hash.Write([]byte(part))
		hash.Write([]byte{0})
	}
	hash.Write([]byte(c.r.Method + " " + path))
	hash.Write([]byte{0})
	hash.Write(c.body)
	idem := &fact.Idempotency{Key: values[0], Method: c.r.Method, Path: path}
	hash.Sum(idem.Hash[:0])
	return idem, nil
}

func (c *call) canonicalQuery() []string {
	var parts []string
	for _, p := range c.query.list {
		if p.name != "explain" {
			parts = append(parts, p.name+"="+p.value)
		}
	}
	slices.Sort(parts)
	return parts
}

// writeOptions returns what goes with every write.
func (c *call) writeOptions() (memory.WriteOptions, error) {
	branch, err := c.input.Branch(c.branch())
	if problem := c.query.done(); problem != nil || err != nil {
		return memory.WriteOptions{}, cmp.Or(problem, err)
	}
	idem, err := c.idempotency()
	return memory.WriteOptions{Branch: branch, Idem: idem, Warn: c.input.Warn}, err
}

package http

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// stream is GET /api/stream (C-33). A reader is given what happened since its
// cursor and then, as it happens, the rest; both come out of the same Feed, so
// that nothing is lost or told twice between them.
func (s *Server) stream(c *call) error {
	filter, from, malformed, err := c.subscription()
	if err != nil {
		return err
	}
	if c.r.Method == http.MethodHead {
		c.stand()
		c.streamHeaders()
		return nil
	}
	leave, err := s.streams.enter(c.caller)
	if err != nil {
		return err
	}
	defer leave()
	feed, resync, err := s.config.Memory.Follow(c.r.Context(), c.caller, filter, from)
	if err != nil {
		return err
	}
	if malformed != nil {
		resync = malformed
	}
	s.config.Logger.Info("abagraph.sse.subscribe", "replay", from != nil, "resync", resync != nil)
	c.stand()
	c.streamHeaders()
	return c.tell(feed, resync)
}

// subscription reads what to follow and from where. A cursor that cannot be
// read is told on the stream, not refused: a browser that met an error would
// never come back.
func (c *call) subscription() (f memory.EventFilter, from *memory.Cursor, malformed *fact.Error, err error) {
	f.Branch = c.branch()
	f.Subject = c.query.name("subject")
	f.Predicate = c.query.name("predicate")
	if text, ok := c.query.text("op"); ok {
		for _, word := range strings.Split(text, ",") {
			op, err := fact.ParseOp("op", word)
			if err != nil {
				c.query.fail(err)
			}
			f.Ops = append(f.Ops, op)
		}
	}
	// A browser that comes back repeats the query of its first visit, so that
	// Last-Event-ID is the newer of the two.
	text, given := c.query.text("tx_gt")
	name := "tx_gt"
	if values := c.r.Header["Last-Event-Id"]; len(values) > 0 {
		text, given, name = values[0], true, "Last-Event-ID"
	}
	if given {
		var bad error
		if from, bad = c.cursor(name, text); bad != nil {
			errors.As(bad, &malformed)
		}
	}
	return f, from, malformed, c.query.done()
}

// streamHeaders sends the headers of a stream: not to be kept, compressed or
// held back by anything on the way.
func (c *call) streamHeaders() {
	h := c.w.Header()
	h["Content-Type"] = typeEvents
	h["Cache-Control"] = noCache
	h["X-Accel-Buffering"] = noBuffering
	h["X-Content-Type-Options"] = noSniff
	if c.r.ProtoMajor == 1 {
		h["Connection"] = []string{"keep-alive"}
	}
	c.status = http.StatusOK
	c.w.WriteHeader(http.StatusOK)
}

// tell writes until the reader goes, is too slow, or the server shuts down.
func (c *call) tell(feed *memory.Feed, resync *fact.Error) error {
	ctx, cancel := context.WithCancel(c.r.Context())
	defer cancel()
	defer context.AfterFunc(c.server.closing, cancel)()
	out := http.NewResponseController(c.w)
	b := c.buf[:0]
	if resync != nil {
		b = appendResync(b, feed.Cursor(), resync)
	}
	b = appendKeepAlive(b, feed.Cursor())
	for {
		if err := c.send(out, b); err != nil {
			return err
		}
		events, err := feed.Next(ctx, c.server.config.KeepAlive)
		switch {
		case errors.Is(err, memory.ErrResync):
			// What the cursor meant is gone: the reader comes back and is told
			// where the store stands now.
			return nil
		case err != nil:
			return err
		case len(events) == 0:
			b = appendKeepAlive(b[:0], feed.Cursor())
		default:
			if b, err = c.sendEvents(out, b[:0], feed.Cursor(), events); err != nil {
				return err
			}
		}
		c.buf = b
	}
}

// streamChunk is about how many bytes of events are gathered before they are
// sent.
const streamChunk = 256 << 10

// sendEvents appends one message an event, and sends what has become large on
// the way. The last one of each tx carries the tx as its id: a reader that was
// cut off in the middle of a tx is told the whole of it again. So it is of a tx
// of which only a part has come yet.
func (c *call) sendEvents(out *http.ResponseController, b []byte, at memory.Cursor, events []fact.Event) ([]byte, error) {
	for i := range events {
		e := &events[i]
		if e.Tx <= at.Tx && (i+1 == len(events) || events[i+1].Tx != e.Tx) {
			b = appendStreamID(b, memory.Cursor{Epoch: at.Epoch, Tx: e.Tx})
		}
		b = appendEvent(b, e)
		if len(b) >= streamChunk && i+1 < len(events) {
			if err := c.send(out, b); err != nil {
				return b, err
			}
			b = b[:0]
		}
	}
	return b, nil
}

// send writes one message within the time that a slow reader is given. A reader
// that is cut off comes back with the last id it has seen.
func (c *call) send(out *http.ResponseController, b []byte) error {
	if err := out.SetWriteDeadline(time.Now().Add(c.server.config.SlowReader)); err != nil {
		return err
	}
	if _, err := c.w.Write(b); err != nil {
		return err
	}
	return out.Flush()
}

// appendEvent appends the data of one event.
func appendEvent(b []byte, e *fact.Event) []byte {
	b = append(b, `data: {"op":"`...)
	b = append(b, e.Op.String()...)
	b = append(b, `","tx":`...)
	b = strconv.AppendUint(b, e.Tx, 10)
	b = append(b, `,"fact":`...)
	b = jsonx.AppendFact(b, &e.Fact)
	if len(e.Superseded) > 0 {
		b = append(b, `,"superseded":`...)
		b = jsonx.AppendFacts(b, e.Superseded)
	}
	return append(b, "}\n\n"...)
}

func appendStreamID(b []byte, at memory.Cursor) []byte {
	b = append(b, "id: "...)
	b = append(b, at.Epoch...)
	b = append(b, ':')
	return append(strconv.AppendUint(b, at.Tx, 10), '\n')
}

// appendKeepAlive appends a comment, with the id of the place that was reached
// though nothing was told: so a filtered stream's cursor moves on.
func appendKeepAlive(b []byte, at memory.Cursor) []byte {
	b = append(b, ":keepalive\n"...)
	return append(appendStreamID(b, at), '\n')
}

// appendResync tells a reader that its cursor means nothing here and that it
// should read anew; the stream goes on from the place that is told.
func appendResync(b []byte, at memory.Cursor, why *fact.Error) []byte {
	b = append(b, "event: resync\n"...)
	b = appendStreamID(b, at)
	b = append(b, `data: {"code":`...)
	b = jsonx.AppendString(b, string(why.Code))
	b = append(b, `,"message":`...)
	b = jsonx.AppendString(b, why.Message)
	b = append(b, `,"epoch":`...)
	b = jsonx.AppendString(b, at.Epoch)
	b = append(b, `,"tx":`...)
	b = strconv.AppendUint(b, at.Tx, 10)
	return append(b, "}\n\n"...)
}

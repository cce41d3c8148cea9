package http

import (
	"bytes"
	"net"
	"strconv"
	"sync/atomic"

	"abagraph/fact"
)

// plainRefusal is how net/http ends the header of a request that it refuses by
// itself, before any handler: a malformed one, two Host headers, a header that
// is too large.
var plainRefusal = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// enveloped is a connection on which such refusals have the one envelope of all
// errors too (C-43), and on which an answer that outgrows net/http's buffer goes
// out in one piece.
type enveloped struct {
	*net.TCPConn
	listener *connections // that it has a place of
	waits    atomic.Int64 // since when for a request, in Unix nanoseconds; busy or gone
	spoke    atomic.Bool  // a request has come on it
	// more is set by whoever is about to write a body of more than bufferBytes:
	// the first full buffer is not the last of it.
	more bool
	held []byte
	// unwatched is set while a request is answered whose sender may leave: see Read.
	unwatched bool
}

// bufferBytes is the size of net/http's buffer for what it writes.
const bufferBytes = 4096

// maxHeld is the largest rest that is copied behind what is held, maxKept the
// largest buffer for that which a connection keeps.
const (
	maxHeld = 64 << 10
	maxKept = 16 << 10
)

// connKey finds a request's connection in its context.
type connKey struct{}

// Read implements net.Conn. While a handler works, net/http watches the connection for its
// end: a goroutine that it starts and stops for each request reads one byte. What is done
// in a moment, whether its sender stays or not, is not worth that: no byte, and no error,
// ends the watch before it waits.
func (c *enveloped) Read(p []byte) (int, error) {
	if c.unwatched && len(p) == 1 {
		return 0, nil
	}
	return c.TCPConn.Read(p)
}

// Write implements net.Conn. One goroutine at a time writes to a connection.
func (c *enveloped) Write(p []byte) (int, error) {
	if c.more {
		return c.join(p)
	}
	return c.pass(p)
}

// join holds a first full buffer back until the next one comes.
func (c *enveloped) join(p []byte) (int, error) {
	if len(c.held) == 0 && len(p) == bufferBytes {
		c.held = append(c.held, p...)
		return len(p), nil
	}
	c.more = false
	if len(c.held) == 0 {
		return c.pass(p)
	}
	held := c.held
	c.held = held[:0]
	var err error
	if len(p) > maxHeld {
		_, err = (&net.Buffers{held, p}).WriteTo(c.TCPConn)
	} else {
		held = append(held, p...)
		_, err = c.TCPConn.Write(held)
	}
	if cap(held) <= maxKept {
		c.held = held[:0]
	}
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

func (c *enveloped) pass(p []byte) (int, error) {
	const code = len("HTTP/1.1 ")
	if len(p) <= code || p[code] < '4' {
		return c.TCPConn.Write(p)
	}
	line, text, refused := bytes.Cut(p, plainRefusal)
	if !refused || bytes.IndexByte(line, '\r') >= 0 {
		return c.TCPConn.Write(p)
	}
	e := &fact.Error{Code: fact.SchemaInvalid, Message: string(text)}
	if bytes.HasPrefix(text, []byte("431")) {
		e.Code = fact.TooLarge
	}
	body := appendError(nil, e)
	answer := append(bytes.Clone(line), "\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: "...)
	answer = strconv.AppendInt(answer, int64(len(body)), 10)
	answer = append(append(answer, "\r\n\r\n"...), body...)
	if _, err := c.TCPConn.Write(answer); err != nil {
		return 0, err
	}
	return len(p), nil
}

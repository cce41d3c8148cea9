package http

import (
	"bytes"
	"net"
	"strconv"

	"abagraph/fact"
)

// plainRefusal is how net/http ends the header of a request that it refuses by
// itself, before any handler: a malformed one, two Host headers, a header that
// is too large.
var plainRefusal = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// enveloped is a connection on which such refusals have the one envelope of all
// errors too (C-43).
type enveloped struct{ *net.TCPConn }

func (c enveloped) Write(p []byte) (int, error) {
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

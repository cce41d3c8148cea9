package rest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// Limits of what a client waits for and takes.
const (
	timeout = 60 * time.Second
	bodyMax = 64 << 20
)

// Conn is one persistent connection. It is not safe for concurrent use.
type Conn struct {
	address string
	conn    net.Conn
	reader  *bufio.Reader
	out     []byte
	body    []byte
}

// Dial connects to host:port.
func Dial(address string) (*Conn, error) {
	conn, err := net.DialTimeout("tcp", address, timeout)
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	return &Conn{address: address, conn: conn, reader: bufio.NewReaderSize(conn, 32<<10)}, nil
}

// Close ends the connection.
func (c *Conn) Close() error { return c.conn.Close() }

// Do sends one request and returns the status and the body, which is valid until
// the next call. The target is a path with its query, already escaped.
func (c *Conn) Do(method, target string, body []byte) (int, []byte, error) {
	if err := c.conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return 0, nil, fmt.Errorf("setting the deadline: %w", err)
	}
	c.out = append(c.out[:0], method...)
	c.out = append(c.out, ' ')
	c.out = append(c.out, target...)
	c.out = append(c.out, " HTTP/1.1\r\nHost: "...)
	c.out = append(c.out, c.address...)
	if body != nil {
		c.out = append(c.out, "\r\nContent-Type: application/json\r\nContent-Length: "...)
		c.out = strconv.AppendInt(c.out, int64(len(body)), 10)
	}
	c.out = append(c.out, "\r\n\r\n"...)
	c.out = append(c.out, body...)
	if _, err := c.conn.Write(c.out); err != nil {
		return 0, nil, fmt.Errorf("sending: %w", err)
	}
	status, length, chunked, err := c.head()
	if err != nil {
		return 0, nil, fmt.Errorf("reading the answer's head: %w", err)
	}
	if chunked {
		err = c.chunks()
	} else {
		err = c.fill(length, 0)
	}
	if err != nil {
		return 0, nil, fmt.Errorf("reading the answer's body: %w", err)
	}
	return status, c.body, nil
}

// head reads the status line and the headers that say how long the body is.
func (c *Conn) head() (status, length int, chunked bool, err error) {
	line, err := c.line()
	if err != nil {
		return 0, 0, false, err
	}
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return 0, 0, false, fmt.Errorf("not a status line: %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, 0, false, fmt.Errorf("not a status: %q", line)
	}
	for {
		line, err := c.line()
		if err != nil {
			return 0, 0, false, err
		}
		if len(line) == 0 {
			return status, length, chunked, nil
		}
		name, value, found := bytes.Cut(line, []byte(":"))
		if !found {
			return 0, 0, false, fmt.Errorf("not a header: %q", line)
		}
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil || length < 0 {
				return 0, 0, false, fmt.Errorf("not a length: %q", value)
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = bytes.EqualFold(value, []byte("chunked"))
		}
	}
}

// line reads one line without its end; it is valid until the next read.
func (c *Conn) line() ([]byte, error) {
	line, err := c.reader.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
}

// chunks reads a chunked body whole.
func (c *Conn) chunks() error {
	c.body = c.body[:0]
	for at := 0; ; at = len(c.body) {
		line, err := c.line()
		if err != nil {
			return err
		}
		size, err := strconv.ParseInt(string(line), 16, 32)
		if err != nil {
			return fmt.Errorf("not the size of a chunk: %q", line)
		}
		if err := c.fill(int(size), at); err != nil {
			return err
		}
		if line, err = c.line(); err != nil {
			return err
		}
		if len(line) != 0 {
			return errors.New("a chunk is longer than its size")
		}
		if size == 0 {
			return nil
		}
	}
}

// fill reads n bytes to the place at in the body.
func (c *Conn) fill(n, at int) error {
	if n < 0 || at+n > bodyMax {
		return fmt.Errorf("a body of more than %d bytes", bodyMax)
	}
	if cap(c.body) < at+n {
		grown := make([]byte, at+n, 2*(at+n))
		copy(grown, c.body[:at])
		c.body = grown
	}
	c.body = c.body[:at+n]
	_, err := io.ReadFull(c.reader, c.body[at:])
	return err
}

package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"abagraph/fact"
)

// Link carries one message to a server, with the headers that go beside it, and
// hands every message that comes back to each.
type Link func(ctx context.Context, body []byte, header map[string]string, each func([]byte) error) error

// maxWaiting is how many messages of a host may wait for the one before them.
const maxWaiting = 64

// Bridge carries messages between a host's lines and a server: each line of in
// is one message, and each line of out is one. Requests are answered one after
// the other, so that what a host writes and then reads is there. It returns nil
// at the end of in, when everything has been answered.
type Bridge struct {
	In   io.Reader
	Out  io.Writer
	Link Link
	// Profile narrows the list of tools; "" leaves it to the server.
	Profile Profile

	// version is what the handshake settled on.
	version string

	mu        sync.Mutex
	cancelled map[string]context.CancelFunc // of each request, until it is answered
}

// request is a line that waits for its answer.
type request struct {
	ctx    context.Context
	cancel context.CancelFunc
	m      message
	body   []byte
}

// Run carries messages until in ends, the context does, or out cannot be
// written.
func (b *Bridge) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b.cancelled = map[string]context.CancelFunc{}
	requests := make(chan request, maxWaiting)
	out := &lines{w: b.Out}
	read := make(chan error, 1)
	go func() { // ends with in, or with the context at the next line
		read <- b.read(ctx, out, requests)
		close(requests)
	}()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case r, more := <-requests:
			if !more {
				return <-read
			}
			if err := b.answer(r, out); err != nil {
				return err
			}
		}
	}
}

// read takes lines and sorts them: what is wrong is answered at once, what is a
// request waits its turn, and a cancellation takes effect at once.
func (b *Bridge) read(ctx context.Context, out *lines, requests chan<- request) error {
	reader := bufio.NewReaderSize(b.In, 64<<10)
	for {
		line, err := readLine(reader)
		if errors.Is(err, errLineTooLong) {
			p := problem{code: codeInvalidRequest, message: fmt.Sprintf("a message may have at most %d bytes", MaxMessageBytes)}
			if err := out.write(appendProblem(nil, &p)); err != nil {
				return err
			}
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read the next message: %w", err)
		}
		if len(line) > 0 {
			if err := b.take(ctx, line, out, requests); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

func (b *Bridge) take(ctx context.Context, line []byte, out *lines, requests chan<- request) error {
	m, p := readMessage(line)
	switch {
	case p != nil:
		return out.write(appendProblem(nil, p))
	case m.method == "notifications/cancelled":
		id, _ := m.params.Field("requestId")
		b.cancel(id.Raw)
		return nil
	case m.response || m.id == "":
		return nil // there is nothing that it could change
	}
	r := request{m: m, body: line}
	r.ctx, r.cancel = context.WithCancel(ctx)
	b.keep(m.id, r.cancel)
	select {
	case requests <- r:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *Bridge) keep(id string, cancel context.CancelFunc) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cancelled[id] = cancel
}

func (b *Bridge) cancel(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if cancel := b.cancelled[id]; cancel != nil {
		cancel()
	}
}

func (b *Bridge) forget(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.cancelled, id)
}

// answer carries one request over and its answers back. A request that was
// cancelled gets none, as the protocol asks.
func (b *Bridge) answer(r request, out *lines) error {
	defer r.cancel()
	defer b.forget(r.m.id)
	if r.ctx.Err() != nil {
		return nil
	}
	answered := false
	err := b.Link(r.ctx, r.body, b.header(&r.m), func(body []byte) error {
		answered = true
		if r.m.method == "initialize" {
			b.settle(body)
		}
		return out.write(body)
	})
	if broken := out.broken(); broken != nil {
		return broken
	}
	if r.ctx.Err() != nil || answered && err == nil {
		return nil
	}
	return out.write(appendProblem(nil, lost(r.m.id, err)))
}

// header makes what the protocol wants beside a message on the way over HTTP.
func (b *Bridge) header(m *message) map[string]string {
	h := map[string]string{}
	version := m.version()
	if version != "" {
		h[headerMethod] = m.method
		if name := m.target(); name != "" {
			h[headerName] = name
		}
	} else {
		version = b.version
	}
	if version != "" && m.method != "initialize" {
		h[headerVersion] = version
	}
	if b.Profile != "" {
		h[profileHeader] = string(b.Profile)
	}
	return h
}

// settle takes the version from the answer to a handshake.
func (b *Bridge) settle(body []byte) {
	var answer struct {
		Result struct {
			Version string `json:"protocolVersion"`
		} `json:"result"`
	}
	if json.Unmarshal(body, &answer) == nil {
		b.version = answer.Result.Version
	}
}

// Refusal is an error of a Link that knows the stable code of its failure.
type Refusal interface {
	error
	RefusalCode() fact.Code
}

// lost is the problem of a request that no answer came to.
func lost(id string, err error) *problem {
	if err == nil {
		err = errors.New("the server sent no answer")
	}
	p := &problem{id: id, code: codeInternal, message: err.Error()}
	var refusal Refusal
	if errors.As(err, &refusal) {
		p.code, p.data = codeServer, string(rpcData(&fact.Error{Code: refusal.RefusalCode()}))
	}
	return p
}

// lines writes messages, one a line.
type lines struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

func (l *lines) write(message []byte) error {
	var line bytes.Buffer
	if err := json.Compact(&line, message); err != nil {
		return fmt.Errorf("the server's answer is not JSON: %w", err)
	}
	line.WriteByte('\n')
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	if _, err := l.w.Write(line.Bytes()); err != nil {
		l.err = fmt.Errorf("write to the host: %w", err)
	}
	return l.err
}

func (l *lines) broken() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

var errLineTooLong = errors.New("a line is too long")

// readLine returns the next line without its end. One that is too long is read
// to its end and dropped.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if !long {
			line = append(line, part...)
		}
		if len(line) > MaxMessageBytes+1 {
			long, line = true, nil
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long && (err == nil || errors.Is(err, io.EOF)) {
			return nil, errLineTooLong
		}
		return bytes.TrimSpace(line), err
	}
}

package replication

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"time"

	"abagraph/fact"
)

// The bounds of what one peer may ask at once.
const (
	maxCallsAtOnce = 2048
	maxGuestCalls  = 4
	maxGuestFrame  = 16 << 10
)

// serveCalls answers the calls of one connection, many at once, until it ends.
func (n *Node) serveCalls(conn net.Conn, g greeting) {
	s := &callServer{node: n, stream: g.stream, frames: make(chan []byte, waitingFrame), done: make(chan struct{})}
	ctx, cancel := context.WithCancel(n.ctx)
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		if writeFrames(conn, s.frames, s.done) != nil {
			conn.Close() // which ends the reader too
			<-s.done
		}
	}()
	s.read(ctx, bufio.NewReaderSize(conn, frameBuffer))
	cancel()
	close(s.done)
	wg.Wait()
	s.running.Wait()
}

type callServer struct {
	node    *Node
	stream  stream
	frames  chan []byte
	done    chan struct{}
	running sync.WaitGroup
}

// read starts a goroutine for each call; when the bound is reached it stops
// reading, which holds the peer back.
func (s *callServer) read(ctx context.Context, r *bufio.Reader) {
	most, slots := maxFrame, make(chan struct{}, maxCallsAtOnce)
	if s.stream == streamGuest {
		most, slots = maxGuestFrame, make(chan struct{}, maxGuestCalls)
	}
	for {
		id, body, err := readFrame(r, most)
		if err != nil || len(body) < requestHead {
			return
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		s.running.Add(1)
		go func() {
			defer s.running.Done()
			defer func() { <-slots }()
			s.answer(ctx, id, body)
		}()
	}
}

func (s *callServer) answer(ctx context.Context, id uint64, body []byte) {
	left := time.Duration(binary.BigEndian.Uint32(body[1:])) * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	v, payload := verdictDone, []byte(nil)
	out, err := s.dispatch(ctx, method(body[0]), body[requestHead:])
	switch {
	case errors.Is(err, errNotLeader):
		v = verdictElsewhere
	case err != nil:
		v, payload = verdictFailed, encodeFailure(err)
	default:
		payload = out
	}
	if len(payload) > maxFrame-answerHead {
		v, payload = verdictFailed, encodeFailure(fact.Errorf(fact.TooLarge, "the answer has %d bytes, more than nodes send each other", len(payload)))
	}
	select {
	case s.frames <- answerFrame(id, v, payload):
	case <-s.done:
	}
}

// dispatch answers one call. What a guest may ask is what a node needs to join.
func (s *callServer) dispatch(ctx context.Context, m method, payload []byte) ([]byte, error) {
	n := s.node
	if s.stream == streamGuest && m != methodJoin {
		return nil, fact.Errorf(fact.Forbidden, "a node that is not a member may only ask to join")
	}
	if n.options.knows != nil && !n.options.knows(m) {
		return nil, unknown(m)
	}
	switch m {
	case methodPropose:
		return n.servePropose(ctx, payload)
	case methodTraced:
		return n.serveTraced(ctx, payload)
	case methodReadIndex:
		return n.serveReadIndex(ctx)
	case methodConfirm:
		return n.serveConfirm(payload)
	case methodJoin:
		return n.serveJoin(ctx, payload)
	case methodRemove:
		return n.serveRemove(ctx, payload)
	case methodStatus:
		return n.serveStatus()
	case methodChange:
		return n.serveChange(ctx, payload)
	case methodRole:
		return n.serveRole(payload)
	}
	return nil, unknown(m)
}

func unknown(m method) error { return fact.Errorf(fact.SchemaInvalid, noCall+"%d", m) }

// noCall begins the refusal of a call that this version does not know.
const noCall = "peers of this version know no call "

// encodeFailure writes an error for a peer: its code, a zero byte, its message.
func encodeFailure(err error) []byte {
	var e *fact.Error
	if !errors.As(err, &e) {
		e = fact.Errorf(fact.Io, "%s", err)
	}
	b := append([]byte(e.Code), 0)
	return append(b, e.Message...)
}

func decodeFailure(b []byte) *fact.Error {
	for i, c := range b {
		if c == 0 {
			return &fact.Error{Code: fact.Code(b[:i]), Message: string(b[i+1:])}
		}
	}
	return fact.Errorf(fact.Io, "a peer answered with an error that cannot be read")
}

package client

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// OpResync is the op of an event that tells that the position asked for is not
// one of this store, after a restored backup for example: what the reader has
// must be read anew (C-33).
const OpResync = "resync"

// idle is how long a stream may be silent: the server sends a comment each 15 s.
const idle = 45 * time.Second

// Event is one change of the store.
type Event struct {
	// ID is the position EPOCH:TX where this event is the last one of its tx,
	// else "". A stream begun with it as LastEventID goes on after it.
	ID         string          `json:"-"`
	Op         string          `json:"op"` // assert, retract, supersede, expire or resync
	Tx         uint64          `json:"tx"`
	Fact       Fact            `json:"fact"`
	Superseded []Fact          `json:"superseded"`
	Raw        json.RawMessage `json:"-"`
}

// StreamQuery says where a stream begins and which events it sends.
type StreamQuery struct {
	Branch    string
	Tenant    string
	Subject   string
	Predicate string
	Op        string
	// LastEventID begins after that position, TxGt after that tx (N or
	// EPOCH:N). With neither the stream begins now.
	LastEventID string
	TxGt        string
	// Position, where set, is told each new position, those that come without
	// an event included.
	Position func(id string)
	// Interrupted, where set, is told of each lost connection before the
	// client makes a new one.
	Interrupted func(err error)
}

// Stream calls each for every event, each one once and in the order of tx, and
// connects anew where the connection is lost. It returns when ctx ends (its
// error), when each returns an error (that error), or when the server refuses
// the stream (an *Error). It runs in the caller's goroutine.
func (c *Client) Stream(ctx context.Context, q StreamQuery, each func(Event) error) error {
	s := &stream{client: c, query: q, each: each, id: q.LastEventID}
	wait := c.wait
	for {
		err := s.run(ctx)
		if s.stopped != nil {
			return s.stopped
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !mayPass(err) {
			return err
		}
		if q.Interrupted != nil {
			q.Interrupted(err)
		}
		if s.heardAny {
			wait = c.wait
		}
		if err := pause(ctx, max(jitter(wait), askedWait(err))); err != nil {
			return err
		}
		wait = min(2*wait, maxWait)
	}
}

// stream is the state of one Stream call.
type stream struct {
	client *Client
	query  StreamQuery
	each   func(Event) error

	id string // the last position
	// Events delivered since that position: a new connection sends them again
	// if the old one was lost in the middle of a tx.
	partTx   uint64
	part     int
	skip     int
	heardAny bool
	stopped  error // what each returned
}

// run follows one connection until it is lost; it never returns nil.
func (s *stream) run(ctx context.Context) error {
	s.heardAny = false
	if s.id == "" && s.query.TxGt == "" {
		if err := s.beginNow(ctx); err != nil {
			return err
		}
	}
	return s.connect(ctx)
}

// beginNow takes the store's current position, so that nothing is missed
// between now and the first event even if the first connection is lost.
func (s *stream) beginNow(ctx context.Context) error {
	stats, err := s.client.Stats(ctx, Read{Tenant: s.query.Tenant})
	if err != nil {
		return err
	}
	if stats.Epoch != "" {
		s.moved(stats.Epoch + ":" + strconv.FormatUint(stats.Tx, 10))
	}
	return nil
}

func (s *stream) connect(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	request, err := s.client.request(ctx, Call{Method: http.MethodGet, Path: "/api/stream", Query: s.values()})
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "text/event-stream")
	if s.id != "" {
		request.Header.Set("Last-Event-ID", s.id)
	}
	watchdog := time.AfterFunc(idle, cancel)
	defer watchdog.Stop()
	response, err := s.client.transport.Do(request)
	if err != nil {
		return fmt.Errorf("open the stream: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		body, err := readBounded(response.Body, maxErrorBody)
		if err != nil {
			return fmt.Errorf("open the stream: %w", err)
		}
		return newError(response.StatusCode, response.Header, body)
	}
	s.skip = s.part
	reader := &frameReader{r: bufio.NewReaderSize(response.Body, 64<<10), most: s.client.maxAnswer, heard: func() {
		s.heardAny = true
		watchdog.Reset(idle)
	}}
	return s.follow(ctx, reader)
}

func (s *stream) values() url.Values {
	v := make(url.Values)
	set(v, "branch", s.query.Branch)
	set(v, "tenant", s.query.Tenant)
	set(v, "subject", s.query.Subject)
	set(v, "predicate", s.query.Predicate)
	set(v, "op", s.query.Op)
	if s.id == "" {
		set(v, "tx_gt", s.query.TxGt)
	}
	return v
}

func (s *stream) follow(ctx context.Context, reader *frameReader) error {
	for {
		got, err := reader.next()
		if err != nil {
			return fmt.Errorf("read the stream: %w", err)
		}
		if got.event == OpResync {
			err = s.resync(ctx, got)
		} else if got.data != nil {
			err = s.deliver(got)
		}
		if err != nil {
			return err
		}
		if got.hasID && got.id != "" {
			s.moved(got.id)
		}
	}
}

func (s *stream) deliver(got frame) error {
	event := Event{ID: got.id, Raw: got.data}
	if err := json.Unmarshal(got.data, &event); err != nil {
		return fmt.Errorf("read an event of the stream: %w", err)
	}
	if s.skip > 0 && event.Tx == s.partTx {
		s.skip--
		return nil
	}
	s.skip = 0
	if err := s.each(event); err != nil {
		s.stopped = err
		return err
	}
	if event.Tx != s.partTx {
		s.partTx, s.part = event.Tx, 0
	}
	s.part++
	return nil
}

// resync takes the present position before it tells the reader, so that
// whatever the reader then reads anew is not older than the stream.
func (s *stream) resync(ctx context.Context, got frame) error {
	s.id, s.query.TxGt, s.part = "", "", 0
	if !got.hasID || got.id == "" {
		if err := s.beginNow(ctx); err != nil {
			return err
		}
	}
	at := s.id
	if at == "" {
		at = got.id
	}
	if err := s.each(Event{ID: at, Op: OpResync, Raw: got.data}); err != nil {
		s.stopped = err
		return err
	}
	return nil
}

func (s *stream) moved(id string) {
	s.id, s.part = id, 0
	if s.query.Position != nil {
		s.query.Position(id)
	}
}

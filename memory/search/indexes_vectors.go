package search

import (
	"context"
	"errors"
	"strings"
	"time"

	"abagraph/fact"
)

// How long a search of the present waits for vectors that are being read, and how long
// it reads them itself before that goes on without it.
const (
	vectorPatience = 2 * time.Second
	readItself     = 50 * time.Millisecond
)

// vectors brings an index's vectors to the state of a source. Where that takes long, it
// goes on without the search. One of the present that has words is soon told how far
// it is, by a *Building; one that is to be exact, or has none, when its context ends.
func (m *Indexes) vectors(ctx context.Context, x *Index, from Source, q *Query) error {
	at, d := from.Position(), q.Dense
	if x.hasVectors(at, d.Model) {
		return nil
	}
	if !d.Exact && strings.TrimSpace(q.Text) != "" {
		var enough context.CancelFunc
		ctx, enough = context.WithTimeout(ctx, m.patience)
		defer enough()
	}
	for {
		own, enough := context.WithTimeout(ctx, readItself)
		err := x.followVectors(own, from, d.Model, m.most, nil)
		enough()
		var late *Building
		if !errors.As(err, &late) || m.ctx.Err() != nil {
			return err
		}
		select {
		case <-m.readOn(x, d.Model):
		case <-ctx.Done():
			return x.late(at, ctx.Err())
		}
	}
}

// readOn has the vectors of an index read without a search, and returns what is closed
// when that has ended.
func (m *Indexes) readOn(x *Index, model fact.Model) <-chan struct{} {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.reading != nil {
		return x.reading
	}
	done := make(chan struct{})
	x.reading = done
	m.builds.Go(func() {
		defer func() {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.reading = nil
			close(done)
		}()
		m.readVectors(x, model)
	})
	return done
}

// holds tells whether an index was not forgotten since.
func (m *Indexes) holds(x *Index) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.list[x.scope]
	return e != nil && e.index == x
}

// readVectors brings the vectors of an index to the present state. Who waits for them
// finds out what it could not do.
func (m *Indexes) readVectors(x *Index, model fact.Model) {
	ctx, cancel := context.WithTimeout(m.ctx, buildTime)
	defer cancel()
	select {
	case m.oneRead <- struct{}{}:
		defer func() { <-m.oneRead }()
	case <-ctx.Done():
		return
	}
	from, done, err := m.open()
	if err != nil {
		return
	}
	defer done()
	wanted := func() bool { return m.holds(x) }
	if x.follow(ctx, from) == nil && x.followVectors(ctx, from, model, m.most, wanted) == nil {
		m.trim(x)
	}
}

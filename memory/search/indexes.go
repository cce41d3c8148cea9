package search

import (
	"context"
	"errors"
	"sync"
	"time"

	"abagraph/fact"
)

// DefaultBytes is about how much memory all indexes of a node may take.
const DefaultBytes = 1 << 30

// buildTime bounds the making of one index.
const buildTime = 15 * time.Minute

// Indexes are the indexes of a node, one for each tenant's branch that was
// searched, and none for the others. Once they need more memory than they may,
// those that were not searched for longest are forgotten, whole. They are safe for
// concurrent use, and must be closed.
type Indexes struct {
	most     int64
	patience time.Duration
	// open opens the store's present state, and close ends its use.
	open func() (Source, func(), error)

	ctx    context.Context
	cancel context.CancelFunc
	builds sync.WaitGroup
	// one lets a single index be built at a time.
	one chan struct{}
	// oneRead lets the vectors of a single index be read at a time without a search.
	oneRead chan struct{}

	mu    sync.Mutex
	list  map[fact.Scope]*entry
	clock uint64
}

type entry struct {
	index *Index
	used  uint64
	// building is closed when the build under way has ended, with err; nil where
	// none is.
	building chan struct{}
	err      error
}

// NewIndexes makes the indexes of a node; most is about how many bytes they may
// take, 0 = DefaultBytes. open opens the store's present state, for building.
func NewIndexes(most int64, open func() (Source, func(), error)) *Indexes {
	if most <= 0 {
		most = DefaultBytes
	}
	m := &Indexes{most: most, patience: vectorPatience, open: open, one: make(chan struct{}, 1), oneRead: make(chan struct{}, 1), list: make(map[fact.Scope]*entry)}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	return m
}

// Close ends what is being built, and forgets everything.
func (m *Indexes) Close() {
	m.cancel()
	m.builds.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.list)
}

// Bytes is about how much memory the indexes take.
func (m *Indexes) Bytes() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := int64(0)
	for _, e := range m.list {
		n += e.index.size()
	}
	return n
}

// Ready has the index of a scope built, without holding a state of the store
// meanwhile. at tells where the store stands. Building goes on where the context
// ends first, which a *Building tells.
func (m *Indexes) Ready(ctx context.Context, scope fact.Scope, at func() fact.Position) error {
	for {
		done, e := m.start(scope, at())
		if done == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return &Building{Percent: int(e.index.filled.Load()), cause: ctx.Err()}
		case <-done:
			if e.err != nil {
				return e.err
			}
		}
	}
}

// start returns nil where an index is built, or else what is closed when the
// build that is under way has ended.
func (m *Indexes) start(scope fact.Scope, at fact.Position) (<-chan struct{}, *entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entry(scope)
	if e.building != nil {
		return e.building, e
	}
	if e.index.started(at) {
		return nil, e
	}
	// Each build has an entry's error of its own.
	e = &entry{index: e.index, used: e.used, building: make(chan struct{})}
	m.list[scope] = e
	m.builds.Go(func() { m.build(scope, e) })
	return e.building, e
}

// entry returns the entry of a scope, as the one that was used last.
func (m *Indexes) entry(scope fact.Scope) *entry {
	m.clock++
	e := m.list[scope]
	if e == nil {
		e = &entry{index: newIndex(scope)}
		m.list[scope] = e
	}
	e.used = m.clock
	return e
}

func (m *Indexes) build(scope fact.Scope, e *entry) {
	err := m.make(e.index)
	m.mu.Lock()
	defer m.mu.Unlock()
	e.err = err
	close(e.building)
	if err == nil {
		e.building = nil
		return
	}
	if m.list[scope] == e { // another search tries anew
		delete(m.list, scope)
	}
}

func (m *Indexes) make(x *Index) error {
	ctx, cancel := context.WithTimeout(m.ctx, buildTime)
	defer cancel()
	select {
	case m.one <- struct{}{}:
		defer func() { <-m.one }()
	case <-ctx.Done():
		return fact.Errorf(fact.Closed, "the search index was not built in time")
	}
	from, done, err := m.open()
	if err != nil {
		return err
	}
	defer done()
	if err := x.build(ctx, from, m.most); err != nil {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return fact.Errorf(fact.Closed, "the search index was not built in time")
		}
		return err
	}
	m.trim(x)
	return nil
}

// trim forgets indexes, those first that were not used for longest, until the
// others fit; the one that is in use stays.
func (m *Indexes) trim(but *Index) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for {
		total := int64(0)
		var oldest fact.Scope
		var least *entry
		for scope, e := range m.list {
			total += e.index.size()
			if e.index != but && e.building == nil && (least == nil || e.used < least.used) {
				oldest, least = scope, e
			}
		}
		if total <= m.most || least == nil {
			return
		}
		delete(m.list, oldest)
	}
}

// Search finds the best documents of a scope for a query, in a state that is
// open. The index must have been made Ready; it is brought to that state first.
func (m *Indexes) Search(ctx context.Context, scope fact.Scope, from Source, q *Query) (*Answer, error) {
	x, err := m.index(ctx, scope, from)
	if err != nil {
		return nil, err
	}
	if q.Dense != nil {
		return m.searchDense(ctx, x, from, q)
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.search(ctx, q)
}

// searchDense brings an index's vectors to the state of a source, and searches by
// them. Where there is no room for them, words alone find; where they are still being
// read, nothing does.
func (m *Indexes) searchDense(ctx context.Context, x *Index, from Source, q *Query) (*Answer, error) {
	before := x.size()
	err := m.vectors(ctx, x, from, q)
	var late *Building
	noRoom := errors.Is(err, errTooLarge)
	if errors.As(err, &late) && ctx.Err() == nil {
		return &Answer{Early: late}, nil
	}
	if err != nil && !noRoom {
		return nil, err
	}
	if x.size() != before {
		m.trim(x)
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	switch {
	case noRoom:
		plain := *q
		plain.Dense, plain.Mode = nil, Lexical
		answer, err := x.search(ctx, &plain)
		if answer != nil {
			answer.NoRoom = true
		}
		return answer, err
	case x.dense == nil || x.dense.model != q.Dense.Model:
		return nil, errBegunAnew
	}
	return x.searchDense(ctx, from, q)
}

// index returns the index of a scope, brought to the state of a source.
func (m *Indexes) index(ctx context.Context, scope fact.Scope, from Source) (*Index, error) {
	m.mu.Lock()
	x := m.entry(scope).index
	m.mu.Unlock()
	before := x.size()
	err := x.follow(ctx, from)
	if errors.Is(err, errNotBuilt) {
		// It was forgotten, or the store began anew, since it was made ready.
		err = x.build(ctx, from, m.most)
	}
	if err != nil {
		return nil, err
	}
	if x.size() > m.most {
		x.dropVectors()
	}
	if after := x.size(); after > m.most {
		m.drop(scope, x)
		return nil, errTooLarge
	} else if after != before {
		m.trim(x)
	}
	return x, nil
}

// NoSubject reports whether a name is known to be no fact's subject in a state, since
// the index of the scope is there and of just that state.
func (m *Indexes) NoSubject(scope fact.Scope, at fact.Position, name string) bool {
	m.mu.Lock()
	e := m.list[scope]
	m.mu.Unlock()
	if e == nil {
		return false
	}
	x := e.index
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.built && x.epoch == at.Epoch && x.tx == at.Tx && x.purge == at.Purge && x.subjects.find(name) == nil
}

func (m *Indexes) drop(scope fact.Scope, x *Index) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.list[scope]; e != nil && e.index == x {
		delete(m.list, scope)
	}
}

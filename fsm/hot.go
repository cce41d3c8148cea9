package fsm

import (
	"hash/maphash"
	"sync"
	"sync/atomic"

	"abagraph/fact"
)

// maxHotRows is the most active rows of a timeline that are kept in memory.
const maxHotRows = 64

// hotLines keeps the active rows of timelines that were written or read lately,
// as of the newest tx, those of whole subjects that were read, and single facts that
// were found. It spares a write the look into the store for what it might conflict
// with, and a live read of one subject, or of what a search found, the store
// altogether. It is a cache: nothing is lost when an entry goes.
//
// An entry is only ever valid for the machine's present state. Apply replaces
// what it changes while it holds the machine's lock, so that a reader who holds
// that lock sees entries and state that belong together.
type hotLines struct {
	seed   maphash.Seed
	shards [64]hotShard
	wholes atomic.Int64 // entries of whole subjects
	facts  atomic.Int64 // entries of single facts
}

type hotShard struct {
	mu    sync.RWMutex
	lines map[lineKey]*hotLine
	bytes int64
	most  int64
	// ring holds every key; the hand goes round it and drops what it meets.
	ring []lineKey
	hand int
}

// hotLine is immutable.
type hotLine struct {
	active []fact.Fact
	// long marks a timeline with more active rows than are kept: active is
	// empty, the rest holds.
	long     bool
	closedBy fact.Instant
	certain  bool
	// buckets are those in which superseded rows may lie, one bit each; they
	// are known where bucketed is set.
	buckets  uint16
	bucketed bool
	// settled marks a subject of which no version was ever replaced, so that its
	// past is told by its present rows.
	settled bool
	// alone marks a subject that has no rows but active ones.
	alone bool
	// forgotten marks an entry that says nothing any more and keeps its place in
	// the ring until the hand comes by, so that nobody has to look for it there.
	forgotten bool
	bytes     int64
}

// whole is the key of the active rows of a whole subject, whatever their predicate:
// of a timeline without one, since facts have one.
func (k lineKey) whole() lineKey { return lineKey{space: k.space, subject: k.subject} }

// overhead is about what an entry takes besides its rows.
func (k lineKey) overhead() int64 { return 256 + int64(len(k.subject)+len(k.predicate)) }

func newHotLines(most int64) *hotLines {
	h := &hotLines{seed: maphash.MakeSeed()}
	for i := range h.shards {
		h.shards[i].lines = make(map[lineKey]*hotLine)
		h.shards[i].most = most / int64(len(h.shards))
	}
	return h
}

func (h *hotLines) shard(k lineKey) *hotShard {
	return &h.shards[maphash.Comparable(h.seed, k)%uint64(len(h.shards))]
}

func (h *hotLines) get(k lineKey) (*hotLine, bool) {
	s := h.shard(k)
	s.mu.RLock()
	defer s.mu.RUnlock()
	e, ok := s.lines[k]
	if !ok || e.forgotten {
		return nil, false
	}
	return e, true
}

func (h *hotLines) put(k lineKey, e *hotLine) {
	e.bytes = k.overhead()
	for i := range e.active {
		f := &e.active[i]
		e.bytes += 384 + int64(len(f.Object.Text)+len(f.Properties))
	}
	s := h.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.lines[k]; ok {
		s.bytes += e.bytes - old.bytes
		s.lines[k] = e
	} else {
		s.lines[k] = e
		s.bytes += e.bytes
		s.ring = append(s.ring, k)
		h.count(k, 1)
	}
	for s.bytes > s.most && len(s.ring) > 1 {
		h.count(s.evict(), -1)
	}
}

func (h *hotLines) count(k lineKey, by int64) {
	switch k.predicate {
	case "":
		h.wholes.Add(by)
	case oneFact:
		h.facts.Add(by)
	}
}

// evict drops one entry: the one under the hand.
func (s *hotShard) evict() lineKey {
	s.hand %= len(s.ring)
	k := s.ring[s.hand]
	last := len(s.ring) - 1
	s.ring[s.hand] = s.ring[last]
	s.ring = s.ring[:last]
	s.hand++
	if e, ok := s.lines[k]; ok {
		s.bytes -= e.bytes
		delete(s.lines, k)
	}
	return k
}

// forget takes back what an entry says.
func (h *hotLines) forget(k lineKey) {
	s := h.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.lines[k]
	if !ok || e.forgotten {
		return
	}
	left := &hotLine{forgotten: true, bytes: k.overhead()}
	s.bytes += left.bytes - e.bytes
	s.lines[k] = left
}

func (h *hotLines) clear() {
	for i := range h.shards {
		s := &h.shards[i]
		s.mu.Lock()
		s.lines = make(map[lineKey]*hotLine)
		s.bytes, s.ring, s.hand = 0, nil, 0
		s.mu.Unlock()
	}
	h.wholes.Store(0)
	h.facts.Store(0)
}

// warm brings the timelines that this call changed up to date, and forgets the facts
// that it changed, and the subjects of which it changed anything.
func (l *ledger) warm() {
	seen := make(map[*line]bool, len(l.order))
	for _, r := range l.order {
		k := r.lineKey()
		if l.m.hot.wholes.Load() > 0 {
			l.m.hot.forget(k.whole())
		}
		if r.orig != nil && l.m.hot.facts.Load() > 0 {
			l.m.hot.forget(factKey(r.space, r.f.ID))
		}
		t := l.lines[k]
		if t == nil || seen[t] {
			continue
		}
		seen[t] = true
		if e := t.after(l); e != nil {
			l.m.hot.put(t.key, e)
		} else {
			l.m.hot.forget(t.key)
		}
	}
}

// lineKey names the timeline of a row, also of one that is gone.
func (r *row) lineKey() lineKey {
	f := &r.f
	if r.gone && r.orig != nil {
		f = r.orig
	}
	return lineKey{r.space, f.Subject, f.Predicate}
}

// after returns the timeline as this call leaves it; nil where nothing is active
// or known of it.
func (t *line) after(l *ledger) *hotLine {
	if !t.loaded && !t.long {
		return nil
	}
	e := &hotLine{long: t.long, closedBy: t.closedBy, certain: t.certain, buckets: t.buckets, bucketed: t.bucketed}
	for i := range t.active {
		if l.changed(t.key.space, t.active[i].ID) == nil {
			e.active = append(e.active, t.active[i])
		}
	}
	for _, r := range t.changed {
		if r.gone || r.untouched() {
			continue
		}
		switch r.f.Status {
		case fact.Active:
			e.active = append(e.active, r.f)
		case fact.Superseded:
			e.buckets |= 1 << bucketOf(r.f.ValidFrom, r.f.ValidUntil)
			if e.closedBy != fact.Forever {
				e.closedBy = max(e.closedBy, r.f.ValidUntil)
			}
		case fact.Candidate:
			e.certain = false
		}
	}
	if t.long || len(e.active) > maxHotRows {
		e.long, e.active = true, nil
		return e
	}
	if len(e.active) == 0 {
		return nil
	}
	return e
}

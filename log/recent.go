package log

import "github.com/hashicorp/raft"

// The bounds of the cache of recent entries. A leader reads what it has just
// written once for each follower; without a cache each of these reads would
// decode the entry anew.
const (
	recentEntries = 512
	recentBytes   = 16 << 20
)

// recent is a ring of the newest entries, bounded in number and in bytes.
type recent struct {
	ring  [recentEntries]*raft.Log
	bytes int
	// oldest is the index from which on entries may be in the ring.
	oldest uint64
	newest uint64
}

func (r *recent) get(index uint64) *raft.Log {
	if l := r.ring[index%recentEntries]; l != nil && l.Index == index {
		return l
	}
	return nil
}

func (r *recent) put(l *raft.Log) {
	if r.newest != 0 && l.Index != r.newest+1 {
		r.clear()
	}
	slot := &r.ring[l.Index%recentEntries]
	if *slot != nil {
		r.bytes -= len((*slot).Data)
	}
	*slot = l
	r.bytes += len(l.Data)
	if r.newest == 0 || r.oldest+recentEntries <= l.Index {
		r.oldest = max(r.oldest, l.Index-min(l.Index, recentEntries-1))
	}
	r.newest = l.Index
	for r.bytes > recentBytes && r.oldest <= r.newest {
		r.evict(r.oldest)
		r.oldest++
	}
}

func (r *recent) evict(index uint64) {
	slot := &r.ring[index%recentEntries]
	if *slot == nil || (*slot).Index != index {
		return
	}
	r.bytes -= len((*slot).Data)
	*slot = nil
}

func (r *recent) clear() { *r = recent{} }

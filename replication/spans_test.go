package replication

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"abagraph/internal/span"
)

// joins is a tracer that notes what other nodes ask below their spans, and the recorder
// of every span.
type joins struct {
	mu   sync.Mutex
	from []span.Wire
}

func (j *joins) Begin(string, string) span.Recorder { return j }

func (j *joins) Work(string) span.Recorder { return j }

func (j *joins) Join(_ string, parent span.Wire) span.Recorder {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.from = append(j.from, parent)
	return j
}

func (j *joins) joined() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.from)
}

func (j *joins) Child(string, span.Kind, time.Time) span.Recorder { return j }
func (j *joins) Text(string, string)                              {}
func (j *joins) Int(string, int64)                                {}
func (j *joins) Fail(string)                                      {}
func (j *joins) End(time.Time)                                    {}
func (j *joins) Wire() span.Wire                                  { return span.Wire{1: 7, 24: 1} }

// TestTracedWritesReachAnOlderLeader: a write that is traced is written once by a leader
// of a version that knows no traces, the leader is not asked again and again, and once
// it is of this version, it is part of the trace.
func TestTracedWritesReachAnOlderLeader(t *testing.T) {
	var older atomic.Bool
	var asked atomic.Int32
	older.Store(true)
	j := &joins{}
	c := three(t, func(o *Options) {
		o.Tracer = j
		o.knows = func(m method) bool {
			if m != methodTraced {
				return true
			}
			asked.Add(1)
			return !older.Load()
		}
	})
	f, ctx := c.follower(), span.With(context.Background(), j)
	for i := range 5 {
		result, err := f.Propose(ctx, write("Lamp:old", i))
		if err != nil || !result.Wrote || result.Tx != uint64(i)+1 {
			t.Fatalf("write %d: %+v, %v", i, result, err)
		}
	}
	if asked.Load() != 1 || j.joined() != 0 {
		t.Errorf("the older leader was asked %d times, and joined %d traces", asked.Load(), j.joined())
	}
	older.Store(false)
	known := *f.untraced.Load()
	known.until = time.Time{}
	f.untraced.Store(&known) // its time is up
	if _, err := f.Propose(ctx, write("Lamp:new", 1)); err != nil || j.joined() != 1 || j.from[0] != j.Wire() {
		t.Errorf("of an upgraded leader: joined %v, %v", j.from, err)
	}
}

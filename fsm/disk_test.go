package fsm_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/log/entry"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// fullFS is a disk that has no room for another file once it is full.
type fullFS struct {
	vfs.FS
	full *atomic.Bool
}

func (f fullFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if f.full.Load() {
		return nil, fmt.Errorf("create %s: %w", name, syscall.ENOSPC)
	}
	return f.FS.Create(name, category)
}

// TestFullDiskStopsTheMachine: a write in the background that the disk refuses
// is told once, in one line, instead of being tried without end.
func TestFullDiskStopsTheMachine(t *testing.T) {
	var full atomic.Bool
	said := make(chan string, 16)
	// The machine is left as it is: nothing of it returns once Fatal was called.
	m, err := fsm.Open(fsm.Options{
		MemTableBytes: 1 << 20,
		Fatal:         func(message string) { said <- message; select {} },
		Tune:          func(o *pebble.Options) { o.FS = fullFS{o.FS, &full} },
	})
	if err != nil {
		t.Fatal(err)
	}
	full.Store(true)
	go func() {
		for i := uint64(1); ; i++ {
			now := fact.Instant(i)
			r := entry.EncodeRequest(&fact.Request{
				Tenant: "t", Branch: fact.MainBranch, Threshold: fact.DefaultThreshold,
				Write: &fact.Write{Asserts: []fact.Assert{{
					ID: fact.NewID(now, [10]byte{1}), Subject: fmt.Sprint("Page:", i), Predicate: "text",
					Object:    fact.TextObject(strings.Repeat("x", 64<<10)),
					ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, Confidence: 1, KnownAt: fact.NoInstant,
				}}},
			})
			_, err := m.Apply([]fsm.Committed{{Index: i, Term: 1, Data: entry.EncodeBatch(entry.Batch{ProposedAt: now, Requests: [][]byte{r}})}})
			if err != nil {
				return
			}
		}
	}()
	select {
	case line := <-said:
		if !strings.Contains(line, "no space left on device") || strings.Contains(line, "\n") {
			t.Errorf("it said %q", line)
		}
	case <-time.After(time.Minute):
		t.Fatal("it never said that the disk is full")
	}
}

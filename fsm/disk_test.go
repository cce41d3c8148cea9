package fsm_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

// page is the data of an entry that writes one fact.
func page(i uint64, text string) []byte {
	now := fact.Instant(i)
	r := entry.EncodeRequest(&fact.Request{
		Tenant: "t", Branch: fact.MainBranch, Threshold: fact.DefaultThreshold,
		Write: &fact.Write{Asserts: []fact.Assert{{
			ID: fact.NewID(now, [10]byte{1}), Subject: fmt.Sprint("Page:", i), Predicate: "text", Object: fact.TextObject(text),
			ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, Confidence: 1, KnownAt: fact.NoInstant,
		}}},
	})
	return entry.EncodeBatch(entry.Batch{ProposedAt: now, Requests: [][]byte{r}})
}

// TestDamageIsTold: a read that meets a table that is not what was written fails with
// one line, and the machine tells of it from then on.
func TestDamageIsTold(t *testing.T) {
	dir := t.TempDir()
	open := func() *fsm.Machine {
		m, err := fsm.Open(fsm.Options{Dir: dir, CacheBytes: 8 << 20})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := open()
	for i := uint64(1); i <= 200; i++ {
		text := fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i)}))
		if _, err := m.Apply([]fsm.Committed{{Index: i, Term: 1, Data: page(i, strings.Repeat(text, 20))}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(m.Flush(), m.Close()); err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("there are no tables: %v", err)
	}
	for _, name := range tables {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		raw[len(raw)/2] ^= 1
		if err := os.WriteFile(name, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m = open()
	defer m.Close()
	if what := m.Damage(); what != "" {
		t.Errorf("before any read: %q", what)
	}
	view, err := m.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	_, err = view.Verify(t.Context(), nil)
	if fact.CodeOf(err) != fact.StorageCorruption || strings.Contains(err.Error(), "\n") {
		t.Errorf("the read says %v", err)
	}
	if what := m.Damage(); !strings.Contains(what, "checksum") || strings.Contains(what, "\n") {
		t.Errorf("the machine says %q", what)
	}
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
			_, err := m.Apply([]fsm.Committed{{Index: i, Term: 1, Data: page(i, strings.Repeat("x", 64<<10))}})
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

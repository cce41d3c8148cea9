package fsm_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
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

// fullFS makes no other file of a kind once it is full, and says why.
type fullFS struct {
	vfs.FS
	full *atomic.Bool
	kind string
	why  syscall.Errno
}

func (f fullFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if f.full.Load() && strings.HasSuffix(name, f.kind) {
		return nil, fmt.Errorf("create %s: %w", name, f.why)
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

// damageQueries are reads of all kinds: of a subject, a predicate, everything, the past,
// and in the order of txs.
func damageQueries() []*fact.Query {
	scope := fact.Scope{Tenant: "t", Branch: fact.MainBranch}
	q := []*fact.Query{
		{Scope: scope, At: fact.Present(1000), Limit: fact.MaxLimit},
		{Scope: scope, Predicate: "text", At: fact.Present(1000), Limit: fact.MaxLimit},
		{Scope: scope, TxGtGiven: true, At: fact.Present(1000), Limit: fact.MaxLimit},
	}
	for i := range 200 {
		at := fact.Present(1000)
		if i%2 == 0 {
			at.AsOf = 500
		}
		q = append(q, &fact.Query{Scope: scope, Subject: fmt.Sprint("Page:", i), At: at})
	}
	return q
}

// TestDamageIsTold: a read that meets a table that is not what was written fails with
// one line, and the machine tells of it until it is restored.
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
	whole := filepath.Join(t.TempDir(), "whole")
	if err := errors.Join(m.Flush(), m.Checkpoint(whole), m.Close()); err != nil {
		t.Fatal(err)
	}
	damageTables(t, dir)
	m = open()
	defer m.Close()
	if what := m.Damage(); what != "" {
		t.Errorf("before any read: %q", what)
	}
	view, err := m.View()
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, q := range damageQueries() {
		_, err := view.Facts(t.Context(), q)
		switch {
		case err == nil:
		case fact.CodeOf(err) == fact.StorageCorruption:
			refused++
		default:
			t.Errorf("%+v says %v", q, err)
		}
	}
	if refused < 3 {
		t.Errorf("%d reads met the damage", refused)
	}
	_, err = view.Verify(t.Context(), nil)
	if fact.CodeOf(err) != fact.StorageCorruption || strings.Contains(err.Error(), "\n") {
		t.Errorf("the read says %v", err)
	}
	if what := m.Damage(); !strings.Contains(what, "checksum") || strings.Contains(what, "\n") {
		t.Errorf("the machine says %q", what)
	}
	view.Close()
	if err := m.RestoreDir(whole); err != nil {
		t.Fatal(err)
	}
	if what := m.Damage(); what != "" {
		t.Errorf("after a restore: %q", what)
	}
}

// TestWorkInTheBackgroundThatFails: what the disk refuses is told once, in one line,
// instead of being tried without end: a full disk at once, what may pass when it stays.
func TestWorkInTheBackgroundThatFails(t *testing.T) {
	for _, fault := range []fullFS{{why: syscall.ENOSPC}, {why: syscall.EMFILE, kind: ".log"}, {why: syscall.EMFILE, kind: ".sst"}} {
		t.Run(fault.why.Error()+fault.kind, func(t *testing.T) {
			var full atomic.Bool
			var written lines
			said := make(chan string, 16)
			// The machine is left as it is: nothing of it returns once Fatal was called.
			m, err := fsm.Open(fsm.Options{
				MemTableBytes: 1 << 20,
				Logger:        slog.New(slog.NewTextHandler(&written, nil)),
				Fatal:         func(message string) { said <- message; select {} },
				Tune:          func(o *pebble.Options) { o.FS = fullFS{o.FS, &full, fault.kind, fault.why} },
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
				if !strings.Contains(line, fault.why.Error()) || strings.Contains(line, "\n") {
					t.Errorf("it said %q", line)
				}
			case <-time.After(time.Minute):
				t.Fatal("it never said what is wrong")
			}
			if n := written.n.Load(); n > 1 {
				t.Errorf("it wrote %d lines to the log", n)
			}
		})
	}
}

// lines counts what is logged.
type lines struct{ n atomic.Int64 }

func (l *lines) Write(b []byte) (int, error) {
	l.n.Add(1)
	return len(b), nil
}

// TestDamageIsLoggedOnce: compactions that meet a damaged table fail again and again.
func TestDamageIsLoggedOnce(t *testing.T) {
	dir := t.TempDir()
	m, err := fsm.Open(fsm.Options{Dir: dir, Tune: func(o *pebble.Options) { o.DisableAutomaticCompactions = true }})
	if err != nil {
		t.Fatal(err)
	}
	for i := uint64(1); i <= 240; i++ {
		text := fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i)}))
		if _, err := m.Apply([]fsm.Committed{{Index: i, Term: 1, Data: page(i, strings.Repeat(text, 20))}}); err != nil {
			t.Fatal(err)
		}
		if i%20 == 0 {
			err = errors.Join(err, m.Flush())
		}
	}
	if err := errors.Join(err, m.Close()); err != nil {
		t.Fatal(err)
	}
	damageTables(t, dir)
	var written lines
	m, err = fsm.Open(fsm.Options{Dir: dir, Logger: slog.New(slog.NewTextHandler(&written, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for failed := int64(0); failed < 50; time.Sleep(time.Millisecond) {
		figures, err := m.Metrics()
		if err != nil {
			t.Fatal(err)
		}
		failed = figures.Compact.FailedCount
	}
	if n := written.n.Load(); n < 1 || n > 12 {
		t.Errorf("50 failures wrote %d lines to the log", n)
	}
}

// damageTables changes a byte in the middle of every table.
func damageTables(t *testing.T, dir string) {
	t.Helper()
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
		if err := errors.Join(os.Remove(name), os.WriteFile(name, raw, 0o600)); err != nil { // a checkpoint keeps the old one
			t.Fatal(err)
		}
	}
}

package fsm_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/internal/model"
	"abagraph/log/entry"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
)

// full returns a machine on disk that a random history has filled.
func full(t *testing.T) *node {
	t.Helper()
	n := newNode(t, fsm.Options{Dir: filepath.Join(t.TempDir(), "store"), CacheBytes: 8 << 20})
	for _, s := range model.NewRandom(5).History(80) {
		n.put(bytesOf(s))
	}
	n.apply()
	return n
}

func (n *node) archive() []byte {
	n.Helper()
	dir := filepath.Join(n.TempDir(), "checkpoint")
	if err := n.m.Checkpoint(dir); err != nil {
		n.Fatal(err)
	}
	var b bytes.Buffer
	if err := fsm.WriteArchive(n.m.FS(), dir, &b); err != nil {
		n.Fatal(err)
	}
	return b.Bytes()
}

// outside is an archive with a file that would land outside its directory.
func outside() []byte {
	b := []byte("abagraph archive 1\n")
	name := "../x"
	b = binary.BigEndian.AppendUint16(b, uint16(len(name)))
	b = append(b, name...)
	b = binary.BigEndian.AppendUint64(b, 1)
	return append(b, 'x')
}

// TestSTO06UnusableArchives is STO-06: an archive that is cut short, changed,
// empty, foreign, from a later release or leads outside is refused with a clear
// error, and leaves nothing behind.
func TestSTO06UnusableArchives(t *testing.T) {
	n := full(t)
	before := n.m.Position()
	good := n.archive()
	flipped := bytes.Clone(good)
	flipped[len(flipped)/2] ^= 0x20
	later := bytes.Replace(bytes.Clone(good), []byte("archive 1\n"), []byte("archive 2\n"), 1)
	for name, b := range map[string][]byte{
		"cut at 90 %":          good[:len(good)*9/10],
		"one bit flipped":      flipped,
		"empty":                nil,
		"a zip":                []byte("PK\x03\x04 something else altogether"),
		"leads outside":        outside(),
		"of a later release":   later,
		"followed by a byte":   append(bytes.Clone(good), 0),
		"only its first line":  good[:19],
		"without its checksum": good[:len(good)-32],
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			dir := filepath.Join(root, "unpacked")
			err := fsm.ReadArchive(n.m.FS(), bytes.NewReader(b), dir)
			if err == nil || !strings.Contains(err.Error(), "not a usable archive") {
				t.Fatalf("the error is %v", err)
			}
			if left, _ := os.ReadDir(root); len(left) != 0 {
				t.Fatalf("it left %v behind", left)
			}
		})
	}
	if after := n.m.Position(); after != before {
		t.Fatalf("the live state moved from %+v to %+v", before, after)
	}
}

// TestCLU04RestoreIsAllOrNothing is CLU-04's store side: a directory that is no
// checkpoint is refused before the live state is touched, and a restore that a
// crash interrupted between its renames is put back on the next start.
func TestCLU04RestoreIsAllOrNothing(t *testing.T) {
	n := full(t)
	before := n.m.Position()
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.MkdirAll(bad, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := n.m.RestoreDir(bad); err == nil {
		t.Fatal("an empty directory was restored")
	}
	if after := n.m.Position(); after != before {
		t.Fatalf("a refused restore moved the state from %+v to %+v", before, after)
	}
	if err := n.m.Close(); err != nil {
		t.Fatal(err)
	}
	dir := n.options.Dir
	if err := os.Rename(dir, dir+".old"); err != nil { // the crash
		t.Fatal(err)
	}
	m, err := fsm.Open(n.options)
	if err != nil {
		t.Fatal(err)
	}
	n.m = m
	if after := n.m.Position(); after != before {
		t.Fatalf("after the interrupted restore the state is %+v, not %+v", after, before)
	}
}

// TestRestoreWaitsForReaders: a view stays whole while a restore waits for it.
func TestRestoreWaitsForReaders(t *testing.T) {
	n := full(t)
	unpacked := filepath.Join(t.TempDir(), "unpacked")
	if err := fsm.ReadArchive(n.m.FS(), bytes.NewReader(n.archive()), unpacked); err != nil {
		t.Fatal(err)
	}
	v, err := n.m.View()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- n.m.RestoreDir(unpacked) }()
	q := &fact.Query{Scope: fact.Scope{Tenant: "ta", Branch: fact.MainBranch}, Subject: "Person:a", Predicate: "works_at", At: fact.Present(n.m.Position().RecordedAt)}
	for range 50 {
		if _, err := v.Facts(context.Background(), q); err != nil {
			t.Fatal(err)
		}
	}
	v.Close()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// TestTEN06PurgeLeavesNothing is TEN-06's store side: what was purged is in no
// answer, no index, no past version, no event, and, once the store has cleaned
// up and is closed, in none of its files.
func TestTEN06PurgeLeavesNothing(t *testing.T) {
	const canary = "canary-5f2a"
	n := newNode(t, fsm.Options{
		Dir: filepath.Join(t.TempDir(), "store"), CacheBytes: 8 << 20,
		// What is compressed could hide the canary.
		Tune: func(o *pebble.Options) {
			for i := range o.Levels {
				o.Levels[i].Compression = func() *sstable.CompressionProfile { return sstable.NoCompression }
			}
		},
	})
	source := canary + "-source"
	say := func(i byte, object string) *fact.Result {
		return n.step(model.Step{ProposedAt: 1_700_000_000_000 + fact.Instant(i), Request: &fact.Request{
			Tenant: "ta", Branch: fact.MainBranch, Threshold: fact.DefaultThreshold,
			Idem: &fact.Idempotency{Key: string('a' + rune(i)), Method: "POST", Path: "/api/facts", Hash: [32]byte{i}},
			Write: &fact.Write{Model: fact.Model{Name: "m", Dim: 3}, Asserts: []fact.Assert{{
				Vector: entry.DecodeVector([]byte(canary + "!")),
				ID:     fact.NewID(1, [10]byte{9: i}), Subject: "Person:p9-" + canary, Predicate: canary + "-says", Object: fact.TextObject(object),
				ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, Confidence: 1, Source: &source,
				Properties: []byte(`{"note":"` + canary + `"}`), KnownAt: fact.NoInstant,
			}}},
		}})
	}
	for i := range byte(20) {
		if res := say(i, canary+strings.Repeat("x", int(i))); res.Err != nil {
			t.Fatal(res.Err)
		}
	}
	v, err := n.m.View() // a reader has seen it, and has gone
	if err != nil {
		t.Fatal(err)
	}
	v.Close()
	res := n.step(model.Step{ProposedAt: 1_700_000_001_000, Request: &fact.Request{
		Tenant: "ta", Branch: fact.MainBranch, Purge: &fact.Purge{Prefix: "Person:p9"},
	}})
	if res.Err != nil || res.Purged != 20 {
		t.Fatalf("purged %d facts, %v", res.Purged, res.Err)
	}
	if err := n.m.Cleaned(context.Background()); err != nil {
		t.Fatal(err)
	}
	n.restart() // the write-ahead log goes, and a new list of files is begun
	n.restart() // the list before it goes too
	if err := n.m.Close(); err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(n.options.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(canary)) {
			t.Errorf("%s still holds what was purged", filepath.Base(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

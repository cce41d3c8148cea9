package ops_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"abagraph/fsm"
	"abagraph/ops"
)

func verify(t *testing.T, path string) *ops.VerifyReport {
	t.Helper()
	report, err := (&ops.Verify{Path: path, Temp: t.TempDir()}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// A backup is checked to its last key, and what it was unpacked into is gone then; a
// damaged one is told, and so is one whose store is broken inside good checksums.
func TestVerifyBackup(t *testing.T) {
	s := newStore(t, filepath.Join(t.TempDir(), "store"), fixed)
	s.assert("a", "Person:1", "tea")
	good := s.backup()
	s.close()
	temp := t.TempDir()
	report, err := (&ops.Verify{Path: file(t, good), Temp: temp}).Run(t.Context())
	if err != nil || !report.Sound || report.Kind != "backup" || report.Store.Facts != 1 || report.Manifest.Tx != 1 {
		t.Errorf("report %+v, %v", report, err)
	}
	empty(t, temp)
	for _, quick := range []bool{false, true} {
		job := ops.Verify{Path: file(t, flipped(good, len(good)-50)), Temp: temp, Quick: quick}
		report, err := job.Run(t.Context())
		if err != nil || report.Sound || !strings.Contains(report.Problems[0], "it is damaged") {
			t.Errorf("damaged: %+v, %v", report, err)
		}
	}
	if report := verify(t, file(t, reworded(t, good, `"active":1`, `"active":2`))); report.Sound || !strings.Contains(report.Problems[0], "its state is another") {
		t.Errorf("another manifest: %+v", report)
	}
	empty(t, temp)
}

// A data directory is sound after a restore and changes by no byte while it is
// checked; a damaged log, snapshot or store, and parts of different times, are told.
func TestVerifyDirectory(t *testing.T) {
	path := file(t, filled(t, filepath.Join(t.TempDir(), "store")))
	fresh := func() string {
		data := filepath.Join(t.TempDir(), "data")
		restore(t, &ops.Restore{File: path, Data: data, NodeID: "n1"})
		return data
	}
	data := fresh()
	before := tree(t, data)
	if report := verify(t, data); !report.Sound || report.Kind != "data" || report.NodeID != "n1" || report.Store.Facts != 40 || report.Snapshot.Index != 41 {
		t.Errorf("report %+v", report)
	}
	for name, content := range tree(t, data) {
		if before[name] != content && filepath.Base(name) != "LOCK" {
			t.Errorf("%s was changed", name)
		}
	}
	for name, c := range map[string]struct {
		harm func(data string)
		says string
	}{
		"a log of zeros": {func(data string) { overwrite(t, filepath.Join(data, "raft.db"), make([]byte, 16<<10)) }, "the log"},
		"no log":         {func(data string) { remove(t, filepath.Join(data, "raft.db")) }, "no such file"},
		"a damaged snapshot": {func(data string) {
			overwrite(t, one(t, filepath.Join(data, "snapshots", "*", "state", "MANIFEST-*")), []byte("no list of files"))
		}, "the snapshot at entry 41"},
		"a damaged description": {func(data string) {
			overwrite(t, one(t, filepath.Join(data, "snapshots", "*", "meta.json")), []byte("{}"))
		}, "its description is damaged"},
		"no state": {func(data string) { remove(t, filepath.Join(data, "state")) }, "open the index store"},
		"no snapshot": {func(data string) { remove(t, filepath.Join(data, "snapshots")) },
			"the log ends at entry 0, but the state has applied entry 41"},
		"a state ahead of its log": {func(data string) { advance(t, data) }, "the log ends at entry 41, but the state has applied entry 101"},
	} {
		t.Run(name, func(t *testing.T) {
			data := fresh()
			c.harm(data)
			if report := verify(t, data); report.Sound || !strings.Contains(strings.Join(report.Problems, "\n"), c.says) {
				t.Errorf("not told %q: %q", c.says, report.Problems)
			}
		})
	}
	if _, err := (&ops.Verify{Path: t.TempDir()}).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "no node.json") {
		t.Errorf("an empty directory: %v", err)
	}
}

func advance(t *testing.T, data string) {
	t.Helper()
	m, err := fsm.Open(fsm.Options{Dir: filepath.Join(data, "state"), CacheBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	s := &store{t: t, m: m, index: 100, clock: fixed + 1000, ids: 100}
	s.assert("a", "Person:late", "juice")
	s.close()
}

// one is the only file that a pattern names.
func one(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	return found[0]
}

func overwrite(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

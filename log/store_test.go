package log_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	rlog "abagraph/log"

	"github.com/hashicorp/raft"
)

func claim(t *testing.T, path string) *rlog.Dir {
	t.Helper()
	dir, err := rlog.Claim(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return dir
}

func open(t *testing.T, dir *rlog.Dir) *rlog.Store {
	t.Helper()
	s, err := rlog.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func entries(from, to uint64, size int) []*raft.Log {
	var out []*raft.Log
	for i := from; i <= to; i++ {
		data := bytes.Repeat([]byte{byte(i)}, size)
		out = append(out, &raft.Log{Index: i, Term: 1, Type: raft.LogCommand, Data: data})
	}
	return out
}

func store(t *testing.T, s *rlog.Store, logs []*raft.Log) {
	t.Helper()
	if err := s.StoreLogs(logs); err != nil {
		t.Fatal(err)
	}
}

func TestStoreKeepsEntriesAndValues(t *testing.T) {
	path := t.TempDir()
	for name, s := range map[string]*rlog.Store{"disk": open(t, claim(t, path)), "memory": rlog.OpenMemory()} {
		t.Run(name, func(t *testing.T) {
			defer s.Close()
			if _, err := s.GetUint64([]byte("CurrentTerm")); err == nil || err.Error() != "not found" {
				t.Fatalf("missing value: got %v, want not found", err)
			}
			store(t, s, entries(1, 700, 100))
			if err := s.SetUint64([]byte("CurrentTerm"), 7); err != nil {
				t.Fatal(err)
			}
			for _, index := range []uint64{1, 188, 189, 700} {
				var l raft.Log
				if err := s.GetLog(index, &l); err != nil {
					t.Fatalf("GetLog(%d): %v", index, err)
				}
				if l.Index != index || l.Data[0] != byte(index) || l.Extensions != nil {
					t.Fatalf("GetLog(%d) = %d %x %x", index, l.Index, l.Data[0], l.Extensions)
				}
			}
			if v, err := s.GetUint64([]byte("CurrentTerm")); err != nil || v != 7 {
				t.Fatalf("CurrentTerm = %d, %v", v, err)
			}
			var l raft.Log
			if err := s.GetLog(701, &l); !errors.Is(err, raft.ErrLogNotFound) {
				t.Fatalf("GetLog(701) = %v, want ErrLogNotFound", err)
			}
			checkCounts(t, s)
		})
	}
}

func checkCounts(t *testing.T, s *rlog.Store) {
	t.Helper()
	st := s.Stats()
	if st.Calls != 1 || st.Entries != 700 || st.Bytes != 70_000 || st.LogBytes != 70_000 {
		t.Fatalf("stats = %+v", st)
	}
	if b, n := s.After(600); b != 10_000 || n != 100 {
		t.Fatalf("After(600) = %d bytes, %d entries", b, n)
	}
	if n := s.Within(950); n != 9 {
		t.Fatalf("Within(950) = %d entries, want 9", n)
	}
	if err := s.DeleteRange(1, 600); err != nil {
		t.Fatal(err)
	}
	first, _ := s.FirstIndex()
	last, _ := s.LastIndex()
	if first != 601 || last != 700 {
		t.Fatalf("log runs from %d to %d, want 601 to 700", first, last)
	}
	if err := s.DeleteRange(691, 700); err != nil {
		t.Fatal(err)
	}
	if st := s.Stats(); st.LogEntries != 90 || st.LogBytes != 9_000 {
		t.Fatalf("after trimming both ends: %+v", st)
	}
}

func TestStoreMeasuresTheLogWhenReopened(t *testing.T) {
	path := t.TempDir()
	dir := claim(t, path)
	s := open(t, dir)
	store(t, s, entries(1, 10, 50))
	s.Close()
	s = open(t, dir)
	defer s.Close()
	if b, n := s.After(0); b != 500 || n != 10 {
		t.Fatalf("After(0) = %d bytes, %d entries", b, n)
	}
}

// STO-01: a flipped byte anywhere is either harmless (it lies in no page in use)
// or reported; no flip makes the log shorter, and none makes opening panic.
func TestSTO01FlippedByteIsReported(t *testing.T) {
	path := t.TempDir()
	dir := claim(t, path)
	s := open(t, dir)
	for i := uint64(1); i <= 60; i++ {
		store(t, s, entries(i, i, 300))
	}
	if err := s.SetUint64([]byte("CurrentTerm"), 7); err != nil {
		t.Fatal(err)
	}
	s.Close()
	file := filepath.Join(path, "raft.db")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	used := bytes.TrimRight(whole, "\x00") // the rest has been set aside to grow into
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	reported := 0
	for at := 5; at < len(used); at += 397 {
		broken := append([]byte(nil), used...)
		broken[at] ^= 0x40
		if _, err := f.WriteAt(broken, 0); err != nil {
			t.Fatal(err)
		}
		if flipIsReported(t, dir, at) {
			reported++
		}
	}
	if reported < 20 {
		t.Fatalf("only %d flips were reported: the test looks at nothing", reported)
	}
}

func flipIsReported(t *testing.T, dir *rlog.Dir, at int) bool {
	t.Helper()
	s, err := rlog.Open(dir)
	if err == nil {
		err = s.Settle(0)
		last, _ := s.LastIndex()
		if err == nil && last != 60 {
			t.Fatalf("byte %d: the log was cut to %d entries in silence", at, last)
		}
		s.Close()
	}
	var d *rlog.Damage
	if err != nil && !errors.As(err, &d) {
		t.Fatalf("byte %d: %v is not a damage report", at, err)
	}
	return err != nil
}

func TestFlippedEntryIsNamedByIndex(t *testing.T) {
	path := t.TempDir()
	dir := claim(t, path)
	s := open(t, dir)
	logs := entries(1, 40, 200)
	copy(logs[16].Data, "find me in the file")
	store(t, s, logs)
	s.Close()
	file := filepath.Join(path, "raft.db")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(content, []byte("find me in the file"))
	content[at+3] ^= 1
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = rlog.Open(dir)
	var d *rlog.Damage
	if !errors.As(err, &d) || d.Index != 17 {
		t.Fatalf("got %v, want damage at entry 17", err)
	}
}

func TestSTO01TornTailOpensCleanly(t *testing.T) {
	path := t.TempDir()
	dir := claim(t, path)
	s := open(t, dir)
	store(t, s, entries(1, 1000, 300))
	s.Close()
	file := filepath.Join(path, "raft.db")
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, info.Size()-7); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	defer s.Close()
	if last, _ := s.LastIndex(); last != 1000 {
		t.Fatalf("last entry %d, want 1000", last)
	}
	if err := s.Settle(0); err != nil {
		t.Fatal(err)
	}
}

func TestCutFileIsReported(t *testing.T) {
	path := t.TempDir()
	dir := claim(t, path)
	s := open(t, dir)
	store(t, s, entries(1, 1000, 300))
	s.Close()
	file := filepath.Join(path, "raft.db")
	if err := os.Truncate(file, 64<<10); err != nil {
		t.Fatal(err)
	}
	_, err := rlog.Open(dir)
	var d *rlog.Damage
	if !errors.As(err, &d) {
		t.Fatalf("got %v, want a damage report", err)
	}
}

func TestSettleJudgesGapsByTheSnapshot(t *testing.T) {
	cases := []struct {
		name     string
		runs     [][2]uint64
		snapshot uint64
		first    uint64
		damaged  bool
	}{
		{"unbroken", [][2]uint64{{1, 20}}, 0, 1, false},
		{"starts behind the snapshot", [][2]uint64{{11, 20}}, 10, 11, false},
		{"overlaps the snapshot", [][2]uint64{{5, 20}}, 10, 5, false},
		{"misses its start", [][2]uint64{{12, 20}}, 10, 0, true},
		{"misses all before it without a snapshot", [][2]uint64{{2, 20}}, 0, 0, true},
		{"gap below an installed snapshot", [][2]uint64{{1, 5}, {11, 20}}, 10, 11, false},
		{"gap above the snapshot", [][2]uint64{{1, 12}, {14, 20}}, 10, 0, true},
		{"wholly below an installed snapshot", [][2]uint64{{1, 5}}, 10, 0, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := claim(t, t.TempDir())
			s := open(t, dir)
			for _, run := range c.runs {
				store(t, s, entries(run[0], run[1], 10))
			}
			s.Close()
			s = open(t, dir)
			defer s.Close()
			err := s.Settle(c.snapshot)
			var d *rlog.Damage
			if c.damaged != errors.As(err, &d) {
				t.Fatalf("Settle(%d) = %v, damaged should be %v", c.snapshot, err, c.damaged)
			}
			if first, _ := s.FirstIndex(); err == nil && first != c.first {
				t.Fatalf("log starts at %d, want %d", first, c.first)
			}
		})
	}
}

func TestDamageIsNoticedOnEveryRead(t *testing.T) {
	s := rlog.OpenMemory()
	logs := entries(1, 2000, 10)
	store(t, s, logs)
	logs[0].Data[3] ^= 1 // the store in memory shares the bytes; entry 1 is no longer cached
	var l raft.Log
	var d *rlog.Damage
	if err := s.GetLog(1, &l); !errors.As(err, &d) || d.Index != 1 {
		t.Fatalf("GetLog = %v, want damage at entry 1", err)
	}
}

func TestClaimKeepsOthersOut(t *testing.T) {
	path := t.TempDir()
	dir := claim(t, path)
	if _, err := rlog.Claim(path); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("in use by another process (pid %d)", os.Getpid())) {
		t.Fatalf("second claim: %v", err)
	}
	if err := dir.Close(); err != nil {
		t.Fatal(err)
	}
	claim(t, path)
}

func TestClaimRefusesForeignDirectories(t *testing.T) {
	path := t.TempDir()
	if err := os.WriteFile(filepath.Join(path, "holiday.jpg"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := rlog.Claim(path)
	if err == nil || !strings.Contains(err.Error(), `"holiday.jpg"`) || strings.Contains(err.Error(), "\n") {
		t.Fatalf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(path, "LOCK")); err == nil {
		t.Fatal("the foreign directory was written to")
	}
}

func TestRefusesAFileThatIsNoLog(t *testing.T) {
	path := t.TempDir()
	dir := claim(t, path)
	content := binary.BigEndian.AppendUint64(nil, 42)
	if err := os.WriteFile(filepath.Join(path, "raft.db"), bytes.Repeat(content, 2000), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := rlog.Open(dir); err == nil || !strings.Contains(err.Error(), "it is not a log") {
		t.Fatalf("got %v", err)
	}
}

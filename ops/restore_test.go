package ops_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/fsm"
	rlog "abagraph/log"
	"abagraph/ops"
	"abagraph/replication"
)

// outside is a backup with a good manifest whose archive would write beside its
// directory.
func outside(t *testing.T, good []byte) []byte {
	t.Helper()
	at := bytes.Index(good, []byte("abagraph archive 1\n"))
	b := append(bytes.Clone(good[:at]), "abagraph archive 1\n"...)
	name := "../x"
	b = binary.BigEndian.AppendUint16(b, uint16(len(name)))
	b = append(b, name...)
	b = binary.BigEndian.AppendUint64(b, 1)
	b = append(b, 'x', 0, 0)
	sum := sha256.Sum256(b[at:])
	return append(b, sum[:]...)
}

// reworded changes the manifest of a backup, and its checksum with it.
func reworded(t *testing.T, good []byte, old, new string) []byte {
	t.Helper()
	head := len("abagraph backup 1\n")
	length := int(binary.BigEndian.Uint32(good[head:]))
	text := bytes.Replace(good[head+4:head+4+length], []byte(old), []byte(new), 1)
	if bytes.Equal(text, good[head+4:head+4+length]) {
		t.Fatalf("the manifest has no %s", old)
	}
	b := binary.BigEndian.AppendUint32(bytes.Clone(good[:head]), uint32(len(text)))
	b = append(b, text...)
	sum := sha256.Sum256(b)
	return append(append(b, sum[:]...), good[head+4+length+32:]...)
}

func flipped(good []byte, at int) []byte {
	b := bytes.Clone(good)
	b[at] ^= 0x20
	return b
}

// TestSTO06UnusableBackups: a file that is cut short, changed, empty, foreign, of a
// later release, that leads outside or does not fit its manifest is refused with a
// clear error before anything is touched: a directory that was not there is not made,
// and a node's data is what it was.
func TestSTO06UnusableBackups(t *testing.T) {
	good := filled(t, filepath.Join(t.TempDir(), "store"))
	data := filepath.Join(t.TempDir(), "data")
	restore(t, &ops.Restore{File: file(t, good), Data: data, NodeID: "n1"})
	before := tree(t, data)
	for name, c := range map[string]struct {
		content []byte
		says    string
	}{
		"cut at 90 %":               {good[:len(good)*9/10], "it is cut short"},
		"cut in its manifest":       {good[:60], "it is cut short"},
		"cut in its first line":     {good[:5], "it is cut short"},
		"one bit flipped":           {flipped(good, len(good)/2), "it is damaged"},
		"a bit of the manifest":     {flipped(good, 40), "it is damaged"},
		"a bit of the last sum":     {flipped(good, len(good)-1), "it is damaged"},
		"zero bytes":                {nil, "it is empty"},
		"a zip of something else":   {[]byte("PK\x03\x04 something else altogether"), "a zip archive of something else"},
		"an export":                 {[]byte(`{"subject":"Person:a","predicate":"likes","object":"tea"}`), "abagraph import"},
		"anything else":             {[]byte("#!/bin/sh\necho hello, nobody\n"), "it does not begin as one"},
		"a path that leads outside": {outside(t, good), "leads outside"},
		"from release N+1":          {bytes.Replace(bytes.Clone(good), []byte("backup 1\n"), []byte("backup 2\n"), 1), "it has backup format 2, of a later release; this program knows format 1 only"},
		"a store of release N+1":    {reworded(t, good, `"store_format":`, `"store_format":9`), ", written by version test; this program knows format"},
		"index files of N+1":        {reworded(t, good, `"index_format":`, `"index_format":9`), "its index files have format 9"},
		"another's manifest":        {reworded(t, good, `"tx":40`, `"tx":41`), "its manifest tells of tx 41"},
		"another's counts":          {reworded(t, good, `"active":40`, `"active":39`), "and its state is another"},
		"followed by a byte":        {append(bytes.Clone(good), 0), "something follows its end"},
		"not the length it says":    {reworded(t, good, `"archive_bytes":`, `"archive_bytes":1`), "its manifest tells of"},
	} {
		t.Run(name, func(t *testing.T) {
			path := file(t, c.content)
			fresh := filepath.Join(t.TempDir(), "fresh")
			for _, job := range []ops.Restore{{File: path, Data: fresh}, {File: path, Data: data, Replace: true}} {
				report, err := job.Run(t.Context())
				if err == nil {
					t.Fatalf("it was restored: %+v", report)
				}
				if !strings.Contains(err.Error(), "not a usable ") || !strings.Contains(err.Error(), c.says) {
					t.Errorf("the error is %v", err)
				}
			}
			if _, err := os.Stat(fresh); err == nil {
				t.Error("the directory was made")
			}
			if after := tree(t, data); !maps.Equal(before, after) {
				t.Error("the node's data was changed")
			}
		})
	}
}

func restore(t *testing.T, job *ops.Restore) *ops.RestoreReport {
	t.Helper()
	report, err := job.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// openState opens what a data directory holds.
func openState(t *testing.T, data string) *fsm.Machine {
	t.Helper()
	m, err := fsm.Open(fsm.Options{Dir: filepath.Join(data, "state"), ReadOnly: true, CacheBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// What is restored has the tx and digest of the backup, and an epoch of its own.
func TestRestoreKeepsTheStateAndStartsAnEpoch(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	good := filled(t, dir)
	data := filepath.Join(t.TempDir(), "data")
	var steps int
	report := restore(t, &ops.Restore{File: file(t, good), Data: data, Progress: func(done, total int64) {
		if steps++; total != 2*int64(len(good)) || done > total {
			t.Errorf("%d of %d bytes", done, total)
		}
	}})
	original, err := fsm.Open(fsm.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer original.Close()
	was, is := original.Position(), openState(t, data).Position()
	if is.Tx != was.Tx || is.Digest != was.Digest || is.Index != was.Index || is.Epoch == was.Epoch || is.Epoch != report.Epoch {
		t.Errorf("the backup was of %+v, the restored store is at %+v", was, is)
	}
	if steps == 0 || report.SetAside != "" || !strings.HasPrefix(report.NodeID, "node-") || report.Manifest.Counts.Active != 40 || report.Manifest.Counts.Tenants != 2 {
		t.Errorf("%d steps, report %+v", steps, report)
	}
	if len(report.Warnings) != 1 || !strings.Contains(report.Warnings[0], "cannot be known here") {
		t.Errorf("warnings %q", report.Warnings)
	}
}

// A directory that holds data is left alone unless it is to be replaced; then its
// data is set aside, its node's name is kept, and it is told what it had since:
// writes, purges and changes of keys.
func TestRestoreReplacesAndTellsWhatIsLost(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	restore(t, &ops.Restore{File: file(t, filled(t, filepath.Join(t.TempDir(), "store"))), Data: data, NodeID: "n7"})
	s := &store{t: t, m: openWritable(t, data), index: 100, clock: fixed + 1000, ids: 100}
	good := s.backup()
	s.assert("a", "Person:late", "juice")
	s.request(&fact.Request{Tenant: "a", Branch: fact.MainBranch, Purge: &fact.Purge{Subject: "Person:3"}})
	s.request(&fact.Request{Branch: fact.MainBranch, Purge: &fact.Purge{Subject: "Person:4", AllTenants: true}})
	s.request(&fact.Request{Registry: &fact.TenantChange{Op: fact.TenantCreate, ID: "c", Name: "c", Key: &fact.Key{ID: "k", Role: fact.RoleAdmin, CreatedAt: fixed}}})
	s.close()

	path := file(t, good)
	before := tree(t, data)
	if _, err := (&ops.Restore{File: path, Data: data}).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "--replace") {
		t.Fatalf("the error is %v", err)
	}
	if !maps.Equal(before, tree(t, data)) {
		t.Error("the data was changed")
	}
	report := restore(t, &ops.Restore{File: path, Data: data, Replace: true})
	if report.NodeID != "n7" || !strings.HasPrefix(report.SetAside, filepath.Join(data, "replaced-")) {
		t.Errorf("report %+v", report)
	}
	for _, name := range []string{"node.json", "state", "raft.db", "raft.journal", "snapshots"} {
		for _, dir := range []string{data, report.SetAside} {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
	}
	told := strings.Join(report.Warnings, "\n")
	for _, want := range []string{
		"went on to tx 44: its 4 writes after tx 40 are not in the restored store",
		"the purge of tenant a at tx 42", "the purge of all tenants at tx 43", "last at tx 44: keys that were revoked then are valid again",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("not told %q:\n%s", want, told)
		}
	}
	if at := openState(t, data).Position(); at.Tx != 40 {
		t.Errorf("restored at tx %d", at.Tx)
	}
}

func openWritable(t *testing.T, data string) *fsm.Machine {
	t.Helper()
	m, err := fsm.Open(fsm.Options{Dir: filepath.Join(data, "state"), CacheBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A directory in use, or of something else, is refused and not changed.
func TestRestoreRefusesDirectories(t *testing.T) {
	path := file(t, filled(t, filepath.Join(t.TempDir(), "store")))
	used := t.TempDir()
	dir, err := rlog.Claim(used)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "letter.txt"), []byte("dear"), 0o600); err != nil {
		t.Fatal(err)
	}
	for data, says := range map[string]string{used: "in use by another process", foreign: `it holds "letter.txt"`} {
		before := tree(t, data)
		_, err := (&ops.Restore{File: path, Data: data, Replace: true}).Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the error is %v, not %s", err, says)
		}
		if !maps.Equal(before, tree(t, data)) {
			t.Errorf("%s was changed", data)
		}
	}
}

// A restore that is interrupted leaves nothing, whenever it is.
func TestRestoreInterrupted(t *testing.T) {
	path := file(t, filled(t, filepath.Join(t.TempDir(), "store")))
	for _, part := range []int64{0, 30, 60, 95} {
		data := filepath.Join(t.TempDir(), "data")
		ctx, cancel := context.WithCancel(t.Context())
		job := ops.Restore{File: path, Data: data, Progress: func(done, total int64) {
			if done*100 >= part*total {
				cancel()
			}
		}}
		if _, err := job.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("at %d %%: the error is %v", part, err)
		}
		if _, err := os.Stat(data); err == nil {
			t.Errorf("at %d %%: the directory is there", part)
		}
		cancel()
	}
}

// errCrash is a restore that ends where it is.
var errCrash = errors.New("a crash")

// A restore that a crash cuts off at any of its last steps leaves a directory that no
// node starts in, with the old state or without, and is finished by the same command.
func TestRestoreAfterACrash(t *testing.T) {
	path := file(t, filled(t, filepath.Join(t.TempDir(), "store")))
	for _, replaced := range []bool{false, true} {
		steps := 0
		for step := 0; step <= steps; step++ {
			data := filepath.Join(t.TempDir(), "data")
			if replaced {
				restore(t, &ops.Restore{File: path, Data: data, NodeID: "n1"})
			}
			moves := 0
			job := ops.Restore{File: path, Data: data, NodeID: "n1", Replace: true}
			job.SetRename(func(from, to string) error {
				if moves == step {
					return errCrash
				}
				moves++
				return os.Rename(from, to)
			})
			_, err := job.Run(t.Context())
			if err == nil {
				if moves != steps || !starts(t, data) {
					t.Errorf("after all %d steps no node starts", moves)
				}
				break
			}
			if !errors.Is(err, errCrash) {
				t.Fatal(err)
			}
			steps = step + 1
			if intact := replaced && step == 0; starts(t, data) != intact {
				t.Errorf("after step %d (replaced: %v) a node starts: %v", step, replaced, !intact)
			}
			restore(t, &ops.Restore{File: path, Data: data, NodeID: "n1", Replace: true})
			if !starts(t, data) || openState(t, data).Position().Tx != 40 {
				t.Errorf("after step %d (replaced: %v) the restore cannot be run again", step, replaced)
			}
		}
		if want := map[bool]int{false: 5, true: 10}[replaced]; steps != want {
			t.Errorf("the restore has %d steps, not %d", steps, want)
		}
	}
}

// starts reports whether a node would start in a directory.
func starts(t *testing.T, data string) bool {
	t.Helper()
	dir, err := rlog.Claim(data)
	if err != nil {
		return false
	}
	defer dir.Close()
	if _, err := os.Stat(dir.State()); err != nil {
		return len(tree(t, data)) == 1 // it would found a store of its own in an empty one
	}
	m, err := fsm.Open(fsm.Options{Dir: dir.State(), CacheBytes: 8 << 20})
	if err != nil {
		return false
	}
	defer m.Close()
	n, err := replication.Open(replication.Options{NodeID: "n1", Dir: dir, Machine: m})
	if err != nil {
		return false
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	return true
}

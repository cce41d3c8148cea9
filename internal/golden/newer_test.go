package golden

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"abagraph/fsm"
	rlog "abagraph/log"
	"abagraph/log/entry"
	"abagraph/ops"

	"github.com/hashicorp/raft"
)

// small is a closed data directory of this program's format.
func small(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	n, err := open(t, root, began, false)
	if err != nil {
		t.Fatal(err)
	}
	n.made("/api/facts", `{"subject":"Person:1","predicate":"likes","object":"tea"}`)
	if err := n.close(); err != nil {
		t.Fatal(err)
	}
	return root
}

// refused opens a directory that must be refused, and left as it is.
func refused(t *testing.T, root string, says ...string) {
	t.Helper()
	before := contents(t, root)
	n, err := open(t, root, began+1000, true)
	if err == nil {
		_ = n.close()
		t.Fatal("it was opened")
	}
	for _, part := range says {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("it says %q, without %q", err, part)
		}
	}
	if !maps.Equal(before, contents(t, root)) {
		t.Error("it was changed")
	}
}

func TestANewerStoreIsRefusedUntouched(t *testing.T) {
	root := small(t)
	if err := os.WriteFile(filepath.Join(root, "state", "FORMAT"), []byte("4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, root, "format 4", "later release", "formats 2 to 3 only")
	report, err := (&ops.Doctor{Data: root}).Run(t.Context())
	if err != nil || len(report.Findings) == 0 {
		t.Fatalf("doctor finds %+v, %v", report, err)
	}
	for _, f := range report.Findings {
		if !strings.Contains(f.Do, "run that release") || strings.Contains(f.Do, "restore") {
			t.Errorf("doctor says of %q: %s", f.What, f.Do)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "state", "FORMAT"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, root, "damaged")
}

func TestAnOlderStoreThatIsNotKnownIsRefused(t *testing.T) {
	root := small(t)
	if err := os.WriteFile(filepath.Join(root, "state", "FORMAT"), []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, root, "format 1", "formats 2 to 3 only")
}

func TestANewerEntryIsRefused(t *testing.T) {
	root := small(t)
	dir, err := rlog.Claim(root)
	if err != nil {
		t.Fatal(err)
	}
	store, err := rlog.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	last, err := store.LastIndex()
	if err != nil {
		t.Fatal(err)
	}
	newer := entry.EncodeTick(began)
	newer[0] = entry.Version + 1
	if err := store.StoreLog(&raft.Log{Index: last + 1, Term: 2, Type: raft.LogCommand, Data: newer}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := dir.Close(); err != nil {
		t.Fatal(err)
	}
	n, err := open(t, root, began+1000, true)
	if err == nil {
		_ = n.close()
		t.Fatal("it was opened")
	}
	if want := "format version 2, of a later release"; !strings.Contains(err.Error(), want) {
		t.Errorf("it says %q, without %q", err, want)
	}
}

// TestAnOlderStoreIsTakenOn: a store of format 2 is named anew before anything is
// written that its own program would not know; a look at it changes nothing.
func TestAnOlderStoreIsTakenOn(t *testing.T) {
	root := unpack(t, "testdata/store-2.tar.gz")
	path := filepath.Join(root, "state", "FORMAT")
	says := func(want string) {
		t.Helper()
		if raw, err := os.ReadFile(path); err != nil || string(raw) != want {
			t.Errorf("the store's format is named %q, not %q: %v", raw, want, err)
		}
	}
	says("2\n")
	m, err := fsm.Open(fsm.Options{Dir: filepath.Join(root, "state"), ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	says("2\n")
	n, err := open(t, root, began+1000, true)
	if err != nil {
		t.Fatal(err)
	}
	says("3\n")
	if err := n.close(); err != nil {
		t.Fatal(err)
	}
}

// TestTheFormatIsNamed holds the file beside the store to the store.
func TestTheFormatIsNamed(t *testing.T) {
	root := small(t)
	path := filepath.Join(root, "state", "FORMAT")
	if raw, err := os.ReadFile(path); err != nil || string(raw) != "3\n" {
		t.Errorf("the store's format is named %q: %v", raw, err)
	}
	if err := os.Remove(path); err != nil { // a store of before the file was written
		t.Fatal(err)
	}
	if m, err := fsm.Open(fsm.Options{Dir: filepath.Join(root, "state"), ReadOnly: true}); err != nil {
		t.Error(err)
	} else if err := m.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a look at the store has written into it")
	}
	n, err := open(t, root, began+1000, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

package ops_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/ops"
)

// The newest backups of an epoch are kept, and nothing else is touched: not what is
// named otherwise, not another cluster's, and never the one just made, whatever a clock
// says of the others.
func TestRetain(t *testing.T) {
	dir := t.TempDir()
	name := func(epoch string, tx uint64, at int) string {
		m := fsm.Manifest{Epoch: epoch, Tx: tx, CreatedAt: fixed + fact.Instant(at*1000)}
		return m.FileName()
	}
	names := []string{name("abc234", 9, 1), name("abc234", 10, 1<<30), name("abc234", 10, 1<<30+1), name("abc234", 100, 2), name("abc234", 100, 3)}
	mine := []string{"monday.backup", names[0] + ".old", "abagraph-x.backup", name("other2", 1, 0), name("other2", 200, 9)}
	for _, name := range slices.Concat(names, mine) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	done, err := ops.Retain(dir, 2, names[4])
	if err != nil || !slices.Equal(done.Deleted, names[:3]) || done.Others != 2 {
		t.Errorf("done %+v, %v", done, err)
	}
	for _, name := range slices.Concat(names[3:], mine) {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if done, err := ops.Retain(dir, 2, names[4]); err != nil || len(done.Deleted) > 0 {
		t.Errorf("again: %+v, %v", done, err)
	}
	// A backup of a node that lags has a smaller tx than those before it.
	late := name("abc234", 50, 5)
	if err := os.WriteFile(filepath.Join(dir, late), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if done, err := ops.Retain(dir, 1, late); err != nil || !slices.Equal(done.Deleted, names[3:]) {
		t.Errorf("made late: %+v, %v", done, err)
	}
	if done, err := ops.Retain(dir, 1, "monday.backup"); err != nil || len(done.Deleted) > 0 {
		t.Errorf("a name of its own: %+v, %v", done, err)
	}
	if _, err := ops.Retain(dir, 0, late); err == nil || !strings.Contains(err.Error(), "at least one") {
		t.Errorf("keeping none: %v", err)
	}
}

// A test restore tells what it has checked, and leaves nothing; one of a backup whose
// store is broken fails.
func TestDrill(t *testing.T) {
	good := filled(t, filepath.Join(t.TempDir(), "store"))
	temp := t.TempDir()
	report, err := ops.Drill(t.Context(), file(t, good), temp, func(string, int64, int64) {}, nil)
	if err != nil || report.Store.Facts != 40 {
		t.Errorf("report %+v, %v", report, err)
	}
	bad := file(t, flipped(good, len(good)/2))
	if _, err := ops.Drill(t.Context(), bad, temp, nil, nil); !ops.IsUnsound(err) || !strings.Contains(err.Error(), "the test restore: not a usable") {
		t.Errorf("the error is %v", err)
	}
	if aside, err := ops.SetAside(bad); err != nil || aside != bad+".unsound" {
		t.Errorf("set aside as %s, %v", aside, err)
	}
	if _, err := ops.Drill(t.Context(), file(t, good), temp+"/gone", nil, nil); err == nil || ops.IsUnsound(err) {
		t.Errorf("without room for it: %v", err)
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

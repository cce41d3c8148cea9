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

// The newest backups are kept, by the time that they were made at, and nothing that
// is named otherwise is touched.
func TestRetain(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for i := range 5 {
		m := fsm.Manifest{Epoch: "abc234", Tx: uint64(100 - i), CreatedAt: fixed + fact.Instant(i*1000)}
		names = append(names, m.FileName())
	}
	mine := []string{"monday.backup", names[0] + ".old", "abagraph-x.backup"}
	for _, name := range slices.Concat(names, mine) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	deleted, err := ops.Retain(dir, 2)
	if err != nil || !slices.Equal(deleted, names[:3]) {
		t.Errorf("deleted %v, %v", deleted, err)
	}
	for _, name := range slices.Concat(names[3:], mine) {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if deleted, err := ops.Retain(dir, 2); err != nil || len(deleted) > 0 {
		t.Errorf("again: %v, %v", deleted, err)
	}
	if _, err := ops.Retain(dir, 0); err == nil || !strings.Contains(err.Error(), "at least one") {
		t.Errorf("keeping none: %v", err)
	}
}

// A test restore tells what it has checked, and leaves nothing; one of a backup whose
// store is broken fails.
func TestDrill(t *testing.T) {
	good := filled(t, filepath.Join(t.TempDir(), "store"))
	temp := t.TempDir()
	report, err := ops.Drill(t.Context(), file(t, good), temp, func(string, int64, int64) {})
	if err != nil || report.Store.Facts != 40 {
		t.Errorf("report %+v, %v", report, err)
	}
	if _, err := ops.Drill(t.Context(), file(t, flipped(good, len(good)/2)), temp, nil); err == nil || !strings.Contains(err.Error(), "the test restore: not a usable") {
		t.Errorf("the error is %v", err)
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

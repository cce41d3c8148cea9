package imports_test

import (
	"os"
	"path/filepath"
	"testing"

	"abagraph/internal/imports"
)

// sharedData is where the real files lie, or "" with a word in the test's
// output where they do not.
func sharedData(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("ABAGRAPH_SHARED_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(dir, "us-congress.jsonl")); err != nil {
		t.Logf("the real files are not beside the repository (%v): nothing to import", err)
		return ""
	}
	return dir
}

func TestRealFilesArePlannedWhole(t *testing.T) {
	dir := sharedData(t)
	if dir == "" {
		return
	}
	for _, c := range []struct {
		name                               string
		rows, refused, retractions, missed int
	}{
		{"us-congress", 17067, 4, 3999, 4}, {"us-committees", 11608, 10, 5095, 5}, {"lifecycles", 20181, 0, 10055, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			source, err := imports.OpenFile(filepath.Join(dir, c.name+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			defer source.Close()
			s := newStore()
			o := imports.Options{Format: imports.JSONLines, KnownAt: "recorded_at", RetractedAt: "retracted_at", Reason: "history", Policy: "coexist"}
			report, notes, err := run(t, s, source, o, imports.Config{})
			must(t, report, notes, err)
			if report.Rows != c.rows || report.Refused != c.refused || report.Retractions != c.retractions || report.RetractionsSkipped != c.missed {
				t.Errorf("counted %+v", report)
			}
			t.Logf("%d calls, %+v", s.calls, report)
		})
	}
}

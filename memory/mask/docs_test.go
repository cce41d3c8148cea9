package mask_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"abagraph/memory/mask"
)

var (
	rowOfTable  = regexp.MustCompile("^\\| `(.+)` \\| (?:`(.+)`|the same) \\|$")
	rowOfRegion = regexp.MustCompile("^\\| `([a-z]{2})` \\| (.+) \\|$")
	quoted      = regexp.MustCompile("`([^`]+)`")
)

// TestDocumentedTable: what docs/masking.md says of a text is what becomes of it,
// row by row; a region's forms are masked with it, and left alone without.
func TestDocumentedTable(t *testing.T) {
	raw, err := os.ReadFile("../../docs/masking.md")
	if err != nil {
		t.Fatal(err)
	}
	rows, forms := 0, 0
	for _, line := range strings.Split(string(raw), "\n") {
		if row := rowOfRegion.FindStringSubmatch(line); row != nil {
			set, err := mask.ParseRegions(row[1])
			if err != nil {
				t.Error(err)
			}
			for _, form := range quoted.FindAllStringSubmatch(row[2], -1) {
				m := mask.Masker{Regions: set}
				with, _ := m.Text(form[1])
				if without, _ := redact(form[1]); with != mask.Redacted || without != form[1] {
					t.Errorf("%s of %s: %q with the region, %q without", form[1], row[1], with, without)
				}
				forms++
			}
			continue
		}
		row := rowOfTable.FindStringSubmatch(line)
		if row == nil || strings.HasPrefix(row[1], "mask") {
			continue
		}
		want := row[2]
		if want == "" {
			want = row[1]
		}
		if got, n := redact(row[1]); got != want || n != strings.Count(want, mask.Redacted) {
			t.Errorf("%q became %q (%d), the table says %q", row[1], got, n, want)
		}
		rows++
	}
	if rows < 60 || forms < 20 {
		t.Errorf("the tables have %d rows and %d forms", rows, forms)
	}
}

// TestPII03AMisspeltRegion: it is an error that names those that are known.
func TestPII03AMisspeltRegion(t *testing.T) {
	if _, err := mask.ParseRegions("us, gb"); err == nil || !strings.Contains(err.Error(), `"gb"`) || !strings.Contains(err.Error(), "br, cn, dk") {
		t.Error(err)
	}
	if set, err := mask.ParseRegions(" US ,es,"); err != nil || set == 0 {
		t.Error(set, err)
	}
	if set, err := mask.ParseRegions(""); err != nil || set != 0 {
		t.Error(set, err)
	}
}

package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// eventNamed is the name of a log event as code writes it.
var eventNamed = regexp.MustCompile(`"(abagraph\.[a-z_]+(?:\.[a-z_]+)?)"`)

// TestLogEventsAreDescribed wants each event that a node logs in docs/OPERATIONS.md:
// whoever is woken by one looks there.
func TestLogEventsAreDescribed(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root(t), "docs", "OPERATIONS.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	files(t, func(name string, read func() []byte) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return
		}
		for _, one := range eventNamed.FindAllSubmatch(read(), -1) {
			event := string(one[1])
			if strings.HasSuffix(event, ".json") || found[event] {
				continue
			}
			found[event] = true
			if !strings.Contains(string(page), "`"+event+"`") {
				t.Errorf("%s logs %s, of which docs/OPERATIONS.md tells nothing", name, event)
			}
		}
	})
	if len(found) < 40 {
		t.Errorf("only %d events were found in the code", len(found))
	}
}

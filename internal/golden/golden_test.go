package golden

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/ops"
)

// began is when the clock of a new golden directory begins.
const began fact.Instant = 1_760_000_000_000

// later is how long after it was made a directory is opened, in milliseconds: less
// than a day, so that the outcomes of writes are still kept.
const later = 3_600_000

// TestGoldenDirectories opens the data directory of every format that was released:
// it answers what it answered then, is sound to its last key, and is written to.
func TestGoldenDirectories(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.tar.gz")
	if err != nil || len(archives) == 0 {
		t.Fatalf("there are no golden directories: %v", err)
	}
	for _, archive := range archives {
		name := strings.TrimSuffix(filepath.Base(archive), ".tar.gz")
		t.Run(name, func(t *testing.T) {
			judge(t, unpack(t, archive), recorded(t, "testdata/"+name+".json.gz"))
		})
	}
}

// TestGoldenIsMade makes a golden directory anew, in this program's format, and
// holds it to itself. With ABAGRAPH_GOLDEN=NAME it is kept, with its answers.
func TestGoldenIsMade(t *testing.T) {
	root := t.TempDir()
	n, err := open(t, root, began, false)
	if err != nil {
		t.Fatal(err)
	}
	made := fill(t, n)
	name, archive := os.Getenv("ABAGRAPH_GOLDEN"), ""
	if name != "" { // as a crash leaves it: not all of it is in tables yet
		archive = "testdata/" + name + ".tar.gz"
		pack(t, root, archive)
	}
	if err := n.close(); err != nil {
		t.Fatal(err)
	}
	if name == "" {
		if again, err := (&ops.Replay{Data: root}).Run(t.Context()); err != nil || !again.SameKeys {
			t.Errorf("its log, replayed, leads elsewhere: %+v: %v", again, err)
		}
		asked(t, root, &made)
		judge(t, root, made)
		return
	}
	asked(t, unpack(t, archive), &made)
	judge(t, unpack(t, archive), made)
	keep(t, made, "testdata/"+name+".json.gz")
}

// asked records what a new directory answers.
func asked(t *testing.T, root string, made *record) {
	t.Helper()
	n, err := open(t, root, fact.Instant(made.Clock+later), true)
	if err != nil {
		t.Fatal(err)
	}
	for i := range made.Asked {
		made.Asked[i].Status, made.Asked[i].Answer = n.ask(made.Asked[i])
		if made.Asked[i].Status != http.StatusOK {
			t.Errorf("%s answered %d %v", made.Asked[i].Path, made.Asked[i].Status, made.Asked[i].Answer)
		}
	}
	if err := n.close(); err != nil {
		t.Fatal(err)
	}
}

// judge opens a directory and holds it to what was recorded.
func judge(t *testing.T, root string, want record) {
	t.Helper()
	n, err := open(t, root, fact.Instant(want.Clock+later), true)
	if err != nil {
		t.Fatal(err)
	}
	at := n.machine.Position()
	if digest := hex.EncodeToString(at.Digest[:]); at.Tx != want.Tx || at.Epoch != want.Epoch || digest != want.Digest {
		t.Errorf("opened at tx %d of epoch %s with digest %s, not at tx %d of %s with %s", at.Tx, at.Epoch, digest, want.Tx, want.Epoch, want.Digest)
	}
	for _, q := range append(want.Asked, want.Retried...) {
		status, answer := n.ask(q)
		if status != q.Status {
			t.Errorf("%s %s answered %d, and then %d", q.Method, q.Path, q.Status, status)
		} else if why := differs("", q.Answer, answer); why != "" {
			t.Errorf("%s %s: %s", q.Method, q.Path, why)
		}
	}
	if got := n.machine.Position().Tx; got != want.Tx {
		t.Errorf("writes whose outcome is kept took it to tx %d from %d", got, want.Tx)
	}
	n.made("/api/facts?tenant=acme", `{"subject":"City:3","predicate":"mayor","object":"Person:new","valid_from":"2025-06-01"}`)
	if err := n.close(); err != nil {
		t.Fatal(err)
	}
	report, err := (&ops.Verify{Path: root}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !report.Sound || report.Store.Tx != want.Tx+1 {
		t.Errorf("after a write it is at tx %d with the problems %q", report.Store.Tx, report.Problems)
	}
}

// differs tells where an answer lacks what was recorded; what it has besides is new
// and no difference.
func differs(where string, want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s was an object and is %v", where, got)
		}
		for name, value := range want {
			if why := differs(where+"."+name, value, object[name]); why != "" {
				return why
			}
		}
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return fmt.Sprintf("%s was a list of %d and is %v", where, len(want), got)
		}
		for i := range want {
			if why := differs(fmt.Sprintf("%s[%d]", where, i), want[i], list[i]); why != "" {
				return why
			}
		}
	default:
		if want != got {
			return fmt.Sprintf("%s was %v and is %v", where, want, got)
		}
	}
	return ""
}

// TestDiffers shows the comparison answers that lack something.
func TestDiffers(t *testing.T) {
	want := map[string]any{"a": json.Number("1"), "list": []any{"x", nil}}
	for name, got := range map[string]any{
		"a field is gone":     map[string]any{"list": []any{"x", nil}},
		"a value has changed": map[string]any{"a": json.Number("2"), "list": []any{"x", nil}},
		"a list is shorter":   map[string]any{"a": json.Number("1"), "list": []any{"x"}},
		"null became a text":  map[string]any{"a": json.Number("1"), "list": []any{"x", "null"}},
		"another kind":        []any{},
	} {
		if differs("", want, got) == "" {
			t.Errorf("%s, and it is no difference", name)
		}
	}
	more := maps.Clone(want)
	more["new"] = true
	if why := differs("", want, more); why != "" {
		t.Errorf("a new field is a difference: %s", why)
	}
}

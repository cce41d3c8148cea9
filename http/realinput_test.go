package http_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"abagraph/internal/models/standin"
	"abagraph/memory"
)

var (
	goodLine = regexp.MustCompile(`[A-Za-z][A-Za-z0-9 ,.:;='-]{24,}`)
	longWord = regexp.MustCompile(`[A-Za-z]{5,}`)
)

// quoting is a stand-in that finds in every chunk that its first longer line is
// there, and quotes it.
func quoting(c standin.Call) standin.Reply {
	return reader{facts: func(text string) string {
		line := goodLine.FindString(text)
		word := longWord.FindString(line)
		if word == "" {
			return ""
		}
		return found("Note:"+strings.ToLower(word), "mentioned_in", "the text", line, "several")
	}}.reply(c)
}

// moduleFile is a file of a module that the tests are built with.
func moduleFile(t *testing.T, module, path string) string {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	raw, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), path))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func file(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestRealInput sends whole documents of each kind through the front door: each is
// read to its end, whatever is found is quoted from it, and the text is kept.
func TestRealInput(t *testing.T) {
	r, s := withModel(t, memory.Options{}, quoting)
	for _, c := range []struct{ name, kind, text string }{
		{"a README", "text/markdown", file(t, filepath.Join("..", "README.md"))},
		{"an HTML page", "text/html", moduleFile(t, "golang.org/x/net", "html/testdata/go1.html")},
		{"a CSV export", "text/csv", file(t, filepath.Join("testdata", "planets.csv"))},
		{"a JSONL log", "application/x-ndjson", file(t, filepath.Join("testdata", "events.jsonl"))},
		{"a calendar", "text/calendar", file(t, filepath.Join("testdata", "holidays.ics"))},
	} {
		answer := r.post("/api/digest", digestBody(t, s, "openai", c.text, fmt.Sprintf(`"content_type":%q`, c.kind), fmt.Sprintf(`"source":%q`, c.name)))
		got := answer.object()
		if answer.Status == 202 {
			got = r.settled(got.text("job"))
			if got.text("status") != "done" || got.number("done") != got.number("chunks") {
				t.Errorf("%s: %v", c.name, got)
			}
		} else {
			answer.status(200)
		}
		if got.number("written") == 0 || got.number("chunks") == 0 {
			t.Errorf("%s: %v", c.name, got)
		}
		facts := append(r.get("/api/facts?predicate=mentioned_in&limit=1000").list(), r.get("/api/facts?predicate=references&limit=1000").list()...)
		n := 0
		for _, f := range facts {
			if f.text("source") == c.name {
				n++
			}
		}
		if n != got.number("written") {
			t.Errorf("%s: %d facts of %d", c.name, n, got.number("written"))
		}
		kept := r.get("/api/facts?predicate=content&subject=" + got.text("document")).list()[0]["object"].(map[string]any)["hash"].(string)
		text := ""
		for part := "0"; part != "null"; {
			piece := r.get("/api/blobs/" + kept + "?part=" + part).status(200).object()
			text, part = text+piece.text("text"), piece.text("next")
		}
		if len(text) < len(c.text)*9/10 {
			t.Errorf("%s: %d bytes are kept of %d", c.name, len(text), len(c.text))
		}
	}
}

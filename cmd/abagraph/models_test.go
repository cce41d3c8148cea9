package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"abagraph/internal/models/standin"
)

// TestModelCommands drives digest and ask against a running node and a stand-in for
// the models; a long document shows its progress. The key is on no output.
func TestModelCommands(t *testing.T) {
	const key = "sk-marked-55d0c3"
	s := standin.New(t, func(c standin.Call) standin.Reply {
		switch c.Name {
		case "facts":
			if strings.Contains(c.Text, "Ann works at Acme") {
				return standin.Reply{JSON: `{"facts":[{"subject":"Person:ann","predicate":"works_at","object":"Org:acme","several":false,"valid_from":null,"valid_until":null,"quote":"Ann works at Acme"}]}`}
			}
			return standin.Reply{JSON: `{"facts":[]}`}
		case "scores":
			return standin.Reply{JSON: `{"scores":[{"n":1,"score":1,"reason":"stated"}]}`}
		}
		return standin.Reply{JSON: `{"answer":"At Acme.","confidence":0.9,"used":[1]}`}
	})
	p := launchAs(t, program(t, "serve", "--bind", "127.0.0.1:0", "--data", ":memory:", "--outbound-allow", "127.0.0.1")).up()
	r := shellOf(t, p)
	r.env["MODEL_KEY"] = key
	model := []string{"--model", "stand-in", "--provider", "openai", "--endpoint", s.URL + "/v1", "--model-key-env", "MODEL_KEY"}
	dir := t.TempDir()
	short, long := filepath.Join(dir, "note.md"), filepath.Join(dir, "book.txt")
	for path, text := range map[string]string{short: "# Note\n\nAnn works at Acme.", long: strings.Repeat("Nothing of note happened on that day.\n\n", 2500)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := r.object(append([]string{"digest", short, "--date", "2024-06-01"}, model...)...)
	if got["written"] != 1.0 || got["chunks"] != 1.0 {
		t.Errorf("digest wrote %v", got)
	}
	if got := r.object(append([]string{"ask", "Where", "does", "Ann", "work?"}, model...)...); got["answer"] != "At Acme." || len(got["evidence"].([]any)) == 0 {
		t.Errorf("ask wrote %v", got)
	}
	links := filepath.Join(dir, "links.md")
	if err := os.WriteFile(links, []byte("[[Person:ann]]"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.object("digest", links, "--subject", "Note:1", "--known-at", "2020-01-15", "--reason", "an old note")
	if code, out, _ := r.run("query", "--subject", "Note:1", "--known-at", "2020-02-01"); code != 0 || !strings.Contains(out, "Person:ann") {
		t.Errorf("an old note: %s", out)
	}
	code, out, errs := r.run(append([]string{"digest", long}, model...)...)
	if code != 0 || !strings.Contains(out, `"status": "done"`) || !strings.Contains(errs, " of 17 chunks") {
		t.Errorf("a long document: exit %d, %s, %s", code, out, errs)
	}
	for want, args := range map[string][]string{
		"FILE is missing":               {"digest"},
		"--stop is empty":               {"digest", "--stop", ""},
		"read the document":             {"digest", filepath.Join(dir, "none.md")},
		"need --model":                  {"digest", short, "--provider", "openai"},
		"set ABAGRAPH_MODEL_KEY":        {"ask", "x", "--model", "m"},
		"SchemaInvalid: model is":       {"ask", "x"},
		"keys of models are kept":       {"digest", "--resume", "Job:x"},
		"NotFound: no such job: Job:x":  append([]string{"digest", "--resume", "Job:x"}, model...),
		"extract_model is required":     {"digest", short},
		"content_type has no such valu": {"digest", short, "--type", "image/png"},
	} {
		if got := r.fails(args...); !strings.Contains(got, want) {
			t.Errorf("abagraph %s said %q, want %q", strings.Join(args, " "), got, want)
		}
	}
	r.terminal = true
	for want, args := range map[string][]string{
		"At Acme.":                append([]string{"ask", "Where does Ann work?"}, model...),
		"0 written, 0 candidates": append([]string{"digest", short, "--date", "2024-06-01"}, model...),
	} {
		if out := r.ok(args...); !strings.Contains(out, want) {
			t.Errorf("abagraph %s wrote %q", strings.Join(args, " "), out)
		}
	}
	p.stop()
	if all := fmt.Sprint(p.out.String(), p.errs.String(), out, errs); strings.Contains(all, key[:8]) {
		t.Error("the key is told")
	}
}

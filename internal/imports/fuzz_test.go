package imports_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"abagraph/internal/imports"
)

// The fuzz targets import whatever bytes come. They check that nothing panics,
// that the counts add up, and that what was planned is what is read again: a
// row that parses in the plan and not in the run is an error of Run.

func fuzz(f *testing.F, o imports.Options, seeds ...string) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		source, err := imports.OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		defer source.Close()
		told := 0
		note := func(r imports.Refusal) {
			if told++; r.Line < 1 || r.Reason == "" {
				t.Errorf("told %+v", r)
			}
		}
		o.Batch = 3
		plan, err := imports.Make(context.Background(), source, o, note, func(int64, int64) {})
		if err != nil {
			return // the file as a whole is refused
		}
		report, err := plan.Run(context.Background(), imports.Config{Writer: newStore(), Note: note, Progress: func(int, int) {}})
		if err != nil {
			t.Fatal(err)
		}
		if !report.Complete() || told != report.Refused+report.Skipped+report.RetractionsSkipped {
			t.Errorf("told of %d, counted %+v", told, report)
		}
	})
}

func FuzzJSONLines(f *testing.F) {
	fuzz(f, imports.Options{Format: imports.JSONLines, KnownAt: "known", RetractedAt: "gone", Reason: "r"}, history,
		"[{\"subject\":\"a\",\"known\":1},\n{}]", "[[[", "{} {}\r\n\r\n{", "\xef\xbb\xbfnull", "[", "[]x", "{\"a\":1,\"a\":2}", "\"\xff\"")
}

func FuzzCSV(f *testing.F) {
	fuzz(f, imports.Options{Format: imports.CSV, Typed: true}, "subject,predicate,object\na,b,c\n", "subject,predicate,object\n\"a\n\nb\",x,\"\"\"\"\r\n\"",
		"subject,predicate,object,confidence,properties\na,b,1e5,0.5,{}\na,b\n\"a,b,c\nd,e,f,,\n", ",", "\n\n\"")
}

func FuzzTriples(f *testing.F) {
	fuzz(f, imports.Options{Format: imports.NTriples, Prefixes: map[string]string{"x": "http://x/"}}, "<http://x/a> <http://x/b> \"c\\u00e9\"@en .\n",
		"_:a <a:b> \"1\"^^<http://www.w3.org/2001/XMLSchema#decimal> <g:g> . # c", "<a:b><a:c>_:d.", "<a:b> <a:c> \"\\", "<< <a:b>", "#\n\n<a:b> <a:c> \"x\" . y")
}

// FuzzState gives a run whatever bytes as its state file.
func FuzzState(f *testing.F) {
	f.Add([]byte("{\"version\":1,\"import\":\"x\"}\n"))
	f.Add([]byte("{\"version\":1,\"import\":\"IMPORT\",\"epoch\":\"\",\"run\":\"\",\"file\":\"f\"}\n{\"batch\":0,\"tally\":{\"written\":2}}\n{\"batch\":-1,\"tally\":{}}\n"))
	f.Add([]byte("{\"version\":1,\"import\":\"IMPORT\",\"epoch\":\"\"}\n{\"batch\":1,\"tally\":{\"refused\":[{\"row\":99}]}}\n{\"done\":true}\n{"))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		data, state := filepath.Join(dir, "f"), filepath.Join(dir, "state")
		if err := os.WriteFile(data, []byte(history), 0o600); err != nil {
			t.Fatal(err)
		}
		source, err := imports.OpenFile(data)
		if err != nil {
			t.Fatal(err)
		}
		defer source.Close()
		plan, err := imports.Make(context.Background(), source, historyOptions(2), func(imports.Refusal) {}, func(int64, int64) {})
		if err != nil {
			t.Fatal(err)
		}
		text = []byte(replaceID(string(text), plan.ID))
		if err := os.WriteFile(state, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c := imports.Config{Writer: newStore(), State: state, Note: func(imports.Refusal) {}, Progress: func(int, int) {}}
		_, _ = plan.Run(context.Background(), c) // it may fail, never panic
	})
}

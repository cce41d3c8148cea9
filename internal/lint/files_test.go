package lint

import (
	"bytes"
	"fmt"
	"go/format"
	"path"
	"regexp"
	"strings"
	"testing"
)

// linesMax is where a file stops being one subject.
const linesMax = 600

func tooLong(s source) []string {
	if lines := bytes.Count(s.text, []byte("\n")); lines > linesMax {
		return []string{fmt.Sprintf("%s has %d lines: a file has one subject and at most %d; split it", s.path, lines, linesMax)}
	}
	return nil
}

func TestFilesAreShort(t *testing.T) {
	hold(t, tooLong)
	catches(t, tooLong, "fsm/a.go", "package fsm\n"+strings.Repeat("//\n", linesMax), "package fsm\n")
}

func unformatted(s source) []string {
	want, err := format.Source(s.text)
	if err != nil {
		return []string{s.path + " cannot be formatted: " + err.Error()}
	}
	if !bytes.Equal(want, s.text) {
		return []string{s.path + " is not formatted: run gofmt -w " + s.path}
	}
	return nil
}

func TestFilesAreFormatted(t *testing.T) {
	hold(t, unformatted)
	catches(t, unformatted, "fsm/a.go", "package fsm\nvar  a int\n", "package fsm\n\nvar a int\n")
}

// TestEachPackageHasADoc wants a doc.go with a comment in each folder that
// holds Go code: what the package owns, and what it never does.
func TestEachPackageHasADoc(t *testing.T) {
	for _, problem := range undocumented(sources(t)) {
		t.Error(problem)
	}
	a, _ := parse("fsm/a.go", "package fsm\n")
	if len(undocumented([]source{a})) == 0 {
		t.Error("a folder without a doc.go passes")
	}
	single, _ := parse("fsm/a.go", "// Package fsm turns entries into keys and never reads a clock.\npackage fsm\n")
	if got := undocumented([]source{single}); len(got) > 0 {
		t.Errorf("a package of one documented file is refused: %q", got)
	}
	bare, _ := parse("fsm/doc.go", "package fsm\n")
	if len(undocumented([]source{a, bare})) == 0 {
		t.Error("a doc.go without a comment passes")
	}
	good, _ := parse("fsm/doc.go", "// Package fsm turns entries into keys and never reads a clock.\npackage fsm\n")
	if got := undocumented([]source{a, good}); len(got) > 0 {
		t.Errorf("a documented folder is refused: %q", got)
	}
}

func undocumented(list []source) (problems []string) {
	files, documented := map[string]int{}, map[string]bool{}
	for _, s := range list {
		folder := path.Dir(s.path)
		if path.Base(folder) == "testdata" {
			continue
		}
		told := s.tree.Doc != nil && len(s.tree.Doc.Text()) >= 40
		if !s.test() {
			files[folder]++
			documented[folder] = documented[folder] || told && path.Base(s.path) == "doc.go"
			continue
		}
		files[folder] += 0
	}
	for _, s := range list { // a package of one file may say it there
		if folder := path.Dir(s.path); files[folder] == 1 && !s.test() && s.tree.Doc != nil {
			documented[folder] = len(s.tree.Doc.Text()) >= 40
		}
	}
	for folder := range files {
		if !documented[folder] {
			problems = append(problems, folder+" has no doc.go with a package comment: say what it owns and what it never does")
		}
	}
	return problems
}

// Words that have no place in the repository: paths of one machine, and marks
// of unfinished work. They are put together here, so that this file passes.
var (
	machinePaths = regexp.MustCompile(`(^|[\s"'=(:])/(wo` + `rk|home/[a-z]+|root|Users)/[\w.]|\bfa` + `rm-`)
	unfinished   = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|HA` + `CK)\b`)
)

// textual reports whether people read and write the file.
func textual(name string) bool {
	switch path.Ext(name) {
	case ".go", ".md", ".sh", ".yml", ".yaml", ".mod", ".html", ".js", ".ts", ".py", ".css":
		return true
	}
	base := path.Base(name)
	return base == "Makefile" || strings.HasPrefix(name, ".ci/") || base == ".gitignore"
}

func misplaced(name, text string) (problems []string) {
	for n, line := range strings.Split(text, "\n") {
		if found := machinePaths.FindString(line); found != "" {
			problems = append(problems, fmt.Sprintf("%s:%d names a place on one machine (%q): use a relative path, a flag or a temporary folder", name, n+1, strings.TrimSpace(found)))
		}
		if found := unfinished.FindString(line); found != "" {
			problems = append(problems, fmt.Sprintf("%s:%d is marked %s: finish it or file an issue", name, n+1, found))
		}
	}
	return problems
}

func TestMisplacedWords(t *testing.T) {
	seen := 0
	files(t, func(name string, read func() []byte) {
		if !textual(name) {
			return
		}
		seen++
		for _, problem := range misplaced(name, string(read())) {
			t.Error(problem)
		}
	})
	if seen == 0 {
		t.Fatal("no text was read")
	}
	for _, breach := range []string{"see /wo" + "rk/main/fsm", "// TO" + "DO: later", "on fa" + "rm-12", "cd /ro" + "ot/go"} {
		if len(misplaced("a.md", breach)) == 0 {
			t.Errorf("this passes: %q", breach)
		}
	}
	for _, fair := range []string{"/api/facts/root", "the network/root", "https://example.org/home", "../shared/data", "a farm", "artwork/b"} {
		if got := misplaced("a.md", fair); len(got) > 0 {
			t.Errorf("this is refused: %q: %q", fair, got)
		}
	}
}

package lint

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	testNamed  = regexp.MustCompile("`(Test[A-Za-z0-9_]+)`")
	testFunc   = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9_]+)\(`)
	promiseRow = regexp.MustCompile(`(?m)^\| ([^|]+) \| ([^|]+) \|$`)
)

// testsOf lists the names of all tests in the module.
func testsOf(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	files(t, func(name string, read func() []byte) {
		if !strings.HasSuffix(name, "_test.go") {
			return
		}
		for _, found := range testFunc.FindAllSubmatch(read(), -1) {
			names[string(found[1])] = true
		}
	})
	return names
}

// unheld names the promises of a page's tables of two columns that no test holds, and
// the tests that it names and nobody has written.
func unheld(page []byte, tests map[string]bool) (problems []string) {
	for _, one := range testNamed.FindAllSubmatch(page, -1) {
		if !tests[string(one[1])] {
			problems = append(problems, "there is no test "+string(one[1]))
		}
	}
	promises, _, _ := bytes.Cut(page, []byte("## What is not promised"))
	for _, row := range promiseRow.FindAllSubmatch(promises, -1) {
		if string(row[1]) == "promise" || strings.HasPrefix(string(row[1]), "---") {
			continue
		}
		if !testNamed.Match(row[2]) {
			problems = append(problems, "no test holds: "+string(row[1]))
		}
	}
	return problems
}

// TestGuaranteesAreHeld wants a test behind each promise of docs/GUARANTEES.md.
func TestGuaranteesAreHeld(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root(t), "docs", "GUARANTEES.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := testsOf(t)
	if rows := len(promiseRow.FindAll(page, -1)); rows < 15 || len(tests) < 500 {
		t.Fatalf("%d promises and %d tests were found", rows, len(tests))
	}
	for _, problem := range unheld(page, tests) {
		t.Errorf("docs/GUARANTEES.md: %s", problem)
	}
	breach := "| promise | held by |\n|---|---|\n| water is wet | nothing |\n| fire is hot | `TestNobodyWrote`, `TestGuaranteesAreHeld` |\n"
	if got := unheld([]byte(breach), tests); len(got) != 2 {
		t.Errorf("of a promise without a test and a test that is not there these were caught: %q", got)
	}
}

package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// required matches a direct requirement of a go.mod: a path, a version, and no
// remark that it is indirect.
var required = regexp.MustCompile(`(?m)^\s*(?:require\s+)?([a-z0-9.\-]+\.[a-z]+/\S+|abagraph\S*)\s+(v\S+)\s*$`)

// unexplained names the direct dependencies that a page does not list with
// their version.
func unexplained(gomod, page string) (problems []string) {
	for _, found := range required.FindAllStringSubmatch(gomod, -1) {
		if !strings.Contains(page, "| `"+found[1]+"` | "+found[2]+" |") {
			problems = append(problems, found[1]+" "+found[2]+" is required but docs/dependencies.md does not explain it: add a line with its version, licence and reason")
		}
	}
	return problems
}

func TestDependenciesAreExplained(t *testing.T) {
	dir := root(t)
	page, err := os.ReadFile(filepath.Join(dir, "docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.mod", filepath.Join("bench", "go.mod")} {
		gomod, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Errorf("reading %s: %v", name, err)
			continue
		}
		for _, problem := range unexplained(string(gomod), string(page)) {
			t.Errorf("%s: %s", name, problem)
		}
	}
	const line = "require (\n\texample.org/new/thing v1.2.3\n\texample.org/other v1.0.0 // indirect\n)\n"
	if got := unexplained(line, string(page)); len(got) != 1 {
		t.Errorf("of one unexplained and one indirect module these were caught: %q", got)
	}
}

// TestToolchainIsNotFetched wants go.mod to ask for a language version only: a
// toolchain line would make an older Go download another one.
func TestToolchainIsNotFetched(t *testing.T) {
	for _, name := range []string{"go.mod", filepath.Join("bench", "go.mod")} {
		gomod, err := os.ReadFile(filepath.Join(root(t), name))
		if err != nil {
			t.Errorf("reading %s: %v", name, err)
			continue
		}
		if regexp.MustCompile(`(?m)^toolchain `).Match(gomod) {
			t.Errorf("%s has a toolchain line: the go line alone says which Go is needed", name)
		}
	}
}

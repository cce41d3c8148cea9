package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// source is one Go file of the repository, with its path relative to the root.
type source struct {
	path string
	text []byte
	fset *token.FileSet
	tree *ast.File
}

// test reports whether the file belongs to tests only.
func (s source) test() bool { return strings.HasSuffix(s.path, "_test.go") }

// under reports whether the file lies in one of the folders.
func (s source) under(folders ...string) bool {
	for _, folder := range folders {
		if strings.HasPrefix(s.path, folder+"/") {
			return true
		}
	}
	return false
}

// at renders a position as path:line.
func (s source) at(pos token.Pos) string {
	return s.path + ":" + strconv.Itoa(s.fset.Position(pos).Line)
}

// parse reads one file; the rules' own tests call it with breaches.
func parse(name, text string) (source, error) {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, name, text, parser.ParseComments)
	return source{path: name, text: []byte(text), fset: fset, tree: tree}, err
}

// reparse reads a file again into a set of files that are typed together.
func reparse(fset *token.FileSet, s source) (source, error) {
	tree, err := parser.ParseFile(fset, s.path, s.text, parser.ParseComments)
	s.fset, s.tree = fset, tree
	return s, err
}

// root is the repository's root: the folder of go.mod above this package.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		t.Fatalf("the repository's root should be two folders up: %v", err)
	}
	return dir
}

// files walks what the repository keeps, without build output and git's own.
func files(t *testing.T, visit func(name string, read func() []byte)) {
	t.Helper()
	dir := root(t)
	err := filepath.WalkDir(dir, func(full string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, full)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if entry.IsDir() {
			switch {
			case name == ".git", name == "bin", name == "data", name == "abagraph-data", path.Base(name) == "node_modules":
				return filepath.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		visit(name, func() []byte {
			text, err := os.ReadFile(full)
			if err != nil {
				t.Fatalf("reading %s: %v", name, err)
			}
			return text
		})
		return nil
	})
	if err != nil {
		t.Fatalf("walking the repository: %v", err)
	}
}

var parsed struct {
	sync.Once
	list []source
}

// sources parses every Go file once for all tests of the package.
func sources(t *testing.T) []source {
	t.Helper()
	parsed.Do(func() {
		files(t, func(name string, read func() []byte) {
			if !strings.HasSuffix(name, ".go") {
				return
			}
			s, err := parse(name, string(read()))
			if err != nil {
				t.Errorf("parsing %s: %v", name, err)
				return
			}
			parsed.list = append(parsed.list, s)
		})
	})
	if len(parsed.list) == 0 {
		t.Fatal("no Go file was found: the rules would hold for nothing")
	}
	return parsed.list
}

// hold applies a rule to every file and reports each breach.
func hold(t *testing.T, rule func(source) []string) {
	t.Helper()
	for _, s := range sources(t) {
		for _, problem := range rule(s) {
			t.Error(problem)
		}
	}
}

// catches shows a rule a breach and a fair file, and fails if it cannot tell
// them apart.
func catches(t *testing.T, rule func(source) []string, name, breach, fair string) {
	t.Helper()
	bad, err := parse(name, breach)
	if err != nil {
		t.Fatal(err)
	}
	if len(rule(bad)) == 0 {
		t.Errorf("the rule lets this pass, in %s:\n%s", name, breach)
	}
	good, err := parse(name, fair)
	if err != nil {
		t.Fatal(err)
	}
	if got := rule(good); len(got) > 0 {
		t.Errorf("the rule refuses what is fair, in %s: %q\n%s", name, got, fair)
	}
}

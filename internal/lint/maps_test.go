package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// orderMark excuses a range over a map; a reason must follow it, on the line of
// the range or on the one above.
const orderMark = "map order:"

// mapRanges refuses ranging over a map in a pure package: its order is another
// one on each node, and would reach a key, an answer or a digest.
func mapRanges(list []source, info *types.Info) (problems []string) {
	for _, s := range list {
		excused := excuses(s)
		ast.Inspect(s.tree, func(n ast.Node) bool {
			what := ""
			switch n := n.(type) {
			case *ast.RangeStmt:
				if of := info.TypeOf(n.X); of != nil && isMap(of) {
					what = "ranges over a map"
				} else if call, ok := n.X.(*ast.CallExpr); ok && mapsCall(info, call) {
					what = "ranges over the keys or values of a map"
				}
			default:
				return true
			}
			if what != "" && !excused[s.fset.Position(n.Pos()).Line] {
				problems = append(problems, s.at(n.Pos())+" "+what+": sort the keys first (slices.Sorted(maps.Keys(m))), or say why it does not matter in a comment: // "+orderMark+" …")
			}
			return true
		})
	}
	return problems
}

func isMap(t types.Type) bool {
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// mapsCall reports whether a call is maps.Keys, maps.Values or maps.All.
func mapsCall(info *types.Info, call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of := info.Uses[sel.Sel]
	return of != nil && of.Pkg() != nil && of.Pkg().Path() == "maps" && (of.Name() == "Keys" || of.Name() == "Values" || of.Name() == "All")
}

// excuses gives the lines that a justified comment covers: its own and the next.
func excuses(s source) map[int]bool {
	lines := map[int]bool{}
	for _, group := range s.tree.Comments {
		for _, comment := range group.List {
			_, reason, found := strings.Cut(comment.Text, orderMark)
			if !found || len(strings.TrimSpace(reason)) < 10 {
				continue
			}
			lines[s.fset.Position(comment.Pos()).Line] = true
			lines[s.fset.Position(group.End()).Line+1] = true
		}
	}
	return lines
}

func newInfo() *types.Info {
	return &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
}

// exported asks go list for the compiled form of what the pure packages import.
func exported(t *testing.T, folders []string) map[string]string {
	t.Helper()
	args := []string{"list", "-deps", "-export", "-json=ImportPath,Export"}
	if raceEnabled {
		args = append(args, "-race") // what this very test run has compiled already
	}
	for _, folder := range folders {
		args = append(args, "./"+folder)
	}
	var stderr strings.Builder
	command := exec.Command("go", args...)
	command.Dir, command.Stderr = root(t), &stderr
	output, err := command.Output()
	if err != nil {
		t.Fatalf("go list -export: %v\n%s", err, stderr.String())
	}
	found := map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var p struct{ ImportPath, Export string }
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatalf("reading go list: %v", err)
		}
		found[p.ImportPath] = p.Export
	}
}

func TestPurePackagesDoNotRangeOverMaps(t *testing.T) {
	byFolder := map[string][]source{}
	for _, s := range sources(t) {
		if s.under(pure...) && !s.test() && built(t, s) {
			byFolder[path.Dir(s.path)] = append(byFolder[path.Dir(s.path)], s)
		}
	}
	var folders []string
	for folder := range byFolder {
		folders = append(folders, folder)
	}
	compiled := exported(t, folders)
	for folder, list := range byFolder {
		info, err := check(folder, list, func(name string) (io.ReadCloser, error) {
			file, found := compiled[name]
			if !found || file == "" {
				return nil, fmt.Errorf("no compiled form of %s", name)
			}
			return os.Open(file)
		})
		if err != nil {
			t.Errorf("%s does not type-check: %v", folder, err)
			continue
		}
		for _, problem := range mapRanges(list, info) {
			t.Error(problem)
		}
	}
}

// built reports whether a plain build takes the file: of two variants under
// opposite build tags only one is typed.
func built(t *testing.T, s source) bool {
	t.Helper()
	matched, err := build.Default.MatchFile(filepath.Join(root(t), filepath.Dir(s.path)), path.Base(s.path))
	if err != nil {
		t.Fatalf("matching %s: %v", s.path, err)
	}
	return matched && path.Base(path.Dir(s.path)) != "testdata"
}

// check types the files of one package. Each was parsed with positions of its
// own, so that they are parsed once more into one set.
func check(name string, list []source, open func(string) (io.ReadCloser, error)) (*types.Info, error) {
	fset := token.NewFileSet()
	var trees []*ast.File
	for i := range list {
		again, err := reparse(fset, list[i])
		if err != nil {
			return nil, err
		}
		list[i] = again
		trees = append(trees, again.tree)
	}
	info := newInfo()
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", open)}
	_, err := config.Check(module+"/"+name, fset, trees, info)
	return info, err
}

func TestMapRangesAreCaught(t *testing.T) {
	const head = "package fsm\nfunc f(m map[string]int, s []int) {\n"
	for body, bad := range map[string]bool{
		"for range m {\n}\n}":                                                    true,
		"for k := range m {\n_ = k\n}\n}":                                        true,
		"for k := range s {\n_ = k\n}\n}":                                        false,
		"// map order: \nfor range m {\n}\n}":                                    true,
		"// map order: it is only summed\nfor range m {\n}\n}":                   false,
		"for range m { // map order: the keys are sorted right below\n}\n}":      false,
		"// map order: it is only summed\nfor range m {\n}\nfor range m {\n}\n}": true,
	} {
		s, err := parse("fsm/a.go", head+body)
		if err != nil {
			t.Fatal(err)
		}
		list := []source{s}
		info, err := check("fsm", list, func(name string) (io.ReadCloser, error) { return nil, errors.New(name) })
		if err != nil {
			t.Fatal(err)
		}
		if got := mapRanges(list, info); (len(got) > 0) != bad {
			t.Errorf("problems = %q, want any: %v, in\n%s", got, bad, body)
		}
	}
}

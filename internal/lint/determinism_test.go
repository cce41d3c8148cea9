package lint

import (
	"go/ast"
	"strings"
	"testing"
)

// pure are the folders whose code is the same function on every node.
var pure = []string{"fact", "log/entry", "fsm"}

// impure are calls that let the outside in, by package and name.
var impure = map[string]map[string]bool{
	"time": {"Now": true, "Since": true, "Until": true, "Sleep": true, "After": true, "AfterFunc": true, "Tick": true, "NewTimer": true, "NewTicker": true},
	"os":   {"Getenv": true, "LookupEnv": true, "Environ": true, "ExpandEnv": true, "Hostname": true, "Getpid": true, "Args": true},
}

// clocks refuses clock, environment and randomness in the pure folders: what
// they would decide travels in the entry instead.
func clocks(s source) (problems []string) {
	if s.test() || !s.under(pure...) {
		return nil
	}
	local := map[string]string{}
	imports(s, func(spec *ast.ImportSpec, name, alias string) {
		if strings.Contains(name, "rand") && (strings.HasPrefix(name, "math/") || strings.HasPrefix(name, "crypto/")) {
			problems = append(problems, s.at(spec.Pos())+" imports "+name+": a pure package has no randomness; the proposer decides and the entry carries it")
		}
		if impure[name] == nil {
			return
		}
		if alias == "" {
			alias = name
		}
		local[alias] = name
	})
	ast.Inspect(s.tree, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, ok := sel.X.(*ast.Ident)
		if !ok {
			return true
		}
		if impure[local[pkg.Name]][sel.Sel.Name] {
			problems = append(problems, s.at(n.Pos())+" calls "+pkg.Name+"."+sel.Sel.Name+": a pure package reads neither clock nor environment; the leader stamps the entry")
		}
		return true
	})
	return problems
}

func TestPurePackagesReadNoClock(t *testing.T) {
	hold(t, clocks)
	catches(t, clocks, "fsm/a.go",
		"package fsm\nimport \"time\"\nvar _ = time.Now()",
		"package fsm\nimport \"time\"\nvar _ = time.UnixMilli(0)")
	catches(t, clocks, "fact/a.go",
		"package fact\nimport clock \"time\"\nvar _ = clock.Now()",
		"package fact\nvar time struct{ Now int }\nvar _ = time.Now")
	catches(t, clocks, "log/entry/a.go",
		"package entry\nimport \"math/rand/v2\"\nvar _ = rand.N(3)",
		"package entry\nimport \"math/bits\"\nvar _ = bits.Len(3)")
	catches(t, clocks, "fsm/b.go",
		"package fsm\nimport \"os\"\nvar _ = os.Getenv(\"A\")",
		"package fsm\nimport \"os\"\nvar _ = os.Remove")
}

package lint

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// imports yields each import of a file with its path and its alias, if any.
func imports(s source, visit func(spec *ast.ImportSpec, path, alias string)) {
	for _, spec := range s.tree.Imports {
		unquoted, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		alias := ""
		if spec.Name != nil {
			alias = spec.Name.Name
		}
		visit(spec, unquoted, alias)
	}
}

// The words that three folders of ours share with others. A variable of that
// name would hide the package.
var taken = map[string]bool{"log": true, "http": true, "mcp": true}

// stdLog refuses the standard library's log.
func stdLog(s source) (problems []string) {
	imports(s, func(spec *ast.ImportSpec, name, _ string) {
		if name == "log" {
			problems = append(problems, s.at(spec.Pos())+" imports std log: use log/slog, with an injected *slog.Logger")
		}
	})
	return problems
}

func TestStdLogIsBanned(t *testing.T) {
	hold(t, stdLog)
	catches(t, stdLog, "memory/a.go", "package memory\nimport \"log\"\nvar _ = log.Print", "package memory\nimport \"log/slog\"\nvar _ = slog.Info")
}

// netHTTP keeps net/http at the edge of the house.
func netHTTP(s source) (problems []string) {
	if s.test() || s.under("http", "mcp", "chaos", "client", "bench", "internal", "examples") {
		return nil
	}
	imports(s, func(spec *ast.ImportSpec, name, _ string) {
		if within(name, "net/http") {
			problems = append(problems, s.at(spec.Pos())+" imports "+name+": only http, mcp, chaos, client, bench and tests may; our http wraps it for everyone else")
		}
	})
	return problems
}

func TestNetHTTPStaysAtTheEdge(t *testing.T) {
	hold(t, netHTTP)
	catches(t, netHTTP, "cmd/abagraph/a.go", "package main\nimport \"net/http\"\nvar _ http.Handler", "package main\nimport \"net/url\"\nvar _ url.URL")
	catches(t, netHTTP, "fsm/pprof.go", "package fsm\nimport _ \"net/http/pprof\"", "package fsm\nimport _ \"embed\"")
}

// aliases holds the one alias of each package of ours that shares a name with
// the standard library, and of the guest in mcp.
func aliases(s source) (problems []string) {
	imports(s, func(spec *ast.ImportSpec, name, alias string) {
		want := ""
		switch {
		case name == module+"/log":
			want = "rlog"
		case name == module+"/http":
			want = "httpd"
		case strings.HasPrefix(name, "github.com/") && path.Base(name) == "mcp":
			want = "mcpsdk"
		case name == "net/http" && alias != "" && alias != "_":
			problems = append(problems, s.at(spec.Pos())+" renames net/http: the standard library keeps its names")
			return
		default:
			return
		}
		if alias != want {
			problems = append(problems, s.at(spec.Pos())+" imports "+name+" without its one alias: write "+want+" "+spec.Path.Value)
		}
	})
	return problems
}

func TestImportAliases(t *testing.T) {
	hold(t, aliases)
	catches(t, aliases, "cmd/abagraph/a.go", "package main\nimport \"abagraph/log\"\nvar _ = log.Open", "package main\nimport rlog \"abagraph/log\"\nvar _ = rlog.Open")
	catches(t, aliases, "cmd/abagraph/a.go", "package main\nimport web \"abagraph/http\"\nvar _ = web.New", "package main\nimport httpd \"abagraph/http\"\nvar _ = httpd.New")
}

// takenNames refuses variables, fields and parameters named like a package.
func takenNames(s source) (problems []string) {
	refuse := func(names ...*ast.Ident) {
		for _, name := range names {
			if name != nil && taken[name.Name] {
				problems = append(problems, s.at(name.Pos())+" names a variable, field or parameter "+name.Name+": choose another word (the logger is logger)")
			}
		}
	}
	idents := func(list []ast.Expr) {
		for _, e := range list {
			if name, ok := e.(*ast.Ident); ok {
				refuse(name)
			}
		}
	}
	ast.Inspect(s.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			refuse(n.Names...)
		case *ast.ValueSpec:
			refuse(n.Names...)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				idents(n.Lhs)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				idents([]ast.Expr{n.Key, n.Value})
			}
		}
		return true
	})
	return problems
}

func TestNoVariableIsNamedLikeAPackage(t *testing.T) {
	hold(t, takenNames)
	for _, breach := range []string{
		"var log int", "func f(http int) {}", "func f() { log := 1; _ = log }", "type t struct{ mcp int }", "func f() { for _, log := range []int{} { _ = log } }",
	} {
		catches(t, takenNames, "fsm/a.go", "package fsm\n"+breach, "package fsm\nvar logger int\nfunc f(logs []int) {}")
	}
}

// Exported names that our log and http packages must not have, so that an
// import of the wrong one does not compile.
var (
	stdLogNames  = regexp.MustCompile(`^(New|Logger|Default|(Print|Fatal|Panic)(f|ln)?)$`)
	stdHTTPNames = regexp.MustCompile(`^(Get|Post|Handle|HandleFunc|ListenAndServe|Error)$`)
)

// stdNames refuses those names in the two folders.
func stdNames(s source) (problems []string) {
	banned := map[string]*regexp.Regexp{"log": stdLogNames, "http": stdHTTPNames}[path.Dir(s.path)]
	if banned == nil || s.test() {
		return nil
	}
	refuse := func(name *ast.Ident) {
		if banned.MatchString(name.Name) {
			problems = append(problems, s.at(name.Pos())+" exports "+name.Name+", a name of the standard library's package: a wrong import would compile")
		}
	}
	for _, d := range s.tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				refuse(d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					refuse(spec.Name)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						refuse(name)
					}
				}
			}
		}
	}
	return problems
}

func TestShadowingPackagesExportNoStdName(t *testing.T) {
	hold(t, stdNames)
	catches(t, stdNames, "log/a.go", "package log\nfunc New() {}", "package log\nfunc Open() {}")
	catches(t, stdNames, "http/a.go", "package http\ntype Error struct{}", "package http\ntype Server struct{}\nfunc (Server) Error() {}")
}

// globals refuses the process-wide metrics registry: several nodes fit in one
// process, each with its own.
func globals(s source) (problems []string) {
	if s.under("bench") {
		return nil
	}
	imports(s, func(spec *ast.ImportSpec, name, _ string) {
		if within(name, prometheus+"/prometheus/promauto") {
			problems = append(problems, s.at(spec.Pos())+" imports promauto: register with the node's own registry, which is injected")
		}
	})
	ast.Inspect(s.tree, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, ok := sel.X.(*ast.Ident)
		if ok && pkg.Name == "prometheus" && (sel.Sel.Name == "MustRegister" || sel.Sel.Name == "Register" || strings.HasPrefix(sel.Sel.Name, "Default")) {
			problems = append(problems, s.at(n.Pos())+" uses prometheus."+sel.Sel.Name+": register with the node's own registry, which is injected")
		}
		return true
	})
	return problems
}

func TestMetricsAreNotGlobal(t *testing.T) {
	hold(t, globals)
	head := "package replication\nimport \"github.com/prometheus/client_golang/prometheus\"\n"
	catches(t, globals, "replication/a.go", head+"func init() { prometheus.MustRegister(nil) }", head+"var _ = prometheus.NewRegistry()")
}

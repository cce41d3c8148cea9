package lint

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "abagraph"

// Names of third parties, as prefixes of import paths.
const (
	raftLib    = "github.com/hashicorp/raft"
	raftBolt   = "github.com/hashicorp/raft-boltdb"
	bbolt      = "go.etcd.io/bbolt"
	pebbleLib  = "github.com/cockroachdb/pebble"
	echoLib    = "github.com/labstack/echo"
	prometheus = "github.com/prometheus/client_golang"
	anyModule  = "a module of others"
)

// house is one line of the table of ARCHITECTURE.md: the packages of ours that
// a folder may import, and what it must never see.
type house struct {
	folder   string
	may      []string
	never    []string
	sentence string
}

// table is ordered from the middle of the house outwards. A package is held to
// the line with the longest folder that it lies in.
var table = []house{
	{"fact", nil, []string{anyModule, "os", "net", "log/slog", "math/rand", "math/rand/v2", "crypto/rand"},
		"fact is the vocabulary: it imports nothing but the standard library, and does no input or output"},
	{"log/entry", []string{"fact"}, []string{raftLib, raftBolt, bbolt, pebbleLib, echoLib, prometheus, "os", "net", "math/rand", "math/rand/v2", "crypto/rand", "github.com/google/uuid"},
		"log/entry is the bytes of one entry: it imports fact only, and sees no Raft, no Pebble, no clock, no randomness"},
	{"log", []string{"fact", "log/entry"}, []string{pebbleLib, echoLib, "net", "net/http"},
		"log is the durable log on disk: it imports fact and log/entry, and sees neither the state machine nor a surface"},
	{"fsm", []string{"fact", "log/entry"}, []string{raftLib, raftBolt, bbolt, echoLib, prometheus, "net", "net/http", "math/rand", "math/rand/v2", "crypto/rand", "github.com/google/uuid"},
		"fsm is a pure state machine: it imports fact and log/entry, and knows neither Raft nor bbolt, Echo, Prometheus, network or randomness"},
	{"replication", []string{"fact", "log", "log/entry", "fsm"}, []string{echoLib, "net/http"},
		"replication is the Raft node: it imports fact, log, log/entry and fsm, and sees no surface"},
	{"memory/vector", []string{"fact"}, []string{raftLib, raftBolt, bbolt, pebbleLib, echoLib, "net/http", "math/rand", "math/rand/v2", "crypto/rand"},
		"memory/vector keeps vectors small: it imports fact only, and sees no engine, no surface, no randomness"},
	{"memory/search", []string{"fact", "memory/vector"}, []string{raftLib, raftBolt, bbolt, pebbleLib, echoLib, prometheus, "os", "net", "math/rand", "math/rand/v2", "crypto/rand"},
		"memory/search ranks what it is given: it imports fact only, and sees no engine, no surface, no randomness"},
	{"memory/page", []string{"fact"}, []string{anyModule, "os", "net", "log/slog", "time", "math/rand", "math/rand/v2", "crypto/rand"},
		"memory/page says what a page means: it imports fact only, and reads no store, clock, file or network"},
	{"memory/check", []string{"fact"}, []string{anyModule, "os", "net", "log/slog", "time", "math/rand", "math/rand/v2", "crypto/rand"},
		"memory/check judges facts that it is given: it imports fact only, and reads no store, clock, file or network"},
	{"memory/rules", []string{"fact"}, []string{anyModule, "os", "net", "log/slog", "time", "math/rand", "math/rand/v2", "crypto/rand"},
		"memory/rules says who may do what: it imports fact only, and reads no store, clock, file or network"},
	{"memory/report", []string{"fact"}, []string{anyModule, "os", "net", "log/slog", "time", "math/rand", "math/rand/v2", "crypto/rand"},
		"memory/report says what a report says: it imports fact only, and reads no store, clock, file or network"},
	{"memory", []string{"fact", "log/entry", "memory/page", "memory/check", "memory/rules", "memory/report", "memory/packet", "memory/search", "internal/byok"}, []string{raftLib, raftBolt, bbolt, pebbleLib, echoLib, "net/http"},
		"memory is the one door: it imports fact and log/entry, and reaches replication and fsm only through interfaces that it declares"},
	{"memory/packet", []string{"fact"}, []string{raftLib, raftBolt, bbolt, pebbleLib, echoLib, prometheus, "os", "net", "net/http", "math/rand", "math/rand/v2", "crypto/rand", "time"},
		"memory/packet is a pure function from facts to a packet: it imports fact only, and sees no store, no clock and no randomness"},
	{"ingest", []string{"fact", "memory", "memory/page", "memory/packet", "internal/byok", "internal/models", "internal/outbound", "internal/rounds", "internal/span"}, []string{raftLib, raftBolt, bbolt, pebbleLib, echoLib},
		"ingest calls memory like any other client: it imports fact and memory only"},
	{"internal/outbound", nil, []string{anyModule},
		"internal/outbound guards every outbound call: it imports the standard library only"},
	{"internal/span", nil, []string{anyModule, "os", "net"},
		"internal/span is what may be told of a request in parts: it imports the standard library only"},
	{"internal/rounds", nil, []string{anyModule, "os", "net"},
		"internal/rounds is a loop that one node has: it imports the standard library only"},
	{"internal/otlp", []string{"internal/span"}, []string{raftLib, raftBolt, bbolt, pebbleLib, echoLib},
		"internal/otlp sends spans to a collector: it imports internal/span only"},
	{"internal/byok", []string{"fact"}, []string{"os", "net", "net/http"},
		"internal/byok reads the model of a caller and keeps its key from being told: it imports fact only, and calls nobody"},
	{"internal/models", []string{"fact", "internal/byok", "internal/outbound"}, []string{raftLib, raftBolt, bbolt, pebbleLib, echoLib},
		"internal/models asks the models of callers: it imports fact, internal/byok and internal/outbound"},
	{"internal/watch", []string{"fact", "memory", "internal/outbound"}, []string{raftLib, raftBolt, bbolt, pebbleLib, echoLib, "net/http"},
		"internal/watch looks at alerts through memory and tells webhooks through internal/outbound: it sees no engine and no surface"},
	{"internal/embed", []string{"fact", "internal/outbound"}, []string{anyModule},
		"internal/embed asks the providers of vectors: it imports fact and the standard library only"},
	{"http", []string{"fact", "memory", "memory/page", "memory/check", "memory/rules", "memory/report", "memory/packet", "ingest"}, []string{raftLib, raftBolt, bbolt, pebbleLib},
		"http speaks to fact, memory and ingest only: no log, fsm, replication, mcp, Raft or Pebble"},
	{"mcp", []string{"fact", "memory", "memory/packet", "ingest"}, []string{raftLib, raftBolt, bbolt, pebbleLib, echoLib},
		"mcp speaks to fact, memory and ingest only: no log, fsm, replication, http, Raft or Pebble"},
	{"client", []string{"fact"}, []string{raftLib, raftBolt, bbolt, pebbleLib, echoLib, prometheus},
		"client is the client of the REST API: it imports fact only"},
	{"ops", []string{"fact", "log", "log/entry", "fsm", "replication", "client"}, []string{echoLib, "net/http"},
		"ops works on offline data and through the client: it imports fact, log, fsm, replication and client, and no surface"},
	{"chaos", []string{"client", "fact"}, []string{raftLib, raftBolt, bbolt, pebbleLib, echoLib},
		"chaos attacks from the street: it imports client and fact, and starts real processes"},
	{"docs", nil, []string{anyModule, "os", "net"},
		"docs is the documents, embedded: it imports nothing but embed"},
	{"cmd", []string{"docs", "fact", "log", "log/entry", "fsm", "replication", "memory", "ingest", "http", "mcp", "client", "ops", "internal/embed", "internal/outbound", "internal/models"}, []string{"net/http"},
		"cmd is flags and wiring: it imports all but chaos, and needs net/http never, since our http wraps it"},
}

// lineOf finds the line that a package of ours is held to.
func lineOf(folder string) (house, bool) {
	best, found := house{}, false
	for _, line := range table {
		if within(folder, line.folder) && len(line.folder) > len(best.folder) {
			best, found = line, true
		}
	}
	return best, found
}

func within(name, prefix string) bool { return name == prefix || strings.HasPrefix(name, prefix+"/") }

// reach is what a line may import, and what those may, and so on.
func reach(line house) map[string]bool {
	seen := map[string]bool{line.folder: true}
	for queue := slices.Clone(line.may); len(queue) > 0; queue = queue[1:] {
		if seen[queue[0]] {
			continue
		}
		seen[queue[0]] = true
		next, _ := lineOf(queue[0])
		queue = append(queue, next.may...)
	}
	return seen
}

// listed is a package as `go list` tells it.
type listed struct {
	ImportPath string
	Standard   bool
	Imports    []string
}

// folder is the package's place in our house, or false if it is not ours.
func (p listed) folder() (string, bool) { return ours(p.ImportPath) }

func ours(path string) (string, bool) { return strings.CutPrefix(path, module+"/") }

// packages runs go list over the module, dependencies included.
func packages(t *testing.T) map[string]listed {
	t.Helper()
	var stderr strings.Builder
	command := exec.Command("go", "list", "-deps", "-json=ImportPath,Standard,Imports", "./...")
	command.Dir, command.Stderr = root(t), &stderr
	output, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	all := map[string]listed{}
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; {
		var p listed
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("reading go list: %v", err)
		}
		all[p.ImportPath] = p
	}
}

// breaches judges one package of ours by the table. Imports are followed
// through packages of ours, so that a helper package is no way around a rule;
// what a module of others imports is its own affair.
func breaches(start listed, all map[string]listed) []string {
	folder, _ := start.folder()
	line, held := lineOf(folder)
	if !held {
		return nil
	}
	var problems []string
	allowed := reach(line)
	complain := func(by, what string) {
		problems = append(problems, by+" imports "+what+": "+line.sentence)
	}
	for _, path := range start.Imports {
		other, own := ours(path)
		if own && !within(other, "internal") && !direct(line, other) {
			complain(start.ImportPath, path)
		}
	}
	seen := map[string]bool{start.ImportPath: true}
	for queue := []string{start.ImportPath}; len(queue) > 0; queue = queue[1:] {
		p := all[queue[0]]
		for _, path := range p.Imports {
			if other, own := ours(path); own {
				target, known := lineOf(other)
				if known && !allowed[target.folder] && p.ImportPath != start.ImportPath {
					complain(p.ImportPath, path)
				}
				if !seen[path] && (!known || target.folder == line.folder) {
					seen[path] = true
					queue = append(queue, path)
				}
				continue
			}
			if forbidden(line, all[path], path) {
				complain(p.ImportPath, path)
			}
		}
	}
	return problems
}

func direct(line house, other string) bool {
	target, known := lineOf(other)
	return known && (target.folder == line.folder || slices.Contains(line.may, target.folder))
}

func forbidden(line house, p listed, path string) bool {
	for _, prefix := range line.never {
		switch {
		case prefix == anyModule && !p.Standard:
			return true
		case strings.Contains(prefix, ".") && within(path, prefix), path == prefix:
			return true
		}
	}
	return false
}

func TestImports(t *testing.T) {
	all := packages(t)
	held := 0
	for _, p := range all {
		folder, own := p.folder()
		if !own {
			continue
		}
		held++
		if _, known := lineOf(folder); !known && !within(folder, "internal") && !within(folder, "examples") {
			t.Errorf("%s lies in a folder that the house does not know: add a line to the table here and in docs/ARCHITECTURE.md", p.ImportPath)
		}
		for _, problem := range breaches(p, all) {
			t.Error(problem)
		}
	}
	if held == 0 {
		t.Fatal("go list named no package of ours")
	}
}

func TestImportsCatchesBreaches(t *testing.T) {
	world := func(list ...listed) map[string]listed {
		all := map[string]listed{}
		for _, p := range list {
			all[p.ImportPath] = p
		}
		return all
	}
	std := listed{ImportPath: "sort", Standard: true}
	pkg := func(path string, imports ...string) listed {
		return listed{ImportPath: module + "/" + path, Imports: imports}
	}
	for name, c := range map[string]struct {
		start listed
		rest  []listed
		bad   bool
	}{
		"fact with std":                 {pkg("fact", "sort"), nil, false},
		"fact with a module":            {pkg("fact", "golang.org/x/text/unicode/norm"), nil, true},
		"fact with os":                  {pkg("fact", "os"), nil, true},
		"entry with fact":               {pkg("log/entry", "abagraph/fact"), []listed{pkg("fact")}, false},
		"entry with Raft":               {pkg("log/entry", raftLib), nil, true},
		"fsm with Pebble":               {pkg("fsm", pebbleLib+"/v2"), nil, false},
		"fsm with Raft":                 {pkg("fsm", raftLib), nil, true},
		"fsm with our log":              {pkg("fsm", "abagraph/log"), nil, true},
		"memory with fsm":               {pkg("memory", "abagraph/fsm"), nil, true},
		"http with memory":              {pkg("http", "abagraph/memory"), []listed{pkg("memory", "abagraph/log/entry")}, false},
		"http with entry":               {pkg("http", "abagraph/log/entry"), nil, true},
		"http with mcp":                 {pkg("http", "abagraph/mcp"), nil, true},
		"http with its own folder":      {pkg("http", "abagraph/http/stream"), []listed{pkg("http/stream")}, false},
		"its own folder breaks the law": {pkg("http", "abagraph/http/stream"), []listed{pkg("http/stream", pebbleLib)}, true},
		"a helper hides the state":      {pkg("http", "abagraph/internal/kit"), []listed{pkg("internal/kit", "abagraph/fsm")}, true},
		"a helper hides Raft":           {pkg("fsm", "abagraph/internal/kit"), []listed{pkg("internal/kit", raftLib)}, true},
		"cmd with chaos":                {pkg("cmd/abagraph", "abagraph/chaos"), nil, true},
		"cmd with replication":          {pkg("cmd/abagraph", "abagraph/replication"), nil, false},
		"client with memory":            {pkg("client", "abagraph/memory"), nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			got := breaches(c.start, world(append(c.rest, c.start, std)...))
			if bad := len(got) > 0; bad != c.bad {
				t.Errorf("breaches = %q, want any: %v", got, c.bad)
			}
		})
	}
}

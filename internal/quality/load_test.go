package quality

import (
	"bufio"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"abagraph/fact"
	"abagraph/internal/onenode"
	"abagraph/memory"
)

// files are the shared files of real facts, with the share of questions that
// search has to answer right at the first hit.
var files = []struct {
	name string
	goal float64
}{{"us-congress", 0.85}, {"us-committees", 0}, {"lifecycles", 0.64}}

// shared is where the files lie, or "" with a word in the test's output where
// they do not.
func shared(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("ABAGRAPH_SHARED_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	for _, f := range files {
		if _, err := os.Stat(filepath.Join(dir, f.name+".jsonl")); err != nil {
			t.Logf("the real files are not beside the repository (%v): nothing is measured", err)
			return ""
		}
	}
	return dir
}

// row is a fact of a file.
type row struct {
	Subject, Predicate, Object, Source string
	ValidFrom                          string `json:"valid_from"`
	ValidUntil                         string `json:"valid_until"`
	RecordedAt                         string `json:"recorded_at"`
	RetractedAt                        string `json:"retracted_at"`
}

// question is one of a file's, with its answer.
type question struct {
	ID, Text, Subject, Predicate string
	ValidAt                      string `json:"valid_at"`
	KnownAt                      string `json:"known_at"`
	Objects                      []string
	Kind                         string
}

func lines[T any](t *testing.T, path string) []T {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var list []T
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		var one T
		if err := json.Unmarshal(scanner.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		list = append(list, one)
	}
	return list
}

func at(t *testing.T, text string) fact.Instant {
	t.Helper()
	when, err := fact.ParseInstant("time", text)
	if err != nil {
		t.Fatal(err)
	}
	return when
}

// load writes a file's rows as what they are, history that was known before: all
// that was learnt at one moment in one batch, and the moments in their order.
func load(t *testing.T, node *onenode.Node, tenant string, rows []row) {
	t.Helper()
	rows = slices.DeleteFunc(rows, func(r row) bool {
		return r.ValidUntil != "" && at(t, r.ValidFrom) >= at(t, r.ValidUntil)
	})
	learnt := map[fact.Instant]*moment{}
	when := func(text string) *moment {
		known := at(t, text)
		if learnt[known] == nil {
			learnt[known] = &moment{}
		}
		return learnt[known]
	}
	for i, r := range rows {
		m := when(r.RecordedAt)
		m.asserts = append(m.asserts, i)
		if r.RetractedAt != "" {
			m = when(r.RetractedAt)
			m.retracts = append(m.retracts, i)
		}
	}
	ids := make([]fact.ID, len(rows))
	for _, known := range slices.Sorted(maps.Keys(learnt)) {
		m := learnt[known]
		w := &fact.Write{Backfill: &fact.Backfill{KnownAt: known, Reason: "published history"}}
		for _, i := range m.retracts {
			if !ids[i].IsZero() { // else it was told and taken back at once
				w.Retracts = append(w.Retracts, fact.Retract{ID: ids[i], KnownAt: fact.NoInstant})
			}
		}
		for _, i := range m.asserts {
			w.Asserts = append(w.Asserts, rows[i].assert(t))
		}
		for n, a := range propose(t, node, tenant, w).Asserts {
			ids[m.asserts[n]] = a.Fact.ID
		}
	}
}

// moment is what was learnt at one time, by the numbers of rows.
type moment struct{ asserts, retracts []int }

func (r *row) assert(t *testing.T) fact.Assert {
	t.Helper()
	a := fact.Assert{
		ID: nextID(), Subject: r.Subject, Predicate: r.Predicate, Object: fact.TextObject(r.Object), ValidFrom: at(t, r.ValidFrom),
		ValidUntil: fact.Forever, Confidence: 1, Source: &r.Source, Policy: fact.Coexist, KnownAt: fact.NoInstant,
	}
	if r.ValidUntil != "" {
		a.ValidUntil = at(t, r.ValidUntil)
	}
	return a
}

func propose(t *testing.T, node *onenode.Node, tenant string, w *fact.Write) *fact.Result {
	t.Helper()
	result, err := node.Propose(t.Context(), &fact.Request{Tenant: tenant, Branch: fact.MainBranch, Threshold: fact.DefaultThreshold, Write: w})
	if err != nil {
		t.Fatal(err)
	}
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	return result
}

// nextID numbers the facts.
var nextID = func() func() fact.ID {
	n := uint64(0)
	return func() fact.ID {
		n++
		return fact.NewID(1_700_000_000_000, [10]byte{0, byte(n >> 40), byte(n >> 32), byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
	}
}()

func caller(tenant string) memory.Caller { return memory.Caller{Operator: true, Tenant: tenant} }

package scenario

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"abagraph/client"
	"abagraph/fact"

	"github.com/anishathalye/porcupine"
)

// TestPlan: a seed makes one plan, another seed another one, and no fault comes twice
// before all have come.
func TestPlan(t *testing.T) {
	for _, name := range Names() {
		a, err := plan(name, 7, 2*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := plan(name, 7, 2*time.Minute)
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: one seed made two plans", name)
		}
		if c, _ := plan(name, 8, 2*time.Minute); name != "calm" && reflect.DeepEqual(a, c) {
			t.Errorf("%s: two seeds made one plan", name)
		}
		kinds, _ := kindsOf(name)
		seen := make(map[string]bool)
		for i := range min(len(a), len(kinds)) {
			if _, known := faults[a[i].Kind]; !known || seen[a[i].Kind] {
				t.Errorf("%s: %s comes again, or nobody can make it", name, a[i].Kind)
			}
			seen[a[i].Kind] = true
		}
	}
	if _, err := plan("none", 1, time.Minute); err == nil || !strings.Contains(err.Error(), "mixed") {
		t.Errorf("a scenario that is not there: %v", err)
	}
}

// call makes one call on a register, from one moment to another.
func call(from, to int64, in swap, out answered) porcupine.Operation {
	in.Register = register(0)
	return porcupine.Operation{Input: in, Output: out, Call: from, Return: to}
}

// TestRegistersAreJudged: histories that can be explained, and such that cannot.
func TestRegistersAreJudged(t *testing.T) {
	begin := call(0, 1, swap{Value: "a"}, answered{OK: true})
	read := func(from, to int64, value string) porcupine.Operation {
		return call(from, to, swap{Read: true}, answered{OK: true, Value: value})
	}
	lost := call(2, math.MaxInt64, swap{Expect: "a", Value: "b"}, answered{Unknown: true})
	for name, c := range map[string]struct {
		good    bool
		history []porcupine.Operation
	}{
		"a read of what was written":              {true, []porcupine.Operation{begin, read(2, 3, "a")}},
		"a read of what was not":                  {false, []porcupine.Operation{begin, read(2, 3, "b")}},
		"a swap that was lost and done":           {true, []porcupine.Operation{begin, lost, read(4, 5, "a"), read(6, 7, "b")}},
		"a swap that was lost and not done":       {true, []porcupine.Operation{begin, lost, read(4, 5, "a")}},
		"a swap that was lost, done and undone":   {false, []porcupine.Operation{begin, lost, read(4, 5, "b"), read(6, 7, "a")}},
		"a swap that was refused for nothing":     {false, []porcupine.Operation{begin, call(2, 3, swap{Expect: "a", Value: "b"}, answered{})}},
		"two swaps of one value":                  {false, []porcupine.Operation{begin, call(2, 5, swap{Expect: "a", Value: "b"}, answered{OK: true}), call(3, 6, swap{Expect: "a", Value: "c"}, answered{OK: true})}},
		"a read of the old value after the swap":  {false, []porcupine.Operation{begin, call(2, 3, swap{Expect: "a", Value: "b"}, answered{OK: true}), read(4, 5, "a")}},
		"a read of the old value beside the swap": {true, []porcupine.Operation{begin, call(2, 5, swap{Expect: "a", Value: "b"}, answered{OK: true}), read(3, 4, "a")}},
	} {
		if got := porcupine.CheckOperations(model, c.history); got != c.good {
			t.Errorf("%s: explained %v, want %v", name, got, c.good)
		}
	}
}

// TestOutcomes: which errors leave open whether a swap was done.
func TestOutcomes(t *testing.T) {
	for name, c := range map[string]struct {
		err      error
		once     bool
		out      answered
		happened bool
	}{
		"done":                {nil, true, answered{OK: true}, true},
		"another value":       {&client.Error{Status: 409, Code: fact.CompareFailed}, true, answered{}, true},
		"no leader":           {&client.Error{Status: 503, Code: fact.NoLeader}, true, answered{}, false},
		"no leader, at last":  {&client.Error{Status: 503, Code: fact.NoLeader}, false, answered{Unknown: true}, true},
		"a time-out":          {&client.Error{Status: 504, Code: fact.Timeout}, true, answered{Unknown: true}, true},
		"a lost connection":   {errLost{}, true, answered{Unknown: true}, true},
		"too many that wait":  {&client.Error{Status: 429, Code: fact.RateLimited}, true, answered{}, false},
		"a conflict of a key": {&client.Error{Status: 409, Code: fact.Conflict}, true, answered{}, false},
	} {
		if out, happened := judged(c.err, c.once); out != c.out || happened != c.happened {
			t.Errorf("%s: %+v, %v", name, out, happened)
		}
	}
}

type errLost struct{}

func (errLost) Error() string { return "connection reset" }

// TestPastIsJudged: what a register and a line must answer at each tx and time.
func TestPastIsJudged(t *testing.T) {
	values := []value{{3, 100, "a"}, {5, 100, "b"}, {9, 200, "c"}}
	for _, c := range []struct {
		a    asked
		want string
	}{
		{asked{Tx: 2}, ""}, {asked{Tx: 3}, "a"}, {asked{Tx: 8}, "b"}, {asked{Tx: 9}, "c"},
		{asked{Tx: 20, At: 4}, "a"},
		{asked{Tx: 20, dated: true, KnownAt: 99, AsOf: fact.NoInstant}, ""},
		{asked{Tx: 20, dated: true, KnownAt: 100, AsOf: fact.NoInstant}, "b"},
		{asked{Tx: 20, At: 4, dated: true, AsOf: 150, KnownAt: fact.NoInstant}, "a"},
		{asked{Tx: 20, dated: true, AsOf: 200, KnownAt: fact.NoInstant}, "c"},
	} {
		if got, _ := c.a.heldThen(values); got != c.want {
			t.Errorf("%+v: %q, want %q", c.a, got, c.want)
		}
	}
	events := []dated{{start: 10, text: "x", tx: 4}, {start: 20, text: "y", tx: 2}, {start: 5, text: "z", tx: 7}}
	for _, c := range []struct {
		tx   uint64
		at   fact.Instant
		want string
	}{{1, 30, ""}, {2, 30, "y"}, {2, 15, ""}, {4, 15, "x"}, {7, 7, "z"}, {7, 4, ""}} {
		if got, _ := heldOn(events, c.tx, c.at); got != c.want {
			t.Errorf("at tx %d as of %d: %q, want %q", c.tx, c.at, got, c.want)
		}
	}
}

// TestReportIsDrawn: a report of nothing, and one of something, can be read.
func TestReportIsDrawn(t *testing.T) {
	calls := []Call{{Kind: "assert", Outcome: "ok", End: time.Second / 2}, {Kind: "read", Outcome: "lost", Begin: time.Second, End: 3 * time.Second}, {Kind: "assert", Outcome: "ok", End: 2 * time.Second}}
	for _, r := range []*Report{{}, {
		Scenario: "kill", Seed: 4, Again: "make chaos SEED=4", Violations: []Violation{{Judge: "writes", What: "<lost>"}},
		Moments: []Moment{{What: "kill-leader", Note: "n2", End: time.Second}}, Kinds: kindsIn(calls), Seconds: secondsIn(calls), LongestGap: longestGap(calls),
	}} {
		dir := t.TempDir()
		if err := r.Write(dir); err != nil {
			t.Fatal(err)
		}
		drawn := readFile(t, dir+"/report.html")
		if r.Failed() != strings.Contains(drawn, "&lt;lost&gt;") || strings.Contains(drawn, "src=") {
			t.Errorf("the page says\n%s", drawn)
		}
	}
	if gap := longestGap(calls); gap != 1500*time.Millisecond {
		t.Errorf("the longest gap is %s", gap)
	}
}

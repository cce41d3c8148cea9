package suite

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"abagraph/bench/load"
)

func TestBodiesHaveTheirSize(t *testing.T) {
	w := newWriter(1)
	seen := map[string]bool{}
	for range 100 {
		body := w.fact(nil, postSubject(w.random.IntN(subjects)), predicateOfPost, valueSize)
		var fact struct{ Subject, Predicate, Object, Source string }
		if err := json.Unmarshal(body, &fact); err != nil {
			t.Fatalf("%v in %s", err, body)
		}
		if len(body) != valueSize || seen[fact.Object] || !strings.HasPrefix(fact.Subject, "Bench:") {
			t.Errorf("a body of %d bytes: %s", len(body), body)
		}
		seen[fact.Object] = true
		if value := w.value(nil); len(value) != valueSize {
			t.Errorf("a value of %d bytes", len(value))
		}
	}
}

func TestBatchesNeverSupersede(t *testing.T) {
	w, seen := newWriter(1), map[string]bool{}
	for first := uint64(0); first < 30; first += batchSize / factsASubject {
		var body struct {
			Asserts []struct{ Subject, Predicate string }
		}
		if err := json.Unmarshal(w.batch("Bench:m", first), &body); err != nil {
			t.Fatal(err)
		}
		if len(body.Asserts) != batchSize {
			t.Errorf("a batch of %d", len(body.Asserts))
		}
		for _, a := range body.Asserts {
			if key := a.Subject + " " + a.Predicate; seen[key] {
				t.Errorf("%s is written twice", key)
			} else {
				seen[key] = true
			}
		}
	}
}

func TestBenchmarksAreParsed(t *testing.T) {
	names, figures := parseBenchmarks("goos: linux\nBenchmarkLiveRead-2   \t 1000\t 640.5 ns/op\t 0 B/op\n" +
		"Benchmark" + timeline10 + "-2 \t 10\t 900 ns/op\nBenchmarkLiveRead-2 \t 1000\t 700 ns/op\nPASS\n")
	if len(names) != 2 || names[0] != liveHot || len(figures[liveHot]) != 2 || figures[timeline10][0] != 900 {
		t.Errorf("names = %q, figures = %v", names, figures)
	}
	if _, err := microGoals(figures); err == nil {
		t.Error("a missing benchmark passes")
	}
	figures[timeline1M] = []float64{1500}
	goals, err := microGoals(figures)
	if err != nil || len(goals) != 2 || !goals[0].Met || !goals[1].Met {
		t.Errorf("goals = %+v, %v", goals, err)
	}
}

func TestGoalsAreJudged(t *testing.T) {
	ours, theirs := system{name: "ours"}, system{name: "theirs"}
	sample := func(units uint64) []load.Sample { return []load.Sample{{Units: units, Elapsed: time.Second}} }
	all := results{
		1:  {"ours": sample(80), "theirs": sample(100)},
		16: {"ours": sample(110), "theirs": sample(100)},
	}
	goals := ratioGoals(all, "POST", ours, theirs, map[int]float64{1: 0.75, 16: 1.2, 64: 1.2})
	if len(goals) != 2 || !goals[0].Met || goals[1].Met {
		t.Errorf("goals = %+v", goals)
	}
}

func TestNumbersAreReadable(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := thousands(v); got != want {
			t.Errorf("thousands(%v) = %s, want %s", v, got, want)
		}
	}
	for d, want := range map[time.Duration]string{850: "850 ns", 12345: "12.3 µs", 7 * time.Millisecond: "7 ms", 2500 * time.Millisecond: "2.5 s"} {
		if got := short(d); got != want {
			t.Errorf("short(%v) = %s, want %s", d, got, want)
		}
	}
}

func TestSectionsAreNamedRight(t *testing.T) {
	err := Run(t.Context(), Quick(), []string{"nothing"}, nil)
	if err == nil || !strings.Contains(err.Error(), "posts") {
		t.Errorf("err = %v", err)
	}
}

func TestMomentsWithASnapshotAreMarked(t *testing.T) {
	moments := []moment{{p99: 1}, {p99: 2}, {p99: 3}}
	mark(moments, 2)
	with, without := apart(moments)
	if len(with) != 2 || len(without) != 1 || without[0] != 1 {
		t.Errorf("with = %v, without = %v", with, without)
	}
	mark(moments, 5)
	if with, _ = apart(moments); len(with) != 3 {
		t.Errorf("with = %v", with)
	}
}

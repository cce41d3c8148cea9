package imports_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"abagraph/client"
	"abagraph/fact"
	"abagraph/internal/imports"
)

// history is a file whose rows come in another order than they were known in,
// two of which no server takes.
const history = `{"subject":"a","predicate":"p","object":"3","known":"2020-01-03","gone":"2020-01-05"}
{"subject":"a","predicate":"p","object":"1","known":"2020-01-01","gone":"2020-01-03"}
{"subject":" b","predicate":"p","object":"x","known":"2020-01-02","gone":"2020-01-04"}
{"subject":"a","predicate":"q","object":"same","known":"2020-01-04","gone":"2020-01-04"}
{"subject":"a","predicate":"p","object":"4","known":"2020-01-03"}
{"subject":"c","predicate":"p","object":"y","valid_from":"5","valid_until":"3","known":"2020-01-01"}
{"subject":"c","predicate":"p","object":"never known"}
{"subject":"c","predicate":"p","object":"backwards","known":"2020-01-02","gone":"2020-01-01"}
`

func historyOptions(batch int) imports.Options {
	return imports.Options{Format: imports.JSONLines, KnownAt: "known", RetractedAt: "gone", Reason: "a test", Policy: "coexist", Batch: batch}
}

func day(n int) string { return client.At(fact.Instant(1577836800000 + int64(n-1)*86400000)) }

func TestOrderIsThatOfKnownTime(t *testing.T) {
	want := strings.Join([]string{
		"assert a/p/1#0@" + day(1),
		"retract a/p/1#0@" + day(3), // retractions first at equal times
		"assert a/p/3#1@" + day(3), "assert a/p/4#2@" + day(3), "assert a/q/same#3@" + day(4),
		"retract a/q/same#3@" + day(4), // a row known and retracted at once
		"retract a/p/3#1@" + day(5),
	}, "\n")
	for _, batch := range []int{1, 2, 3, 500} {
		t.Run(fmt.Sprint(batch), func(t *testing.T) {
			s := newStore()
			report, notes, err := run(t, s, file(t, "f.jsonl", history), historyOptions(batch), imports.Config{InFlight: 1})
			must(t, report, notes, err)
			if got := strings.Join(s.story, "\n"); got != want {
				t.Errorf("wrote\n%s\nwant\n%s", got, want)
			}
			if report.Rows != 8 || report.Written != 4 || report.Refused != 4 || report.Retracted != 3 || report.RetractionsSkipped != 1 {
				t.Errorf("counted %+v", report)
			}
			for _, part := range []string{"row 3: SchemaInvalid: subject begins", "row 6: SchemaInvalid: valid_until must", "row 7: known is missing",
				"row 8: gone is earlier than known", "retraction 3: the row itself was refused"} {
				if !contains(notes, part) {
					t.Errorf("refused %q, want %q", notes, part)
				}
			}
		})
	}
}

func TestBatchesInFlightKeepTheOrderOfEachSubject(t *testing.T) {
	var text strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&text, `{"subject":"s%d","predicate":"p","object":"%06d","known":%d,"gone":%d}`+"\n", i%37, i, 1000+i, 1000+i+50)
	}
	s := newStore()
	report, notes, err := run(t, s, file(t, "f.jsonl", text.String()), historyOptions(10), imports.Config{InFlight: 8})
	must(t, report, notes, err)
	if report.Written != 2000 || report.Retracted != 2000 {
		t.Fatalf("counted %+v, %q", report, notes)
	}
	last := map[string]string{}
	for _, one := range s.story {
		verb, rest, _ := strings.Cut(one, " ")
		subject, rest, _ := strings.Cut(rest, "/")
		_, at, _ := strings.Cut(rest, "@")
		if at < last[subject] {
			t.Fatalf("%s of %s at %s came after %s", verb, subject, at, last[subject])
		}
		last[subject] = at
	}
}

// TestInterruptedImportGoesOn breaks an import off at every call in turn, before
// and after the server wrote, and runs it again: the same facts, each once.
func TestInterruptedImportGoesOn(t *testing.T) {
	whole := newStore()
	report, notes, err := run(t, whole, file(t, "f.jsonl", history), historyOptions(2), imports.Config{InFlight: 1})
	must(t, report, notes, err)
	calls := whole.calls
	slices.Sort(notes)
	for at := 1; at <= calls; at++ {
		for _, lost := range []bool{false, true} {
			s := newStore()
			state := filepath.Join(t.TempDir(), "state")
			source := file(t, "f.jsonl", history)
			s.fail = func(call int, written bool) error {
				if call == at && written == lost {
					return errLost
				}
				return nil
			}
			_, first, err := run(t, s, source, historyOptions(2), imports.Config{State: state, InFlight: 1})
			if !errors.Is(err, errLost) {
				t.Fatalf("call %d: got %v", at, err)
			}
			again, second, err := run(t, s, source, historyOptions(2), imports.Config{State: state, InFlight: 1})
			must(t, again, second, err)
			if again != report {
				t.Errorf("call %d: counted %+v, want %+v", at, again, report)
			}
			if !slices.Equal(sorted(s.story), sorted(whole.story)) {
				t.Errorf("call %d, written %v: wrote %q", at, lost, s.story)
			}
			all := append(first, second...)
			for _, want := range notes {
				if !contains(all, want) {
					t.Errorf("call %d: %q was never told", at, want)
				}
			}
		}
	}
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

func TestStateFile(t *testing.T) {
	s := newStore()
	state := filepath.Join(t.TempDir(), "state")
	source := file(t, "f.jsonl", history)
	report, notes, err := run(t, s, source, historyOptions(2), imports.Config{State: state, Epoch: "e1"})
	must(t, report, notes, err)
	calls := s.calls

	again, _, err := run(t, s, source, historyOptions(2), imports.Config{State: state, Epoch: "e1"})
	if !errors.Is(err, imports.ErrDone) || s.calls != calls || again != report {
		t.Errorf("a done import: %v, %+v", err, again)
	}
	if _, _, err := run(t, s, source, historyOptions(2), imports.Config{State: state, Epoch: "e2"}); err == nil || !strings.Contains(err.Error(), "another import") {
		t.Errorf("another store: %v", err)
	}
	if _, _, err := run(t, s, source, historyOptions(3), imports.Config{State: state, Epoch: "e1"}); err == nil || !strings.Contains(err.Error(), "another import") {
		t.Errorf("other options: %v", err)
	}
	report, notes, err = run(t, s, source, historyOptions(2), imports.Config{State: state, Epoch: "e1", Again: true})
	if must(t, report, notes, err); report.Written != 4 || s.calls == calls {
		t.Errorf("an import done anew: %+v", report)
	}
	if err := os.WriteFile(state, []byte("something else\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := run(t, s, source, historyOptions(2), imports.Config{State: state}); err == nil || !strings.Contains(err.Error(), "not a state file") {
		t.Errorf("a foreign file: %v", err)
	}
	if text, err := os.ReadFile(state); err != nil || string(text) != "something else\n" {
		t.Errorf("the foreign file was changed to %q", text)
	}
}

func TestTornStateLineIsDropped(t *testing.T) {
	s := newStore()
	state := filepath.Join(t.TempDir(), "state")
	source := file(t, "f.jsonl", history)
	report, notes, err := run(t, s, source, historyOptions(2), imports.Config{State: state})
	must(t, report, notes, err)
	text, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	story := len(s.story)
	for cut := 0; cut < len(text); cut += 11 {
		if err := os.WriteFile(state, text[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		again, notes, err := run(t, s, source, historyOptions(2), imports.Config{State: state})
		if errors.Is(err, imports.ErrDone) {
			err = nil
		}
		if must(t, again, notes, err); again != report || len(s.story) != story {
			t.Fatalf("cut at %d: %+v, %d writes", cut, again, len(s.story)-story)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	for _, o := range []imports.Options{
		{Batch: 0}, {Batch: 10_001}, {Batch: 1, KnownAt: "k"}, {Batch: 1, KnownAt: "k", Reason: " "}, {Batch: 1, RetractedAt: "r"}, {Batch: 1, Reason: "r"}, {Batch: 1, Policy: "perhaps"},
	} {
		if o.Check() == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}

package memory_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// told is an edition as a reader has it.
type told struct {
	From, To fact.Instant
	Tx       uint64
	Limited  bool
	Sections []struct {
		Name    string
		Counts  map[string]int
		Limited bool
		Rows    []map[string]any
	}
}

func (d *told) count(section, name string) int {
	for i := range d.Sections {
		if d.Sections[i].Name == section {
			return d.Sections[i].Counts[name]
		}
	}
	return -1
}

func (d *told) ids(section string) []string {
	var ids []string
	for i := range d.Sections {
		if d.Sections[i].Name == section {
			for _, row := range d.Sections[i].Rows {
				ids = append(ids, fmt.Sprint(row["id"]))
			}
		}
	}
	return ids
}

func reportFrom(t *testing.T, text string) *memory.Report {
	t.Helper()
	v, err := jsonx.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := memory.ParseReport(v)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (w *world) report(c memory.Caller, r *memory.Report, to fact.Instant) (string, string, *told) {
	w.Helper()
	text, markdown, err := w.service.TellReport(w.Context(), c, r, to)
	if err != nil {
		w.Fatal(err)
	}
	var d told
	if err := json.Unmarshal(text, &d); err != nil {
		w.Fatal(err)
	}
	return string(text), markdown, &d
}

// facts lists all facts of a tenant as they were at a tx.
func (w *world) factsAt(c memory.Caller, r *memory.Report, tx uint64, status string, asOf fact.Instant) []fact.Fact {
	w.Helper()
	q := &memory.FactsQuery{Read: memory.NewRead(), Subject: r.Subject, Predicate: r.Predicate, Limit: fact.MaxLimit}
	q.Tx, q.Pinned, q.AsOf = tx, true, asOf
	if status != "" {
		q.Statuses, q.StatusGiven = fact.AllStatuses, true
	}
	page, _, err := w.service.Facts(w.Context(), c, q, nil)
	if err != nil {
		w.Fatal(err)
	}
	return page.Facts
}

// TestReportsAgainstBruteForce: on random histories of two tenants, each figure of a
// report is what a look at all facts gives; a report of a past instant is the same
// bytes however much was written since, and on another node.
func TestReportsAgainstBruteForce(t *testing.T) {
	met := map[string]int{}
	for seed := range uint64(2) {
		w := newWorld(t, 900+seed)
		w.lasting = true
		type kept struct {
			c              memory.Caller
			r              *memory.Report
			to             fact.Instant
			text, markdown string
		}
		var all []kept
		for range 7 {
			w.live(15)
			for range 3 {
				c := memory.Caller{Operator: true, Tenant: pick(w, []string{"ta", "tb"}), Role: fact.RoleAdmin}
				r := reportFrom(t, fmt.Sprintf(`{"name":"x","limit":50,"low_confidence":%s,"stale_secs":1%s}`, pick(w, []string{"0.95", "1", "0.3"}),
					pick(w, []string{"", "", `,"subject":"P:a"`, `,"predicate":"knows"`})))
				r.Window = 1
				to := w.RecordedAt() - fact.Instant(w.rnd.IntN(20))
				if w.oneIn(2) {
					r.Stale = 0
				}
				text, markdown, d := w.report(c, r, to)
				w.checkReport(c, r, d, met)
				all = append(all, kept{c, r, to, text, markdown})
			}
			w.clock += 400
		}
		again := w.replayed()
		for _, k := range all {
			for where, s := range map[string]*memory.Service{"later": w.service, "on another node": again} {
				text, markdown, err := s.TellReport(t.Context(), k.c, k.r, k.to)
				if err != nil || string(text) != k.text || markdown != k.markdown {
					t.Fatalf("%s a report says\n%s (%v)\nand said\n%s", where, text, err, k.text)
				}
			}
		}
	}
	for _, what := range []string{"added", "ended", "candidates", "doubtful", "old", "new", "contradictions"} {
		if met[what] < 5 {
			t.Errorf("%s was met %d times", what, met[what])
		}
	}
}

// replayed is another node that has applied the same log, in one go.
func (w *world) replayed() *memory.Service {
	w.Helper()
	machine, err := fsm.Open(fsm.Options{CacheBytes: 32 << 20, MemTableBytes: 16 << 20})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = machine.Close() })
	var list []fsm.Committed
	for i, data := range w.entries {
		list = append(list, fsm.Committed{Index: uint64(i + 1), Term: 1, Data: data})
	}
	if _, err := machine.Apply(list); err != nil {
		w.Fatal(err)
	}
	s, err := memory.New(memory.Options{Engine: w, Timeout: time.Minute, View: func(context.Context) (memory.View, error) { return machine.View() }})
	if err != nil {
		w.Fatal(err)
	}
	return s
}

// checkReport holds the figures of a report to what a look at all facts gives.
func (w *world) checkReport(c memory.Caller, r *memory.Report, d *told, met map[string]int) {
	w.Helper()
	before := w.txAt(d.From)
	was := statements(w.factsAt(c, r, before, "", d.From))
	holding := w.factsAt(c, r, d.Tx, "", d.To)
	is := statements(holding)
	all := w.factsAt(c, r, d.Tx, "all", fact.NoInstant)
	want := map[string]int{}
	for i := range holding {
		f := &holding[i]
		if !was[f.Statement()] {
			want["added"]++
		}
		if f.Confidence < r.LowConfidence {
			want["doubtful"]++
		}
		if f.RecordedAt < d.To-fact.Instant(r.Stale*1000) {
			want["old"]++
		}
	}
	for id := range was {
		if !is[id] {
			want["ended"]++
		}
	}
	known, present := map[string]bool{}, map[string]bool{}
	for i := range all {
		f := &all[i]
		if f.FirstTx <= before {
			known[f.Subject] = true
		}
		if f.Status == fact.Candidate && f.ValidUntil > d.To {
			want["candidates"]++
		}
		if f.FirstTx > before && f.Continues.IsZero() {
			want["told"]++
		}
	}
	for i := range holding {
		if s := holding[i].Subject; !known[s] && !present[s] {
			present[s] = true
			want["new"]++
		}
	}
	got := map[string]int{
		"added": d.count("changes", "added"), "ended": d.count("changes", "ended"), "doubtful": d.count("low_confidence", "doubtful"),
		"old": d.count("stale", "old"), "candidates": d.count("candidates", "held"), "new": d.count("new_entities", "new"),
	}
	for name, n := range got {
		if want[name] != n {
			w.Fatalf("%s is %d, want %d: %+v of %+v", name, n, want[name], d, r)
		}
		if n > 0 {
			met[name]++
		}
	}
	for i := range d.Sections {
		s := &d.Sections[i]
		if s.Name == "sources" && want["told"]+len(holding) > 0 && fmt.Sprint(s.Rows[0]["new"], s.Rows[0]["facts"]) != fmt.Sprint(want["told"], len(holding)) {
			w.Fatalf("the sources are %v, want %d of %d", s.Rows, want["told"], len(holding))
		}
	}
	q := &memory.FactcheckQuery{Read: memory.NewRead(), Narrow: memory.Narrow{Subject: r.Subject, Predicate: r.Predicate}}
	q.Kinds = 7
	q.Tx, q.Pinned, q.AsOf = d.Tx, true, d.To
	found, _, err := w.service.Factcheck(w.Context(), c, q, nil)
	if err != nil || found.Total != d.count("contradictions", "found") {
		w.Fatalf("%d contradictions, want %d (%v)", d.count("contradictions", "found"), found.Total, err)
	}
	met["contradictions"] += found.Total
	// A short list is the beginning of the long one.
	short := *r
	short.Limit = 2
	_, _, few := w.report(c, &short, d.To)
	for _, section := range []string{"candidates", "low_confidence", "stale"} {
		long := d.ids(section)
		if cut := few.ids(section); !slices.Equal(cut, long[:min(2, len(long))]) {
			w.Fatalf("two of %s are %v, of %v", section, cut, long)
		}
	}
}

func (w *world) txAt(t fact.Instant) uint64 {
	w.Helper()
	v, err := w.machine.View()
	if err != nil {
		w.Fatal(err)
	}
	defer v.Close()
	tx, err := v.TxAt(w.Context(), t)
	if err != nil {
		w.Fatal(err)
	}
	return tx
}

func statements(list []fact.Fact) map[fact.ID]bool {
	set := map[fact.ID]bool{}
	for i := range list {
		set[list[i].Statement()] = true
	}
	return set
}

// TestReportsRefuse: what cannot be a report is refused by name.
func TestReportsRefuse(t *testing.T) {
	for body, field := range map[string]string{
		`{}`: "name", `{"name":"a b"}`: "name", `{"name":"a","schedule":"61 * * * *"}`: "schedule", `{"name":"a","schedule":"0 0 31 2 *"}`: "schedule",
		`{"name":"a","timezone":"UTC"}`: "timezone", `{"name":"a","schedule":"@daily","timezone":"Mars/One"}`: "timezone", `{"name":"a","schedule":"@every 1s"}`: "schedule", `{"name":"a","schedule":"@every 59s"}`: "schedule",
		`{"name":"a","window_secs":0}`: "window_secs", `{"name":"a","limit":51}`: "limit", `{"name":"a","sections":["luck"]}`: "sections[0]",
		`{"name":"a","sections":["stale","stale"]}`: "sections[1]", `{"name":"a","low_confidence":1.5}`: "low_confidence", `{"name":"a","stale_secs":0}`: "stale_secs",
		`{"name":"a","subject":""}`: "subject", `{"name":"a","to":1}`: "to", `{"name":"a","by":"root"}`: "by", `{"name":"a","title":"` + strings.Repeat("x", 201) + `"}`: "title",
	} {
		v, err := jsonx.Parse([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		_, err = memory.ParseReport(v)
		if e, ok := err.(*fact.Error); !ok || e.Field != field {
			t.Errorf("%s: %v, want field %s", body, err, field)
		}
	}
}

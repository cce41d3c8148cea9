package mcp_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"abagraph/mcp"
)

// world is a few namespaces with facts that were told, and taken back in other
// words, over some hours.
type world struct {
	*rig
	random *rand.Rand
	first  int64 // before the first fact
}

var (
	worldSubjects   = []string{"A:1", "A:2", "A:3", "B:1", "bare"}
	worldPredicates = []string{"p", "q", "knows"}
	worldObjects    = []string{`"A:1"`, `"A:2"`, `"A:3"`, `"B:1"`, `"x"`, `1`, `true`}
)

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	w := &world{rig: start(t, "", mcp.Full), random: rand.New(rand.NewPCG(seed, 1))}
	w.first = int64(w.node.Now())
	for range 60 {
		w.node.Advance(time.Duration(1+w.random.IntN(600)) * time.Second)
		more := ""
		if w.random.IntN(2) == 0 {
			more = fmt.Sprintf(`,"valid_from":%d`, w.instant())
		}
		if w.random.IntN(4) == 0 {
			more += `,"coexist":true`
		}
		w.tool("remember", fmt.Sprintf(`{"namespace":"%s","subject":"%s","predicate":"%s","object":%s,"confidence":%.2f,"source":"s%d"%s}`,
			pick(w.random, []string{"one", "two"}), pick(w.random, worldSubjects), pick(w.random, worldPredicates), pick(w.random, worldObjects),
			0.5+w.random.Float64()/2, w.random.IntN(3), more)).ok()
	}
	return w
}

// instant is one of the world's time.
func (w *world) instant() int64 {
	return w.first + w.random.Int64N(max(int64(w.node.Now())-w.first, 1)) - 60_000
}

// when is a point of both times, as arguments.
func (w *world) when() string {
	text := fmt.Sprintf(`,"as_of":%d`, w.instant())
	if w.random.IntN(2) == 0 {
		text += fmt.Sprintf(`,"known_at":%d`, w.instant())
	}
	return text
}

// all lists everything that holds in a namespace at a point of both times, in
// the order of lists.
func (w *world) all(namespace, when string) []doc {
	w.t.Helper()
	return w.tool("recall_as_of", `{"namespace":"`+namespace+`","limit":200`+when+`}`).facts()
}

func keep(list []doc, ok func(doc) bool) []doc {
	var kept []doc
	for _, f := range list {
		if ok(f) {
			kept = append(kept, f)
		}
	}
	return kept
}

// TestToolsAgreeOnRandomWorlds: what recall, recall_as_of and whats_changed
// answer, with whatever filters, is what everything that holds there gives when
// it is filtered, ranked and compared by hand.
func TestToolsAgreeOnRandomWorlds(t *testing.T) {
	for seed := range uint64(2) {
		w := newWorld(t, seed)
		for range 25 {
			namespace := pick(w.random, []string{"one", "two"})
			w.pattern(namespace)
			w.walk(namespace)
			w.changed(namespace)
		}
	}
}

func (w *world) pattern(namespace string) {
	w.t.Helper()
	when, limit, least := w.when(), 1+w.random.IntN(8), 0.5+w.random.Float64()/2
	subject, predicate, object := pick(w.random, worldSubjects), pick(w.random, worldPredicates), pick(w.random, worldObjects)
	filters := ""
	want := w.all(namespace, when)
	if w.random.IntN(2) == 0 {
		filters += `,"subject":"` + subject + `"`
		want = keep(want, func(f doc) bool { return f["subject"] == subject })
	}
	if w.random.IntN(2) == 0 {
		filters += `,"predicate":"` + predicate + `"`
		want = keep(want, func(f doc) bool { return f["predicate"] == predicate })
	}
	if w.random.IntN(3) == 0 {
		filters += `,"object":` + object
		want = keep(want, func(f doc) bool { return encoded(f["object"]) == object })
	}
	filtered := w.tool("recall_as_of", fmt.Sprintf(`{"namespace":"%s","limit":%d%s%s}`, namespace, limit, filters, when))
	w.same(filtered, want, limit)
	sure := keep(want, func(f doc) bool { return number(f["confidence"]) >= least })
	slices.SortStableFunc(sure, func(a, b doc) int { return cmp.Compare(number(b["confidence"]), number(a["confidence"])) })
	ranked := w.tool("recall", fmt.Sprintf(`{"namespace":"%s","mode":"pattern","limit":%d,"min_confidence":%v%s%s}`, namespace, limit, least, filters, when))
	w.same(ranked, sure, limit)
	found := w.tool("recall", fmt.Sprintf(`{"namespace":"%s","mode":"semantic","query":"%s %s knows","limit":200%s}`, namespace, subject, predicate, when))
	for _, f := range found.facts() {
		score := f["score"]
		delete(f, "score")
		if !slices.ContainsFunc(w.all(namespace, when), func(g doc) bool { return encoded(g) == encoded(f) }) || score == nil {
			w.t.Errorf("%s found what does not hold there: %v", found.what, f)
		}
	}
}

func number(v any) float64 {
	var f float64
	if _, err := fmt.Sscan(encoded(v), &f); err != nil {
		return -1
	}
	return f
}

// same compares an answer with what there is by hand.
func (w *world) same(got *answer, want []doc, limit int) {
	w.t.Helper()
	cut := want[:min(limit, len(want))]
	if encoded(got.facts()) != encoded(cut) && len(cut)+len(got.facts()) > 0 {
		w.t.Errorf("%s answered %s, by hand it is %s", got.what, got.text, encoded(cut))
	}
	if limited := got.ok()["limited"] == true; limited != (len(want) > limit) || fmt.Sprint(got.ok()["count"]) != fmt.Sprint(len(cut)) {
		w.t.Errorf("%s of %d facts said %s", got.what, len(want), got.text)
	}
}

// walk checks one step out of an entity, the nearest facts first.
func (w *world) walk(namespace string) {
	w.t.Helper()
	when, startAt := w.when(), pick(w.random, worldSubjects)
	got := w.tool("recall", fmt.Sprintf(`{"namespace":"%s","mode":"walk","start":"%s","limit":200%s}`, namespace, startAt, when))
	want := keep(w.all(namespace, when), func(f doc) bool {
		object, _ := f["object"].(string)
		return f["subject"] == startAt && strings.Contains(object, ":")
	})
	if column(got.facts(), "id") != column(want, "id") {
		w.t.Errorf("%s answered %s, by hand it is %s", got.what, got.text, encoded(want))
	}
}

// changed checks the difference of two states by statements: a piece that was
// cut meanwhile still holds.
func (w *world) changed(namespace string) {
	w.t.Helper()
	from, to := w.instant(), w.instant()
	if from > to {
		from, to = to, from
	}
	at := func(t int64) []doc { return w.all(namespace, fmt.Sprintf(`,"as_of":%d,"known_at":%d`, t, t)) }
	before, after := at(from), at(to)
	got := w.tool("whats_changed", fmt.Sprintf(`{"namespace":"%s","from":%d,"to":%d}`, namespace, from, to)).ok()
	says := func(f doc) string {
		return encoded([]any{f["subject"], f["predicate"], f["object"], f["source"], f["confidence"]})
	}
	set := func(list []doc) []string {
		var words []string
		for _, f := range list {
			words = append(words, says(f))
		}
		slices.Sort(words)
		return words
	}
	minus := func(a, b []string) []string {
		var rest []string
		b = slices.Clone(b)
		for _, word := range a {
			if i := slices.Index(b, word); i >= 0 {
				b = slices.Delete(b, i, i+1)
				continue
			}
			rest = append(rest, word)
		}
		return rest
	}
	added, gone := set(docs(got["added"])), set(docs(got["superseded"]))
	// What was said anew in the same words counts as changed for the tool and
	// not for the comparison of words: what both lists name goes from both.
	wantAdded, wantGone := minus(set(after), set(before)), minus(set(before), set(after))
	if encoded(minus(added, gone)) != encoded(minus(wantAdded, wantGone)) || encoded(minus(gone, added)) != encoded(minus(wantGone, wantAdded)) {
		w.t.Errorf("from %d to %d: added %v, gone %v; by hand %v, %v", from, to, added, gone, wantAdded, wantGone)
	}
	if fmt.Sprint(got["still_valid"]) != fmt.Sprint(len(before)-len(gone)) {
		w.t.Errorf("from %d to %d: %v still hold of %d, %d are gone", from, to, got["still_valid"], len(before), len(gone))
	}
}

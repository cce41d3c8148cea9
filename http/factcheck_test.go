package http_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// report writes contradictions in few words.
func report(d doc) string {
	var words []string
	for _, k := range d["contradictions"].([]any) {
		c := doc(k.(map[string]any))
		var objects []string
		for _, f := range c["facts"].([]any) {
			objects = append(objects, doc(f.(map[string]any)).text("object"))
		}
		words = append(words, c.text("kind")+" "+c.text("subject")+" "+c.text("predicate")+": "+strings.Join(objects, ", "))
	}
	return strings.Join(words, "; ")
}

// disagreements writes one contradiction of each kind.
func (r *rig) disagreements() {
	r.t.Helper()
	r.assert("Person:alice", "works_at", `"Company:acme"`, `"confidence":0.95,"source":"hr-system"`)
	r.assert("Person:alice", "works_at", `"Company:beta"`, `"confidence":0.90,"source":"linkedin","policy":"coexist"`)
	r.assert("Person:alice", "knows", `"Person:bob"`)
	r.assert("Person:alice", "knows", `"Person:eve"`, `"policy":"coexist"`)
	r.assert("Person:bob", "badge", `7`, `"valid_from":"2020-01-01","valid_until":"2021-01-01"`)
	r.assert("Person:bob", "role", `"engineer"`)
	r.assert("Person:bob", "role", `"manager"`, `"confidence":0.5,"source":"rumour"`)
	r.assert("Person:bob", "role", `"engineer"`, `"confidence":0.5,"source":"rumour"`)
	r.assert("Person:bob", "tag", `"a"`)
	r.assert("Person:bob", "tag", `"b"`, `"confidence":0.5`)
	r.node.Advance(time.Second)
}

// The curl commands of the documents' pages about fact checks, as they stand.
func TestCurlsOfFactcheck(t *testing.T) {
	s := newShell(t)
	s.as(s.vars["KEY_ACME"]).disagreements()
	const multiple = "multiple_active Person:alice works_at: Company:beta, Company:acme"
	const expired = "expired_but_active Person:bob badge: 7"
	const candidate = "candidate_conflict Person:bob role: manager, engineer"
	for command, want := range map[string]string{
		`curl "$ABAGRAPH_BASE_URL/api/factcheck" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY"`: multiple + "; " + expired + "; " + candidate,
		`curl "$ABAGRAPH_BASE_URL/api/factcheck?subject=Person:alice&predicate=works_at" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY"`: multiple,
		`curl "$ABAGRAPH_BASE_URL/api/factcheck?coexist=department,role" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY"`: multiple + "; " + expired,
		`curl -s "$ABAGRAPH_BASE_URL/api/factcheck?subject=Person:sarah" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY"`: "",
		`curl -s "$ABAGRAPH_BASE_URL/api/factcheck?predicate=works_at" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY"`: multiple,
		`curl -s "$ABAGRAPH_BASE_URL/api/factcheck?coexist=label,alias,skill" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY"`: multiple + "; " + expired + "; " + candidate,
	} {
		got := s.curl(command).status(200).object()
		if report(got) != want || got.text("count") != fmt.Sprint(len(got["contradictions"].([]any))) || got["limited"] != false {
			t.Errorf("%s: %s %s, want %s", command, got.text("count"), report(got), want)
		}
	}
	got := s.curl(`curl -s "$ABAGRAPH_BASE_URL/api/factcheck?subject=Person:sarah" -H "Authorization: Bearer $ABAGRAPH_API_KEY"`).object()
	if w := fmt.Sprint(got["warnings"]); !strings.Contains(w, "no fact mentions Person:sarah") {
		t.Errorf("a subject that is not there: %v", got)
	}
}

func TestFactcheckParameters(t *testing.T) {
	r := start(t, "")
	before := fmt.Sprint(r.node.Now())
	r.node.Advance(time.Second)
	r.disagreements()
	r.assert("Person:alice", "lives_in", `"City:nowhere"`)
	r.assert("note", "text", `"alone"`)
	for query, want := range map[string]string{
		"kind=expired_but_active":                                            "expired_but_active Person:bob badge: 7",
		"kind=multiple_active,candidate_conflict&limit=1":                    "multiple_active Person:alice works_at: Company:beta, Company:acme",
		"kind=multiple_active,candidate_conflict&limit=1&after=Person:alice": "candidate_conflict Person:bob role: manager, engineer",
		"as_of=2020-06-01":                                                   "",
		"known_at=" + before:                                                 "",
		"tx=0":                                                               "",
		"tx=2":                                                               "multiple_active Person:alice works_at: Company:beta, Company:acme",
		"tx=2&as_of=" + before:                                               "",
	} {
		if got := r.get("/api/factcheck?" + query).status(200); report(got.object()) != want {
			t.Errorf("%s: %s, want %s", query, report(got.object()), want)
		}
	}
	page := r.get("/api/factcheck?limit=1").status(200)
	if d := page.object(); d.text("count") != "3" || d.text("next") != "Person:alice" || d["limited"] != true || page.Header.Get("X-Abagraph-Next") != "Person%3Aalice" ||
		d.text("counts") != `{"candidate_conflict":1,"expired_but_active":1,"multiple_active":1}` {
		t.Errorf("the first page: %s", page.Body)
	}
	d := r.get("/api/factcheck?integrity=1").status(200).object()
	if d.text("orphan_count") != "1" || doc(d["orphans"].([]any)[0].(map[string]any)).text("id") != "note" || d.text("dangling_count") != "4" {
		t.Errorf("integrity: %v", d)
	}
	if got := edgesOf(d["dangling"]); got != "Person:alice lives_in City:nowhere, Person:alice knows Person:eve, Person:alice works_at Company:beta, Person:alice works_at Company:acme" {
		t.Errorf("dangling: %s", got)
	}
	for query, field := range map[string]string{
		"kind=nonsense": "kind", "coexist=,": "coexist", "limit=10001": "limit", "subject=": "subject", "integrity=2": "integrity", "asof=1": "asof",
	} {
		if e := r.get("/api/factcheck?"+query).fails(400, "SchemaInvalid"); e.text("field") != field {
			t.Errorf("%s: %v", query, e)
		}
	}
	if e := r.get("/api/factcheck?kind=nonsense").fails(400, "SchemaInvalid"); !strings.Contains(e.text("message"), "multiple_active, expired_but_active, candidate_conflict") {
		t.Errorf("an unknown kind: %v", e)
	}
	if got := r.get("/api/factcheck?explain=1").status(200).object()["explain"].(map[string]any); got["op"] != "factcheck" {
		t.Errorf("explain: %v", got)
	}
}

// The curl command of the documents' page about consolidate, as it stands.
func TestCurlsOfConsolidate(t *testing.T) {
	s := newShell(t)
	acme := s.as(s.vars["KEY_ACME"])
	acme.disagreements()
	var ids []string
	for i, confidence := range []string{"0.8", "0.9", "1"} {
		f := acme.assert("Person:carol", "born", `1815`, `"valid_from":"1815-12-10"`, `"confidence":`+confidence, fmt.Sprintf(`"source":"s%d"`, i))
		ids = append(ids, f.text("id"))
	}
	acme.assert("Person:carol", "tag", `"x"`, `"valid_from":0,"source":"a","policy":"coexist"`)
	acme.assert("Person:carol", "tag", `"x"`, `"valid_from":0,"source":"b","policy":"coexist"`)
	dry := acme.post("/api/consolidate?dry_run=1", "").status(200).object()
	if dry.text("collapsed") != "2" || dry.text("conflicts") != "1" || dry["dry_run"] != true ||
		dry.text("duplicates") != fmt.Sprintf(`[{"collapsed":[%q,%q],"kept":%q,"object":1815,"predicate":"born","subject":"Person:carol"}]`, ids[1], ids[0], ids[2]) {
		t.Errorf("a dry run: %v", dry)
	}
	got := s.curl(`curl -X POST "$ABAGRAPH_BASE_URL/api/consolidate" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY"`).status(200).object()
	if got.text("collapsed") != "2" || got.text("conflicts") != "1" || got.text("superseded") != fmt.Sprintf("[%q,%q]", ids[1], ids[0]) {
		t.Errorf("consolidate: %v", got)
	}
	for i, id := range ids {
		want := "retracted"
		if i == 2 {
			want = "active"
		}
		if f := acme.get("/api/facts/" + id).status(200).object(); f.text("status") != want {
			t.Errorf("copy %d is %s", i, f.text("status"))
		}
	}
	if again := acme.post("/api/consolidate", "{}").status(200).object(); again.text("collapsed") != "0" || again.text("superseded") != "[]" {
		t.Errorf("again: %v", again)
	}
}

// TIM-02: the same statement true in two separate periods stays two, before and
// after consolidate.
func TestTIM02Consolidate(t *testing.T) {
	r := start(t, "")
	const one, two = `"valid_from":1735689600000,"valid_until":1738368000000`, `"valid_from":1748736000000,"valid_until":1751328000000`
	r.assert("Person:p7", "assigned_to", `"Project:pay"`, one)
	r.assert("Person:p7", "assigned_to", `"Project:pay"`, two)
	r.assert("Person:p7", "assigned_to", `"Project:pay"`, two, `"source":"hr"`) // a copy of the second
	r.assert("Person:p8", "at", `"Org:a"`)
	r.node.Advance(time.Millisecond)
	r.assert("Person:p8", "at", `"Org:a"`, `"source":"hr"`) // undated: it holds from later on
	check := func(when string, june int) {
		t.Helper()
		for at, want := range map[string]int{"2025-03-15": 0, "2025-06-15": june, "2025-01-15": 1} {
			if got := r.get("/api/facts?subject=Person:p7&as_of=" + at).list(); len(got) != want {
				t.Errorf("%s, as of %s: %v", when, at, got)
			}
		}
	}
	check("before", 2)
	done := r.post("/api/consolidate", "").status(200).object()
	check("after", 1)
	if done.text("collapsed") != "1" {
		t.Errorf("just the copy of the second period should go: %v", done)
	}
	// Two that hold now, with equal ends and with unequal ones.
	until := fmt.Sprint(r.node.Now() + 1_000_000)
	r.assert("Person:p9", "on", `"Project:x"`, `"valid_from":1735689600000,"valid_until":`+until)
	kept := r.assert("Person:p9", "on", `"Project:x"`, `"valid_from":1735689600000,"valid_until":`+until, `"source":"hr"`)
	r.assert("Person:p9", "on", `"Project:x"`, `"valid_from":1748736000000,"source":"crm"`)
	done = r.post("/api/consolidate", "").status(200).object()
	left := r.get("/api/facts?subject=Person:p9").list()
	if done.text("collapsed") != "1" || len(left) != 2 || !strings.Contains(column(left, "id"), kept.text("id")) {
		t.Errorf("%v, and these are left: %v", done, left)
	}
	if got := r.get("/api/facts?subject=Person:p8").list(); len(got) != 2 {
		t.Errorf("facts with other starts were collapsed: %v", got)
	}
}

// A collapse never ends the last fact that says a thing, whatever is written
// meanwhile, and keeps out of what is being written.
func TestConsolidateBesideWriters(t *testing.T) {
	r := start(t, "")
	const lines, rounds = 4, 12
	var group sync.WaitGroup
	for n := range lines {
		group.Go(func() {
			subject := fmt.Sprint("P:", n)
			for i := range rounds {
				value := fmt.Sprint(i)
				for _, source := range []string{"a", "b", "c"} {
					r.post("/api/facts", fmt.Sprintf(`{"subject":%q,"predicate":"is","object":%s,"valid_from":%d,"source":%q}`, subject, value, i, source)).status(201)
				}
				got := r.get("/api/facts?subject=" + subject).list()
				if len(got) == 0 || strings.Trim(column(got, "object"), value+",") != "" {
					t.Errorf("%s is %s, and was just set to %s", subject, column(got, "object"), value)
				}
			}
		})
	}
	stop := make(chan struct{})
	var collapsing sync.WaitGroup
	collapsing.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			key := fmt.Sprint("Idempotency-Key: k", n)
			got := r.post("/api/consolidate", "", key).status(200).object()
			again := r.post("/api/consolidate", "", key).status(200).object()
			if got.text("collapsed") != again.text("collapsed") || got.text("superseded") != again.text("superseded") {
				t.Errorf("the same key answers %v and %v", got, again)
			}
		}
	})
	group.Wait()
	close(stop)
	collapsing.Wait()
	r.post("/api/consolidate", "").status(200)
	for n := range lines {
		if got := r.get(fmt.Sprint("/api/facts?subject=P:", n)).list(); column(got, "object") != fmt.Sprint(rounds-1) {
			t.Errorf("P:%d ends as %s", n, column(got, "object"))
		}
	}
}

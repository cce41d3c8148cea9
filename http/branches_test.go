package http_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// branch makes a branch from JSON fields.
func (r *rig) branch(name string, more ...string) doc {
	r.t.Helper()
	body := fmt.Sprintf(`{"name":%q`, name)
	for _, m := range more {
		body += "," + m
	}
	return r.post("/api/branches", body+"}").status(http.StatusCreated).object()
}

// values lists the objects that a read answers.
func (r *rig) values(path string) string {
	r.t.Helper()
	return column(r.get(path).status(http.StatusOK).list(), "object")
}

// WRT-05: a branch taken from the past sees that past, whatever is written to the
// main line later.
func TestWRT05ABranchFromThePast(t *testing.T) {
	r := start(t, "")
	const flag = "subject=Flag:f&predicate=value"
	r.assert("Flag:f", "value", "1")
	r.node.Advance(time.Second)
	t2 := fmt.Sprint(r.node.Now())
	r.node.Advance(time.Second)
	r.assert("Flag:f", "value", "2")
	made := r.branch("b", `"as_of":`+t2)
	if made.text("status") != "open" || made.text("parent") != "main" || made.text("base_ts") != t2 || made.text("base_tx") != "1" || made.text("owner") != "default" {
		t.Errorf("made %v", made)
	}
	if got := r.values("/api/facts?branch=b&" + flag); got != "1" {
		t.Errorf("the branch reads %s", got)
	}
	guarded := `{"compares":[{"subject":"Flag:f","predicate":"value","expect":%s}],"asserts":[{"subject":"Flag:f","predicate":"value","object":9}]}`
	failed := r.post("/api/transact?branch=b", fmt.Sprintf(guarded, "2")).fails(http.StatusConflict, "CompareFailed")
	if !strings.Contains(fmt.Sprint(failed), "current:[1]") {
		t.Errorf("the guard met %v", failed)
	}
	r.post("/api/transact?branch=b", fmt.Sprintf(guarded, "1")).status(http.StatusOK)
	diff := r.get("/api/branches/b/diff").status(http.StatusOK).object()
	if got := fmt.Sprint(diff["counts"]); got != "map[added:0 changed:1 removed:0 replaced:1]" {
		t.Errorf("the diff counts %s", got)
	}
	if !strings.Contains(fmt.Sprint(diff["changed"]), "object:9") {
		t.Errorf("the diff says %v", diff)
	}
	r.assert("Flag:f", "value", "3")
	for path, want := range map[string]string{
		"/api/facts?branch=b&" + flag: "9", "/api/facts?" + flag: "3",
		"/api/facts?branch=b&" + flag + "&as_of=" + t2:    "1",
		"/api/facts?branch=b&" + flag + "&known_at=" + t2: "1",
		"/api/facts?branch=b&" + flag + "&tx=1":           "1",
	} {
		if got := r.values(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	for _, path := range []string{"/api/facts?status=all", "/api/search?q=9", "/api/walk?start=Flag:f", "/api/factcheck", "/api/predicates", "/api/graph"} {
		if got := r.get(path).status(http.StatusOK).Body; strings.Contains(got, `"object":9`) || strings.Contains(got, "_branch") {
			t.Errorf("%s shows the branch: %s", path, got)
		}
	}

	before := r.get("/api/stats").object().text("tx")
	dry := r.post("/api/branches/b/promote?dry_run=1", "").status(http.StatusOK).object()
	if dry.text("promoted") != "1" || dry.text("conflict_count") != "1" || dry.text("status") != "open" || dry.text("tx") != before || dry["ok"] != true {
		t.Errorf("the dry run says %v", dry)
	}
	if got := r.values("/api/facts?" + flag); got != "3" {
		t.Errorf("the dry run has written %s", got)
	}
	l := r.listen("/api/stream?tx_gt=" + before)
	done := r.post("/api/branches/b/promote", "").status(http.StatusOK).object()
	if done["ok"] != true || done.text("branch") != "b" || done.text("promoted") != "1" || done.text("superseded") != "1" || done.text("status") != "promoted" {
		t.Errorf("promoted: %v", done)
	}
	if got := r.values("/api/facts?" + flag); got != "9" {
		t.Errorf("main reads %s", got)
	}
	for {
		m, ok := l.next()
		if !ok {
			t.Fatal("the stream ended")
		}
		if m.data == "" {
			continue
		}
		if !strings.Contains(m.data, `"op":"assert"`) || !strings.Contains(m.data, `"object":9`) || !strings.Contains(m.data, `"superseded":[`) ||
			!strings.HasSuffix(m.id, ":"+done.text("tx")) || strings.Contains(m.data, "_branch") {
			t.Errorf("the stream tells %+v", m)
		}
		break
	}
	for _, c := range []*reply{
		r.post("/api/branches/b/promote", ""), r.post("/api/branches/b/discard", ""), r.delete("/api/branches/b"),
		r.post("/api/facts?branch=b", `{"subject":"Flag:f","predicate":"value","object":4}`),
		r.post("/api/branches", `{"name":"c","parent":"b"}`),
	} {
		if e := c.fails(http.StatusConflict, "Conflict"); !strings.Contains(fmt.Sprint(e["message"]), "branch is not open") {
			t.Errorf("refused by %v", e)
		}
	}
	if got := r.values("/api/facts?branch=b&" + flag); got != "9" {
		t.Errorf("the promoted branch reads %s", got)
	}
}

// The guide, step by step as the documents write it.
func TestGuideBranchAndMerge(t *testing.T) {
	r := start(t, "root-key")
	acme := r.post("/api/tenants", `{"id":"acme"}`).status(http.StatusCreated).object()
	s := &shell{rig: r, vars: map[string]string{"ABAGRAPH_BASE_URL": "http://127.0.0.1", "ABAGRAPH_API_KEY": acme.text("key")}}
	const auth = ` -H "Authorization: Bearer $ABAGRAPH_API_KEY"`
	const sends = auth + ` -H "Content-Type: application/json"`
	s.curl(`curl -s -X POST "$ABAGRAPH_BASE_URL/api/facts"` + sends + ` -d '{"subject":"Project:atlas","predicate":"status","object":"draft"}'`).status(201)
	s.curl(`curl -s -X POST "$ABAGRAPH_BASE_URL/api/facts"` + sends + ` -d '{"subject":"Project:atlas","predicate":"lead","object":"Person:alice"}'`).status(201)
	made := s.curl(`curl -s -X POST "$ABAGRAPH_BASE_URL/api/branches"` + sends + ` -d '{"name":"feature-q3","parent":"main"}'`).status(201).object()
	if made.text("name") != "feature-q3" || made.text("status") != "open" || made.text("base_ts") != made.text("created_at") || made.text("owner") != "acme" {
		t.Errorf("made %v", made)
	}
	written := s.curl(`curl -s -X POST "$ABAGRAPH_BASE_URL/api/facts?branch=feature-q3"` + sends +
		` -d '{"subject":"Project:atlas","predicate":"status","object":"in-review","source":"branch-test"}'`).status(201).object()
	if written.text("tenant") != "acme~feature-q3" || written.text("branch") != "feature-q3" || written["properties"].(map[string]any)["_branch"] != "feature-q3" {
		t.Errorf("written %v", written)
	}
	view := s.curl(`curl -s "$ABAGRAPH_BASE_URL/api/facts?branch=feature-q3&subject=Project:atlas"` + auth).status(200).list()
	if got := column(view, "object"); got != `"in-review","Person:alice"` {
		t.Errorf("the reconciled view is %s", got)
	}
	diff := s.curl(`curl -s "$ABAGRAPH_BASE_URL/api/branches/feature-q3/diff"` + auth).status(200).object()
	if counts := diff["counts"].(map[string]any); fmt.Sprint(counts["added"], counts["changed"], counts["removed"]) != "010" {
		t.Errorf("the diff is %v", diff)
	}
	if got := s.curl(`curl -s -X POST "$ABAGRAPH_BASE_URL/api/branches/feature-q3/promote"` + auth).status(200).object(); got["ok"] != true || got.text("promoted") != "1" {
		t.Errorf("promoted %v", got)
	}
	if got := column(s.curl(`curl -s "$ABAGRAPH_BASE_URL/api/facts?subject=Project:atlas&predicate=status"`+auth).list(), "object"); got != `"in-review"` {
		t.Errorf("main reads %s", got)
	}
	s.curl(`curl -X POST "$ABAGRAPH_BASE_URL/api/branches"` + sends + ` -d '{"name": "experiment-1"}'`).status(201)
	s.curl(`curl -X POST "$ABAGRAPH_BASE_URL/api/facts"` + sends + ` -d '{"subject":"Person:alice","predicate":"works_at","object":"Org:new","branch":"experiment-1"}'`).status(201)
	if got := column(s.curl(`curl "$ABAGRAPH_BASE_URL/api/facts?branch=experiment-1&subject=Person:alice"`+auth).list(), "object"); got != `"Org:new"` {
		t.Errorf("the branch reads %s", got)
	}
	if got := s.curl(`curl -s -X POST "$ABAGRAPH_BASE_URL/api/branches/experiment-1/discard"` + auth).status(200).object(); got["ok"] != true || got.text("discarded") != "1" {
		t.Errorf("discarded %v", got)
	}
	list := s.curl(`curl -s "$ABAGRAPH_BASE_URL/api/branches"` + auth).status(200).list()
	if got := column(list, "name") + column(list, "status"); got != `"experiment-1","feature-q3""discarded","promoted"` {
		t.Errorf("the list is %s", got)
	}
}

// Each thing on a branch stays on it: every read takes branch, and none of main's
// shows what was written there.
func TestBranchesOnEveryRead(t *testing.T) {
	r := start(t, "")
	alice := r.assert("Person:alice", "works_at", `"Org:acme"`)
	r.assert("Org:acme", "seat", `"City:bonn"`)
	tx := r.get("/api/stats").object().text("tx")
	r.branch("plan")
	moved := r.post("/api/facts?branch=plan", `{"subject":"Person:alice","predicate":"works_at","object":"Org:new","policy":"auto_supersede"}`).status(201).object()
	r.post("/api/facts?branch=plan", `{"subject":"Org:new","predicate":"part_of","object":"Group:x"}`).status(201)
	stays := `"object":"Org:new"`
	for _, path := range []string{
		"/api/facts", "/api/facts?subject=Person:alice", "/api/facts?predicate=works_at", "/api/facts?object=Org:new", "/api/facts?tx_gt=0&status=all",
		"/api/entities", "/api/predicates", "/api/entities/Person:alice", "/api/walk?start=Person:alice", "/api/graph", "/api/path?from=Person:alice&to=Group:x",
		"/api/search?q=org+new", "/api/context?goal=org+new&seeds=Person:alice", "/api/changes?from=2020-01-01&to=" + fmt.Sprint(r.node.Now()), "/api/factcheck",
		"/api/facts/" + alice.text("id"), "/api/facts/" + alice.text("id") + "/history", "/api/stats",
	} {
		if got := r.get(path).status(200).Body; strings.Contains(got, "Org:new") || strings.Contains(got, "Group:x") || strings.Contains(got, "part_of") {
			if !strings.HasPrefix(path, "/api/path") && !strings.Contains(path, "object=Org:new") {
				t.Errorf("%s shows the branch: %s", path, got)
			}
		}
		sep := "?"
		if strings.Contains(path, "?") {
			sep = "&"
		}
		got := r.get(path + sep + "branch=plan").status(200).Body
		switch path {
		case "/api/stats":
			if !strings.Contains(got, `"active":3,"superseded":1`) || !strings.Contains(got, `"entities":3,"predicates":3`) {
				t.Errorf("the branch's stats are %s", got)
			}
		case "/api/factcheck", "/api/entities", "/api/predicates":
		case "/api/facts/" + alice.text("id"):
			if !strings.Contains(got, `"status":"superseded"`) || !strings.Contains(got, `"superseded_by":"`+moved.text("id")) || !strings.Contains(got, `"tenant":"default~plan"`) {
				t.Errorf("the branch has it as %s", got)
			}
		default:
			if !strings.Contains(got, "Org:new") {
				t.Errorf("%s does not show the branch: %s", path, got)
			}
		}
		r.get(path+sep+"branch=none").fails(http.StatusNotFound, "NotFound")
	}
	if got := r.get("/api/facts/" + alice.text("id")).object(); got.text("status") != "active" || got.text("tenant") != "default" {
		t.Errorf("main has it as %v", got)
	}
	if got := r.get("/api/entities?branch=plan").Body; !strings.Contains(got, `"id":"Org:new"`) || !strings.Contains(got, `"id":"Org:acme"`) {
		t.Errorf("the branch's entities are %s", got)
	}
	if got := r.get("/api/predicates?branch=plan").Body; got != `["part_of","seat","works_at"]` {
		t.Errorf("the branch's predicates are %s", got)
	}
	if got := r.get("/api/facts/" + alice.text("id") + "?branch=plan&tx=" + tx).object(); got.text("status") != "active" {
		t.Errorf("before the fork it was %v", got)
	}
	if !strings.Contains(r.get("/api/facts?branch=plan").Body, stays) {
		t.Error("the branch has lost its own")
	}
	// Whole facts of a branch can be sent back as they came.
	whole := r.get("/api/facts?branch=plan").Body
	r.post("/api/enrich?branch=plan", `{"facts":`+whole+`}`).status(200)
	r.post("/api/compact", `{"token_budget":500,"facts":`+whole+`}`).status(200)
	l := r.listen("/api/stream?branch=plan&tx_gt=0")
	for {
		m, ok := l.next()
		if !ok {
			t.Fatal("the stream ended")
		}
		if m.data != "" {
			if !strings.Contains(m.data, stays) || !strings.Contains(m.data, `"branch":"plan"`) {
				t.Errorf("the branch's stream begins with %s", m.data)
			}
			break
		}
	}
}

// A retraction on a branch is the branch's own, and is carried to the parent.
func TestBranchRetractions(t *testing.T) {
	r := start(t, "")
	gone := r.assert("Person:a", "likes", `"tea"`).text("id")
	stays := r.assert("Person:b", "likes", `"milk"`).text("id")
	r.branch("b")
	r.delete("/api/facts/" + gone + "?branch=b").status(200)
	r.post("/api/transact", `{"branch":"b","retracts":["`+gone+`"]}`).status(200)
	own := r.post("/api/facts", `{"branch":"b","subject":"Person:c","predicate":"likes","object":"coffee"}`).status(201).object().text("id")
	r.delete("/api/facts/" + own + "?branch=b").status(200)
	if got := r.values("/api/facts?branch=b"); got != `"milk"` {
		t.Errorf("the branch reads %s", got)
	}
	if got := r.values("/api/facts"); got != `"milk","tea"` {
		t.Errorf("main reads %s", got)
	}
	diff := r.get("/api/branches/b/diff").object()
	if got := fmt.Sprint(diff["counts"]); got != "map[added:0 changed:0 removed:1 replaced:0]" || !strings.Contains(fmt.Sprint(diff["removed"]), gone) {
		t.Errorf("the diff is %v", diff)
	}
	r.delete("/api/facts/" + stays) // main goes its own way meanwhile
	done := r.post("/api/branches/b/promote", `{"dry_run":false}`).status(200).object()
	if done.text("promoted") != "0" || done.text("retracted") != "1" {
		t.Errorf("promoted %v", done)
	}
	if got := r.values("/api/facts"); got != "" {
		t.Errorf("main reads %s", got)
	}
	if got := r.get("/api/facts/" + gone).object().text("status"); got != "retracted" {
		t.Errorf("it is %s", got)
	}
}

// Two promotions of one predicate: each is whole or not at all.
func TestPromotionsOfOnePredicate(t *testing.T) {
	r := start(t, "")
	for _, name := range []string{"x", "y"} {
		r.branch(name)
		var rows []string
		for i := range 50 {
			rows = append(rows, fmt.Sprintf(`{"subject":"Job:%d","predicate":"owner","object":%q,"policy":"reject"}`, i, name))
		}
		r.post("/api/transact?branch="+name, `{"asserts":[`+strings.Join(rows, ",")+`]}`).status(200)
	}
	codes := make(chan int, 2)
	for _, name := range []string{"x", "y"} {
		go func() { codes <- r.post("/api/branches/"+name+"/promote", "").Status }()
	}
	if a, b := <-codes, <-codes; a+b != 200+409 {
		t.Errorf("the promotions were answered %d and %d", a, b)
	}
	list := r.get("/api/facts?predicate=owner").list()
	owners := column(list, "object")
	if len(list) != 50 || strings.Contains(owners, `"x"`) == strings.Contains(owners, `"y"`) {
		t.Errorf("half of each was applied: %s", owners)
	}
	for _, name := range []string{"x", "y"} {
		b := r.get("/api/branches/" + name).object()
		if won := strings.Contains(owners, `"`+name+`"`); won != (b.text("status") == "promoted") {
			t.Errorf("%s is %v", name, b)
		}
		if b.text("status") == "open" {
			dry := r.post("/api/branches/"+name+"/promote?dry_run=1", "").status(200).object()
			if dry["ok"] != false || dry.text("conflict_count") != "100" || dry.text("promoted") != "0" {
				t.Errorf("the dry run of the other says %s", r.post("/api/branches/"+name+"/promote?dry_run=1", "").Body[:300])
			}
		}
	}
}

// A discarded branch is gone from the present, and stays in the past.
func TestDiscardedBranches(t *testing.T) {
	r := start(t, "")
	r.assert("A:1", "p", "1")
	r.branch("b")
	tx := r.post("/api/transact?branch=b", `{"asserts":[{"subject":"A:1","predicate":"p","object":2},{"subject":"A:2","predicate":"p","object":3}]}`).status(200).object().text("tx")
	r.branch("child", `"parent":"b"`)
	if got := r.delete("/api/branches/b").status(200).object(); got.text("discarded") != "2" || got.text("status") != "discarded" {
		t.Errorf("discarded %v", got)
	}
	e := r.get("/api/facts?branch=b").fails(404, "NotFound")
	if !strings.Contains(fmt.Sprint(e["message"]), "discarded") {
		t.Errorf("refused by %v", e)
	}
	if got := r.values("/api/facts?branch=b&tx=" + tx); got != "2,3" && got != "3,2" {
		t.Errorf("at its tx the branch had %s", got)
	}
	if got := r.values("/api/facts?branch=child&subject=A:1"); got != "2" {
		t.Errorf("its child reads %s", got)
	}
	if got := r.get("/api/branches/b/diff").status(200).object()["counts"]; fmt.Sprint(got) != "map[added:0 changed:0 removed:0 replaced:0]" {
		t.Errorf("its diff is %v", got)
	}
	r.post("/api/branches/child/promote", "").fails(409, "Conflict")
	r.post("/api/branches", `{"name":"b"}`).fails(409, "Conflict")
}

// Bad input names the field, and writes nothing.
func TestBranchInput(t *testing.T) {
	r := start(t, "")
	r.assert("A:1", "p", "1")
	r.branch("open")
	before := r.get("/api/stats").object().text("tx")
	long := strings.Repeat("x", 65)
	for _, c := range []struct {
		method, path, body string
		status             int
		code, field        string
	}{
		{"POST", "/api/branches", `{"name":"main"}`, 400, "SchemaInvalid", "name"},
		{"POST", "/api/branches", `{"name":""}`, 400, "SchemaInvalid", "name"},
		{"POST", "/api/branches", `{}`, 400, "SchemaInvalid", "name"},
		{"POST", "/api/branches", `{"name":"a:b"}`, 400, "SchemaInvalid", "name"},
		{"POST", "/api/branches", `{"name":"a~b"}`, 400, "SchemaInvalid", "name"},
		{"POST", "/api/branches", `{"name":"ünter"}`, 400, "SchemaInvalid", "name"},
		{"POST", "/api/branches", `{"name":"` + long + `"}`, 400, "SchemaInvalid", "name"},
		{"POST", "/api/branches", `{"name":"x","as_of":"yesterday"}`, 400, "SchemaInvalid", "as_of"},
		{"POST", "/api/branches", `{"name":"x","as_of":"2199-01-01"}`, 400, "SchemaInvalid", "as_of"},
		{"POST", "/api/branches", `{"name":"x","as_of":1718800000000000}`, 400, "SchemaInvalid", "as_of"},
		{"POST", "/api/branches", `{"name":"x","parent":"none"}`, 404, "NotFound", "parent"},
		{"POST", "/api/branches", `{"name":"x","parent":""}`, 400, "SchemaInvalid", "parent"},
		{"POST", "/api/branches", `{"name":"x","base":"main"}`, 400, "SchemaInvalid", "base"},
		{"POST", "/api/branches?branch=open", `{"name":"x"}`, 400, "SchemaInvalid", "branch"},
		{"POST", "/api/branches", `{"name":"open"}`, 409, "Conflict", ""},
		{"GET", "/api/branches/none", "", 404, "NotFound", "branch"},
		{"GET", "/api/branches/none/diff", "", 404, "NotFound", "branch"},
		{"POST", "/api/branches/none/promote", "", 404, "NotFound", "branch"},
		{"POST", "/api/branches/none/discard", "", 404, "NotFound", "branch"},
		{"DELETE", "/api/branches/none", "", 404, "NotFound", "branch"},
		{"POST", "/api/branches/main/promote", "", 400, "SchemaInvalid", "name"},
		{"POST", "/api/branches/open/promote", `{"dry":true}`, 400, "SchemaInvalid", "dry"},
		{"POST", "/api/branches/open/promote?dry_run=maybe", "", 400, "SchemaInvalid", "dry_run"},
		{"GET", "/api/branches?status=closed", "", 400, "SchemaInvalid", "status"},
		{"GET", "/api/facts?branch=", "", 404, "NotFound", "branch"},
		{"GET", "/api/facts?branch=a~b", "", 404, "NotFound", "branch"},
		{"GET", "/api/facts/0190d0a5-0000-7000-8000-000000000000?branch=none", "", 404, "NotFound", "branch"},
		{"DELETE", "/api/facts/0190d0a5-0000-7000-8000-000000000000?branch=none", "", 404, "NotFound", "branch"},
		{"POST", "/api/facts?branch=none", `{"subject":"A:1","predicate":"p","object":2}`, 404, "NotFound", "branch"},
		{"POST", "/api/facts?branch=open", `{"subject":"A:1","predicate":"p","object":2,"branch":"main"}`, 400, "SchemaInvalid", "branch"},
		{"POST", "/api/transact", `{"asserts":[{"subject":"A:1","predicate":"p","object":2,"branch":"open"}]}`, 400, "SchemaInvalid", "asserts[0].branch"},
		{"POST", "/api/transact?branch=open", `{"asserts":[{"subject":"A:1","predicate":"p","object":2,"branch":"main"}]}`, 400, "SchemaInvalid", "asserts[0].branch"},
		{"GET", "/api/admin/purge?subject=A:1&branch=open", "", 400, "SchemaInvalid", "branch"},
		{"POST", "/api/admin/purge?subject=A:1&branch=open&confirm=1", "", 400, "SchemaInvalid", "branch"},
		{"POST", "/api/tenants?branch=open", `{"id":"x"}`, 400, "SchemaInvalid", "branch"},
	} {
		e := r.do(c.method, c.path, c.body).fails(c.status, c.code)
		if field, _ := e["field"].(string); field != c.field {
			t.Errorf("%s %s %s: field %q: %v", c.method, c.path, c.body, field, e)
		}
	}
	if after := r.get("/api/stats").object().text("tx"); after != before {
		t.Errorf("something was written: tx %s, then %s", before, after)
	}
	// TIM-05: what looks like seconds is read as milliseconds, and said.
	if got := r.post("/api/branches", `{"name":"seconds","as_of":1718800000}`).status(201).object(); !strings.Contains(fmt.Sprint(got["warnings"]), "as_of") {
		t.Errorf("no warning: %v", got)
	}
	if got := r.post("/api/branches", `{"name":"iso","as_of":"2025-06-01T00:00:00Z"}`).status(201).object(); got.text("base_ts") != "1748736000000" || got.text("base_tx") != "0" {
		t.Errorf("made %v", got)
	}
	if got := r.values("/api/facts?branch=iso"); got != "" {
		t.Errorf("a branch from before everything reads %s", got)
	}
	parent := "main"
	for i := range 20 {
		name := fmt.Sprintf("deep-%d", i)
		got := r.post("/api/branches", fmt.Sprintf(`{"name":%q,"parent":%q}`, name, parent))
		if i == 16 {
			got.fails(400, "SchemaInvalid")
			break
		}
		got.status(201)
		parent = name
	}
	if got := r.values("/api/facts?branch=" + parent); got != "1" {
		t.Errorf("the deepest branch reads %s", got)
	}
	first := r.get("/api/branches?limit=2&status=Open")
	if list := first.list(); column(list, "name") != `"deep-0","deep-1"` || first.Header.Get("X-Abagraph-Next") != "deep-1" {
		t.Errorf("a page is %s, %v", first.Body, first.Header)
	}
	if list := r.get("/api/branches?limit=1&after=deep-1").list(); column(list, "name") != `"deep-10"` {
		t.Errorf("the next page is %v", list)
	}
}

// TEN-01, TEN-03: a branch is its owner's alone. Knowing its name, or the id of a
// fact on it, is the same as making one up.
func TestTEN03BranchesOfAnother(t *testing.T) {
	r := start(t, "root-key")
	a := r.as(r.post("/api/tenants", `{"id":"a"}`).object().text("key"))
	b := r.as(r.post("/api/tenants", `{"id":"b"}`).object().text("key"))
	reader := r.as(r.post("/api/tenants/a/keys", `{"role":"read","name":"eyes"}`).object().text("key"))
	b.assert("Secret:x", "canary", `"c4n4ry"`)
	b.branch("theirs")
	id := b.post("/api/facts?branch=theirs", `{"subject":"Secret:y","predicate":"canary","object":"c4n4ry"}`).status(201).object().text("id")
	a.assert("Own:x", "p", "1")
	a.branch("mine")
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/api/branches/%s", ""}, {"GET", "/api/branches/%s/diff", ""}, {"POST", "/api/branches/%s/promote", ""},
		{"POST", "/api/branches/%s/promote?dry_run=1", ""}, {"POST", "/api/branches/%s/discard", ""}, {"DELETE", "/api/branches/%s", ""},
		{"GET", "/api/facts?branch=%s", ""}, {"GET", "/api/stats?branch=%s", ""}, {"GET", "/api/facts/" + id + "?branch=%s", ""},
		{"GET", "/api/entities?branch=%s", ""}, {"GET", "/api/walk?start=Secret:y&branch=%s", ""}, {"GET", "/api/search?q=c4n4ry&branch=%s", ""},
		{"POST", "/api/facts?branch=%s", `{"subject":"Own:x","predicate":"p","object":2}`}, {"DELETE", "/api/facts/" + id + "?branch=%s", ""},
		{"POST", "/api/branches", `{"name":"new","parent":"%s"}`}, {"GET", "/api/stream?branch=%s", ""},
	} {
		ask := func(name string) *reply {
			path, body := c.path, c.body
			if strings.Contains(path, "%s") {
				path = fmt.Sprintf(path, name)
			} else {
				body = fmt.Sprintf(body, name)
			}
			return a.do(c.method, path, body)
		}
		theirs, made := ask("theirs"), ask("madeup")
		theirs.fails(http.StatusNotFound, "NotFound")
		if strings.ReplaceAll(theirs.Body, "theirs", "madeup") != made.Body || theirs.Status != made.Status {
			t.Errorf("%s %s tells them apart: %s, %s", c.method, c.path, theirs.Body, made.Body)
		}
	}
	for _, path := range []string{"/api/branches", "/api/facts?branch=mine&status=all", "/api/entities?branch=mine", "/api/predicates?branch=mine", "/api/search?q=y&branch=mine", "/api/stats?branch=mine", "/api/graph?branch=mine", "/api/facts/" + id} {
		if got := a.get(path).Body; strings.Contains(got, "c4n4ry") || strings.Contains(got, "canary") || strings.Contains(got, "theirs") || strings.Contains(got, "Secret") {
			t.Errorf("%s shows another tenant's: %s", path, got)
		}
	}
	for _, c := range []*reply{reader.post("/api/branches", `{"name":"r"}`), reader.post("/api/branches/mine/promote", ""), reader.post("/api/branches/mine/discard", ""), reader.delete("/api/branches/mine")} {
		c.fails(http.StatusForbidden, "Forbidden")
	}
	reader.get("/api/branches").status(200)
	reader.get("/api/branches/mine/diff").status(200)
	// The operator sees all owners' branches, and names a tenant to act on one.
	if got := r.get("/api/branches").list(); column(got, "owner") != `"a","b"` {
		t.Errorf("the operator lists %v", got)
	}
	if got := r.get("/api/facts?branch=theirs&tenant=b&subject=Secret:y").list(); len(got) != 1 {
		t.Errorf("the operator reads %v", got)
	}
	r.post("/api/branches/theirs/discard", "").fails(http.StatusNotFound, "NotFound")
	r.post("/api/branches/theirs/discard?tenant=b", "").status(200)
}

// TEN-06: a purge leaves nothing on any branch, closed ones included.
func TestTEN06PurgeCoversBranches(t *testing.T) {
	r := start(t, "")
	r.assert("Person:p9", "canary", `"c4n4ry one"`)
	r.branch("open")
	r.post("/api/facts?branch=open", `{"subject":"Person:p9","predicate":"canary","object":"c4n4ry two"}`, "Idempotency-Key: k1").status(201)
	r.branch("closed", `"parent":"open"`)
	r.post("/api/facts?branch=closed", `{"subject":"Person:p9","predicate":"canary","object":"c4n4ry three","policy":"coexist"}`).status(201)
	r.post("/api/branches/closed/discard", "").status(200)
	tx := r.get("/api/stats").object().text("tx")
	if got := r.get("/api/admin/purge?subject=Person:p9").object().text("facts"); got != "4" {
		t.Errorf("the preview counts %s", got)
	}
	if got := r.post("/api/admin/purge?subject=Person:p9&confirm=1", "").status(200).object().text("deleted"); got != "4" {
		t.Errorf("the purge deleted %s", got)
	}
	for _, path := range []string{
		"/api/facts?status=all", "/api/facts?status=all&branch=open", "/api/facts?status=all&branch=open&tx=" + tx, "/api/entities?branch=open",
		"/api/facts?status=all&branch=closed&tx=" + fmt.Sprint(4), "/api/search?q=two&branch=open", "/api/branches/open/diff", "/api/stats?branch=open",
	} {
		if got := r.get(path).status(200).Body; strings.Contains(got, "c4n4ry") || strings.Contains(got, "p9") {
			t.Errorf("%s still shows it: %s", path, got)
		}
	}
	const two = `{"subject":"Person:p9","predicate":"canary","object":"c4n4ry two"}`
	late := r.post("/api/facts?branch=open", two, "Idempotency-Key: k1")
	if e := late.fails(http.StatusConflict, "Conflict"); e["field"] != "Idempotency-Key" || e["ids"] != nil || strings.Contains(late.Body, "c4n4ry") {
		t.Errorf("the late request: %s", late.Body)
	}
	if got := r.get("/api/facts?status=all&branch=open").list(); len(got) != 0 {
		t.Errorf("it wrote %v", got)
	}
	if again := r.post("/api/facts?branch=open", two, "Idempotency-Key: k2").status(201).object(); again.text("superseded") != "0" {
		t.Errorf("what was purged is known: %v", again)
	}
}

// C-31: a repeated request about a branch is answered as the first one was.
func TestBranchRetries(t *testing.T) {
	r := start(t, "")
	r.assert("A:1", "p", "1")
	twice := func(method, path, body, key string) *reply {
		t.Helper()
		first := r.do(method, path, body, "Idempotency-Key: "+key)
		r.assert("Noise:"+key, "p", "1")
		again := r.do(method, path, body, "Idempotency-Key: "+key)
		if first.Body != again.Body || first.Status != again.Status || first.Header.Get("X-Abagraph-Tx") != again.Header.Get("X-Abagraph-Tx") {
			t.Errorf("%s %s: %s, then %s", method, path, first.Body, again.Body)
		}
		return first
	}
	twice("POST", "/api/branches", `{"name":"b"}`, "k1").status(201)
	twice("POST", "/api/facts?branch=b", `{"subject":"A:1","predicate":"p","object":2}`, "k2").status(201)
	twice("POST", "/api/facts?branch=b", `{"subject":"A:1","predicate":"p","object":2}`, "k3").status(200)
	r.assert("A:1", "p", "3")
	twice("POST", "/api/branches/b/promote?dry_run=1", "", "k4").status(200)
	twice("POST", "/api/branches/b/promote", "", "k5").status(200)
	twice("POST", "/api/branches/b/promote", "", "k6").status(409)
	if again := r.post("/api/branches", `{"name":"b"}`, "Idempotency-Key: k1").status(201).object(); again.text("status") != "open" {
		t.Errorf("the branch was made as %v", again)
	}
	if got := r.get("/api/branches/b/diff?explain=1").status(200).object(); got["explain"] == nil || got["result"] == nil {
		t.Errorf("no explanation: %v", got)
	}
	if got := r.post("/api/branches?explain=1", `{"name":"c"}`).status(201).object(); !strings.Contains(fmt.Sprint(got["explain"]), "create_branch") {
		t.Errorf("no explanation: %v", got)
	}
}

// The mark of a branch is the server's: a fact that was read on a branch can be written
// there again, and none is left behind on the parent.
func TestTheMarkOfABranch(t *testing.T) {
	r := start(t, "")
	r.post("/api/branches", `{"name":"b"}`).status(http.StatusCreated)
	for properties, want := range map[string]string{
		`{"_branch":"b"}`: `{"_branch":"b"}`, `{"why":1.10,"_branch":"b","how":{"_branch":"x"}}`: `{"_branch":"b","why":1.10,"how":{"_branch":"x"}}`,
	} {
		body := `{"subject":"A:1","predicate":"` + fmt.Sprint(len(want)) + `","properties":` + properties + `}`
		if got := r.post("/api/facts?branch=b", body).status(http.StatusCreated).Body; !strings.Contains(got, `"properties":`+want) {
			t.Errorf("%s is answered %s", properties, got)
		}
	}
	for _, mark := range []string{`"other"`, `5`, `null`} {
		body := `{"subject":"A:1","predicate":"p","properties":{"_branch":` + mark + `}}`
		if e := r.post("/api/facts?branch=b", body).fails(http.StatusBadRequest, "SchemaInvalid"); e.text("field") != "properties._branch" {
			t.Errorf("%s: %v", mark, e)
		}
		r.post("/api/facts", body).status(http.StatusCreated) // off a branch it is a property like any other
		r.delete("/api/facts/" + r.get("/api/facts?predicate=p").list()[0].text("id")).status(http.StatusOK)
	}
	r.post("/api/branches/b/promote", "").status(http.StatusOK)
	if got := r.get("/api/facts?subject=A:1").status(http.StatusOK).Body; strings.Contains(got, `"_branch":"b"`) || !strings.Contains(got, `"properties":null`) {
		t.Errorf("promoted: %s", got)
	}
}

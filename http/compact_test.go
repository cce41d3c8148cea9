package http_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"abagraph/memory"
)

// TestCurlsOfCompact runs the commands of the documents' pages as written there.
func TestCurlsOfCompact(t *testing.T) {
	s := newShell(t)
	got := s.curl(`curl -s -X POST "$ABAGRAPH_BASE_URL/api/compact" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{ "token_budget": 500, "facts": [
{"id":"01J..","subject":"Person:sarah","predicate":"works_at","object":"Org:acme","confidence":0.9,"valid_from":1720000000000,"status":"Active","tx":1},
{"id":"01J..","subject":"Person:sarah","predicate":"role","object":"VP Engineering","confidence":0.7,"valid_from":1720000000000,"status":"Active","tx":1},
{"id":"01J..","subject":"Project:atlas","predicate":"owner","object":"Person:sarah","confidence":0.95,"valid_from":1720000000000,"status":"Active","tx":2}
] }'`).status(200)
	want := `{"facts":[{"id":"01J..","subject":"Project:atlas","predicate":"owner","object":"Person:sarah","confidence":0.95,"valid_from":1720000000000,"status":"active","tx":2},` +
		`{"id":"01J..","subject":"Person:sarah","predicate":"works_at","object":"Org:acme","confidence":0.9,"valid_from":1720000000000,"status":"active","tx":1},` +
		`{"id":"01J..","subject":"Person:sarah","predicate":"role","object":"VP Engineering","confidence":0.7,"valid_from":1720000000000,"status":"active","tx":1}],"tokens":`
	if !strings.HasPrefix(got.Body, want) || !strings.HasSuffix(got.Body, `,"dropped":0}`) {
		t.Errorf("compacted: %s", got.Body)
	}
	empty := s.curl(`curl -s -X POST "$ABAGRAPH_BASE_URL/api/compact" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{"token_budget":100,"facts":[]}'`).status(200)
	if empty.Body != `{"facts":[],"tokens":0,"total_tokens":0,"dropped":0}` {
		t.Errorf("nothing: %s", empty.Body)
	}
}

func number(v any) int {
	n, err := strconv.Atoi(fmt.Sprint(v))
	if err != nil {
		return -1
	}
	return n
}

// TestCompact: what an answer of facts holds can be sent as it is, the budget is
// kept, and nothing is read or written.
func TestCompact(t *testing.T) {
	r := start(t, "")
	for i := range 30 {
		r.assert(fmt.Sprintf("Person:p%d", i), "noted", `"something worth a line of its own"`, fmt.Sprintf(`"confidence":%v`, 0.8+float64(i)/200))
	}
	facts := r.get("/api/facts").status(200).Body
	all := r.post("/api/compact", `{"token_budget":100000,"facts":`+facts+`}`).status(200).object()
	if len(all["facts"].([]any)) != 30 || number(all["dropped"]) != 0 || all["tokens"] != all["total_tokens"] {
		t.Errorf("all: %v %v", all["tokens"], all["dropped"])
	}
	few := r.post("/api/compact?explain=1", `{"max_tokens":200,"facts":`+facts+`}`).status(200).object()["result"].(map[string]any)
	kept := few["facts"].([]any)
	if len(kept) == 0 || len(kept) > 8 || number(few["tokens"]) > 200 || number(few["dropped"]) != 30-len(kept) || kept[0].(map[string]any)["subject"] != "Person:p29" {
		t.Errorf("few: %v", few)
	}
	packet := r.post("/api/context", `{"token_budget":2000}`).status(200).object()
	if got := r.post("/api/compact", `{"token_budget":60,"facts":`+packet.text("facts")+`}`).status(200).object(); len(got["facts"].([]any)) != 1 {
		t.Errorf("of a packet: %v", got)
	}
	for body, field := range map[string]string{
		`{"facts":[]}`: "token_budget", `{"token_budget":5}`: "facts", `{"token_budget":0,"facts":[]}`: "token_budget", `{"token_budget":5,"facts":{}}`: "facts",
		`{"token_budget":5,"facts":[{"subject":"a","predicate":"b","object":1}]}`:                                   "facts[0].id",
		`{"token_budget":5,"facts":[{"id":"x","predicate":"b","object":1}]}`:                                        "facts[0].subject",
		`{"token_budget":5,"facts":[{"id":"x","subject":"a","predicate":"b","object":[1]}]}`:                        "facts[0].object",
		`{"token_budget":5,"facts":[{"id":"x","subject":"a","predicate":"b","status":"gone"}]}`:                     "facts[0].status",
		`{"token_budget":5,"facts":[{"id":"x","subject":"a","predicate":"b","confidence":null}]}`:                   "facts[0].confidence",
		`{"token_budget":5,"facts":[{"id":"x","subject":"a","predicate":"b","colour":"red"}]}`:                      "facts[0].colour",
		`{"token_budget":5,"facts":[{"id":"x","subject":"a","predicate":"b","valid_from":"long ago"}]}`:             "facts[0].valid_from",
		`{"token_budget":5,"facts":[` + strings.Repeat(`{"id":"x","subject":"a","predicate":"b"},`, 10000) + `{}]}`: "facts",
	} {
		if e := r.post("/api/compact", body).fails(400, "SchemaInvalid"); e["field"] != field {
			t.Errorf("%.80s: field %v, want %s (%v)", body, e["field"], field, e["message"])
		}
	}
	r.get("/api/compact").fails(405, "MethodNotAllowed")
}

// TestCompactCountsLongTextsWhole: facts go back as they were sent, so that a long
// text takes of the budget what all of it takes.
func TestCompactCountsLongTextsWhole(t *testing.T) {
	r := start(t, "")
	long := strings.Repeat("word ", 6000) // 6,000 tokens
	var facts []string
	for i := range 20 {
		facts = append(facts, fmt.Sprintf(`{"id":"f%d","subject":"Doc:%d","predicate":"text","object":"%s."}`, i, i, long))
	}
	for budget, kept := range map[int]int{1000: 0, 5000: 0, 13000: 2} {
		got := r.post("/api/compact", fmt.Sprintf(`{"token_budget":%d,"facts":[%s]}`, budget, strings.Join(facts, ","))).status(200).object()
		n, tokens := len(got["facts"].([]any)), number(got["tokens"])
		if n != kept || tokens > budget || tokens < 6000*kept || number(got["total_tokens"]) < 100_000 {
			t.Errorf("budget %d: %d facts of %d tokens, of %v", budget, n, tokens, got["total_tokens"])
		}
	}
}

// TestCompactHasAReadsTime: megabytes that all fit are not counted for longer than a
// read may take.
func TestCompactHasAReadsTime(t *testing.T) {
	r := startWith(t, memory.Options{Timeout: time.Nanosecond})
	r.post("/api/compact", `{"token_budget":100000000,"facts":[{"id":"1","subject":"S","predicate":"p","object":"tea"}]}`).fails(http.StatusGatewayTimeout, "Timeout")
}

// TestFactsOfEveryAnswer: a fact can be compacted and enriched as it was answered,
// whichever answer it is from.
func TestFactsOfEveryAnswer(t *testing.T) {
	r := start(t, "")
	written := r.post("/api/facts", `{"subject":"Person:a","predicate":"role","object":"VP","valid_from":"2020-01-01"}`).status(201)
	cutting := r.post("/api/facts", `{"subject":"Person:a","predicate":"role","object":"CTO","valid_from":"2021-01-01","valid_until":"2022-01-01"}`).status(201)
	r.post("/api/branches", `{"name":"b"}`).status(201)
	onBranch := r.post("/api/facts?branch=b", `{"subject":"Person:a","predicate":"role","object":"CFO"}`).status(201)
	list := func(p *reply, field string) string { return strings.Trim(p.status(200).object().text(field), "[]") }
	for from, fact := range map[string]string{
		"written":     written.Body,
		"cut another": cutting.Body,
		"on a branch": onBranch.Body,
		"one":         r.get("/api/facts/" + written.object().text("id")).status(200).Body,
		"history":     list(r.get("/api/facts/"+written.object().text("id")+"/history"), "versions"),
		"a search":    list(r.post("/api/search", `{"question":"role"}`), "answer_facts"),
		"a packet":    list(r.post("/api/context", `{"goal":"role","seeds":["Person:a"]}`), "facts"),
		"a batch":     list(r.post("/api/transact", `{"asserts":[{"subject":"Person:b","predicate":"role","object":"VP"}]}`), "facts"),
	} {
		if p := r.post("/api/compact", `{"token_budget":100000,"facts":[`+fact+`]}`); p.Status != 200 {
			t.Errorf("%s: compact: %s", from, p.Body)
		}
		branch := ""
		if from == "on a branch" {
			branch = "?branch=b" // what holds there is what it is compared with
		}
		if p := r.post("/api/enrich"+branch, `{"facts":[`+fact+`]}`); p.Status != 200 {
			t.Errorf("%s: enrich: %s", from, p.Body)
		}
	}
}

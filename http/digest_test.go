package http_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"abagraph/memory"
)

// The curl commands of the documents' pages about digest that need no model, as
// they stand.
func TestCurlsOfDigest(t *testing.T) {
	s := newShell(t)
	got := s.curl(`curl -X POST "$ABAGRAPH_BASE_URL/api/digest" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{ "facts": [ {"subject":"Person:alice","predicate":"works_at","object":"Company:beta"},
    {"subject":"Person:alice","predicate":"title","object":"Staff Engineer"} ], "source": "hr-import" }'`).status(200).object()
	if got.text("written") != "2" || len(got["written_ids"].([]any)) != 2 || got.text("superseded") != "0" || got.text("candidates") != "0" ||
		got.text("entities") != `["Person:alice","Company:beta"]` || got.text("pii_masked") != "0" {
		t.Errorf("the first: %v", got)
	}
	s.node.Advance(time.Second)
	got = s.curl(`curl -s -X POST "$ABAGRAPH_BASE_URL/api/digest" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{ "facts": [ {"subject":"Person:sarah","predicate":"works_at","object":"Org:acme","confidence":0.9},
    {"subject":"Person:sarah","predicate":"role","object":"VP Engineering","confidence":0.85},
    {"subject":"Project:atlas","predicate":"owner","object":"Person:sarah","confidence":0.95} ], "source": "crm-export" }'`).status(200).object()
	if got.text("written") != "3" || got.text("entities") != `["Person:sarah","Org:acme","Project:atlas"]` {
		t.Errorf("the second: %v", got)
	}
	list := s.curl(`curl -s "$ABAGRAPH_BASE_URL/api/facts?subject=Person:sarah" -H "Authorization: Bearer $ABAGRAPH_API_KEY"`).status(200).list()
	if len(list) != 2 || list[0].text("source") != "crm-export" {
		t.Errorf("facts: %v", list)
	}
	// What needs a model says so, and tells its key to nobody.
	e := s.curl(`curl -X POST "$ABAGRAPH_BASE_URL/api/digest" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{ "content": "Alice joined Company:beta on 2024-06-01 as Staff Engineer.", "content_type": "text/plain", "source": "hr-doc-2024",
    "model": {"provider":"openai","key":"sk-secret-canary","model":"gpt-4o-mini","endpoint":"https://api.openai.com/v1"}, "threshold": 0.8, "mask": "redact" }'`).fails(400, "SchemaInvalid")
	if e.text("field") != "model" || strings.Contains(fmt.Sprint(e), "canary") || strings.Contains(s.logs.String(), "canary") {
		t.Errorf("with a model: %v", e)
	}
}

func TestDigestReceipt(t *testing.T) {
	r := start(t, "")
	old := r.assert("Person:a", "role", `"engineer"`)
	r.assert("Person:a", "city", `"Oslo"`, `"source":"doc"`)
	r.node.Advance(time.Second)
	const body = `{"source":"doc","facts":[
		{"subject":"Person:a","predicate":"role","object":"manager"},
		{"subject":"Person:a","predicate":"city","object":"Oslo"},
		{"subject":"Person:a","predicate":"mood","object":"fine","confidence":0.5,"source":"own"},
		{"subject":"Person:a","predicate":"mail","object":"write to ada@example.com","properties":{"quote":"call +1 415 555 2671"}}]}`
	got := r.post("/api/digest", body, "Idempotency-Key: d1").status(200)
	d := got.object()
	if d.text("written") != "2" || d.text("candidates") != "1" || d.text("duplicates") != "1" || d.text("superseded") != "1" ||
		d.text("superseded_ids") != `["`+old.text("id")+`"]` || d.text("pii_masked") != "2" || len(d["written_ids"].([]any)) != 2 {
		t.Errorf("the receipt: %s", got.Body)
	}
	var outcomes []string
	for _, i := range d["items"].([]any) {
		outcomes = append(outcomes, doc(i.(map[string]any)).text("outcome"))
	}
	if strings.Join(outcomes, " ") != "written duplicate candidate written" {
		t.Errorf("the items: %v", outcomes)
	}
	mail := r.get("/api/facts?subject=Person:a&predicate=mail").list()
	if len(mail) != 1 || mail[0].text("object") != "write to [REDACTED]" || strings.Contains(mail[0].text("properties"), "415") || strings.Contains(r.logs.String(), "ada@") {
		t.Errorf("masked: %v", mail)
	}
	if own := r.get("/api/facts?subject=Person:a&predicate=mood&status=candidate").list(); len(own) != 1 || own[0].text("source") != "own" {
		t.Errorf("a source of its own: %v", own)
	}
	if again := r.post("/api/digest", body, "Idempotency-Key: d1").status(200); again.Body != got.Body {
		t.Errorf("the repeated answer is %s", again.Body)
	}
	if again := r.post("/api/digest", body).status(200).object(); again.text("written") != "0" || again.text("duplicates") != "4" || again.text("tx") != d.text("tx") {
		t.Errorf("the same again: %v", again)
	}
	low := r.post("/api/digest", `{"threshold":0.95,"facts":[{"subject":"Person:b","predicate":"p","object":1,"confidence":0.9}],"content":"ignored","model":{"key":""}}`).status(200).object()
	if low.text("candidates") != "1" || low.text("written") != "0" {
		t.Errorf("a threshold: %v", low)
	}
	if !strings.Contains(r.logs.String(), `"abagraph.digest"`) || !strings.Contains(r.logs.String(), `"abagraph.pii.masked"`) {
		t.Errorf("the events: %s", r.logs.String())
	}
}

func TestDigestOfLinks(t *testing.T) {
	r := start(t, "")
	const text = `{"content":"# Notes\n[[Person:ada|Ada]] met [[Person:charles]] and [[Person:ada]]. Mail x@example.com."`
	d := r.post("/api/digest", text+`,"subject":"Note:1","source":"notes"}`).status(200).object()
	if d.text("written") != "2" || d.text("entities") != `["Note:1","Person:ada","Person:charles"]` || !strings.Contains(fmt.Sprint(d["warnings"]), "no model") || d.text("pii_masked") != "1" {
		t.Errorf("links: %v", d)
	}
	if w := r.get("/api/walk?start=Note:1&depth=1").object(); len(w["edges"].([]any)) != 2 {
		t.Errorf("walk: %v", w)
	}
	first := r.post("/api/digest", text+`}`).status(200).object()
	if name := first["entities"].([]any)[0].(string); !strings.HasPrefix(name, "Document:") {
		t.Errorf("a document is named %s", name)
	}
	if again := r.post("/api/digest", text+`}`).status(200).object(); again.text("duplicates") != "2" {
		t.Errorf("the same document again: %v", again)
	}
	for _, f := range r.get("/api/facts?predicate=references&object=Person:ada").list() {
		if s := f.text("source"); s != "notes" && s != "upload" {
			t.Errorf("source %s", s)
		}
	}
}

func TestDigestInput(t *testing.T) {
	r := start(t, "admin", withDesk(t))
	const one = `{"subject":"A:1","predicate":"p","object":1}`
	links := ""
	for i := range 501 {
		links += fmt.Sprintf("[[A:%d]]", i)
	}
	for body, field := range map[string]string{
		`{}`:                               "content",
		`{"content":""}`:                   "content",
		`{"content":7}`:                    "content",
		`{"content":"no links, no model"}`: "extract_model",
		`{"content":"` + links + `"}`:      "content",
		`{"content":"x","content_type":"application/zip"}`:                                     "content_type",
		`{"content":"é","content_type":"application/pdf"}`:                                     "content",
		`{"content":"[[A:b]]","date":"yesterday"}`:                                             "date",
		`{"content":"x","extract_model":{"key":"k","model":"m"}}`:                              "judge_model",
		`{"content":"x","judge_model":{"key":"k","model":"m"}}`:                                "extract_model",
		`{"content":"[[A:b]]","subject":""}`:                                                   "subject",
		`{"content":"x","extract_model":{"model":"m"}}`:                                        "extract_model.key",
		`{"content":"x","judge_model":{"key":"k","model":""}}`:                                 "judge_model.model",
		`{"content":"x","model":{"key":"k","model":"m","api_key":"k"}}`:                        "model.api_key",
		`{"content":"x","model":{"key":"k","model":"m","provider":"other"}}`:                   "model.provider",
		`{"content":"x","model":{"key":"k","model":"m","endpoint":"file:///etc"}}`:             "model.endpoint",
		`{"content":"x","model":{"key":"k","model":"m","endpoint":"http://169.254.169.254/"}}`: "model.endpoint",
		`{"facts":[]}`: "facts",
		`{"facts":{}}`: "facts",
		`{"facts":[` + strings.Repeat(one+",", 500) + one + `]}`: "facts",
		`{"facts":[` + one + `,{"subject":"A:1"}]}`:              "facts[1].predicate",
		`{"facts":[` + one + `],"threshold":2}`:                  "threshold",
		`{"facts":[` + one + `],"source":1}`:                     "source",
		`{"facts":[` + one + `],"facst":1}`:                      "facst",
	} {
		if e := r.post("/api/digest?tenant=ta", body).fails(400, "SchemaInvalid"); e.text("field") != field {
			t.Errorf("%.80s: %v", body, e)
		}
	}
	if got := r.get("/api/facts?tenant=ta&status=all").list(); len(got) != 0 {
		t.Errorf("a refused digest wrote %v", got)
	}
	if d := r.post("/api/digest?tenant=ta", `{"facts":[`+one+`],"mask":"mumble"}`).status(200).object(); !strings.Contains(fmt.Sprint(d["warnings"]), "mask") {
		t.Errorf("an unknown mask: %v", d)
	}
	// A tenant's own key writes to its tenant, whatever the body says.
	key := r.post("/api/tenants", `{"id":"tb"}`).status(201).object().text("key")
	r.as(key).post("/api/digest", `{"facts":[`+one+`],"tenant":"ta"}`).status(200)
	if got := r.get("/api/facts?tenant=tb").list(); len(got) != 1 {
		t.Errorf("tb holds %v", got)
	}
	read := r.post("/api/tenants/tb/keys", `{"role":"read"}`).status(201).object().text("key")
	r.as(read).post("/api/digest", `{"facts":[`+one+`]}`).fails(403, "Forbidden")
	// One refusal refuses all.
	r.as(key).post("/api/digest", `{"facts":[{"subject":"A:2","predicate":"p","object":1},{"subject":"A:1","predicate":"p","object":2,"policy":"reject"}]}`).fails(409, "Conflict")
	if got := r.get("/api/facts?tenant=tb&subject=A:2").list(); len(got) != 0 {
		t.Errorf("half a digest: %v", got)
	}
}

// TestDigestOfWhatWasKnownBefore: a digest may declare that its data was known before
// today, as a whole or row by row, with a reason (C-28).
func TestDigestOfWhatWasKnownBefore(t *testing.T) {
	r, s := withModel(t, memory.Options{}, hrReader().reply)
	seen := func(query string) int { return len(r.get("/api/facts?" + query).status(200).list()) }
	got := r.post("/api/digest", `{"backfill":{"declared_captured_at":"2020-01-15","reason":"the paper archive"},"source":"archive","facts":[
		{"subject":"Person:berta","predicate":"title","object":"Engineer","valid_from":"2020-01-01"},
		{"subject":"Person:berta","predicate":"team","object":"Infra","declared_known_at":"2021-01-01"}]}`).status(200).object()
	if got.number("written") != 2 {
		t.Errorf("the receipt is %v", got)
	}
	if seen("subject=Person:berta&known_at=2020-02-01") != 1 || seen("subject=Person:berta&known_at=2021-02-01") != 2 || seen("subject=Person:berta&known_at=2020-01-01") != 0 {
		t.Error("what was known when is not as it was declared")
	}
	if seen("subject=Person:berta&known_at=2021-02-01&backfill=0") != 0 {
		t.Error("a declaration shows where none is wanted")
	}
	if f := r.get("/api/facts?subject=Person:berta&predicate=title").list()[0]; f.text("declared_known_at") != "1579046400000" || f.text("recorded_at") < "1579046400001" {
		t.Errorf("the fact is %v", f)
	}
	r.post("/api/digest", `{"backfill":{"reason":"rows say when"},"facts":[{"subject":"Person:cleo","predicate":"title","object":"Engineer","declared_known_at":"2020-01-15"}]}`).status(200)
	if seen("subject=Person:cleo&known_at=2020-02-01") != 1 {
		t.Error("a row's own declaration is not seen")
	}
	// What was recorded today is known later than what is declared, and would be cut.
	r.post("/api/digest", `{"facts":[{"subject":"Person:dora","predicate":"title","object":"Head"}]}`).status(200)
	r.post("/api/digest", `{"backfill":{"declared_known_at":"2020-01-15","reason":"late"},"facts":[{"subject":"Person:dora","predicate":"title","object":"Engineer"}]}`).
		fails(409, "Conflict")
	// A text, with its links and by a model.
	r.post("/api/digest", `{"backfill":{"declared_known_at":"2020-01-15","reason":"late"},"subject":"Note:1","content":"[[Person:berta]]"}`).status(200)
	r.post("/api/digest", digestBody(t, s, "openai", hrText, `"backfill":{"declared_known_at":"2024-02-01","reason":"a mail that was found"}`)).status(200)
	if seen("subject=Note:1&known_at=2020-02-01") != 1 || seen("subject=Person:sarah-lee&known_at=2024-02-02") == 0 || seen("subject=Person:sarah-lee&known_at=2024-01-31") != 0 {
		t.Error("texts are not known when they were declared to be")
	}
	for body, field := range map[string]string{
		`"backfill":{"declared_known_at":"2020-01-15"},"facts":[{"subject":"a","predicate":"b"}]`:                                                                  "backfill.reason",
		`"backfill":{"reason":"r"},"facts":[{"subject":"a","predicate":"b"}]`:                                                                                      "backfill.declared_known_at",
		`"facts":[{"subject":"a","predicate":"b","declared_known_at":"2020-01-15"}]`:                                                                               "backfill",
		`"backfill":{"declared_known_at":"2020-01-15","reason":"r","x":1},"facts":[{"subject":"a","predicate":"b"}]`:                                               "backfill.x",
		`"backfill":{"reason":"r"},"content":"[[A:b]]"`:                                                                                                            "backfill.declared_known_at",
		`"backfill":{"declared_known_at":"2020-01-15","reason":"r"},"model":` + s.Config("openai", modelKey) + `,"content":` + quoted(strings.Repeat(hrText, 600)): "backfill",
	} {
		r.post("/api/digest", "{"+body+"}").blames(field)
	}
	r.post("/api/digest", `{"backfill":{"declared_known_at":"2120-01-15","reason":"r"},"facts":[{"subject":"a","predicate":"b"}]}`).fails(400, "SchemaInvalid")
	if seen("subject=a&status=all") != 0 {
		t.Error("a refused declaration has written")
	}
}

package mcp_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/mcp"
)

func TestRemember(t *testing.T) {
	r := start(t, "", mcp.Full)
	first := r.tool("remember", `{"namespace":"acme","subject":"Person:alice","predicate":"works_at","object":"Org:acme","source":"user","confidence":0.9}`).ok()
	if first["status"] != "active" || encoded(first["superseded"]) != "[]" || encoded(first["pii_masked"]) != "0" || first["duplicate"] != nil {
		t.Errorf("first: %v", first)
	}
	again := r.tool("remember", `{"namespace":"acme","subject":"Person:alice","predicate":"works_at","object":"Org:acme","source":"user","confidence":0.9}`).ok()
	if again["written_id"] != first["written_id"] || again["duplicate"] != true || encoded(again["tx"]) != encoded(first["tx"]) {
		t.Errorf("again: %v", again)
	}
	r.node.Advance(time.Second)
	second := r.tool("remember", `{"namespace":"acme","subject":"Person:alice","predicate":"works_at","object":"Org:beta","source":"user"}`).ok()
	if encoded(second["superseded"]) != `["`+first["written_id"].(string)+`"]` {
		t.Errorf("second: %v", second)
	}
	guess := r.tool("remember", `{"namespace":"acme","subject":"Person:alice","predicate":"works_at","object":"Org:gamma","confidence":0.5}`).ok()
	if guess["status"] != "candidate" || encoded(guess["superseded"]) != "[]" {
		t.Errorf("guess: %v", guess)
	}
	for _, tag := range []string{"one", "two"} {
		if got := r.tool("remember", `{"namespace":"acme","subject":"Person:alice","predicate":"tag","object":"`+tag+`","coexist":true}`).ok(); encoded(got["superseded"]) != "[]" {
			t.Errorf("tag: %v", got)
		}
	}
	if got := column(r.tool("recall", `{"namespace":"acme","mode":"pattern","subject":"Person:alice"}`).facts(), "object"); got != `"two","one","Org:beta"` {
		t.Errorf("recall: %s", got)
	}
	history := docs(r.tool("explain_fact", `{"namespace":"acme","fact_id":"`+first["written_id"].(string)+`"}`).ok()["history"])
	if column(history, "status") != `"superseded","active","candidate"` {
		t.Errorf("history: %v", history)
	}
}

// TestValuesComeBackAsTheyWere: every kind of value, digit for digit.
func TestValuesComeBackAsTheyWere(t *testing.T) {
	r := start(t, "", mcp.Full)
	for i, value := range []string{`"text"`, `""`, `0`, `-1.50`, `9007199254740993`, `123456789012345678901234567890.123456789`, `1e30`, `true`, `false`, `null`, `{"hash":"` + strings.Repeat("a", 64) + `","size":3}`} {
		r.tool("remember", fmt.Sprintf(`{"namespace":"acme","subject":"V:%d","predicate":"p","object":%s}`, i, value)).ok()
		got := r.tool("recall", fmt.Sprintf(`{"namespace":"acme","mode":"pattern","subject":"V:%d","object":%s}`, i, value))
		if !strings.Contains(got.text, `"object":`+value+`,`) {
			t.Errorf("%s came back as %s", value, got.text)
		}
	}
	if got := r.tool("recall", `{"namespace":"acme","mode":"pattern","object":"0"}`).facts(); len(got) != 1 {
		t.Errorf("a number found by its text: %v", got)
	}
	for _, bad := range []string{`[]`, `[1]`, `{}`, `{"a":1}`, `1e400`} {
		e := r.tool("remember", `{"namespace":"acme","subject":"V:x","predicate":"p","object":`+bad+`}`).fails(fact.SchemaInvalid)
		if field, _ := e["field"].(string); !strings.HasPrefix(field, "object") {
			t.Errorf("%s: %v", bad, e)
		}
	}
}

func TestDigest(t *testing.T) {
	r := start(t, "", mcp.Full)
	r.tool("remember", `{"namespace":"acme","subject":"A:1","predicate":"p","object":"old"}`).ok()
	r.tool("remember", `{"namespace":"acme","subject":"A:2","predicate":"p","object":"same","source":"doc"}`).ok()
	r.node.Advance(time.Second)
	got := r.tool("digest", `{"namespace":"acme","source":"doc","facts":[
		{"subject":"A:1","predicate":"p","object":"B:new","source":"its own"},
		{"subject":"A:2","predicate":"p","object":"same"},
		{"subject":"A:3","predicate":"p","object":3,"confidence":0.2,"properties":{"quote":"three"}},
		{"subject":"A:4","predicate":"p","object":true,"valid_from":0,"valid_until":1000,"coexist":true}]}`).ok()
	for field, want := range map[string]string{
		"written": "2", "superseded": "1", "candidates": "1", "duplicates": "1", "pii_masked": "0", "entities": `["A:1","B:new","A:2","A:3","A:4"]`,
	} {
		if encoded(got[field]) != want {
			t.Errorf("%s is %s, want %s", field, encoded(got[field]), want)
		}
	}
	if len(docsOf(got["written_ids"])) != 2 || len(docsOf(got["candidate_ids"])) != 1 {
		t.Errorf("written_ids: %v", got)
	}
	if got := column(r.tool("recall", `{"namespace":"acme","mode":"pattern"}`).facts(), "source"); got != `"its own","doc"` {
		t.Errorf("sources: %s", got)
	}
	before := r.node.Position().Tx
	const good = `{"subject":"C:1","predicate":"p","object":1}`
	for arguments, field := range map[string]string{
		`"facts":[]`:               "facts",
		`"facts":null`:             "facts",
		`"facts":{}`:               "facts",
		`"source":"none"`:          "facts",
		`"facts":[` + good + `,7]`: "facts[1]",
		`"facts":[` + good + `,{"subject":"C:2","predicate":"p"}]`:                             "facts[1].object",
		`"facts":[` + good + `,{"subject":"C:2","object":1}]`:                                  "facts[1].predicate",
		`"facts":[` + good + `,{"subject":" C","predicate":"p","object":1}]`:                   "facts[1].subject",
		`"facts":[` + good + `,{"subject":"C:2","predicate":"p","object":1,"confidence":2}]`:   "facts[1].confidence",
		`"facts":[` + good + `,{"subject":"C:2","predicate":"p","object":1,"certainty":1}]`:    "facts[1].certainty",
		`"facts":[` + good + strings.Repeat(","+good, 500) + `]`:                               "facts",
		`"facts":[` + good + `],"source":"` + strings.Repeat("s", 1025) + `"`:                  "source",
		`"facts":[` + good + `,{"subject":"C:2","predicate":"p","object":1,"valid_from":"x"}]`: "facts[1].valid_from",
	} {
		if e := r.tool("digest", `{"namespace":"acme",`+arguments+`}`).fails(fact.SchemaInvalid); e["field"] != field {
			t.Errorf("%.80s: %v, want field %s", arguments, e, field)
		}
	}
	if after := r.node.Position().Tx; after != before {
		t.Errorf("something of a refused digest was written: tx %d became %d", before, after)
	}
}

// TestDigestIsTheOneOfREST: personal data is masked, content without facts gives
// its links, and what needs a model says so.
func TestDigestIsTheOneOfREST(t *testing.T) {
	r := start(t, "", mcp.Full)
	got := r.tool("digest", `{"namespace":"acme","content":"passed over","facts":[{"subject":"Person:alice","predicate":"mail","object":"write to alice@example.com"}]}`).ok()
	held := r.tool("recall", `{"namespace":"acme","mode":"pattern","predicate":"mail"}`)
	if encoded(got["pii_masked"]) != "1" || encoded(got["written"]) != "1" || strings.Contains(held.text, "alice@example.com") {
		t.Errorf("masked: %v, held %s", got, held.text)
	}
	got = r.tool("digest", `{"namespace":"acme","content":"See [[Person:alice|Alice]] and [[Project:atlas]].","subject":"Note:1"}`).ok()
	if encoded(got["written"]) != "2" || encoded(got["entities"]) != `["Note:1","Person:alice","Project:atlas"]` {
		t.Errorf("links: %v", got)
	}
	for arguments, field := range map[string]string{
		`{"namespace":"acme","content":"no links"}`: "extract_model", `{"namespace":"acme"}`: "facts", `{"namespace":"acme","content":""}`: "content",
	} {
		if e := r.tool("digest", arguments).fails(fact.SchemaInvalid); e["field"] != field {
			t.Errorf("%s: %v, want field %s", arguments, e, field)
		}
	}
}

// TestAPosterMayRepeatItself: a message that is sent again with the same
// Idempotency-Key writes once, and is answered as the first time.
func TestAPosterMayRepeatItself(t *testing.T) {
	r := start(t, "", mcp.Full)
	const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"remember","arguments":{"namespace":"acme","subject":"A:b","predicate":"p","object":%d}}}`
	send := func(object int) doc {
		t.Helper()
		_, got := r.post(fmt.Sprintf(message, object), fmt.Sprintf("Idempotency-Key: key-%d", object))
		return got["result"].(doc)["structuredContent"].(doc)
	}
	first := send(1)
	send(2)
	if again := send(1); encoded(again) != encoded(first) {
		t.Errorf("again: %v, first %v", again, first)
	}
	if got := column(r.tool("recall", `{"namespace":"acme","mode":"pattern"}`).facts(), "object"); got != "2" {
		t.Errorf("what holds: %s", got)
	}
	status, header, _ := r.do(http.MethodPost, "/mcp", fmt.Sprintf(message, 3))
	if status != http.StatusOK || header.Get("X-Abagraph-Tx") != "3" || header.Get("X-Abagraph-Epoch") == "" {
		t.Errorf("headers: %d %v", status, header)
	}
	status, header, _ = r.do(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall","arguments":{"namespace":"acme","mode":"pattern","tx":1}}}`, "X-Abagraph-Min-Tx: 3")
	if status != http.StatusOK || header.Get("X-Abagraph-Tx") != "1" {
		t.Errorf("headers of a read of the past: %d %v", status, header)
	}
}

// TestArguments: each wrong argument is named, and the words that are allowed
// are told.
func TestArguments(t *testing.T) {
	r := start(t, "", mcp.Full)
	for call, want := range map[string]string{
		`recall {"namespace":"a"}`:                                                                             "mode is required",
		`recall {"namespace":"a","mode":"Pattern"}`:                                                            "pattern",
		`recall {"namespace":"a","mode":"semantic"}`:                                                           "query is required",
		`recall {"namespace":"a","mode":"semantic","query":" "}`:                                               "query must have 1 to 16384 bytes",
		`recall {"namespace":"a","mode":"semantic","query":"x","object":"A:b"}`:                                "object means nothing with mode=semantic",
		`recall {"namespace":"a","mode":"walk"}`:                                                               "start is required",
		`recall {"namespace":"a","mode":"walk","start":"A:b","depth":7}`:                                       "depth must be a whole number from 0 to 6",
		`recall {"namespace":"a","mode":"walk","start":"A:b","direction":"up"}`:                                "out, outbound, in, inbound or both",
		`recall {"namespace":"a","mode":"walk","start":"A:b","edge_types":["p",1]}`:                            "edge_types[1]",
		`recall {"namespace":"a","mode":"walk","start":"A:b","subject":"A:b"}`:                                 "subject means nothing with mode=walk",
		`recall {"namespace":"a","mode":"pattern","start":"A:b"}`:                                              "start means nothing with mode=pattern",
		`recall {"namespace":"a","mode":"pattern","limit":201}`:                                                "limit must be a whole number from 0 to 200",
		`recall {"namespace":"a","mode":"pattern","limit":1.5}`:                                                "limit must be a whole number",
		`recall {"namespace":"a","mode":"pattern","min_confidence":1.1}`:                                       "min_confidence must be a number from 0 to 1",
		`recall {"namespace":"a","mode":"pattern","min_confidence":"0.5"}`:                                     "min_confidence must be a number from 0 to 1",
		`recall {"namespace":"a","mode":"pattern","object":[1]}`:                                               "object must be a string, number",
		`recall {"namespace":"a","mode":"pattern","predicate":" p"}`:                                           "predicate",
		`recall {"namespace":"a","mode":"pattern","limits":5}`:                                                 "limits is not a known field here",
		`remember {"namespace":"a","predicate":"p","object":1}`:                                                "subject is required",
		`remember {"namespace":"a","subject":"A:b","predicate":"p"}`:                                           "object is required",
		`remember {"namespace":"a","subject":"A:b","predicate":"p","object":1,"confidence":-1}`:                "confidence must be a number from 0 to 1",
		`remember {"namespace":"a","subject":"A:b","predicate":"p","object":1,"valid_from":5,"valid_until":5}`: "valid_from must be before valid_until",
		`remember {"namespace":"a","subject":"A:b","predicate":"p","object":1,"coexist":"yes"}`:                "coexist must be a boolean",
		`whats_changed {"namespace":"a","to":5}`:                                                               "from is required",
		`whats_changed {"namespace":"a","from":5}`:                                                             "to is required",
		`whats_changed {"namespace":"a","from":6,"to":5}`:                                                      "from must not be later than to",
		`whats_changed {"namespace":"a","from":5,"to":6,"axis":"time"}`:                                        "both, valid or known",
		`build_context {"namespace":"a"}`:                                                                      "task is required",
		`build_context {"namespace":"a","task":""}`:                                                            "task is required",
		`build_context {"namespace":"a","task":"t","goal":"g"}`:                                                "goal means the same as task",
		`build_context {"namespace":"a","task":"t","max_tokens":0}`:                                            "max_tokens must be a whole number from 1 to 100000",
		`build_context {"namespace":"a","task":"t","max_tokens":100001}`:                                       "max_tokens must be a whole number from 1 to 100000",
		`build_context {"namespace":"a","task":"t","max_facts":201}`:                                           "max_facts must be a whole number from 0 to 200",
		`build_context {"namespace":"a","task":"t","style":"xml"}`:                                             "claude, openai or generic",
		`build_context {"namespace":"a","task":"t","seeds":"A:b"}`:                                             "seeds must be an array",
		`build_context {"namespace":"a","task":"t","seeds":[" A:b"]}`:                                          "seeds[0]",
		`explain_fact {"namespace":"a"}`:                                                                       "fact_id is required",
	} {
		tool, arguments, _ := strings.Cut(call, " ")
		if a := r.tool(tool, arguments); !strings.Contains(a.text, want) {
			t.Errorf("%s: %s, want %s", call, a.text, want)
		} else {
			a.fails(fact.SchemaInvalid)
		}
	}
	r.tool("explain_fact", `{"namespace":"a","fact_id":"01J..."}`).fails(fact.NotFound)
	r.tool("recall", `{"namespace":"a","mode":"pattern","branch":"nowhere"}`).fails(fact.NotFound)
	if result := r.rpc("tools/call", `{"name":"recall"}`); result["isError"] != true {
		t.Errorf("no arguments at all: %v", result)
	}
}

// TestRememberMasks: personal data is masked before it is written, and counted.
func TestRememberMasks(t *testing.T) {
	r := start(t, "", mcp.Full)
	got := r.tool("remember", `{"namespace":"acme","subject":"Person:alice","predicate":"mail","object":"alice@example.com","source":"a note of alice@example.com"}`).ok()
	held := r.tool("recall", `{"namespace":"acme","mode":"pattern","subject":"Person:alice"}`)
	if encoded(got["pii_masked"]) != "2" || column(held.facts(), "object") != `"[REDACTED]"` || strings.Contains(held.text, "alice@example.com") {
		t.Errorf("masked: %v, held %s", got, held.text)
	}
}

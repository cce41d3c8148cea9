package mcp_test

import (
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/mcp"
)

// The documents' own examples, as they are written there.
func TestTheDocumentsExamples(t *testing.T) {
	r := start(t, "", mcp.Full)
	status, got := r.post(`{ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "digest", "arguments": { "namespace": "acme", "source":
"meeting-notes-2026-06", "facts": [ { "subject": "Person:alice", "predicate": "works_at", "object": "Org:acme", "confidence": 0.9 }, { "subject":
"Person:alice", "predicate": "role", "object": "Engineer", "confidence": 0.85 }, { "subject": "Project:atlas", "predicate": "lead", "object":
"Person:alice", "confidence": 0.95 } ] } } }`)
	if status != 200 {
		t.Fatalf("digest: %d %v", status, got)
	}
	if got := column(r.tool("recall", `{"mode":"pattern","namespace":"acme"}`).facts(), "object"); got != `"Person:alice","Org:acme","Engineer"` {
		t.Errorf("pattern: %s", got)
	}
	if got := column(r.tool("recall", `{"mode":"walk","namespace":"acme","start":"Project:atlas","depth":2}`).facts(), "object"); got != `"Person:alice","Org:acme"` {
		t.Errorf("walk: %s", got)
	}
	if got := column(r.tool("recall", `{ "mode": "walk", "namespace": "acme", "start": "Person:alice", "depth": 2, "direction": "out", "edge_types": ["works_at", "leads"] }`).facts(), "object"); got != `"Org:acme"` {
		t.Errorf("walk of the documents: %s", got)
	}
	if got := column(r.tool("recall", `{ "mode": "semantic", "namespace": "acme", "query": "Who leads project Atlas?", "limit": 10 }`).facts()[:1], "object"); got != `"Person:alice"` {
		t.Errorf("semantic: %s", got)
	}
	packet := r.tool("build_context", `{ "task": "plan the Q3 roadmap for Project Atlas", "namespace": "acme", "seeds": ["Project:atlas", "Person:alice"], "max_facts": 32, "max_tokens": 4096 }`).ok()
	if got := column(docs(packet["facts"])[:1], "corroboration"); encoded(packet["counts"]) != `{"entities":3,"facts":3,"pages":0}` || got != `{"agree":1,"conflict":0,"source_names":["meeting-notes-2026-06"],"sources":1}` {
		t.Errorf("packet: %v", packet)
	}
	for _, field := range []string{"system_prompt", "summary", "entities", "pages", "collapsed", "tokens", "total_tokens"} {
		if packet[field] == nil {
			t.Errorf("the packet has no %s", field)
		}
	}
	if got := r.tool("build_context", `{ "task": "brief me on Sarah before a 1:1", "namespace": "demo", "seeds": ["Person:sarah"], "max_tokens": 80 }`).ok(); !strings.Contains(encoded(got["warnings"]), "namespace") {
		t.Errorf("a namespace without facts: %v", got)
	}
	a := r.tool("remember", `{"subject":"Project:atlas","predicate":"lead","object":"Person:bob","namespace":"acme","source":"user"}`)
	explained := r.tool("explain_fact", `{"namespace":"acme","fact_id":"`+a.ok()["written_id"].(string)+`"}`).ok()
	if got := column(docs(explained["history"]), "object"); got != `"Person:alice","Person:bob"` {
		t.Errorf("history: %s", got)
	}
	r.tool("recall", `{"mode":"nope","namespace":"acme"}`).fails(fact.SchemaInvalid)
}

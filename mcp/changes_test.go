package mcp_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"abagraph/mcp"
)

// TestWhatsChanged: added is what holds at to and did not at from, superseded
// the other way round, still_valid counts the rest.
func TestWhatsChanged(t *testing.T) {
	r := start(t, "", mcp.Full)
	write := func(subject, object string) string {
		t.Helper()
		return r.tool("remember", `{"namespace":"acme","subject":"`+subject+`","predicate":"p","object":"`+object+`"}`).ok()["written_id"].(string)
	}
	write("A:1", "stays")
	write("A:2", "old")
	gone := write("A:3", "gone")
	from := int64(r.node.Now())
	r.node.Advance(time.Hour)
	write("A:2", "new")
	write("A:4", "born")
	r.do(http.MethodDelete, "/api/facts/"+gone+"?tenant=acme", "")
	to := int64(r.node.Now())
	r.node.Advance(time.Hour)
	write("A:5", "later")
	ask := func(more string) doc {
		t.Helper()
		return r.tool("whats_changed", fmt.Sprintf(`{"namespace":"acme","from":%d,"to":%d%s}`, from, to, more)).ok()
	}
	got := ask("")
	for field, want := range map[string]string{
		"from": fmt.Sprint(from), "to": fmt.Sprint(to), "still_valid": "1", "added_count": "2", "superseded_count": "2", "retracted": `["` + gone + `"]`, "axis": `"both"`,
	} {
		if encoded(got[field]) != want {
			t.Errorf("%s is %s, want %s", field, encoded(got[field]), want)
		}
	}
	if added, ended := column(docs(got["added"]), "object"), column(docs(got["superseded"]), "object"); added != `"new","born"` || ended != `"old","gone"` {
		t.Errorf("added %s, superseded %s", added, ended)
	}
	if got := ask(`,"subject":"A:2"`); column(docs(got["added"]), "object") != `"new"` || encoded(got["still_valid"]) != "0" {
		t.Errorf("one subject: %v", got)
	}
	if got := ask(`,"object":"born"`); column(docs(got["added"]), "object") != `"born"` {
		t.Errorf("one object: %v", got)
	}
	// Of a time before all memory nothing comes, and the answer says why.
	early := r.tool("whats_changed", `{"namespace":"acme","from":1,"to":2}`).ok()
	if encoded(early["still_valid"]) != "0" || !strings.Contains(encoded(early["warnings"]), "as it was known then") {
		t.Errorf("before all memory: %v", early)
	}
	// Page by page it is the same.
	var added, ended []doc
	for more := `,"limit":1`; more != ""; {
		page := ask(more)
		added, ended = append(added, docs(page["added"])...), append(ended, docs(page["superseded"])...)
		more = ""
		if next, ok := page["next"].(string); ok {
			more = `,"limit":1,"after":"` + next + `"`
		}
	}
	if encoded(added) != encoded(got["added"]) || encoded(ended) != encoded(got["superseded"]) {
		t.Errorf("page by page: %v %v", added, ended)
	}
	prompt := encoded(r.rpc("prompts/get", fmt.Sprintf(`{"name":"what_changed","arguments":{"namespace":"acme","since":"%d","entity":"A:2"}}`, from)))
	if !strings.Contains(prompt, "new") || strings.Contains(prompt, "born") {
		t.Errorf("prompt: %s", prompt)
	}
	for arguments, want := range map[string]string{
		`{"namespace":"acme"}`:                                      "since is required",
		`{"namespace":"acme","since":"yesterday"}`:                  "since",
		`{"namespace":"acme","since":"2026-01-01","subject":"A:2"}`: "it has namespace, since, entity",
	} {
		if _, got := r.post(`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"what_changed","arguments":` + arguments + `}}`); !strings.Contains(encoded(got["error"]), want) {
			t.Errorf("%s: %v", arguments, got)
		}
	}
}

// TestResources: what a client reads by its URI is what the tools tell.
func TestResources(t *testing.T) {
	r := start(t, "", mcp.Full)
	if status, _, body := r.do(http.MethodPut, "/api/pages/Project:atlas?tenant=acme", `{"title":"Atlas","body":"See [[Person:alice|Alice]] and a/b.","source":"wiki","citations":[{"url":"https://example.test/a","quote":"so it is"}]}`); status >= 300 {
		t.Fatalf("page: %d %s", status, body)
	}
	r.tool("remember", `{"namespace":"acme","subject":"Doc:a?b#c","predicate":"p","object":1}`).ok()
	id := r.tool("remember", `{"namespace":"acme","subject":"Path:a/b c","predicate":"p","object":1}`).ok()["written_id"].(string)
	read := func(uri string) (text string, ok bool) {
		t.Helper()
		_, got := r.post(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"` + uri + `"}}`)
		if e, failed := got["error"].(doc); failed {
			if encoded(e["code"]) != "-32602" {
				t.Errorf("%s: %v", uri, e)
			}
			return "", false
		}
		result := got["result"].(doc)
		content := docs(result["contents"])[0]
		if content["uri"] != uri || content["mimeType"] != "application/json" || result["cacheScope"] != "private" {
			t.Errorf("%s: %v", uri, got)
		}
		return content["text"].(string), true
	}
	for uri, want := range map[string]string{
		"abagraph://acme/fact/" + id:              `"history":[`,
		"abagraph://acme/entity/Path:a/b%20c":     `"subject":"Path:a/b c"`,
		"abagraph://acme/entity/Path%3Aa%2Fb%20c": `"subject":"Path:a/b c"`,
		"abagraph://acme/entity/Doc:a?b#c":        `"subject":"Doc:a?b#c"`,
		"abagraph://acme/entity/Project:atlas":    `"id":"Project:atlas"`,
		"abagraph://acme/page/Project:atlas":      `"body":"See [[Person:alice|Alice]] and a/b.","links":[{"target":"Person:alice","text":"Alice"}],"citations":[{"url":"https://example.test/a","quote":"so it is"}]`,
	} {
		if text, ok := read(uri); !ok || !strings.Contains(text, want) {
			t.Errorf("%s: %s, want %s", uri, text, want)
		}
	}
	for _, uri := range []string{
		"abagraph://acme/fact/none", "abagraph://other/fact/" + id, "abagraph://acme/entity/Nobody:x", "abagraph://acme/page/Nobody:x", "abagraph://acme/entity/",
		"abagraph://acme/secret/x", "abagraph:///fact/" + id, "http://acme/fact/" + id, "abagraph://acme/fact/" + id + "?x=1",
	} {
		if text, ok := read(uri); ok {
			t.Errorf("%s: %s", uri, text)
		}
	}
	if got := column(docs(r.rpc("resources/templates/list", `{}`)["resourceTemplates"]), "uriTemplate"); got != `"abagraph://{namespace}/entity/{+ref}","abagraph://{namespace}/fact/{id}","abagraph://{namespace}/page/{+subject}"` {
		t.Errorf("templates: %s", got)
	}
}

// TestCompletion offers names of the namespace that is named, in their order.
func TestCompletion(t *testing.T) {
	r := start(t, "", mcp.Full)
	var facts []string
	for i := range 150 {
		facts = append(facts, fmt.Sprintf(`{"subject":"Many:%03d","predicate":"rel_%03d","object":1}`, i, i))
	}
	facts = append(facts, `{"subject":"Person:alice","predicate":"p","object":1}`, `{"subject":"Person:älice","predicate":"p","object":1}`, `{"subject":"Persons","predicate":"p","object":1}`)
	r.tool("digest", `{"namespace":"acme","facts":[`+strings.Join(facts, ",")+`]}`).ok()
	complete := func(ref, argument, value, context string) doc {
		t.Helper()
		return r.rpc("completion/complete", `{"ref":`+ref+`,"argument":{"name":"`+argument+`","value":"`+value+`"}`+context+`}`)["completion"].(doc)
	}
	const prompt = `{"type":"ref/prompt","name":"why_do_we_believe"}`
	const acme = `,"context":{"arguments":{"namespace":"acme"}}`
	for value, want := range map[string]string{
		"Person": `["Person:alice","Person:älice","Persons"]`, "Person:": `["Person:alice","Person:älice"]`, "Person:al": `["Person:alice"]`, "None": `[]`, "Many:14": `["Many:140","Many:141","Many:142","Many:143","Many:144","Many:145","Many:146","Many:147","Many:148","Many:149"]`,
	} {
		if got := encoded(complete(prompt, "subject", value, acme)["values"]); got != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
	}
	many := complete(prompt, "predicate", "rel_", acme)
	if got := docsOf(many["values"]); len(got) != 100 || got[0] != "rel_000" || many["hasMore"] != true {
		t.Errorf("many: %v", many)
	}
	const template = `{"type":"ref/resource","uri":"abagraph://{namespace}/entity/{+ref}"}`
	if got := encoded(complete(template, "ref", "Person:al", acme)["values"]); got != `["Person:alice"]` {
		t.Errorf("a template: %s", got)
	}
	if got := encoded(complete(template, "ref", "Person:al", `,"context":{"arguments":{"namespace":"other"}}`)["values"]); got != `[]` {
		t.Errorf("another namespace: %s", got)
	}
	if got := encoded(complete(template, "namespace", "", "")["values"]); got != `["default"]` {
		t.Errorf("namespace: %s", got)
	}
	const brief = `{"type":"ref/prompt","name":"brief_me"}`
	if got := encoded(complete(brief, "entities", "Persons, Person:al", acme)["values"]); got != `["Persons, Person:alice"]` {
		t.Errorf("entities behind a space: %s", got)
	}
	if got := encoded(complete(brief, "entities", "Persons,Person:al", acme)["values"]); got != `["Persons,Person:alice"]` {
		t.Errorf("a list: %s", got)
	}
	if got := encoded(complete(brief, "subject", "Person", acme)["values"]); got != `[]` {
		t.Errorf("an argument of another prompt: %s", got)
	}
	for _, ref := range []string{`{"type":"ref/prompt","name":"none"}`, `{"type":"ref/resource","uri":"file:///{subject}"}`} {
		if got := encoded(complete(ref, "subject", "Person", acme)["values"]); got != `[]` {
			t.Errorf("%s: %s", ref, got)
		}
	}
	if got := encoded(complete(prompt, "colour", "", acme)["values"]); got != `[]` {
		t.Errorf("an argument that nobody knows: %s", got)
	}
}

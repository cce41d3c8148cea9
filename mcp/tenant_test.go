package mcp_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/mcp"
)

// reads are calls of every tool that reads, for a namespace and a fact.
func reads(namespace, id string) map[string]string {
	head := `{"namespace":"` + namespace + `",`
	return map[string]string{
		"recall semantic":        head + `"mode":"semantic","query":"who knows the shared thing"}`,
		"recall semantic canary": head + `"mode":"semantic","query":"canary predicate subject","limit":1}`,
		"recall pattern":         head + `"mode":"pattern","limit":200}`,
		"recall pattern filter":  head + `"mode":"pattern","subject":"Shared:thing"}`,
		"recall walk":            head + `"mode":"walk","start":"Shared:thing","depth":6,"direction":"both"}`,
		"recall past":            head + `"mode":"pattern","as_of":1,"limit":1}`,
		"recall_as_of":           head + `"as_of":4102444800000,"limit":200}`,
		"recall_as_of known":     head + `"as_of":1,"known_at":1}`,
		"whats_changed":          head + `"from":0,"to":4102444800000}`,
		"whats_changed known":    head + `"from":0,"to":4102444800000,"axis":"known","subject":"Shared:thing"}`,
		"build_context":          head + `"task":"what does the shared thing know","seeds":["Shared:thing"]}`,
		"build_context past":     head + `"task":"objects and predicates","as_of":4102444800000,"style":"claude","max_tokens":500}`,
		"explain_fact":           head + `"fact_id":"` + id + `"}`,
	}
}

// TEN-01 over MCP: nothing of another tenant shows in any answer, and nothing
// changes by its being there, apart from tx, times and ids.
func TestTEN01NoWordOfAnotherTenant(t *testing.T) {
	operator := start(t, "operator", mcp.Full)
	a, b := operator.tenant("a", "write"), operator.tenant("b", "write")
	const mine = `{"namespace":"a","source":"mine","facts":[{"subject":"Shared:thing","predicate":"knows","object":"Other:x","confidence":0.9},{"subject":"Other:x","predicate":"p","object":1},{"subject":"Shared:thing","predicate":"guess","object":"y","confidence":0.1}]}`
	ids := docsOf(a.tool("digest", mine).ok()["written_ids"])
	before := map[string]string{}
	for name, arguments := range reads("a", ids[0]) {
		tool, _, _ := strings.Cut(name, " ")
		before[name] = scrub(a.tool(tool, arguments).text)
	}
	b.tool("digest", `{"namespace":"b","source":"canary-source","facts":[{"subject":"Shared:thing","predicate":"knows","object":"canary:object"},{"subject":"canary:subject","predicate":"canary_predicate","object":"Shared:thing","properties":{"canary":1}},{"subject":"Shared:thing","predicate":"knows","object":"Other:x","source":"canary-source"}]}`).ok()
	for name, arguments := range reads("a", ids[0]) {
		tool, _, _ := strings.Cut(name, " ")
		got := a.tool(tool, arguments).text
		if scrub(got) != before[name] || strings.Contains(got, "canary") {
			t.Errorf("%s: %s, before b wrote %s", name, got, before[name])
		}
	}
	for method, params := range map[string]string{
		"resources/read":       `{"uri":"abagraph://a/entity/Shared:thing"}`,
		"completion/complete":  `{"ref":{"type":"ref/prompt","name":"why_do_we_believe"},"argument":{"name":"subject","value":""}}`,
		"resources/list":       `{}`,
		"completion/complete ": `{"ref":{"type":"ref/prompt","name":"why_do_we_believe"},"argument":{"name":"predicate","value":"c"},"context":{"arguments":{"namespace":"b"}}}`,
		"prompts/get":          `{"name":"why_do_we_believe","arguments":{"namespace":"b","subject":"Shared:thing","predicate":"knows"}}`,
	} {
		if got := encoded(a.rpc(strings.TrimSpace(method), params)); strings.Contains(got, "canary") {
			t.Errorf("%s %s: %s", method, params, got)
		}
	}
	if got := a.tool("recall", `{"namespace":"a","mode":"walk","start":"canary:subject"}`); len(got.facts()) > 0 || strings.Contains(got.text, "predicate\":") {
		t.Errorf("a walk from another tenant's entity: %s", got.text)
	}
}

// scrub takes from an answer what other tenants' writes may change.
func scrub(text string) string {
	at := strings.Index(text, `,"tx":`)
	if at < 0 {
		return text
	}
	end := at + len(`,"tx":`)
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	return text[:at] + text[end:]
}

// trimmed is the tool of a name that was made different by spaces.
func trimmed(name string) string { return strings.TrimSpace(name) }

func docsOf(v any) []string {
	items, _ := v.([]any)
	var list []string
	for _, item := range items {
		list = append(list, fmt.Sprint(item))
	}
	return list
}

// TEN-03 over MCP: another tenant's id is answered as one that does not exist.
func TestTEN03KnowingAnIDIsNotEnough(t *testing.T) {
	operator := start(t, "operator", mcp.Full)
	a, b := operator.tenant("a", "write"), operator.tenant("b", "write")
	a.tool("remember", `{"namespace":"a","subject":"A:1","predicate":"p","object":1}`).ok()
	theirs := b.tool("remember", `{"namespace":"b","subject":"B:1","predicate":"p","object":1}`).ok()["written_id"].(string)
	const none = "01900000-0000-7000-8000-000000000000"
	for _, namespace := range []string{"a", "b"} {
		got := a.tool("explain_fact", `{"namespace":"`+namespace+`","fact_id":"`+theirs+`"}`)
		want := a.tool("explain_fact", `{"namespace":"`+namespace+`","fact_id":"`+none+`"}`)
		got.fails(fact.NotFound)
		if strings.ReplaceAll(got.text, theirs, none) != want.text {
			t.Errorf("%s, of none %s", got.text, want.text)
		}
		status, there := a.post(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"abagraph://` + namespace + `/fact/` + theirs + `"}}`)
		_, nowhere := a.post(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"abagraph://` + namespace + `/fact/` + none + `"}}`)
		if status != http.StatusOK || strings.ReplaceAll(encoded(there), theirs, none) != encoded(nowhere) || there["error"] == nil {
			t.Errorf("%v, of none %v", there, nowhere)
		}
	}
	// The operator sees it in the namespace that it lies in, and in no other.
	operator.tool("explain_fact", `{"namespace":"b","fact_id":"`+theirs+`"}`).ok()
	operator.tool("explain_fact", `{"namespace":"a","fact_id":"`+theirs+`"}`).fails(fact.NotFound)
	if got := b.tool("explain_fact", `{"namespace":"b","fact_id":"`+theirs+`"}`).ok(); len(docs(got["history"])) != 1 {
		t.Errorf("b's own history: %v", got)
	}
}

// WEB-02 over MCP: arguments decide neither the tenant of a tenant's key nor
// anything that the server owns. A namespace of another is not used, and the
// answer says so; what nobody knows is refused.
func TestWEB02ArgumentsDecideNoTenant(t *testing.T) {
	operator := start(t, "operator", mcp.Full)
	a, b := operator.tenant("a", "write"), operator.tenant("b", "write")
	b.tool("remember", `{"namespace":"b","subject":"B:1","predicate":"p","object":"theirs"}`).ok()
	wrote := a.tool("remember", `{"namespace":"b","subject":"B:1","predicate":"p","object":"mine"}`).ok()
	if wrote["namespace"] != "a" || !strings.Contains(encoded(wrote["warnings"]), `\"b\" was not used`) {
		t.Errorf("a write that names another namespace: %v", wrote)
	}
	read := a.tool("recall", `{"namespace":"b","mode":"pattern"}`)
	if column(read.facts(), "object") != `"mine"` || read.ok()["namespace"] != "a" || !strings.Contains(read.text, "was not used") {
		t.Errorf("a read that names another namespace: %s", read.text)
	}
	if got := column(b.tool("recall", `{"namespace":"b","mode":"pattern"}`).facts(), "object"); got != `"theirs"` {
		t.Errorf("b's own: %s", got)
	}
	for _, extra := range []string{`"admin":true`, `"id":"01900000-0000-7000-8000-000000000000"`, `"tx":1`, `"recorded_at":1`, `"status":"active"`, `"role":"admin"`} {
		a.tool("remember", `{"namespace":"a","subject":"A:9","predicate":"p","object":1,`+extra+`}`).fails(fact.SchemaInvalid)
		a.tool("digest", `{"namespace":"a","facts":[{"subject":"A:9","predicate":"p","object":1,`+extra+`}]}`).fails(fact.SchemaInvalid)
		a.tool("digest", `{"namespace":"a","facts":[{"subject":"A:9","predicate":"p","object":1}],`+extra+`}`).fails(fact.SchemaInvalid)
	}
	a.tool("recall", `{"namespace":"a","mode":"pattern","admin":true}`).fails(fact.SchemaInvalid)
	a.tool("recall", `{"namespace":"a","mode":"pattern","tenant":"b"}`).fails(fact.SchemaInvalid)
	// A tenant in the arguments is ignored for a tenant's key, as in REST, and
	// refused for the operator where it is another one.
	if got := a.tool("remember", `{"namespace":"a","subject":"A:8","predicate":"p","object":1,"tenant":"b"}`).ok(); got["namespace"] != "a" {
		t.Errorf("tenant: %v", got)
	}
	operator.tool("remember", `{"namespace":"a","subject":"A:8","predicate":"p","object":1,"tenant":"b"}`).fails(fact.SchemaInvalid)
	if got := column(a.tool("recall", `{"namespace":"a","mode":"pattern","subject":"A:9"}`).facts(), "id"); got != "" {
		t.Errorf("something was written: %s", got)
	}
}

// TestRolesHoldOnEachCall: a key that may only read cannot write, whatever the
// profile lists; and a revoked key can do nothing more.
func TestRolesHoldOnEachCall(t *testing.T) {
	operator := start(t, "operator", mcp.Full)
	reader, writer := operator.tenant("a", "read"), operator.tenant("a", "write")
	for tool, arguments := range map[string]string{
		"remember": `{"namespace":"a","subject":"A:b","predicate":"p","object":1}`,
		"digest":   `{"namespace":"a","facts":[{"subject":"A:b","predicate":"p","object":1}]}`,
	} {
		e := reader.tool(tool, arguments).fails(fact.Forbidden)
		if message, _ := e["message"].(string); !strings.Contains(message, "role write") {
			t.Errorf("%s: %v", tool, e)
		}
		reader.tool(tool, `{"nonsense":1}`).fails(fact.Forbidden)
	}
	if got := reader.tool("recall", `{"namespace":"a","mode":"pattern"}`).facts(); len(got) != 0 {
		t.Errorf("something was written: %v", got)
	}
	id := writer.tool("remember", `{"namespace":"a","subject":"A:b","predicate":"p","object":1}`).ok()["written_id"].(string)
	reader.tool("explain_fact", `{"namespace":"a","fact_id":"`+id+`"}`).ok()
}

// TestNamespaces: the operator works in the namespace that is named and in no
// other; one that holds nothing is no silence.
func TestNamespaces(t *testing.T) {
	r := start(t, "", mcp.Full)
	r.tool("remember", `{"namespace":"acme","subject":"A:b","predicate":"p","object":1}`).ok()
	if got := r.tool("recall", `{"namespace":"acme","mode":"pattern","subject":"None:x"}`).ok(); got["warnings"] != nil {
		t.Errorf("nothing found in a namespace that has facts: %v", got)
	}
	const empty = `"the namespace acne does not exist, or holds no facts yet"`
	for arguments, want := range map[string]string{
		`recall {"namespace":"acne","mode":"pattern"}`:              empty,
		`recall {"namespace":"acne","mode":"semantic","query":"p"}`: empty,
		`recall {"namespace":"acne","mode":"walk","start":"A:b"}`:   `"no fact mentions A:b at the time that is read",` + empty,
		`recall_as_of {"namespace":"acne","as_of":5}`:               empty,
		`build_context {"namespace":"acne","task":"p"}`:             empty,
		`whats_changed {"namespace":"acne","from":5,"to":6}`:        empty + `,"nothing that was asked for held at either moment, as it was known then; recall_as_of answers about a past moment as it is known today"`,
	} {
		tool, arguments, _ := strings.Cut(arguments, " ")
		if got := r.tool(tool, arguments).ok(); encoded(got["warnings"]) != "["+want+"]" {
			t.Errorf("%s %s: %v", tool, arguments, got["warnings"])
		}
	}
	if got := r.tool("recall", `{"namespace":"acme","mode":"pattern","limit":5.0}`).ok(); encoded(got["count"]) != "1" {
		t.Errorf("a limit as programs that know doubles only write it: %v", got)
	}
	if got := r.tool("recall", `{"namespace":"acme","mode":"walk","start":"Nobody:x"}`).ok(); !strings.Contains(encoded(got["warnings"]), "Nobody:x") {
		t.Errorf("a start that nobody mentions: %v", got)
	}
	for _, bad := range []string{`{"mode":"pattern"}`, `{"namespace":"","mode":"pattern"}`, `{"namespace":7,"mode":"pattern"}`, `{"namespace":"a/b","mode":"pattern"}`, `{"namespace":"` + strings.Repeat("a", 65) + `","mode":"pattern"}`} {
		if e := r.tool("recall", bad).fails(fact.SchemaInvalid); e["field"] != "namespace" {
			t.Errorf("%s: %v", bad, e)
		}
	}
	// What one surface writes, the other reads at once.
	if _, _, body := r.do(http.MethodGet, "/api/facts?tenant=acme", ""); !strings.Contains(string(body), `"subject":"A:b"`) {
		t.Errorf("REST: %s", body)
	}
	r.do(http.MethodPost, "/api/facts?tenant=acme", `{"subject":"A:c","predicate":"p","object":2}`)
	if got := column(r.tool("recall", `{"namespace":"acme","mode":"pattern","subject":"A:c"}`).facts(), "object"); got != "2" {
		t.Errorf("MCP: %s", got)
	}
}

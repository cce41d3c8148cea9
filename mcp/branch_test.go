package mcp_test

import (
	"net/http"
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/mcp"
)

// TestBranchesOverMCP: every tool works on the branch that is named: it reads
// the branch's own view and writes nowhere else.
func TestBranchesOverMCP(t *testing.T) {
	r := start(t, "", mcp.Full)
	r.tool("remember", `{"namespace":"acme","subject":"Plan:x","predicate":"state","object":"Doc:main"}`).ok()
	r.node.Advance(time.Second)
	if status, _, body := r.do(http.MethodPost, "/api/branches?tenant=acme", `{"name":"draft"}`); status >= 300 {
		t.Fatalf("make a branch: %d %s", status, body)
	}
	from := int64(r.node.Now())
	r.node.Advance(time.Second)
	wrote := r.tool("remember", `{"namespace":"acme","branch":"draft","subject":"Plan:x","predicate":"state","object":"Doc:draft"}`).ok()
	if wrote["branch"] != "draft" || len(docsOf(wrote["superseded"])) != 1 {
		t.Errorf("remember: %v", wrote)
	}
	r.tool("digest", `{"namespace":"acme","branch":"draft","facts":[{"subject":"Plan:y","predicate":"state","object":"only there"}]}`).ok()
	reads := map[string]string{
		"recall":        `"mode":"pattern","subject":"Plan:x"`,
		"recall ":       `"mode":"semantic","query":"state of plan x","limit":1,"subject":"Plan:x"`,
		"recall  ":      `"mode":"walk","start":"Plan:x"`,
		"recall_as_of":  `"as_of":4102444800000,"subject":"Plan:x"`,
		"build_context": `"task":"the state of the plan","seeds":["Plan:x"],"max_facts":1`,
	}
	for name, arguments := range reads {
		tool := trimmed(name)
		for branch, want := range map[string]string{`,"branch":"draft"`: `"Doc:draft"`, `,"branch":"main"`: `"Doc:main"`, ``: `"Doc:main"`} {
			got := r.tool(tool, `{"namespace":"acme",`+arguments+branch+`}`)
			if column(got.facts(), "object") != want || (branch == `,"branch":"draft"`) != (got.ok()["branch"] == "draft") {
				t.Errorf("%s answered %s, want %s", got.what, got.text, want)
			}
		}
		r.tool(tool, `{"namespace":"acme",`+arguments+`,"branch":"nowhere"}`).fails(fact.NotFound)
	}
	explained := r.tool("explain_fact", `{"namespace":"acme","branch":"draft","fact_id":"`+wrote["written_id"].(string)+`"}`).ok()
	if got := column(docs(explained["history"]), "object"); got != `"Doc:main","Doc:draft"` {
		t.Errorf("explain_fact: %s", got)
	}
	r.tool("explain_fact", `{"namespace":"acme","fact_id":"`+wrote["written_id"].(string)+`"}`).fails(fact.NotFound)
	changes := r.tool("whats_changed", `{"namespace":"acme","branch":"draft","from":`+encoded(from)+`,"to":4102444800000}`).ok()
	if got := column(docs(changes["added"]), "object"); got != `"Doc:draft","only there"` {
		t.Errorf("whats_changed: %v", changes)
	}
	r.tool("remember", `{"namespace":"acme","branch":"nowhere","subject":"A:b","predicate":"p","object":1}`).fails(fact.NotFound)
	r.tool("digest", `{"namespace":"acme","facts":[{"subject":"A:b","predicate":"p","object":1,"branch":"draft"}]}`).fails(fact.SchemaInvalid)
	if status, _, body := r.do(http.MethodPost, "/api/branches/draft/promote?tenant=acme", ``); status != http.StatusOK {
		t.Fatalf("promote: %d %s", status, body)
	}
	if got := column(r.tool("recall", `{"namespace":"acme","mode":"pattern"}`).facts(), "object"); got != `"only there","Doc:draft"` && got != `"Doc:draft","only there"` {
		t.Errorf("after the promotion: %s", got)
	}
	r.tool("remember", `{"namespace":"acme","branch":"draft","subject":"A:b","predicate":"p","object":1}`).fails(fact.Conflict)
}

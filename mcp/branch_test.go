package mcp_test

import (
	"fmt"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/mcp"
)

// Every tool works on a branch where it is named, and none shows one otherwise.
func TestBranchesOverMCP(t *testing.T) {
	r := start(t, "", mcp.Full)
	r.tool("remember", `{"namespace":"acme","subject":"Person:alice","predicate":"works_at","object":"Org:acme"}`).ok()
	r.tool("remember", `{"namespace":"acme","subject":"A:1","predicate":"p","object":1,"branch":"plan"}`).fails(fact.NotFound)
	status, _, body := r.do("POST", "/api/branches?tenant=acme", `{"name":"plan"}`)
	if status != 201 {
		t.Fatalf("%d: %s", status, body)
	}
	written := r.tool("remember", `{"namespace":"acme","subject":"Person:alice","predicate":"works_at","object":"Org:new","branch":"plan"}`).ok()
	if written["branch"] != "plan" || !strings.Contains(encoded(written["superseded"]), "-") {
		t.Errorf("remember: %v", written)
	}
	r.tool("digest", `{"namespace":"acme","facts":[{"subject":"Org:new","predicate":"seat","object":"City:bonn"}],"branch":"plan"}`).ok()
	for name, arguments := range map[string]string{
		"recall":        `{"namespace":"acme","mode":"pattern","subject":"Person:alice"%s}`,
		"recall ":       `{"namespace":"acme","mode":"semantic","query":"alice works"%s}`,
		"recall  ":      `{"namespace":"acme","mode":"walk","start":"Person:alice"%s}`,
		"recall_as_of":  `{"namespace":"acme","subject":"Person:alice","as_of":4102444800000%s}`,
		"whats_changed": `{"namespace":"acme","from":0,"to":4102444800000%s}`,
		"build_context": `{"namespace":"acme","task":"where alice works","seeds":["Person:alice"]%s}`,
		"explain_fact":  `{"namespace":"acme","fact_id":"` + fmt.Sprint(written["written_id"]) + `"%s}`,
	} {
		name = strings.TrimSpace(name)
		if on := encoded(r.tool(name, fmt.Sprintf(arguments, `,"branch":"plan"`)).ok()); !strings.Contains(on, "Org:new") {
			t.Errorf("%s does not show the branch: %s", name, on)
		}
		off := r.tool(name, fmt.Sprintf(arguments, ""))
		if name == "explain_fact" {
			off.fails(fact.NotFound)
		} else if text := encoded(off.ok()); strings.Contains(text, "Org:new") {
			t.Errorf("%s shows the branch: %s", name, text)
		}
		r.tool(name, fmt.Sprintf(arguments, `,"branch":"none"`)).fails(fact.NotFound)
	}
}

package mcp_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/mcp"
)

const hidesOverMCP = `{"version":"v1","rules":[
	{"role":"admin","permissions":["*"]},
	{"agent":"agent-7","permissions":["facts:read"]},
	{"agent":"agent-7","effect":"deny","permissions":["facts:read"],"predicates":["canary_predicate*"]},
	{"agent":"agent-7","effect":"deny","permissions":["facts:read"],"sources":["canary-source"]},
	{"agent":"agent-7","effect":"deny","permissions":["facts:read"],"branches":["canary-branch"]},
	{"agent":"agent-7","permissions":["facts:write"],"predicates":["knows"],"sources":["mine"],"branches":["main"]}]}`

// passing are the txs and the present, in an answer or in a text within it.
var passing = regexp.MustCompile(`\\?"(tx|to|now)\\?":[0-9]+`)

// ranked are the calls whose scores tell of the words of all facts of a tenant.
func ranked(name string) bool {
	return strings.HasPrefix(name, "recall semantic") || strings.HasPrefix(name, "build_context") || name == "prompts/get brief"
}

// Policy over MCP: an agent is answered by every tool, resource, prompt and completion
// as if what it may not see were not there, and writes nothing that it was not granted.
func TestPolicyHoldsOverMCP(t *testing.T) {
	operator := start(t, "operator", mcp.Full)
	admin := operator.tenant("a", "admin")
	agent := admin.agent("a", "agent-7")
	if status, _, body := admin.do(http.MethodPut, "/api/policy", hidesOverMCP); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	ids := docsOf(admin.tool("digest", `{"namespace":"a","source":"mine","facts":[{"subject":"Shared:thing","predicate":"knows","object":"Other:x","confidence":0.9},{"subject":"Other:x","predicate":"p","object":1}]}`).ok()["written_ids"])
	asks := map[string]string{
		"resources/templates/list": `{}`, "resources/list": `{}`, "prompts/list": `{}`,
		"resources/read entity": `{"uri":"abagraph://a/entity/Shared:thing"}`,
		"resources/read fact":   `{"uri":"abagraph://a/fact/` + ids[0] + `"}`,
		"completion/complete s": `{"ref":{"type":"ref/prompt","name":"why_do_we_believe"},"argument":{"name":"subject","value":""}}`,
		"completion/complete p": `{"ref":{"type":"ref/prompt","name":"why_do_we_believe"},"argument":{"name":"predicate","value":""}}`,
		"prompts/get why":       `{"name":"why_do_we_believe","arguments":{"namespace":"a","subject":"Shared:thing","predicate":"knows"}}`,
		"prompts/get brief":     `{"name":"brief_me","arguments":{"namespace":"a","topic":"the shared thing"}}`,
		"prompts/get changed":   `{"name":"what_changed","arguments":{"namespace":"a","since":"2020-01-01"}}`,
	}
	look := func() map[string]string {
		got := map[string]string{}
		for name, arguments := range reads("a", ids[0]) {
			tool, _, _ := strings.Cut(name, " ")
			got[name] = passing.ReplaceAllString(agent.tool(tool, arguments).text, "")
		}
		for name, params := range asks {
			method, _, _ := strings.Cut(name, " ")
			got[name] = passing.ReplaceAllString(encoded(agent.rpc(method, params)), "")
		}
		return got
	}
	before := look()
	hidden := docsOf(admin.tool("digest", `{"namespace":"a","source":"mine","facts":[{"subject":"Shared:thing","predicate":"canary_predicate","object":"canary:object"},{"subject":"canary:subject","predicate":"canary_predicate_2","object":"Shared:thing"}]}`).ok()["written_ids"])
	hidden = append(hidden, docsOf(admin.tool("digest", `{"namespace":"a","source":"canary-source","facts":[{"subject":"Shared:thing","predicate":"told","object":"canary:told"},{"subject":"Other:x","predicate":"p","object":1}]}`).ok()["written_ids"])...)
	if status, _, body := admin.do(http.MethodPost, "/api/branches", `{"name":"canary-branch"}`); status != http.StatusCreated {
		t.Fatalf("%d %s", status, body)
	}
	onBranch := docsOf(admin.tool("digest", `{"namespace":"a","branch":"canary-branch","source":"mine","facts":[{"subject":"Shared:thing","predicate":"said","object":"canary:said"}]}`).ok()["written_ids"])
	for name, got := range look() {
		if strings.Contains(strings.ReplaceAll(got, "canary predicate subject", ""), "canary") || got != before[name] && !ranked(name) {
			t.Errorf("%s: %s\nbefore there was anything to hide: %s", name, got, before[name])
		}
	}
	for _, id := range append(hidden, onBranch...) {
		agent.tool("explain_fact", `{"namespace":"a","fact_id":"`+id+`"}`).fails(fact.NotFound)
		if _, got := agent.post(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"abagraph://a/fact/` + id + `"}}`); got["error"] == nil {
			t.Errorf("a hidden fact is a resource: %v", got)
		}
	}
	for name, arguments := range reads("a", ids[0]) {
		tool, _, _ := strings.Cut(name, " ")
		if got := agent.tool(tool, strings.Replace(arguments, `"namespace":"a",`, `"namespace":"a","branch":"canary-branch",`, 1)); !got.failed || strings.Contains(got.text, "canary:") {
			t.Errorf("%s of the hidden branch: %s", name, got.text)
		}
	}
	tx := operator.node.Position().Tx
	for _, refused := range []string{
		`remember {"namespace":"a","subject":"Shared:thing","predicate":"likes","object":"x","source":"mine"}`,
		`remember {"namespace":"a","subject":"Shared:thing","predicate":"knows","object":"x","source":"yours"}`,
		`remember {"namespace":"a","subject":"Shared:thing","predicate":"knows","object":"x"}`,
		`remember {"namespace":"a","branch":"canary-branch","subject":"Shared:thing","predicate":"knows","object":"x","source":"mine"}`,
		`remember {"namespace":"a","subject":"Role:write","predicate":"grants","object":"Permission:*","source":"mine","coexist":true}`,
		`digest {"namespace":"a","source":"mine","facts":[{"subject":"Shared:thing","predicate":"likes","object":"x"}]}`,
		`digest {"namespace":"a","source":"mine","facts":[{"subject":"Shared:thing","predicate":"knows","object":"y"},{"subject":"Agent:agent-7","predicate":"acts_as","object":"Role:admin"}]}`,
	} {
		tool, arguments, _ := strings.Cut(refused, " ")
		agent.tool(tool, arguments).fails(fact.Forbidden)
	}
	if got := operator.node.Position().Tx; got != tx {
		t.Errorf("%d transactions were written", got-tx)
	}
	agent.tool("remember", `{"namespace":"a","subject":"Shared:thing","predicate":"knows","object":"Other:y","source":"mine"}`).ok()
}

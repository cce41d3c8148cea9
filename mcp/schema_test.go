package mcp_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"abagraph/mcp"

	"github.com/google/jsonschema-go/jsonschema"
)

// TestToolsAreFirstClass: every tool says what it is, when to use it and what it
// takes and gives, in schemas that the strictest clients read.
func TestToolsAreFirstClass(t *testing.T) {
	r := start(t, "", mcp.Full)
	names := regexp.MustCompile(`^[a-z_]{1,64}$`)
	for _, tool := range docs(r.rpc("tools/list", `{}`)["tools"]) {
		name, _ := tool["name"].(string)
		if !names.MatchString(name) {
			t.Errorf("the name %q", name)
		}
		for _, field := range []string{"title", "description"} {
			if text, _ := tool[field].(string); text == "" {
				t.Errorf("%s has no %s", name, field)
			}
		}
		if text, _ := tool["description"].(string); !strings.Contains(text, "se ") || len(text) < 80 {
			t.Errorf("%s does not say when to use it: %s", name, text)
		}
		writes := name == "remember" || name == "digest"
		want := fmt.Sprintf(`{"destructiveHint":false,"idempotentHint":true,"openWorldHint":false,"readOnlyHint":%v,"title":%s}`, !writes, encoded(tool["title"]))
		if got := encoded(tool["annotations"]); got != want {
			t.Errorf("%s has the annotations %s, want %s", name, got, want)
		}
		input, _ := tool["inputSchema"].(doc)
		output, _ := tool["outputSchema"].(doc)
		if input["additionalProperties"] != false || input["properties"].(doc)["namespace"] == nil || !strings.Contains(encoded(input["required"]), `"namespace"`) {
			t.Errorf("%s does not ask for a namespace, and for nothing else", name)
		}
		for path, schema := range map[string]doc{name + ".input": input, name + ".output": output} {
			if schema["type"] != "object" {
				t.Errorf("%s is no object: %v", path, schema["type"])
			}
			strict(t, path, schema)
			resolve(t, schema)
		}
	}
}

// strict walks a schema and refuses what some clients cannot read.
func strict(t *testing.T, path string, schema doc) {
	t.Helper()
	for _, word := range []string{"$ref", "$schema", "$defs", "anyOf", "oneOf", "allOf", "not", "if", "patternProperties", "format"} {
		if _, ok := schema[word]; ok {
			t.Errorf("%s uses %s", path, word)
		}
	}
	if schema["type"] == nil {
		t.Errorf("%s has no type", path)
	}
	properties, _ := schema["properties"].(doc)
	for name, property := range properties {
		p, _ := property.(doc)
		if strings.Contains(path, ".input") && p["description"] == nil && p["items"] == nil {
			t.Errorf("%s.%s is not described", path, name)
		}
		strict(t, path+"."+name, p)
	}
	if items, ok := schema["items"].(doc); ok {
		strict(t, path+"[]", items)
	} else if schema["type"] == "array" {
		t.Errorf("%s has no items", path)
	}
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if properties[name.(string)] == nil {
			t.Errorf("%s requires %v, which it does not have", path, name)
		}
	}
	if strings.HasSuffix(path, ".output") && len(required) > 0 {
		t.Errorf("%s requires %v, which an error has not", path, required)
	}
}

func resolve(t *testing.T, schema doc) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(encoded(schema)), &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// TestProfiles: a profile decides what is listed, and nothing else.
func TestProfiles(t *testing.T) {
	for profile, want := range map[mcp.Profile]string{
		mcp.AgentMemory: `"build_context","digest","recall","remember","whats_changed"`,
		mcp.ReadOnly:    `"explain_fact","recall","recall_as_of"`,
		mcp.Full:        `"build_context","digest","explain_fact","recall","recall_as_of","remember","whats_changed"`,
	} {
		r := start(t, "", profile)
		if got := column(docs(r.rpc("tools/list", `{}`)["tools"]), "name"); got != want {
			t.Errorf("%s lists %s, want %s", profile, got, want)
		}
		r.tool("remember", `{"namespace":"a","subject":"A:b","predicate":"p","object":1}`).ok()
		r.tool("recall_as_of", `{"namespace":"a","as_of":0}`).ok()
		if got := column(docs(r.rpc("tools/list", `{}`, "X-Abagraph-Mcp-Profile: read-only")["tools"]), "name"); got != `"explain_fact","recall","recall_as_of"` {
			t.Errorf("%s narrowed by the header lists %s", profile, got)
		}
		if _, got := r.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "X-Abagraph-Mcp-Profile: none"); !strings.Contains(encoded(got), "full, agent-memory, read-only") {
			t.Errorf("an unknown profile: %v", got)
		}
	}
	if _, err := mcp.ParseProfile("ABAGRAPH_MCP_PROFILE", "reader"); err == nil || !strings.Contains(err.Error(), "full, agent-memory, read-only") {
		t.Errorf("an unknown profile: %v", err)
	}
	if got, err := mcp.ParseProfile("", ""); err != nil || got != mcp.Full || !slices.Equal(mcp.Profiles(), []string{"full", "agent-memory", "read-only"}) {
		t.Errorf("no profile: %v, %v", got, err)
	}
}

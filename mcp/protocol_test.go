package mcp_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"abagraph/mcp"
)

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}`

// TestEveryVersionOnOneEndpoint: the handshake of the older versions, the
// requests without one of the newest, and a plain request that says nothing of
// versions are all answered, in any order, by a server that keeps nothing.
func TestEveryVersionOnOneEndpoint(t *testing.T) {
	r := start(t, "", mcp.Full)
	r.tool("remember", `{"namespace":"acme","subject":"A:b","predicate":"p","object":1}`).ok()
	const call = `{"name":"recall","arguments":{"namespace":"acme","mode":"pattern"}`
	want := encoded(r.rpc("tools/call", call+`}`)["structuredContent"])
	for _, version := range []string{"2025-06-18", "2025-11-25"} {
		hello := r.rpc("initialize", `{"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
		if hello["protocolVersion"] != version || hello["instructions"] == "" {
			t.Errorf("%s: %v", version, hello)
		}
		header := "Mcp-Protocol-Version: " + version
		if status, _, body := r.do(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, header); status != http.StatusAccepted || len(body) > 0 {
			t.Errorf("%s: initialized: %d %s", version, status, body)
		}
		if got := r.rpc("tools/list", `{}`, header)["tools"].([]any); len(got) == 0 {
			t.Errorf("%s: no tools", version)
		}
		if got := encoded(r.rpc("tools/call", call+`}`, header, "Mcp-Session-Id: of-another-node")["structuredContent"]); got != want {
			t.Errorf("%s: %s, want %s", version, got, want)
		}
		if got := r.rpc("ping", `{}`, header); len(got) > 0 {
			t.Errorf("%s: ping: %v", version, got)
		}
	}
	newest := []string{"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: server/discover"}
	if got := r.rpc("server/discover", `{`+meta+`}`, newest...); encoded(got["supportedVersions"]) != `["2026-07-28","2025-11-25","2025-06-18"]` || got["cacheScope"] != "private" {
		t.Errorf("discover: %v", got)
	}
	for method, ttl := range map[string]string{"tools/list": "300000", "prompts/list": "300000", "resources/templates/list": "300000", "resources/list": "0"} {
		got := r.rpc(method, `{`+meta+`}`, "Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: "+method)
		if got["cacheScope"] != "private" || encoded(got["ttlMs"]) != ttl {
			t.Errorf("%s may be kept: %v, %v", method, got["cacheScope"], got["ttlMs"])
		}
	}
	newest = []string{"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: recall"}
	if got := r.rpc("tools/call", call+`,`+meta+`}`, newest...); encoded(got["structuredContent"]) != want || got["resultType"] != "complete" {
		t.Errorf("newest: %v", got)
	}
	// What the header says and what the message says must agree.
	newest[2] = "Mcp-Name: remember"
	if status, got := r.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+call+`,`+meta+`}}`, newest...); status != http.StatusBadRequest || encoded(got["error"].(doc)["code"]) != "-32020" {
		t.Errorf("another name in the header: %d %v", status, got)
	}
	// A version that is not spoken is told with those that are.
	status, got := r.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Mcp-Protocol-Version: 1900-01-01")
	if e := got["error"].(doc); status != http.StatusBadRequest || encoded(e["code"]) != "-32022" || encoded(e["data"].(doc)["supported"]) != `["2026-07-28","2025-11-25","2025-06-18"]` {
		t.Errorf("an unknown version: %d %v", status, got)
	}
	if got := r.rpc("initialize", `{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`); got["protocolVersion"] != "2025-11-25" {
		t.Errorf("a version before all of these: %v", got)
	}
	// One that is sent by hand, to see who is there, names none.
	for _, params := range []string{``, `,"params":{}`, `,"params":{"protocolVersion":null,"clientInfo":{"name":"t","version":"1"},"capabilities":{}}`} {
		status, got := r.post(`{"jsonrpc":"2.0","id":"h","method":"initialize"` + params + `}`)
		result, _ := got["result"].(doc)
		if info, _ := result["serverInfo"].(doc); status != http.StatusOK || got["id"] != "h" || result["protocolVersion"] != "2025-06-18" || info["name"] != "abagraph" {
			t.Errorf("initialize%s: %d %v", params, status, got)
		}
	}
}

// TestMessagesThatAreNone: whatever is not one well-formed request is refused
// with the code of JSON-RPC, names its id where it can, and changes nothing.
func TestMessagesThatAreNone(t *testing.T) {
	r := start(t, "", mcp.Full)
	before := r.node.Position().Tx
	for message, want := range map[string]string{
		``:         `null -32700`,
		`{`:        `null -32700`,
		`[]`:       `null -32600`,
		`"x"`:      `null -32600`,
		`{"id":1}`: `1 -32600`,
		`{"jsonrpc":"1.0","id":1,"method":"ping"}`:                                                                                                        `1 -32600`,
		`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`:                                                                                                      `null -32600`,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`:                                                                                                     `null -32600`,
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`:                                                                                                       `null -32600`,
		`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 300) + `","method":"ping"}`:                                                                       `null -32600`,
		`{"jsonrpc":"2.0","method":"ping"}`:                                                                                                               `null -32600`,
		`{"jsonrpc":"2.0","id":"a","method":"notifications/initialized"}`:                                                                                 `"a" -32600`,
		`{"jsonrpc":"2.0","id":2,"method":7}`:                                                                                                             `2 -32600`,
		`{"jsonrpc":"2.0","id":2,"method":"ping","params":[]}`:                                                                                            `2 -32600`,
		`{"jsonrpc":"2.0","id":2,"method":"ping","extra":1}`:                                                                                              `2 -32600`,
		`{"jsonrpc":"2.0","id":2,"id":3,"method":"ping"}`:                                                                                                 `null -32700`,
		`{"jsonrpc":"2.0","id":3,"method":"ping"} {}`:                                                                                                     `null -32700`,
		`[{"jsonrpc":"2.0","id":3,"method":"ping"}]`:                                                                                                      `null -32600`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/ping"}`:                                                                                                  `4 -32601`,
		`{"jsonrpc":"2.0","id":4,"method":"logging/setLevel","params":{"level":"debug"}}`:                                                                 `4 -32601`,
		`{"jsonrpc":"2.0","id":4,"method":"subscriptions/listen","params":{}}`:                                                                            `4 -32601`,
		`{"jsonrpc":"2.0","id":4,"method":"resources/subscribe","params":{}}`:                                                                             `4 -32601`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"forget"}}`:                                                                       `5 -32602`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"Remember"}}`:                                                                     `5 -32602`,
		`{"jsonrpc":"2.0","id":6,"method":"resources/read","params":{"uri":"file:///x"}}`:                                                                 `6 -32602`,
		`{"jsonrpc":"2.0","id":6,"method":"prompts/get","params":{"name":"none"}}`:                                                                        `6 -32602`,
		`{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":5}}`:                                                                   `7 -32602`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call"}`:                                                                                                  `7 -32602`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":5}}`:                                                                              `7 -32602`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"recall","_meta":5}}`:                                                             `7 -32602`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":5}}`:                                                                            `7 -32602`,
		`{"jsonrpc":"2.0","id":7,"method":"resources/read"}`:                                                                                              `7 -32602`,
		`{"jsonrpc":"2.0","id":7,"method":"prompts/get"}`:                                                                                                 `7 -32602`,
		`{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"brief_me","arguments":{"namespace":"a","topic":5}}}`:                            `7 -32602`,
		`{"jsonrpc":"2.0","id":7,"method":"completion/complete"}`:                                                                                         `7 -32602`,
		`{"jsonrpc":"2.0","id":7,"method":"completion/complete","params":{"ref":{"type":"x"},"argument":{"name":"subject","value":""}}}`:                  `7 -32602`,
		`{"jsonrpc":"2.0","id":7,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"brief_me"},"argument":{"name":"entities"}}}`: `7 -32602`,
	} {
		status, got := r.post(message)
		e, _ := got["error"].(doc)
		if said := encoded(got["id"]) + " " + encoded(e["code"]); said != want || got["jsonrpc"] != "2.0" || e["message"] == "" {
			t.Errorf("%s: %d %v, want %s", message, status, got, want)
		}
		if text, _ := e["message"].(string); strings.Contains(text, "unmarshal") {
			t.Errorf("%s: %s", message, text)
		}
		if ok := status == http.StatusOK; ok != slices.Contains([]string{"-32601", "-32602"}, encoded(e["code"])) {
			t.Errorf("%s: status %d", message, status)
		}
	}
	if after := r.node.Position().Tx; after != before {
		t.Errorf("tx %d became %d", before, after)
	}
}

// MCP-01: only the exact name of a field counts, in the message and in the
// arguments; another spelling is refused and overrides nothing.
func TestMCP01TwoSpellingsOfOneField(t *testing.T) {
	r := start(t, "", mcp.Full)
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","Method":"tools/call","params":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call","params":{}}`,
		`{"JSONRPC":"2.0","jsonrpc":"2.0","id":1,"method":"tools/list"}`,
	} {
		if status, got := r.post(message); status != http.StatusBadRequest || got["error"] == nil {
			t.Errorf("%s: %d %v", message, status, got)
		}
	}
	for _, arguments := range []string{
		`{"namespace":"a","Namespace":"b","mode":"pattern"}`,
		`{"name\u017fpace":"b","mode":"pattern"}`,
		`{"namespace":"a","mode":"pattern","\u212aind":"x"}`,
		`{"namespace":"a","mode":"pattern","Subject":"A:b"}`,
	} {
		r.tool("recall", arguments).fails("SchemaInvalid")
	}
	// The name of the tool is read once, by its exact field.
	r.tool("remember", `{"namespace":"a","subject":"A:b","predicate":"p","object":1}`).ok()
	status, got := r.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall","Name":"remember","arguments":{"namespace":"a","mode":"pattern"},"Arguments":{"namespace":"b","subject":"A:b","predicate":"p","object":2}}}`)
	if result, ok := got["result"].(doc); status != http.StatusOK || !ok || result["structuredContent"].(doc)["mode"] != "pattern" {
		t.Errorf("another spelling beside the name: %d %v", status, got)
	}
	status, got = r.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall","arguments":{"namespace":"a","namespace":"b","mode":"pattern"}}}`)
	if status != http.StatusBadRequest || encoded(got["error"].(doc)["code"]) != "-32700" {
		t.Errorf("one name twice: %d %v", status, got)
	}
}

// MCP-04: a page on the web cannot speak to a server on this machine.
func TestMCP04AWebPageTalksToTheLocalServer(t *testing.T) {
	r := start(t, "operator", mcp.Full)
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for header, want := range map[string]int{
		"Host: evil.example.test":                      http.StatusForbidden,
		"Origin: https://evil.example.test":            http.StatusForbidden,
		"Origin: null":                                 http.StatusForbidden,
		"Origin: http://localhost.evil.example.test":   http.StatusForbidden,
		"Origin: " + r.url:                             http.StatusOK,
		"X-Nothing: no Origin, as programs do":         http.StatusOK,
		"Content-Type: application/json;charset=utf-8": http.StatusOK,
		"Content-Type: text/plain":                     http.StatusBadRequest,
	} {
		if status, _, body := r.do(http.MethodPost, "/mcp", list, header); status != want {
			t.Errorf("%s: %d %s, want %d", header, status, body, want)
		}
	}
	// The judgement comes before the key is looked at.
	if status, _, _ := r.as("wrong").do(http.MethodPost, "/mcp", list, "Origin: https://evil.example.test"); status != http.StatusForbidden {
		t.Errorf("a foreign Origin with a wrong key: %d", status)
	}
	// A cookie of a browser is good only together with its own Origin.
	cookie := "Cookie: abagraph_session=operator"
	if status, _, _ := r.as("").do(http.MethodPost, "/mcp", list, cookie); status != http.StatusForbidden {
		t.Errorf("a cookie without an Origin: %d", status)
	}
	if status, _, _ := r.as("").do(http.MethodPost, "/mcp", list, cookie, "Origin: "+r.url); status != http.StatusOK {
		t.Errorf("a cookie with the Origin: %d", status)
	}
}

// C-42: without a valid key there is no /mcp.
func TestTheDeniedSeeNoMCP(t *testing.T) {
	r := start(t, "operator", mcp.Full)
	_, missing, nothing := r.as("").do(http.MethodPost, "/nowhere", `{}`)
	for _, key := range []string{"", "wrong"} {
		for method, path := range map[string]string{http.MethodPost: "/mcp", http.MethodGet: "/mcp", http.MethodDelete: "/mcp"} {
			status, header, body := r.as(key).do(method, path, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			header.Del("Date")
			missing.Del("Date")
			if status != http.StatusNotFound || string(body) != string(nothing) || encoded(header) != encoded(missing) {
				t.Errorf("%s with key %q: %d %s %v", method, key, status, body, header)
			}
		}
	}
	if status, header, _ := r.do(http.MethodGet, "/mcp", ""); status != http.StatusMethodNotAllowed || header.Get("Allow") == "" {
		t.Errorf("GET with a key: %d %v", status, header)
	}
	for _, query := range []string{"?tenant=x", "?explain=1", "?namespace=x"} {
		if status, _, body := r.do(http.MethodPost, "/mcp"+query, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); status != http.StatusBadRequest || !strings.Contains(string(body), "SchemaInvalid") {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
}

// ING-05: nesting that is too deep, and messages that are too long, are refused
// before anything recurses into them.
func TestING05DeepNestingOverMCP(t *testing.T) {
	r := start(t, "", mcp.Full)
	for name, message := range map[string]string{
		"an open array":  strings.Repeat("[", 5_000_000),
		"an open object": strings.Repeat(`{"a":`, 200_000),
		"65 deep":        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"remember","arguments":{"namespace":"a","subject":"A:b","predicate":"p","object":1,"properties":` + nested(64) + `}}}`,
	} {
		if status, got := r.post(message); status != http.StatusBadRequest || encoded(got["error"].(doc)["code"]) != "-32700" {
			t.Errorf("%s: %d %v", name, status, got)
		}
	}
	r.tool("remember", `{"namespace":"a","subject":"A:b","predicate":"p","object":1,"properties":`+nested(40)+`}`).ok()
	if status, _, body := r.do(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"`+strings.Repeat("x", mcp.MaxMessageBytes)+`"}}`); status != http.StatusRequestEntityTooLarge {
		t.Errorf("too long: %d %s", status, body)
	}
}

func nested(depth int) string {
	return strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth)
}

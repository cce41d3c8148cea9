package mcp_test

import (
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	httpd "abagraph/http"
	"abagraph/internal/onenode"
	"abagraph/mcp"
	"abagraph/memory"
)

// TestTheDocumentsCurl is the documents' own request, on a tenant's own host: no
// handshake, no Accept, and a namespace that the key does not have.
func TestTheDocumentsCurl(t *testing.T) {
	node := onenode.Start(t)
	service := node.Service(t, memory.Options{AdminKey: "operator"})
	o := mcp.Options{Memory: service, Logger: slog.New(slog.DiscardHandler), Version: "test"}
	r := serve(t, node, service, o, "operator", func(c *httpd.Config) { c.BaseDomain = "abagraph.com" })
	nas, other := r.tenant("nas", "write"), r.tenant("other", "write")
	nas.tool("remember", `{"namespace":"nas","subject":"Person:sarah","predicate":"works_at","object":"Org:globex","source":"slack:2026-06"}`).ok()
	const message = `{
    "jsonrpc": "2.0", "id": 1, "method": "tools/call",
    "params": { "name": "build_context",
      "arguments": { "task": "brief me on Sarah before a 1:1", "namespace": "demo", "seeds": ["Person:sarah"], "max_tokens": 80 } } }`
	status, got := nas.post(message, "Host: nas.abagraph.com", "Accept: */*")
	if status != http.StatusOK {
		t.Fatalf("%d %v", status, got)
	}
	packet := got["result"].(doc)["structuredContent"].(doc)
	if encoded(packet["entities"]) != `["Person:sarah","Org:globex"]` || column(docs(packet["facts"]), "object") != `"Org:globex"` || number(packet["prompt_tokens"]) > 80 || packet["namespace"] != "nas" || !strings.Contains(encoded(packet["warnings"]), "was not used") {
		t.Errorf("packet: %v", packet)
	}
	status, got = nas.post(strings.Replace(message, "80", "4096", 1), "Host: nas.abagraph.com")
	packet, _ = got["result"].(doc)["structuredContent"].(doc)
	if column(docs(packet["facts"]), "object") != `"Org:globex"` {
		t.Errorf("with room: %d %v", status, got)
	}
	if status, got := other.post(message, "Host: nas.abagraph.com"); status != http.StatusNotFound || !strings.Contains(encoded(got), "NotFound") {
		t.Errorf("another tenant's key on the host: %d %v", status, got)
	}
}

// TestThePagesCommands runs the commands of docs/mcp.md as they are written
// there.
func TestThePagesCommands(t *testing.T) {
	for _, tool := range []string{"sh", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Logf("there is no %s here: the page's commands are not tried", tool)
			return
		}
	}
	page, err := os.ReadFile("../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, "", mcp.Full)
	ran := 0
	for _, block := range strings.Split(string(page), "```sh\n")[1:] {
		script, _, _ := strings.Cut(block, "```")
		command := exec.Command("sh", "-e")
		command.Stdin = strings.NewReader(script)
		command.Env = append(os.Environ(), "BASE="+r.url)
		out, err := command.Output()
		if err != nil || strings.Contains(string(out), "rror") {
			t.Errorf("%s\n%v: %s", script, err, out)
		}
		ran++
	}
	if got := column(r.tool("recall", `{"namespace":"acme","mode":"pattern"}`).facts(), "object"); ran == 0 || got != `"Person:alice"` {
		t.Errorf("after %d blocks the page's facts are %s", ran, got)
	}
}

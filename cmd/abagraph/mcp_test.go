package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode"
)

// mcpHost is an MCP host that has started `abagraph mcp`.
type mcpHost struct {
	t       *testing.T
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	errs    lockedText
	id      int
}

func hosting(t *testing.T, args ...string) *mcpHost {
	t.Helper()
	h := &mcpHost{t: t, command: program(t, append([]string{"mcp"}, args...)...)}
	h.command.Env = append(h.command.Env, "ABAGRAPH_LOG_LEVEL=debug")
	var err error
	if h.in, err = h.command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	pipe, err := h.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	h.out, h.command.Stderr = bufio.NewReaderSize(pipe, 1<<20), &h.errs
	if err := h.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = h.command.Process.Kill() // it may have ended
		if t.Failed() {
			t.Logf("stderr:\n%s", h.errs.String())
		}
	})
	return h
}

// write sends a line as it is.
func (h *mcpHost) write(line string) {
	h.t.Helper()
	if _, err := io.WriteString(h.in, line+"\n"); err != nil {
		h.t.Fatal(err)
	}
}

// line reads the next line, which must be one JSON-RPC message.
func (h *mcpHost) line() map[string]any {
	h.t.Helper()
	raw, err := h.out.ReadBytes('\n')
	if err != nil {
		h.t.Fatalf("stdout: %v: %q: %s", err, raw, h.errs.String())
	}
	var got map[string]any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&got); err != nil || got["jsonrpc"] != "2.0" {
		h.t.Fatalf("stdout has a line that is no message: %q", raw)
	}
	return got
}

// ask sends a request and returns the message with its id.
func (h *mcpHost) ask(method, params string) map[string]any {
	h.t.Helper()
	h.id++
	h.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"%s","params":%s}`, h.id, method, params))
	for {
		if got := h.line(); fmt.Sprint(got["id"]) == fmt.Sprint(h.id) {
			return got
		}
	}
}

// tool calls a tool and returns its text.
func (h *mcpHost) tool(name, arguments string) string {
	h.t.Helper()
	got := h.ask("tools/call", `{"name":"`+name+`","arguments":`+arguments+`}`)
	result, _ := got["result"].(map[string]any)
	content, _ := result["content"].([]any)
	if len(content) != 1 {
		h.t.Fatalf("%s %s: %v", name, arguments, got)
	}
	text, _ := content[0].(map[string]any)["text"].(string)
	return text
}

// end closes stdin and waits for the process.
func (h *mcpHost) end() {
	h.t.Helper()
	if err := h.in.Close(); err != nil {
		h.t.Fatal(err)
	}
	rest, err := io.ReadAll(h.out)
	if err != nil || len(rest) > 0 {
		h.t.Errorf("at the end stdout has %q, %v", rest, err)
	}
	if err := h.command.Wait(); err != nil {
		h.t.Errorf("the process ended with %v: %s", err, h.errs.String())
	}
}

const hello = `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"host","version":"1"}}`

// MCP-03: at the most verbose level, through every kind of call and error,
// stdout carries the protocol and nothing else, one message a line; the end of
// stdin ends the process in order, with everything kept.
func TestMCP03NothingButProtocolOnStdout(t *testing.T) {
	data := filepath.Join(t.TempDir(), "memory")
	h := hosting(t, "--data", data)
	if got := h.ask("initialize", hello)["result"].(map[string]any); got["protocolVersion"] != "2025-06-18" || got["instructions"] == nil {
		t.Errorf("initialize: %v", got)
	}
	h.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for _, text := range []string{`plain`, `lines\none\r\ntwo`, "\u2028 and \u2029 and \U0001f600", `\u0000\u2028\"\\`, strings.Repeat("x", 1<<20)} {
		if got := h.tool("remember", `{"namespace":"acme","subject":"A:b","predicate":"text","object":"`+text+`"}`); !strings.Contains(got, `"status":"active"`) {
			t.Errorf("remember %.40q: %s", text, got)
		}
		got := h.tool("recall", `{"namespace":"acme","mode":"pattern","subject":"A:b"}`)
		for _, c := range got {
			if c != '\n' && !unicode.IsPrint(c) {
				t.Errorf("recall of %.40q shows %q", text, c)
			}
		}
	}
	for _, wrong := range []string{`nonsense`, `{}`, `[]`, ``, `   `, `{"jsonrpc":"2.0","id":1,"method":"none"}`, "{\"a\":\xff}"} {
		h.write(wrong)
	}
	for range 5 {
		if got := h.line(); got["error"] == nil {
			t.Errorf("a wrong line: %v", got)
		}
	}
	h.write(`{"jsonrpc":"2.0","id":"long","method":"ping","params":{"x":"` + strings.Repeat("y", 5<<20) + `"}}`)
	if got := h.line(); got["id"] != "long" || got["result"] == nil {
		t.Errorf("a line of 5 MB: %v", got)
	}
	h.write(`{"jsonrpc":"2.0","id":"longer","method":"ping","params":{"x":"` + strings.Repeat("y", 9<<20) + `"}}`)
	if got := h.line(); !strings.Contains(fmt.Sprint(got["error"]), "8388608 bytes") {
		t.Errorf("a line of 9 MB: %v", got)
	}
	if got := h.tool("explain_fact", `{"namespace":"acme","fact_id":"none"}`); !strings.HasPrefix(got, "NotFound: ") {
		t.Errorf("explain_fact: %s", got)
	}
	if got := h.ask("resources/read", `{"uri":"abagraph://acme/entity/A:b"}`); got["result"] == nil {
		t.Errorf("a resource: %v", got)
	}
	h.end()
	// Another host finds what was kept.
	h = hosting(t, "--data", data)
	if got := h.tool("recall", `{"namespace":"acme","mode":"pattern","subject":"A:b","predicate":"text"}`); !strings.Contains(got, strings.Repeat("x", 1000)) {
		t.Errorf("after the end: %.300s", got)
	}
	if got := launch(t, "--bind", "127.0.0.1:0", "--data", data).refused(); !strings.Contains(got, "is in use by another process") {
		t.Errorf("a server on the same directory: %s", got)
	}
	if err := h.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := h.command.Wait(); err != nil {
		t.Errorf("SIGTERM: %v", err)
	}
}

// TestMCPCarriesToAServer: with a URL the tools are the server's, with the key's
// tenant and role; what goes wrong on the way is told by JSON-RPC.
func TestMCPCarriesToAServer(t *testing.T) {
	p := launch(t, "--bind", "127.0.0.1:0", "--data", ":memory:", "--admin-key", "the-operators-key").up()
	h := hosting(t, "--url", p.url, "--key", "the-operators-key", "--profile", "read-only")
	h.ask("initialize", hello)
	tools := fmt.Sprint(h.ask("tools/list", `{}`)["result"])
	if !strings.Contains(tools, "recall_as_of") || strings.Contains(tools, "name:remember") {
		t.Errorf("the profile: %s", tools)
	}
	// Lines that are written without waiting are answered in their order.
	for i := range 20 {
		h.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":"w%d","method":"tools/call","params":{"name":"remember","arguments":{"namespace":"acme","subject":"A:b","predicate":"p","object":%d}}}`, i, i))
		h.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":"r%d","method":"tools/call","params":{"name":"recall","arguments":{"namespace":"acme","mode":"pattern"}}}`, i))
	}
	for i := range 20 {
		if got := h.line(); got["id"] != fmt.Sprintf("w%d", i) {
			t.Fatalf("line %d: %v", i, got)
		}
		if got := fmt.Sprint(h.line()); !strings.Contains(got, fmt.Sprintf(`"object":%d,`, i)) {
			t.Errorf("recall %d: %s", i, got)
		}
	}
	h.write(`{"jsonrpc":"2.0","id":"d","method":"tools/call","params":{"_meta":{"progressToken":"token"},"name":"digest","arguments":{"namespace":"acme","facts":[{"subject":"A:c","predicate":"p","object":1}]}}}`)
	steps := 0
	for got := h.line(); got["id"] != "d"; got = h.line() {
		if params, _ := got["params"].(map[string]any); got["method"] != "notifications/progress" || params["progressToken"] != "token" {
			t.Errorf("before the answer: %v", got)
		}
		steps++
	}
	if steps == 0 {
		t.Error("no progress was told")
	}
	h.end()
	wrong := hosting(t, "--url", p.url, "--key", "wrong")
	if got := wrong.ask("tools/list", `{}`)["error"].(map[string]any); !strings.Contains(fmt.Sprint(got["message"]), "is the key right") || fmt.Sprint(got["data"]) != "map[code:NotFound]" {
		t.Errorf("a wrong key: %v", got)
	}
	wrong.end()
	p.stop()
	gone := hosting(t, "--url", p.url)
	if got := gone.ask("tools/list", `{}`)["error"].(map[string]any); !strings.Contains(fmt.Sprint(got["message"]), "call the server") {
		t.Errorf("no server: %v", got)
	}
	gone.end()
}

func TestMCPRefusesInOneLine(t *testing.T) {
	r := shell(t)
	for want, args := range map[string][]string{
		"No abagraph URL configured":       {"mcp"},
		"full, agent-memory, read-only":    {"mcp", "--data", ":memory:", "--profile", "all"},
		"unknown flag: --dta":              {"mcp", "--dta", "x"},
		"each call names its namespace":    {"mcp", "--data", ":memory:", "--tenant", "acme"},
		"without a server: leave out":      {"mcp", "--data", ":memory:", "--url", "http://127.0.0.1:1"},
		"leave out --url and --key":        {"mcp", "--data", ":memory:", "--key", "x"},
		"not a directory":                  {"mcp", "--data", r.file("letter.txt", "dear")},
		"No abagraph URL configured. Run ": {"agent", "init"},
	} {
		if got := r.fails(args...); !strings.Contains(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%v: %q, want %q", args, got, want)
		}
	}
}

// TestAgentInit: the documents' own words, a file that hosts read, and no key in
// it; what else the file holds stays.
func TestAgentInit(t *testing.T) {
	p := launch(t, "--bind", "127.0.0.1:0", "--data", ":memory:", "--admin-key", "the-operators-key").up()
	dir := t.TempDir()
	run := func(args ...string) (string, error) {
		command := program(t, args...)
		command.Dir = dir
		command.Env = append(command.Env, "ABAGRAPH_URL="+p.url, "ABAGRAPH_KEY=the-operators-key")
		out, err := command.CombinedOutput()
		return string(out), err
	}
	out, err := run("agent", "init")
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{"--- Claude Desktop", "--- Claude Code", "--- Cursor", "--- VS Code", p.url + "/mcp", "Wrote ./abagraph.mcp.json\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	path := filepath.Join(dir, "abagraph.mcp.json")
	read := func() string {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	written := read()
	var file struct {
		Servers map[string]struct {
			Type    string
			URL     string
			Headers map[string]string
			Tools   []string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(written), &file); err != nil {
		t.Fatal(err)
	}
	if s := file.Servers["abagraph"]; s.Type != "streamable-http" || s.URL != p.url+"/mcp" || s.Headers["Authorization"] != "Bearer <YOUR_API_KEY>" || len(s.Tools) != 5 {
		t.Errorf("the file: %s", written)
	}
	if !strings.Contains(written, `"Bearer <YOUR_API_KEY>"`) {
		t.Errorf("the key cannot be put in place of <YOUR_API_KEY>: %s", written)
	}
	if strings.Contains(out+written, "the-operators-key") {
		t.Error("the key is shown")
	}
	if err := os.WriteFile(path, []byte(`{"other":1,"mcpServers":{"files":{"command":"files"},"abagraph":{"url":"old"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := run("agent", "init"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := read(); !strings.Contains(got, `"files"`) || !strings.Contains(got, `"other": 1`) || strings.Contains(got, "old") || !strings.Contains(got, p.url) {
		t.Errorf("beside others: %s", got)
	}
	if err := os.WriteFile(path, []byte(`not JSON`), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := run("agent", "init"); err == nil || !strings.Contains(out, "is not JSON, and is left as it is") || read() != "not JSON" {
		t.Errorf("over a file that is no JSON: %v %s", err, out)
	}
	if out, err := run("init"); err != nil || !strings.Contains(out, "MCP: "+p.url+"/mcp") {
		t.Errorf("init: %v %s", err, out)
	}
}

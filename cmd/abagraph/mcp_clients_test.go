package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// clientsDir holds the clients that others have made, once npm has installed
// them.
const clientsDir = "testdata/clients"

// step is one call that every client makes, and what its answer must hold. $ID
// stands for the fact that was remembered last.
type step struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
	want string
}

// steps are calls of all the tools, as a working agent makes them.
var steps = []step{
	{"digest", json.RawMessage(`{"source":"notes","facts":[{"subject":"Person:alice","predicate":"works_at","object":"Org:acme","confidence":0.9},{"subject":"Project:atlas","predicate":"lead","object":"Person:alice","confidence":0.95}]}`), `"written":2`},
	{"remember", json.RawMessage(`{"subject":"Project:atlas","predicate":"lead","object":"Person:bob","source":"user"}`), `"status":"active","superseded":["`},
	{"recall", json.RawMessage(`{"mode":"semantic","query":"who leads project atlas","limit":5}`), `"object":"Person:bob"`},
	{"recall", json.RawMessage(`{"mode":"pattern","subject":"Project:atlas"}`), `"count":1`},
	{"recall", json.RawMessage(`{"mode":"walk","start":"Person:alice","depth":2,"direction":"both","edge_types":["works_at"]}`), `"object":"Org:acme"`},
	{"recall_as_of", json.RawMessage(`{"as_of":4102444800000,"subject":"Project:atlas"}`), `"object":"Person:bob"`},
	{"whats_changed", json.RawMessage(`{"from":0,"to":4102444800000}`), `"added_count":2`},
	{"build_context", json.RawMessage(`{"task":"plan the roadmap of project atlas","seeds":["Project:atlas"],"max_tokens":1000}`), `"object":"Person:bob"`},
	{"explain_fact", json.RawMessage(`{"fact_id":"$ID"}`), `"history":[`},
}

// ways are a server to be reached over HTTP and on stdin, each with a namespace
// of its own, so that every way begins with an empty one.
type ways struct {
	t      *testing.T
	server *process
	dir    string
}

const waysKey = "the-operators-key"

func everyWay(t *testing.T) *ways {
	t.Helper()
	return &ways{t, launch(t, "--bind", "127.0.0.1:0", "--data", ":memory:", "--admin-key", waysKey).up(), t.TempDir()}
}

// environment is what a host gives the program that it starts.
func (w *ways) environment() map[string]string {
	return map[string]string{
		asProgram: "1", "HOME": w.dir, "PATH": os.Getenv("PATH"), "GOMAXPROCS": "2", "ABAGRAPH_URL": w.server.url, "ABAGRAPH_KEY": waysKey,
	}
}

// TestGoSDKClientDrivesEveryTool: the client of the official Go SDK, in the
// newest version of the protocol and in the documents' own, over HTTP and on
// stdin.
func TestGoSDKClientDrivesEveryTool(t *testing.T) {
	w := everyWay(t)
	transports := map[string]func() mcpsdk.Transport{
		"http": func() mcpsdk.Transport {
			return &mcpsdk.StreamableClientTransport{Endpoint: w.server.url + "/mcp", HTTPClient: &http.Client{Transport: bearer{}}}
		},
		"stdio": func() mcpsdk.Transport {
			command := program(t, "mcp")
			for name, value := range w.environment() {
				command.Env = append(command.Env, name+"="+value)
			}
			return &mcpsdk.CommandTransport{Command: command}
		},
		"stdio-memory": func() mcpsdk.Transport {
			return &mcpsdk.CommandTransport{Command: program(t, "mcp", "--data", ":memory:")}
		},
	}
	for name, transport := range transports {
		for version, options := range map[string]*mcpsdk.ClientSessionOptions{"": nil, "2025-06-18": {ProtocolVersion: "2025-06-18"}} {
			t.Run(name+version, func(t *testing.T) {
				client := mcpsdk.NewClient(&mcpsdk.Implementation{Name: "test", Version: "1"}, nil)
				session, err := client.Connect(t.Context(), transport(), options)
				if err != nil {
					t.Fatal(err)
				}
				defer session.Close()
				driveGo(t, session, name+version)
			})
		}
	}
}

// bearer adds the key to each request.
type bearer struct{}

func (bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+waysKey)
	return http.DefaultTransport.RoundTrip(r)
}

func driveGo(t *testing.T, session *mcpsdk.ClientSession, namespace string) {
	t.Helper()
	ctx := t.Context()
	tools, err := session.ListTools(ctx, nil)
	if err != nil || len(tools.Tools) != len(toolNames()) {
		t.Fatalf("tools: %v, %v", tools, err)
	}
	id := ""
	for _, s := range steps {
		var arguments map[string]any
		if err := json.Unmarshal(bytes.ReplaceAll(s.Args, []byte("$ID"), []byte(id)), &arguments); err != nil {
			t.Fatal(err)
		}
		arguments["namespace"] = namespace
		result, err := session.CallTool(ctx, &mcpsdk.CallToolParams{Name: s.Name, Arguments: arguments})
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		text := result.Content[0].(*mcpsdk.TextContent).Text
		if result.IsError || !strings.Contains(text, s.want) {
			t.Errorf("%s answered %s, want %s", s.Name, text, s.want)
		}
		if written, ok := result.StructuredContent.(map[string]any)["written_id"].(string); ok {
			id = written
		}
	}
	resource, err := session.ReadResource(ctx, &mcpsdk.ReadResourceParams{URI: "abagraph://" + namespace + "/fact/" + id})
	if err != nil || !strings.Contains(resource.Contents[0].Text, id) {
		t.Errorf("a resource: %v, %v", resource, err)
	}
	if _, err := session.ReadResource(ctx, &mcpsdk.ReadResourceParams{URI: "abagraph://" + namespace + "/fact/none"}); err == nil {
		t.Error("a resource that is none was read")
	}
	prompt, err := session.GetPrompt(ctx, &mcpsdk.GetPromptParams{Name: "why_do_we_believe", Arguments: map[string]string{"namespace": namespace, "subject": "Project:atlas", "predicate": "lead"}})
	if err != nil || len(prompt.Messages) != 2 {
		t.Errorf("a prompt: %v, %v", prompt, err)
	}
}

// toolNames lists the tools that the steps call, each once, in order.
func toolNames() []string {
	var names []string
	for _, s := range steps {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// installed makes sure that npm has installed the clients. Where there is no
// npm at all it says so, unless `make test` has promised one.
func installed(t *testing.T) bool {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil && os.Getenv("ABAGRAPH_TEST_CLIENTS") == "" {
		t.Log("there is no npm here: clients of others are not tried; make test installs it")
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	if current() {
		return true
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	command.Dir = clientsDir
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v: %s", err, out)
	}
	return true
}

// current reports whether what is installed is what the lock file says.
func current() bool {
	locked, err := os.Stat(filepath.Join(clientsDir, "package-lock.json"))
	if err != nil {
		return false
	}
	there, err := os.Stat(filepath.Join(clientsDir, "node_modules", ".package-lock.json"))
	return err == nil && !there.ModTime().Before(locked.ModTime())
}

// nodeScript runs a script of the clients and returns its stdout.
func nodeScript(t *testing.T, in string, env map[string]string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "node", args...)
	command.Dir = clientsDir
	command.Stdin = strings.NewReader(in)
	command.Env = os.Environ()
	for name, value := range env {
		command.Env = append(command.Env, name+"="+value)
	}
	var errs bytes.Buffer
	command.Stderr = &errs
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, errs.String())
	}
	return string(out), err
}

// driven is what the TypeScript SDK's client found on one way.
type driven struct {
	Server                    struct{ Name string }
	Instructions              string
	Tools, Prompts, Templates []string
	Results                   []struct {
		Name       string
		IsError    bool
		Text       string
		Structured json.RawMessage
	}
	Resource   string
	Prompt     int
	Completion []string
}

// TestTypeScriptSDKDrivesEveryTool: the client of the official TypeScript SDK,
// which holds each answer to its tool's schema.
func TestTypeScriptSDKDrivesEveryTool(t *testing.T) {
	if !installed(t) {
		return
	}
	w := everyWay(t)
	input, err := json.Marshal(map[string]any{"calls": steps, "ways": []any{
		map[string]any{"name": "http", "namespace": "web", "url": w.server.url + "/mcp", "headers": map[string]string{"Authorization": "Bearer " + waysKey}},
		map[string]any{"name": "stdio", "namespace": "pipe", "command": os.Args[0], "args": []string{"mcp"}, "env": w.environment()},
		map[string]any{"name": "memory", "namespace": "own", "command": os.Args[0], "args": []string{"mcp", "--data", ":memory:"}, "env": w.environment()},
	}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := nodeScript(t, string(input), nil, "drive.mjs")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]driven
	if err := json.Unmarshal([]byte(out), &all); err != nil || len(all) != 3 {
		t.Fatalf("%v: %s", err, out)
	}
	for way, got := range all {
		if got.Server.Name != "abagraph" || got.Instructions == "" || !slices.Equal(got.Tools, toolNames()) || len(got.Templates) != 3 || len(got.Prompts) < 2 {
			t.Errorf("%s: %+v", way, got)
		}
		for i, result := range got.Results {
			if result.IsError || !strings.Contains(result.Text, steps[i].want) || len(result.Structured) == 0 {
				t.Errorf("%s: %s answered %s, want %s", way, result.Name, result.Text, steps[i].want)
			}
		}
		if len(got.Results) != len(steps) {
			t.Errorf("%s: %d results", way, len(got.Results))
		}
		if !strings.Contains(got.Resource, "Person:bob") || got.Prompt != 2 || !slices.Equal(got.Completion, []string{"Project:atlas"}) {
			t.Errorf("%s: resource %s, prompt %d, completion %v", way, got.Resource, got.Prompt, got.Completion)
		}
	}
}

// TestInspectorDrivesEveryTool: the MCP Inspector's command line, one process a
// call.
func TestInspectorDrivesEveryTool(t *testing.T) {
	if !installed(t) {
		return
	}
	w := everyWay(t)
	const inspector = "node_modules/@modelcontextprotocol/inspector/cli/build/index.js"
	targets := map[string][]string{
		"web":  {w.server.url + "/mcp", "--transport", "http", "--header", "Authorization: Bearer " + waysKey},
		"pipe": {os.Args[0], "mcp"},
	}
	var both sync.WaitGroup
	for namespace, target := range targets {
		both.Go(func() {
			inspect(t, append([]string{inspector}, target...), w.environment(), namespace)
		})
	}
	both.Wait()
}

func inspect(t *testing.T, target []string, env map[string]string, namespace string) {
	ask := func(args ...string) string {
		out, err := nodeScript(t, "", env, append(slices.Clone(target), args...)...)
		if err != nil {
			t.Errorf("%v: %v", args, err)
		}
		return out
	}
	listed := ask("--method", "tools/list")
	id := ""
	done := map[string]bool{}
	for _, s := range steps {
		if done[s.Name] {
			continue // one call of each tool: every one costs a process
		}
		done[s.Name] = true
		if !strings.Contains(listed, `"`+s.Name+`"`) {
			t.Errorf("%s is not listed", s.Name)
		}
		var arguments map[string]json.RawMessage
		if err := json.Unmarshal(bytes.ReplaceAll(s.Args, []byte("$ID"), []byte(id)), &arguments); err != nil {
			t.Error(err)
			return
		}
		args := []string{"--method", "tools/call", "--tool-name", s.Name, "--tool-arg", "namespace=" + namespace}
		for name, value := range arguments {
			args = append(args, name+"="+strings.Trim(string(value), `"`))
		}
		var answer struct {
			Content    []struct{ Text string }
			Structured struct {
				ID string `json:"written_id"`
			} `json:"structuredContent"`
		}
		out := ask(args...)
		if err := json.Unmarshal([]byte(out), &answer); err != nil || len(answer.Content) != 1 || !strings.Contains(answer.Content[0].Text, s.want) {
			t.Errorf("%s: %v: %s, want %s", s.Name, err, out, s.want)
			return
		}
		if answer.Structured.ID != "" {
			id = answer.Structured.ID
		}
	}
}

// TestConformance: the protocol's own suite of checks for servers.
func TestConformance(t *testing.T) {
	if !installed(t) {
		return
	}
	var major int
	version, err := nodeScript(t, "", nil, "--version")
	if _, scanned := fmt.Sscanf(version, "v%d", &major); err != nil || scanned != nil {
		t.Fatalf("node --version: %q, %v", version, err)
	}
	if major < 20 && os.Getenv("ABAGRAPH_TEST_CLIENTS") == "" {
		t.Logf("the suite needs Node.js 20, and this is %s; make test brings one", version)
		return
	}
	if major < 20 {
		t.Fatalf("the suite needs Node.js 20, and this is %s", version)
	}
	p := launch(t, "--bind", "127.0.0.1:0", "--data", ":memory:").up()
	out, err := nodeScript(t, "", nil, "node_modules/@modelcontextprotocol/conformance/dist/index.js", "server", "--url", p.url+"/mcp", "--expected-failures", "conformance.yml")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, scenario := range []string{"server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "completion-complete", "dns-rebinding-protection"} {
		if !strings.Contains(out, "✓ "+scenario+":") {
			t.Errorf("%s did not pass:\n%s", scenario, out)
		}
	}
}

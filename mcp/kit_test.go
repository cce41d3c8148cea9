package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"abagraph/fact"
	httpd "abagraph/http"
	"abagraph/internal/onenode"
	"abagraph/mcp"
	"abagraph/memory"

	"github.com/google/jsonschema-go/jsonschema"
)

// rig is a server on a socket, with a key to speak to it.
type rig struct {
	t       *testing.T
	node    *onenode.Node
	service *memory.Service
	url     string
	key     string
	schemas map[string]*jsonschema.Resolved // of each tool's answer, once it is known
}

type doc = map[string]any

// start serves a node. Its operator's key is admin; "" turns auth off.
func start(t *testing.T, admin string, profile mcp.Profile) *rig {
	t.Helper()
	node := onenode.Start(t)
	service := node.Service(t, memory.Options{AdminKey: admin})
	logger := slog.New(slog.DiscardHandler)
	return serve(t, node, service, mcp.Options{Memory: service, Logger: logger, Version: "test", Profile: profile}, admin)
}

// serve serves a node through a door.
func serve(t *testing.T, node *onenode.Node, service *memory.Service, o mcp.Options, admin string, tune ...func(*httpd.Config)) *rig {
	t.Helper()
	handler, err := mcp.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	config := httpd.Config{Bind: "127.0.0.1:0", Memory: service, MCP: handler, Logger: o.Logger, Version: "test"}
	for _, f := range tune {
		f(&config)
	}
	server, err := httpd.NewServer(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Listen(); err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := errors.Join(server.Shutdown(ctx), <-served); err != nil {
			t.Error(err)
		}
	})
	return &rig{t: t, node: node, service: service, url: "http://" + server.Addr().String(), key: admin, schemas: map[string]*jsonschema.Resolved{}}
}

// as returns the rig with another key.
func (r *rig) as(key string) *rig {
	other := *r
	other.key = key
	return &other
}

// tenant makes a tenant and a key of a role, and returns the rig with it.
func (r *rig) tenant(name string, role string) *rig {
	r.t.Helper()
	if status, _, _ := r.do(http.MethodGet, "/api/tenants/"+name, ""); status != http.StatusOK {
		if status, _, body := r.do(http.MethodPost, "/api/tenants", `{"id":"`+name+`"}`); status != http.StatusCreated {
			r.t.Fatalf("make tenant %s: %d %s", name, status, body)
		}
	}
	return r.keyOf(name, role, role)
}

// agent makes a key of role write with a name of its own.
func (r *rig) agent(tenant, name string) *rig {
	r.t.Helper()
	return r.keyOf(tenant, name, "write")
}

func (r *rig) keyOf(tenant, name, role string) *rig {
	r.t.Helper()
	status, _, body := r.do(http.MethodPost, "/api/tenants/"+tenant+"/keys", `{"role":"`+role+`","name":"`+name+`"}`)
	var made struct {
		Key string `json:"key"`
	}
	if err := json.Unmarshal(body, &made); err != nil || made.Key == "" {
		r.t.Fatalf("make a key of %s: %d %s", tenant, status, body)
	}
	return r.as(made.Key)
}

// do sends a request and returns its answer.
func (r *rig) do(method, path, body string, headers ...string) (int, http.Header, []byte) {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if r.key != "" {
		request.Header.Set("Authorization", "Bearer "+r.key)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			request.Host = value
		}
		request.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return answer.StatusCode, answer.Header, text
}

// post sends one message and returns the JSON that answers it.
func (r *rig) post(message string, headers ...string) (int, doc) {
	r.t.Helper()
	status, _, body := r.do(http.MethodPost, "/mcp", message, headers...)
	var got doc
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&got); err != nil {
		r.t.Fatalf("%s: %d %s", message, status, body)
	}
	return status, got
}

// rpc sends a request and returns its result.
func (r *rig) rpc(method, params string, headers ...string) doc {
	r.t.Helper()
	status, got := r.post(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`, headers...)
	result, ok := got["result"].(doc)
	if status != http.StatusOK || !ok {
		r.t.Fatalf("%s %s: %d %v", method, params, status, got)
	}
	return result
}

// answer is what a tool said.
type answer struct {
	t      *testing.T
	what   string
	text   string
	result doc
	failed bool
}

// tool calls a tool.
func (r *rig) tool(name, arguments string) *answer {
	r.t.Helper()
	result := r.rpc("tools/call", `{"name":"`+name+`","arguments":`+arguments+`}`)
	a := &answer{t: r.t, what: name + " " + arguments}
	content, _ := result["content"].([]any)
	if len(content) != 1 {
		r.t.Fatalf("%s: content %v", a.what, result)
	}
	a.text, _ = content[0].(doc)["text"].(string)
	a.result, _ = result["structuredContent"].(doc)
	a.failed, _ = result["isError"].(bool)
	r.holds(name, a)
	if a.failed {
		return a
	}
	var same doc
	decoder := json.NewDecoder(strings.NewReader(a.text))
	decoder.UseNumber()
	if err := decoder.Decode(&same); err != nil || encoded(same) != encoded(a.result) {
		r.t.Errorf("%s: the text is %s, the structure %s", a.what, a.text, encoded(a.result))
	}
	return a
}

// holds checks an answer, an error too, against the schema that its tool tells.
func (r *rig) holds(name string, a *answer) {
	r.t.Helper()
	if len(r.schemas) == 0 {
		for _, tool := range docs(r.rpc("tools/list", `{}`, "X-Abagraph-Mcp-Profile: full")["tools"]) {
			output, _ := tool["outputSchema"].(doc)
			r.schemas[tool["name"].(string)] = resolve(r.t, output)
		}
	}
	var plain any
	if err := json.Unmarshal([]byte(encoded(a.result)), &plain); err != nil {
		r.t.Fatal(err)
	}
	if err := r.schemas[name].Validate(plain); err != nil {
		r.t.Errorf("%s: %v: %s", a.what, err, encoded(plain))
	}
}

// ok returns the answer of a call that must succeed.
func (a *answer) ok() doc {
	a.t.Helper()
	if a.failed {
		a.t.Fatalf("%s: %s", a.what, a.text)
	}
	return a.result
}

// fails returns the error of a call that must fail with a code.
func (a *answer) fails(code fact.Code) doc {
	a.t.Helper()
	e, _ := a.result["error"].(doc)
	if !a.failed || e["code"] != string(code) || !strings.HasPrefix(a.text, string(code)+": ") {
		a.t.Errorf("%s: %s %v, want %s", a.what, a.text, a.result, code)
	}
	return e
}

// facts returns the answer's list of facts.
func (a *answer) facts() []doc {
	a.t.Helper()
	return docs(a.ok()["facts"])
}

func docs(v any) []doc {
	items, _ := v.([]any)
	var list []doc
	for _, item := range items {
		d, _ := item.(doc)
		list = append(list, d)
	}
	return list
}

// column returns a field of each.
func column(list []doc, field string) string {
	var out []string
	for _, d := range list {
		out = append(out, encoded(d[field]))
	}
	return strings.Join(out, ",")
}

func encoded(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

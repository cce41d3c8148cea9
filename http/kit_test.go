package http_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	httpd "abagraph/http"
	"abagraph/internal/events"
	"abagraph/internal/onenode"
	"abagraph/memory"
)

// rig is one server on a real socket over a real state machine.
type rig struct {
	t    *testing.T
	node *onenode.Node
	door *memory.Service
	url  string
	logs *lockedBuffer
	key  string // sent as the bearer key of each request, if any
	host string // sent as the Host of each request, if any
	inst *httpd.Server

	unjudged bool // its answers are not held to the description of the API
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start serves until the test ends. The admin key is "" for development.
func start(t *testing.T, adminKey string, tune ...func(*httpd.Config)) *rig {
	t.Helper()
	return startWith(t, memory.Options{AdminKey: adminKey}, tune...)
}

// startWith is start with more to say of the door.
func startWith(t *testing.T, door memory.Options, tune ...func(*httpd.Config)) *rig {
	t.Helper()
	return serveNode(t, onenode.Start(t), door, tune...)
}

// serveNode is startWith over a store that is there.
func serveNode(t *testing.T, node *onenode.Node, door memory.Options, tune ...func(*httpd.Config)) *rig {
	t.Helper()
	if door.Timeout == 0 {
		door.Timeout = time.Minute // a busy machine is no failure
	}
	r := &rig{t: t, node: node, logs: &lockedBuffer{}, key: door.AdminKey}
	r.door = r.node.Service(t, door)
	window := events.NewWindow(nil)
	config := httpd.Config{
		Bind: "127.0.0.1:0", Memory: r.door, Window: window,
		Logger: slog.New(window.Handler(events.NewLines(r.logs, nil))), Version: "0.1.0", MaxBodyBytes: 2 << 20,
	}
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
		if err := server.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	r.url, r.inst = "http://"+server.Addr().String(), server
	return r
}

// as returns the same server for another key.
func (r *rig) as(key string) *rig {
	other := *r
	other.key = key
	return &other
}

// at returns the same server under another Host.
func (r *rig) at(host string) *rig {
	other := *r
	other.host = host
	return &other
}

// reply is one answer, read whole.
type reply struct {
	t      *testing.T
	Status int
	Header http.Header
	Body   string
}

// do sends a request. Headers are given as "Name: value".
func (r *rig) do(method, path, body string, headers ...string) *reply {
	r.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	return r.send(method, path, reader, headers...)
}

func (r *rig) send(method, path string, body io.Reader, headers ...string) *reply {
	r.t.Helper()
	sent := &lockedBuffer{} // the answer may come before all was sent
	if body != nil {
		body = io.TeeReader(body, sent)
	}
	req, err := http.NewRequest(method, r.url+path, body)
	if err != nil {
		r.t.Fatal(err)
	}
	if r.key != "" {
		req.Header.Set("Authorization", "Bearer "+r.key)
	}
	if r.host != "" {
		req.Host = r.host
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := noRedirect.Do(req)
	if err != nil {
		r.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatalf("%s %s: %v", method, path, err)
	}
	r.judge(req, sent.String(), res, string(text))
	return &reply{t: r.t, Status: res.StatusCode, Header: res.Header, Body: string(text)}
}

// judge holds an answer to the description of the API.
func (r *rig) judge(req *http.Request, sent string, res *http.Response, answer string) {
	r.t.Helper()
	if r.unjudged {
		return
	}
	x := &exchange{
		method: req.Method, path: req.URL.RequestURI(), headers: req.Header, body: sent,
		status: res.StatusCode, answered: res.Header, answer: answer,
	}
	if err := described(r.t).check(x); err != nil {
		r.t.Errorf("%s %s: %v", req.Method, req.URL.RequestURI(), err)
	}
}

var noRedirect = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64},
	Timeout:       2 * time.Minute,
}

func (r *rig) get(path string, headers ...string) *reply {
	r.t.Helper()
	return r.do(http.MethodGet, path, "", headers...)
}

func (r *rig) post(path, body string, headers ...string) *reply {
	r.t.Helper()
	return r.do(http.MethodPost, path, body, headers...)
}

func (r *rig) delete(path string, headers ...string) *reply {
	r.t.Helper()
	return r.do(http.MethodDelete, path, "", headers...)
}

// assert writes a fact from its parts, which are JSON fields.
func (r *rig) assert(subject, predicate, object string, more ...string) doc {
	r.t.Helper()
	body := fmt.Sprintf(`{"subject":%q,"predicate":%q,"object":%s`, subject, predicate, object)
	for _, m := range more {
		body += "," + m
	}
	return r.post("/api/facts", body+"}").status(http.StatusCreated).object()
}

// status checks the status.
func (p *reply) status(want int) *reply {
	p.t.Helper()
	if p.Status != want {
		p.t.Fatalf("status %d, want %d: %s", p.Status, want, p.Body)
	}
	return p
}

// fails checks that the answer is the one envelope, with the code.
func (p *reply) fails(status int, code string) doc {
	p.t.Helper()
	p.status(status)
	if got := p.Header.Get("Content-Type"); got != "application/json" {
		p.t.Fatalf("an error of type %q", got)
	}
	e, ok := p.object()["error"].(map[string]any)
	if !ok || e["code"] != code || e["message"] == "" {
		p.t.Fatalf("want code %s: %s", code, p.Body)
	}
	return e
}

type doc map[string]any

func (p *reply) object() doc {
	p.t.Helper()
	var d doc
	p.decode(&d)
	return d
}

func (p *reply) list() []doc {
	p.t.Helper()
	var d []doc
	p.decode(&d)
	return d
}

func (p *reply) decode(into any) {
	p.t.Helper()
	d := json.NewDecoder(strings.NewReader(p.Body))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		p.t.Fatalf("%v: %s", err, p.Body)
	}
}

// objects lists one field of each of a list.
func column(list []doc, field string) string {
	var out []string
	for _, d := range list {
		text, _ := json.Marshal(d[field])
		out = append(out, string(text))
	}
	return strings.Join(out, ",")
}

func (d doc) text(field string) string {
	switch v := d[field].(type) {
	case string:
		return v
	case nil:
		return "null"
	default:
		text, _ := json.Marshal(v)
		return string(text)
	}
}

// refuses checks that no server without a key may be bound to an address.
func (r *rig) refuses(bind string) {
	r.t.Helper()
	config := httpd.Config{Bind: bind, Memory: r.node.Service(r.t, memory.Options{}), Logger: slog.New(slog.DiscardHandler)}
	if _, err := httpd.NewServer(config); err == nil || !strings.Contains(err.Error(), "without a key") {
		r.t.Errorf("bind %s: %v", bind, err)
	}
}

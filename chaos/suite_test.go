package chaos_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"abagraph/chaos"
)

const adminKey = "the-operators-own-key"

// TestCLU_07_EveryNodeAnswersAlike runs the API through each node of a cluster,
// and through each again right after the leader has gone and come back. Every
// run must give the same statuses, headers and bytes.
func TestCLU_07_EveryNodeAnswersAlike(t *testing.T) {
	w := open(t, chaos.Options{Nodes: 3, AdminKey: adminKey, Args: []string{"--max-body-bytes", "25000000"}})
	w.fence("before", "") // so that no run begins at tx 0, which has a meaning
	var first *chaos.Transcript
	runs := 0
	run := func(n *chaos.Node) {
		t.Helper()
		name := fmt.Sprintf("run-%c", 'a'+runs)
		runs++
		got := w.suite(n, name)
		if first == nil {
			first = got
			return
		}
		if err := chaos.Differ("run-a, through "+w.Nodes[0].Name, first, name+", through "+n.Name, got); err != nil {
			t.Errorf("two runs of the same requests differ: %v", err)
		}
	}
	for _, n := range w.Nodes {
		run(n)
	}
	leader := w.leader()
	w.must("stop the leader", leader.Stop(w.ctx))
	for _, n := range w.Others(leader) {
		run(n)
	}
	w.must("start it again", leader.Start(w.ctx))
	run(leader)
	if lines := len(first.Lines); lines < 300 {
		t.Errorf("the transcript has %d lines only", lines)
	}
	w.peerPortIsNoWayIn()
}

// suite is one run of the API through one node.
type suite struct {
	*world
	*chaos.Transcript
	name string
}

func (w *world) suite(n *chaos.Node, name string) *chaos.Transcript {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, time.Minute)
	defer cancel()
	transcript, err := n.Transcribe(ctx, name, adminKey)
	w.must("begin a transcript", err)
	defer transcript.Close()
	s := &suite{world: &world{w.Cluster, w.t, ctx}, Transcript: transcript, name: name}
	reader := s.tenants()
	s.doors(reader)
	id := s.facts()
	s.retracts(id)
	s.transacts()
	s.tools()
	s.checks()
	s.badInput()
	s.bodies()
	s.retries()
	s.heads()
	s.streams()
	s.figures()
	return transcript
}

// send makes one request and returns its answer, which must have a status.
func (s *suite) send(want int, r chaos.Request) *chaos.Reply {
	s.t.Helper()
	reply, err := s.Do(s.ctx, r)
	s.must(r.Method+" "+r.Path, err)
	if reply.Status != want {
		s.t.Errorf("%s %s: %d, want %d: %.500s", r.Method, r.Path, reply.Status, want, reply.Body)
	}
	return reply
}

func (s *suite) get(want int, path string) *chaos.Reply {
	s.t.Helper()
	return s.send(want, chaos.Request{Method: http.MethodGet, Path: path})
}

func (s *suite) post(want int, path, body string) *chaos.Reply {
	s.t.Helper()
	return s.send(want, chaos.Request{Method: http.MethodPost, Path: path, Body: []byte(body)})
}

// tenants makes this run's tenant and goes on with its key; it returns a second
// key, which may only read.
func (s *suite) tenants() (reader string) {
	made := s.post(http.StatusCreated, "/api/tenants", `{"id":"`+s.name+`","name":"A run"}`)
	key := made.Text("key")
	s.post(http.StatusConflict, "/api/tenants", `{"id":"`+s.name+`"}`)
	second := s.post(http.StatusCreated, "/api/tenants/"+s.name+"/keys", `{"role":"read","name":"reader"}`)
	reader = second.Text("key")
	s.get(http.StatusOK, "/api/tenants/"+s.name)
	s.get(http.StatusNotFound, "/api/tenants/nobody")
	s.Use(key)
	return reader
}

// doors tries who may come in: the judgement is the same on every node, at once
// after the keys were made on one.
func (s *suite) doors(reader string) {
	s.get(http.StatusOK, "/api/session")
	s.send(http.StatusNotFound, chaos.Request{Method: http.MethodGet, Path: "/api/facts", NoKey: true})
	s.send(http.StatusNotFound, chaos.Request{Method: http.MethodGet, Path: "/api/facts", Key: "a-wrong-key"})
	s.send(http.StatusUnauthorized, chaos.Request{Method: http.MethodGet, Path: "/api", NoKey: true})
	s.send(http.StatusOK, chaos.Request{Method: http.MethodGet, Path: "/api/health", NoKey: true})
	s.send(http.StatusOK, chaos.Request{Method: http.MethodGet, Path: "/api/facts", Key: reader})
	s.send(http.StatusForbidden, chaos.Request{Method: http.MethodPost, Path: "/api/facts", Key: reader, Body: []byte(`{"subject":"A:1","predicate":"p","object":1}`)})
	s.get(http.StatusForbidden, "/api/tenants")
	s.send(http.StatusForbidden, chaos.Request{Method: http.MethodGet, Path: "/api/facts", Header: map[string]string{"Origin": "https://elsewhere.example"}})
}

// facts writes and reads single facts, and returns the id of one.
func (s *suite) facts() string {
	first := s.post(http.StatusCreated, "/api/facts", `{"subject":"Person:ana","predicate":"lives_in","object":"City:oslo","source":"register"}`)
	s.post(http.StatusOK, "/api/facts", `{"subject":"Person:ana","predicate":"lives_in","object":"City:oslo","source":"register"}`)
	s.post(http.StatusCreated, "/api/facts?explain=1", `{"subject":"Person:ana","predicate":"lives_in","object":"City:bergen","confidence":0.9,"properties":{"note":"moved","n":1.50}}`)
	s.post(http.StatusCreated, "/api/facts", `{"subject":"Person:ana","predicate":"lives_in","object":"City:paris","confidence":0.4}`)
	s.post(http.StatusConflict, "/api/facts", `{"subject":"Person:ana","predicate":"lives_in","object":"City:rome","policy":"reject"}`)
	dated := s.post(http.StatusCreated, "/api/facts", `{"subject":"Price:x","predicate":"amount","object":12.50,"valid_from":"2001-01-01"}`)
	s.post(http.StatusCreated, "/api/facts", `{"subject":"Price:x","predicate":"amount","object":9007199254740993,"valid_from":"2001-03-01T00:00:00Z","valid_until":"2001-06-01T00:00:00Z"}`)
	s.post(http.StatusCreated, "/api/facts", `{"subject":"Gr\u00fc\u00dfe:\u6771","predicate":"is","object":{"hash":"`+strings.Repeat("ab", 32)+`","size":3}}`)
	for _, query := range []string{
		"", "?subject=Person:ana", "?predicate=amount&as_of=2001-04-01", "?predicate=amount&as_of=2001-07-01", "?status=all&limit=1", "?object=City:oslo&status=all",
		"?object=12.5", "?status=candidate", "?subject=Gr%C3%BC%C3%9Fe:%E6%9D%B1&explain=1", "?subject=Person:ana&known_at=" + first.Text("recorded_at"),
		"?tx=" + strconv.FormatUint(s.Tx(), 10), "?tx=" + first.Text("tx"), "?tx_gt=" + strconv.FormatUint(s.Tx(), 10) + "&limit=2", "?consistency=stale&min_tx=" + dated.Text("tx"),
	} {
		s.get(http.StatusOK, "/api/facts"+query)
	}
	id := dated.Text("id")
	s.get(http.StatusOK, "/api/facts/"+id)
	s.get(http.StatusOK, "/api/facts/"+first.Text("id")+"/history")
	return id // its history is left out: what is of one tx is in the order of ids
}

// retracts takes a fact back by an id that is percent-encoded, and tries ids that
// are none.
func (s *suite) retracts(id string) {
	encoded := fmt.Sprintf("%%%02x%s", id[0], strings.ReplaceAll(id[1:], "-", "%2D"))
	s.send(http.StatusOK, chaos.Request{Method: http.MethodDelete, Path: "/api/facts/" + encoded})
	s.send(http.StatusOK, chaos.Request{Method: http.MethodDelete, Path: "/api/facts/" + id + "?explain=1"})
	s.get(http.StatusOK, "/api/facts/"+id)
	for _, none := range []string{"0190a5b0-7c3e-7000-8000-000000000000", "no%20id", "a%2Fb", "%00", strings.Repeat("x", 3000)} {
		s.send(http.StatusNotFound, chaos.Request{Method: http.MethodDelete, Path: "/api/facts/" + none})
		s.get(http.StatusNotFound, "/api/facts/"+none)
	}
}

func (s *suite) transacts() {
	s.post(http.StatusOK, "/api/transact", `{"asserts":[{"subject":"Job:1","predicate":"owner","object":"none"},{"subject":"Job:1","predicate":"step","object":1}]}`)
	s.post(http.StatusOK, "/api/transact?explain=1", `{"compares":[{"subject":"Job:1","predicate":"owner","expect":"none"}],"asserts":[{"subject":"Job:1","predicate":"owner","object":"ana"}]}`)
	s.post(http.StatusConflict, "/api/transact", `{"compares":[{"subject":"Job:1","predicate":"owner","expect":"none"},{"subject":"Job:1","predicate":"step","absent":true}],"asserts":[{"subject":"Job:1","predicate":"owner","object":"bob"}]}`)
	s.post(http.StatusNotFound, "/api/transact", `{"retracts":["0190a5b0-7c3e-7000-8000-000000000000"],"asserts":[{"subject":"Job:1","predicate":"owner","object":"bob"}]}`)
	s.post(http.StatusOK, "/api/transact", `{"backfill":{"declared_known_at":"2001-02-03","reason":"old books"},"asserts":[{"subject":"Job:0","predicate":"owner","object":"eve","policy":"coexist"}]}`)
	s.get(http.StatusOK, "/api/facts?subject=Job:0&known_at=2001-03-01")
}

// tools calls those of MCP; the packet of build_context is left out, whose digest
// is one of ids and times.
func (s *suite) tools() {
	for _, message := range []string{
		`"method":"tools/list"`,
		`"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"suite","version":"1"}}`,
		`"method":"tools/call","params":{"name":"digest","arguments":{"namespace":"x","source":"notes","facts":[{"subject":"Plan:atlas","predicate":"lead","object":"Person:ana"},{"subject":"Plan:atlas","predicate":"state","object":"drafted"}]}}`,
		`"method":"tools/call","params":{"name":"remember","arguments":{"namespace":"x","subject":"Plan:atlas","predicate":"lead","object":"Person:eve","source":"user"}}`,
		`"method":"tools/call","params":{"name":"recall","arguments":{"namespace":"x","mode":"semantic","query":"who leads plan atlas"}}`,
		`"method":"tools/call","params":{"name":"recall","arguments":{"namespace":"x","mode":"pattern","subject":"Plan:atlas"}}`,
		`"method":"tools/call","params":{"name":"recall","arguments":{"namespace":"x","mode":"walk","start":"Plan:atlas"}}`,
		`"method":"tools/call","params":{"name":"recall_as_of","arguments":{"namespace":"x","as_of":4102444800000,"subject":"Plan:atlas"}}`,
		`"method":"tools/call","params":{"name":"whats_changed","arguments":{"namespace":"x","from":0,"to":4102444800000,"subject":"Plan:atlas"}}`,
		`"method":"tools/call","params":{"name":"explain_fact","arguments":{"namespace":"x","fact_id":"0190a5b0-7c3e-7000-8000-000000000000"}}`,
		`"method":"tools/call","params":{"name":"remember","arguments":{"namespace":"x","subject":"Plan:atlas"}}`,
		`"method":"resources/read","params":{"uri":"abagraph://x/entity/Plan:atlas"}`,
		`"method":"tools/none"`,
	} {
		s.post(http.StatusOK, "/mcp", `{"jsonrpc":"2.0","id":1,`+message+`}`)
	}
	s.post(http.StatusBadRequest, "/mcp", `[]`)
	s.send(http.StatusMethodNotAllowed, chaos.Request{Method: http.MethodGet, Path: "/mcp"})
}

// badInput is refused before any node is asked, or by the one that judges.
func (s *suite) badInput() {
	for _, body := range []string{`{`, `[]`, `{"subject":"A:1"}`, `{"subject":"A:1","predicate":"p","object":1,"objekt":2}`, `{"subject":" A:1","predicate":"p","object":1}`,
		`{"subject":"A:1","predicate":"p","object":1,"confidence":2}`, `{"subject":"A:1","predicate":"p","object":1e400}`, `{"subject":"A:1","subject":"A:2","predicate":"p","object":1}`,
		`{"subject":"A:1","predicate":"p","object":1,"valid_from":"2001-01-02","valid_until":"2001-01-01"}`, "\xff"} {
		s.post(http.StatusBadRequest, "/api/facts", body)
	}
	for _, query := range []string{"?asof=2001-01-01", "?limit=10001", "?status=lost", "?tx=0&known_at=2001-01-01", "?as_of=yesterday", "?subject=a&subject=b", "?consistency=some"} {
		s.get(http.StatusBadRequest, "/api/facts"+query)
	}
	s.get(http.StatusNotFound, "/api/facts?branch=other")
	s.get(http.StatusGone, "/api/facts?tx_gt=old:1")
	s.get(http.StatusNotFound, "/api/nothing/here")
	s.send(http.StatusMethodNotAllowed, chaos.Request{Method: http.MethodPut, Path: "/api/facts", Body: []byte(`{}`)})
	s.send(http.StatusNoContent, chaos.Request{Method: http.MethodOptions, Path: "/api/facts"})
}

// bodies sends bodies that are compressed, and too large.
func (s *suite) bodies() {
	zipped := func(want int, path string, body []byte) {
		s.t.Helper()
		s.send(want, chaos.Request{Method: http.MethodPost, Path: path, Body: body, Header: map[string]string{"Content-Encoding": "gzip"}})
	}
	zipped(http.StatusCreated, "/api/facts", gzipped([]byte(`{"subject":"Zip:1","predicate":"p","object":"packed"}`)))
	zipped(http.StatusBadRequest, "/api/facts", []byte("not gzip"))
	zipped(http.StatusRequestEntityTooLarge, "/api/facts", packedTooLarge())
	s.send(http.StatusRequestEntityTooLarge, chaos.Request{Method: http.MethodPost, Path: "/api/facts", Body: tooLarge(), Header: map[string]string{"Expect": "100-continue"}})
	s.post(http.StatusBadRequest, "/api/facts", `{"subject":"Big:0","predicate":"p","object":"`+strings.Repeat("x", 1<<20+1)+`"}`)
}

// TestCLU_07_LargeBodies sends 20 MB in one request through each node, and reads
// them through each.
func TestCLU_07_LargeBodies(t *testing.T) {
	w := open(t, chaos.Options{Nodes: 3, Binary: plainBinary})
	var rows []string
	for i := range 20 {
		rows = append(rows, fmt.Sprintf(`{"subject":"Big:%d","predicate":"holds","object":"%s"}`, i, strings.Repeat(string(rune('a'+i)), 1<<20-i)))
	}
	body := []byte(`{"asserts":[` + strings.Join(rows, ",") + `]}`)
	var first *chaos.Transcript
	for i, n := range w.Nodes {
		name := fmt.Sprintf("big-%c", 'a'+i)
		transcript, err := n.Transcribe(w.ctx, name, "")
		w.must("begin a transcript", err)
		defer transcript.Close()
		s := &suite{world: w, Transcript: transcript, name: name}
		s.send(http.StatusOK, chaos.Request{Method: http.MethodPost, Path: "/api/transact?tenant=" + name, Body: body})
		// Facts of one tx are listed by their ids, which have no order, so that
		// some are asked for, each alone.
		for row := 0; row < len(rows); row += 5 {
			s.get(http.StatusOK, fmt.Sprintf("/api/facts?subject=Big:%d&tenant=%s", row, name))
		}
		if first == nil {
			first = transcript
		} else if err := chaos.Differ(w.Nodes[0].Name, first, n.Name, transcript); err != nil {
			t.Errorf("a large body differs: %v", err)
		}
	}
}

// A body over the suite's limit, and the same packed to a few kilobytes.
var (
	tooLarge       = sync.OnceValue(func() []byte { return bytes.Repeat([]byte(" "), 26_000_000) })
	packedTooLarge = sync.OnceValue(func() []byte { return gzipped(tooLarge()) })
)

func gzipped(raw []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(raw)
	if err = errors.Join(err, z.Close()); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.Bytes()
}

// retries sends a key again, with the same body and with another.
func (s *suite) retries() {
	send := func(want int, path, key, body string) *chaos.Reply {
		s.t.Helper()
		return s.send(want, chaos.Request{Method: http.MethodPost, Path: path, Body: []byte(body), Header: map[string]string{"Idempotency-Key": key}})
	}
	const body = `{"subject":"Once:1","predicate":"p","object":"one"}`
	a := send(http.StatusCreated, "/api/facts", "once", body)
	b := send(http.StatusCreated, "/api/facts", "once", body)
	if !bytes.Equal(a.Body, b.Body) {
		s.t.Errorf("the same key was answered\n%s\nand\n%s", a.Body, b.Body)
	}
	send(http.StatusConflict, "/api/facts", "once", `{"subject":"Once:1","predicate":"p","object":"two"}`)
	const failing = `{"compares":[{"subject":"Once:1","predicate":"p","absent":true}],"asserts":[{"subject":"Once:1","predicate":"p","object":"three"}]}`
	send(http.StatusConflict, "/api/transact", "once", failing)
	s.post(http.StatusOK, "/api/transact", `{"asserts":[{"subject":"Once:1","predicate":"p","object":"four"}]}`)
	send(http.StatusConflict, "/api/transact", "once", failing)
	send(http.StatusBadRequest, "/api/facts", strings.Repeat("k", 256), body)
}

func (s *suite) heads() {
	for _, path := range []string{"/api/facts", "/api/stats", "/api/stream", "/api/nothing", "/api/health"} {
		reply, err := s.Do(s.ctx, chaos.Request{Method: http.MethodHead, Path: path})
		s.must("HEAD "+path, err)
		if len(reply.Body) > 0 {
			s.t.Errorf("HEAD %s has a body: %q", path, reply.Body)
		}
	}
}

// streams reads everything from where the run began, from the middle of it, and
// from cursors that mean nothing.
func (s *suite) streams() {
	end := s.post(http.StatusCreated, "/api/facts", `{"subject":"End:1","predicate":"p","object":"`+s.name+`"}`)
	epoch := end.Header.Get("X-Abagraph-Epoch")
	tx, err := strconv.ParseUint(end.Text("tx"), 10, 64)
	s.must("read the last tx", err)
	last := tx - s.Tx()
	from := func(n uint64) string { return fmt.Sprintf("%s:%d", epoch, s.Tx()+n) }
	for _, r := range []chaos.Request{
		{Path: fmt.Sprintf("/api/stream?op=assert&tx_gt=%d", s.Tx())},
		{Path: fmt.Sprintf("/api/stream?subject=End:1&tx_gt=%d", s.Tx())},
		{Path: "/api/stream?op=retract,assert&predicate=p", Header: map[string]string{"Last-Event-ID": from(last - 3)}},
		{Path: "/api/stream", Header: map[string]string{"Last-Event-ID": "old:7"}},
		{Path: "/api/stream", Header: map[string]string{"Last-Event-ID": "no cursor"}},
	} {
		s.must("stream "+r.Path, s.Stream(s.ctx, r, last))
	}
}

func (s *suite) figures() {
	for _, path := range []string{"/api/stats", "/api/entities", "/api/entities/Person%3Aana", "/api/entities/Person:ana", "/api/predicates", "/api/connect", "/api/stats?explain=1"} {
		s.get(http.StatusOK, path)
	}
	s.get(http.StatusNotFound, "/api/entities/Nobody:1")
	for _, r := range []map[string]any{{"key": "a-wrong-key"}, {}} {
		raw, err := json.Marshal(r)
		s.must("write a body", err)
		reply, err := s.Do(s.ctx, chaos.Request{Method: http.MethodPost, Path: "/api/session", Body: raw, NoKey: true})
		s.must("log in", err)
		if reply.Status < 400 {
			s.t.Errorf("logging in with %s: %d", raw, reply.Status)
		}
	}
}

// peerPortIsNoWayIn speaks HTTP to the port that nodes speak to each other on.
func (w *world) peerPortIsNoWayIn() {
	w.t.Helper()
	for _, n := range w.Nodes {
		conn, err := net.Dial("tcp", n.PeerAddress())
		w.must("dial a peer port", err)
		deadline, _ := w.ctx.Deadline()
		w.must("set a deadline", conn.SetDeadline(deadline))
		_, err = fmt.Fprintf(conn, "GET /api/facts HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", n.PeerAddress(), adminKey)
		w.must("write to a peer port", err)
		var answer bytes.Buffer
		_, _ = answer.ReadFrom(conn) // it ends with the connection, in whatever way
		if strings.Contains(answer.String(), "HTTP/") || strings.Contains(answer.String(), "subject") {
			w.t.Errorf("the peer port of %s answered a client: %q", n.Name, answer.String())
		}
		if err := conn.Close(); err != nil {
			w.t.Error(err)
		}
	}
}

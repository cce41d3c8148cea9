package http_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	httpd "abagraph/http"
)

// listener reads a stream on a socket.
type listener struct {
	t      *testing.T
	res    *http.Response
	lines  chan string
	cancel context.CancelFunc
}

// smallWindow receives little that has not been read, so that a reader that
// stops is soon a slow one.
var smallWindow = &http.Client{Transport: &http.Transport{
	DisableCompression: true, DisableKeepAlives: true,
	DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if tcp, ok := conn.(*net.TCPConn); ok {
			err = tcp.SetReadBuffer(16 << 10)
		}
		return conn, err
	},
}}

// message is what one blank line ended.
type message struct {
	event, id, data string
	comment         bool
}

func (r *rig) listen(path string, headers ...string) *listener {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	if r.key != "" {
		req.Header.Set("Authorization", "Bearer "+r.key)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header[http.CanonicalHeaderKey(name)] = []string{value}
	}
	res, err := smallWindow.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	l := &listener{t: r.t, res: res, lines: make(chan string), cancel: cancel}
	go func() {
		defer close(l.lines)
		defer res.Body.Close()
		in := bufio.NewScanner(res.Body)
		in.Buffer(nil, 16<<20)
		for in.Scan() {
			select {
			case l.lines <- in.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	r.t.Cleanup(cancel)
	return l
}

// next returns the next message; ok is false at the stream's end.
func (l *listener) next() (m message, ok bool) {
	l.t.Helper()
	limit := time.After(20 * time.Second)
	for {
		select {
		case line, open := <-l.lines:
			if !open {
				return m, false
			}
			name, value, _ := strings.Cut(line, ": ")
			switch {
			case line == "":
				return m, true
			case line[0] == ':':
				m.comment = true
			case name == "event":
				m.event = value
			case name == "id":
				m.id = value
			case name == "data":
				m.data = value
			default:
				l.t.Fatalf("line %q", line)
			}
		case <-limit:
			l.t.Fatal("the stream is mute")
		}
	}
}

// event returns the next message that carries data.
func (l *listener) event() (message, doc) {
	l.t.Helper()
	for {
		m, ok := l.next()
		if !ok {
			l.t.Fatal("the stream ended")
		}
		if m.data == "" {
			continue
		}
		var d doc
		if err := json.Unmarshal([]byte(m.data), &d); err != nil {
			l.t.Fatal(err)
		}
		return m, d
	}
}

// take returns the objects and txs of the next events.
func (l *listener) take(n int) string {
	l.t.Helper()
	var out []string
	for range n {
		_, d := l.event()
		f := doc(d["fact"].(map[string]any))
		out = append(out, d.text("op")+" "+f.text("object")+" "+d.text("tx"))
	}
	return strings.Join(out, ", ")
}

func quick(c *httpd.Config) { c.KeepAlive = 50 * time.Millisecond }

// SSE-01: headers at once, comments, the event soon, no buffering on the way.
func TestSSE01TheStreamSpeaks(t *testing.T) {
	r := start(t, "", quick)
	l := r.listen("/api/stream", "Accept-Encoding: gzip", "Accept: text/event-stream")
	for header, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no", "Content-Encoding": "",
	} {
		if got := l.res.Header.Get(header); got != want {
			t.Errorf("%s: %q, want %q", header, got, want)
		}
	}
	for range 2 {
		m, ok := l.next()
		if !ok || !m.comment || !strings.HasSuffix(m.id, ":0") || m.data != "" {
			t.Fatalf("not a keep-alive: %+v", m)
		}
	}
	r.assert("A:1", "p", `"x"`)
	r.assert("A:1", "p", `"y"`)
	m, d := l.event()
	if !strings.HasSuffix(m.id, ":1") || d.text("op") != "assert" {
		t.Errorf("first: %+v", m)
	}
	_, d = l.event()
	ended, _ := d["superseded"].([]any)
	if len(ended) != 1 || doc(ended[0].(map[string]any)).text("status") != "superseded" {
		t.Errorf("what it closed: %v", d)
	}
	if !strings.Contains(r.logs.String(), "abagraph.sse.subscribe") {
		t.Error("no event")
	}
}

func TestStreamEndsOnShutdown(t *testing.T) {
	r := start(t, "", quick)
	l := r.listen("/api/stream")
	l.next()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := r.inst.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	for {
		if _, ok := l.next(); !ok {
			return
		}
	}
}

// SSE-02: a caller is replayed its own, each once, in order, from any position.
func TestSSE02ReplayIsOnesOwn(t *testing.T) {
	r := start(t, "root-key", quick)
	a := r.as(r.post("/api/tenants", `{"id":"a"}`).object().text("key"))
	b := r.as(r.post("/api/tenants", `{"id":"b"}`).object().text("key"))
	first := b.assert("B:1", "p", `"canary"`)
	for i := range 10 {
		a.assert("A:1", "p", fmt.Sprint(i))
		b.assert("B:1", "p", fmt.Sprintf(`"canary%d"`, i))
	}
	epoch := a.get("/api/stats").Header.Get("X-Abagraph-Epoch")
	want := make([]string, 10)
	for i := range want {
		want[i] = fmt.Sprintf("assert %d %d", i, 4+2*i)
	}
	all := strings.Join(want, ", ")
	for _, from := range []string{first.text("tx"), epoch + ":" + first.text("tx"), "0", epoch + ":0"} {
		l := a.listen("/api/stream", "Last-Event-ID: "+from)
		if got := l.take(10); got != all {
			t.Errorf("from %s: %s", from, got)
		}
		l.cancel()
	}
	l := a.listen("/api/stream?tx_gt=0", "Last-Event-ID: 12")
	if got := l.take(5); got != strings.Join(want[5:], ", ") {
		t.Errorf("Last-Event-ID is not the newer one: %s", got)
	}
	a.assert("A:1", "p", `"live"`)
	if got := l.take(1); got != "assert live 24" {
		t.Errorf("live after the replay: %s", got)
	}
	for _, bad := range []string{"-1", "99999999999999999999", "", "x", "1.5", epoch + ":", ":3", epoch + ":99999", "otherepoch:1", "99999"} {
		l := a.listen("/api/stream", "Last-Event-ID: "+bad)
		m, d := l.event()
		if m.event != "resync" || d.text("epoch") != epoch || m.id != epoch+":"+d.text("tx") {
			t.Errorf("from %q: %+v", bad, m)
		}
		l.cancel()
	}
	// The cursor of a stream on which nothing passes moves on all the same.
	l = a.listen("/api/stream?tx_gt=0&subject=None:1")
	for {
		if m, _ := l.next(); m.id == epoch+":24" {
			break
		}
	}
	if got := r.listen("/api/stream?tx_gt=2&op=assert&subject=B:1&predicate=p").take(2); got != "assert canary 3, assert canary0 5" {
		t.Errorf("filtered: %s", got)
	}
	a.get("/api/stream?op=update").fails(http.StatusBadRequest, "SchemaInvalid")
	a.get("/api/stream?branch=other").fails(http.StatusNotFound, "NotFound")
}

func TestStreamTellsRetractsSupersedesAndExpiries(t *testing.T) {
	r := start(t, "", quick)
	l := r.listen("/api/stream")
	soon := r.node.Now() + 60_000
	f := r.assert("A:1", "p", `"x"`)
	r.delete("/api/facts/" + f.text("id")).status(http.StatusOK)
	r.assert("A:2", "p", `"old"`)
	r.assert("A:2", "p", `"new"`, fmt.Sprintf(`"valid_from":%d`, soon))
	r.assert("A:3", "p", `"gone"`, fmt.Sprintf(`"valid_until":%d,"transient":true`, soon))
	const want = "assert x 1, retract x 2, assert old 3, assert new 4, assert gone 5"
	if got := l.take(5); got != want {
		t.Errorf("got %s", got)
	}
	r.node.Advance(2 * time.Minute)
	r.node.Sweep(t) // only now: what it deletes is gone from replays too
	swept := l.take(2)
	if !strings.Contains(swept, "supersede old") || !strings.Contains(swept, "expire ") {
		t.Errorf("the sweep: %s", swept)
	}
}

func TestStreamEndsWhenTheKeyIsRevoked(t *testing.T) {
	r := start(t, "root-key", quick)
	made := r.post("/api/tenants", `{"id":"a"}`).object()
	l := r.as(made.text("key")).listen("/api/stream")
	l.next()
	r.delete("/api/tenants/a/keys/" + made.text("key_id")).status(http.StatusOK)
	for {
		if _, ok := l.next(); !ok {
			return
		}
	}
}

func TestStreamsAreBounded(t *testing.T) {
	r := start(t, "", quick, func(c *httpd.Config) { c.MaxStreams = 2 })
	one := r.listen("/api/stream")
	one.next()
	r.listen("/api/stream").next()
	if got := r.get("/api/stream"); got.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	} else {
		got.fails(http.StatusTooManyRequests, "RateLimited")
	}
	one.cancel()
	for {
		l := r.listen("/api/stream")
		if l.res.StatusCode == http.StatusOK {
			return
		}
		l.cancel()
	}
}

// C-33: a reader that does not read is cut off, and holds up no write.
func TestSlowReaderIsCutOff(t *testing.T) {
	r := start(t, "", quick, func(c *httpd.Config) { c.SlowReader = 200 * time.Millisecond })
	l := r.listen("/api/stream")
	l.next()
	big := fmt.Sprintf("%q", strings.Repeat("x", 1<<19))
	for i := range 14 {
		r.assert(fmt.Sprintf("A:%d", i), "p", big)
	}
	for !strings.Contains(r.get("/metrics").Body, "abagraph_stream_subscribers 0") {
		time.Sleep(10 * time.Millisecond) // until the server has cut it off
	}
	last := ""
	for {
		m, ok := l.next()
		if !ok {
			break
		}
		last = m.id
		if strings.HasSuffix(m.id, ":14") {
			t.Fatal("nothing was cut off: make the facts larger")
		}
	}
	again := r.listen("/api/stream", "Last-Event-ID: "+last)
	_, d := again.event()
	_, tx, _ := strings.Cut(last, ":")
	if got := d.text("tx"); fmt.Sprint(got) == tx {
		t.Errorf("after %s came tx %s", last, got)
	}
}

package http_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	httpd "abagraph/http"
)

// connect opens a connection of its own and sends the beginning of something.
func (r *rig) connect(text string) net.Conn {
	r.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		r.t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		r.t.Fatal(err)
	}
	return conn
}

// answered reads one answer of a connection.
func (r *rig) answered(conn net.Conn) *reply {
	r.t.Helper()
	got, _ := r.answer(conn)
	return got
}

// answer is answered, with the answer's first line.
func (r *rig) answer(conn net.Conn) (got *reply, first string) {
	r.t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return &reply{t: r.t, Status: res.StatusCode, Header: res.Header, Body: string(text)}, res.Proto + " " + res.Status
}

const (
	health   = "GET /api/health HTTP/1.1\r\nHost: localhost\r\n"
	slowBody = "POST /api/facts HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
)

// fresh asks on connections of its own, one a request.
func fresh(r *rig) *http.Client {
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second}
	r.t.Cleanup(c.CloseIdleConnections)
	return c
}

// metric reads one figure as text, over a connection that is there already.
func (r *rig) metric(name string) string {
	r.t.Helper()
	_, after, _ := strings.Cut(r.get("/metrics").status(http.StatusOK).Body, "\n"+name+" ")
	value, _, _ := strings.Cut(after, "\n")
	return value
}

// TestConnectionsAreBounded fills every place with requests that are being answered:
// the next one is told so, even where it has much to send, and nothing of it is done;
// a place that becomes free is given away again.
func TestConnectionsAreBounded(t *testing.T) {
	r := start(t, "", quick, func(c *httpd.Config) { c.MaxConnections = 4 })
	r.get("/api/health").status(http.StatusOK) // this connection is kept
	r.listen("/api/stream").next()
	r.listen("/api/stream").next()
	r.get("/api/stream").fails(http.StatusTooManyRequests, "RateLimited") // half of the places are others'
	busy := []net.Conn{r.connect(slowBody), r.connect(slowBody)}
	client := fresh(r)
	body := `{"subject":"A:1","predicate":"p","object":"` + strings.Repeat("x", 400<<10) + `"}`
	post := func() (*reply, error) {
		res, err := client.Post(r.url+"/api/facts", "application/json", strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		return &reply{t: t, Status: res.StatusCode, Header: res.Header, Body: string(text)}, err
	}
	var refused *reply
	eventually(t, "a refusal", func() bool {
		got, err := post()
		if err != nil || got.Status != http.StatusTooManyRequests {
			busy = append(busy, r.connect(slowBody)) // one gave way, because its request had not come yet
			return false
		}
		refused = got
		return true
	})
	refused.fails(http.StatusTooManyRequests, "RateLimited")
	if refused.Header.Get("Retry-After") != "1" || refused.Header.Get("Connection") != "" && refused.Header.Get("Connection") != "close" {
		t.Errorf("headers %v", refused.Header)
	}
	if !strings.Contains(r.logs.String(), `"abagraph.server.connections_full"`) {
		t.Error("the log says nothing of it")
	}
	for _, conn := range busy {
		conn.Close()
	}
	eventually(t, "a place again", func() bool {
		got, err := post()
		return err == nil && got.Status < 300
	})
	var list *reply
	eventually(t, "the next place", func() bool { // an answer has come before its connection counts as idle
		list = r.get("/api/facts?subject=A:1&status=all")
		return list.Status == http.StatusOK
	})
	if n := len(list.list()); n != 1 {
		t.Errorf("%d facts are there, not the one that was acknowledged", n)
	}
	if got := r.metric("abagraph_http_connections_max"); got != "4" {
		t.Errorf("at most %s connections", got)
	}
	if got := r.metric("abagraph_http_connections_refused_total"); got == "0" || got == "" {
		t.Errorf("%q connections were refused", got)
	}
}

// TestSilentConnectionsKeepNobodyOut: however many connections are opened and say
// nothing, half a header, or nothing more, others are served, and no more are open
// than may be.
func TestSilentConnectionsKeepNobodyOut(t *testing.T) {
	for name, text := range map[string]string{"silent": "", "half a header": health + "X: ", "kept alive": health + "\r\n"} {
		t.Run(name, func(t *testing.T) {
			r := start(t, "", func(c *httpd.Config) { c.MaxConnections = 8 })
			var all []net.Conn
			for range 40 {
				conn := r.connect(text)
				if strings.HasSuffix(text, "\r\n\r\n") {
					r.answered(conn).status(http.StatusOK)
				}
				all = append(all, conn)
			}
			client := fresh(r)
			for range 20 {
				res, err := client.Get(r.url + "/api/health")
				if err != nil {
					t.Fatal(err)
				}
				res.Body.Close()
				if res.StatusCode != http.StatusOK {
					t.Fatalf("status %d", res.StatusCode)
				}
			}
			open := 0
			for _, conn := range all { // those that gave way were closed before they were replaced
				if err := conn.SetDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
					t.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
					open++
				}
			}
			if open > 8 {
				t.Errorf("%d connections are still open", open)
			}
			res, err := client.Get(r.url + "/metrics")
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			_, after, _ := strings.Cut(string(text), "\nabagraph_http_connections ")
			value, _, _ := strings.Cut(after, "\n")
			if n, err := strconv.Atoi(value); err != nil || n < 1 || n > 8 {
				t.Errorf("%q connections are open", value)
			}
		})
	}
}

// TestBodiesThatNobodyReads: a body that was announced and does not come holds no
// connection for ever, on any kind of route.
func TestBodiesThatNobodyReads(t *testing.T) {
	r := start(t, "", quick)
	const rest = " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n"
	answers := map[string]chan string{}
	for _, line := range []string{"GET /api/health", "GET /api/facts", "GET /api/stream", "HEAD /api/facts", "DELETE /api/facts/x", "POST /nowhere", "OPTIONS /api/facts", "PUT /api/facts"} {
		conn, done := r.connect(line+rest), make(chan string, 1)
		answers[line] = done
		go func() {
			text, err := io.ReadAll(conn)
			done <- fmt.Sprintf("%.12s %v", text, err)
		}()
	}
	for line, done := range answers {
		if got := <-done; !strings.HasPrefix(got, "HTTP/1.1 ") || !strings.HasSuffix(got, "<nil>") {
			t.Errorf("%s: %s", line, got)
		}
	}
}

// TestAStreamAskedForWithABody goes on beyond the time that a body has.
func TestAStreamAskedForWithABody(t *testing.T) {
	r := start(t, "", func(c *httpd.Config) { c.KeepAlive = 3 * time.Second })
	conn := r.connect("GET /api/stream HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
	in, seen := bufio.NewScanner(conn), 0
	for seen < 3 && in.Scan() {
		if in.Text() == ":keepalive" {
			seen++
		}
	}
	if seen < 3 {
		t.Errorf("the stream ended after %d messages: %v", seen, in.Err())
	}
}

// TestStreamsOfOneTenantAreBounded: another tenant's, and the operator's, find a place.
func TestStreamsOfOneTenantAreBounded(t *testing.T) {
	r := start(t, "root-key", quick, func(c *httpd.Config) { c.TenantStreams = 2 })
	a := r.as(r.post("/api/tenants", `{"id":"a"}`).object().text("key"))
	b := r.as(r.post("/api/tenants", `{"id":"b"}`).object().text("key"))
	first := a.listen("/api/stream")
	first.next()
	a.listen("/api/stream").next()
	a.get("/api/stream").fails(http.StatusTooManyRequests, "RateLimited")
	r.get("/api/stream?tenant=a").fails(http.StatusTooManyRequests, "RateLimited")
	b.listen("/api/stream").next()
	for range 3 {
		r.listen("/api/stream").next()
	}
	first.cancel()
	eventually(t, "a place again", func() bool {
		l := a.listen("/api/stream")
		return l.res.StatusCode == http.StatusOK
	})
	if !strings.Contains(r.get("/metrics").Body, `abagraph_refused_total{reason="streams"}`) {
		t.Error("the metrics do not count what was refused")
	}
}

// TestShutdownWaitsForNoSilentConnection: clients keep connections that they have sent
// nothing on, which net/http would wait five seconds for.
func TestShutdownWaitsForNoSilentConnection(t *testing.T) {
	r := start(t, "")
	r.connect("")
	r.get("/api/health").status(http.StatusOK)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	if err := r.inst.Shutdown(ctx); err != nil {
		t.Error(err)
	}
}

package http_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"testing"

	httpd "abagraph/http"
	"abagraph/internal/onenode"
	"abagraph/memory"
)

// sink is a response that nobody reads.
type sink struct {
	header http.Header
	status int
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) Write(p []byte) (int, error) { return len(p), nil }
func (s *sink) WriteHeader(status int)      { s.status = status }

func handler(b *testing.B) http.Handler {
	b.Helper()
	server, err := httpd.NewServer(httpd.Config{
		Bind: "127.0.0.1:0", Memory: onenode.Start(b).Service(b, memory.Options{AdminKey: "root-key"}), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	return server.Handler()
}

func serve(b *testing.B, h http.Handler, r *http.Request, body []byte, want int) {
	b.Helper()
	if body != nil {
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.ContentLength = int64(len(body))
	}
	w := sink{header: make(http.Header, 8)}
	h.ServeHTTP(&w, r)
	if w.status != want {
		b.Fatalf("status %d", w.status)
	}
}

func request(b *testing.B, method, path string) *http.Request {
	b.Helper()
	r, err := http.NewRequest(method, "http://127.0.0.1"+path, nil)
	if err != nil {
		b.Fatal(err)
	}
	r.Host = "127.0.0.1"
	r.Header.Set("Authorization", "Bearer root-key")
	return r
}

// BenchmarkGetFacts is all of a read but the socket.
func BenchmarkGetFacts(b *testing.B) {
	h := handler(b)
	for i := range 10 {
		body := []byte(`{"subject":"Person:alice","predicate":"p` + strconv.Itoa(i) + `","object":"Company:acme","confidence":0.95,"source":"hr"}`)
		serve(b, h, request(b, "POST", "/api/facts?tenant=a"), body, 201)
	}
	r := request(b, "GET", "/api/facts?subject=Person:alice&predicate=p5&tenant=a")
	b.ReportAllocs()
	for b.Loop() {
		serve(b, h, r, nil, 200)
	}
}

// BenchmarkPostFact is all of a write but the socket and the log.
func BenchmarkPostFact(b *testing.B) {
	h := handler(b)
	r := request(b, "POST", "/api/facts")
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		body := []byte(`{"subject":"Person:` + strconv.Itoa(i%10_000) + `","predicate":"works_at","object":"Company:` + strconv.Itoa(i) + `","confidence":0.95,"source":"hr"}`)
		serve(b, h, r, body, 201)
	}
}

package rest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestConnSpeaksToARealServer(t *testing.T) {
	large := strings.Repeat("x", 100_000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		switch r.URL.Path {
		case "/echo":
			w.WriteHeader(http.StatusCreated)
			_, _ = w.Write(body)
		case "/chunks":
			for range 3 {
				_, _ = io.WriteString(w, large)
				w.(http.Flusher).Flush()
			}
		case "/query":
			_, _ = io.WriteString(w, r.URL.Query().Get("subject"))
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	defer server.Close()
	conn, err := Dial(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for range 2 { // one connection serves them all, in any order
		for _, c := range []struct {
			method, target, body string
			status               int
			want                 string
		}{
			{"POST", "/echo", `{"a":1}`, 201, `{"a":1}`},
			{"GET", "/query?subject=Person%3Aa", "", 200, "Person:a"},
			{"GET", "/chunks", "", 200, large + large + large},
			{"GET", "/none", "", 204, ""},
			{"POST", "/echo", large, 201, large},
		} {
			var body []byte
			if c.method == "POST" {
				body = []byte(c.body)
			}
			status, got, err := conn.Do(c.method, c.target, body)
			if err != nil {
				t.Fatalf("%s %s: %v", c.method, c.target, err)
			}
			if status != c.status || !bytes.Equal(got, []byte(c.want)) {
				t.Errorf("%s %s = %d and %d bytes, want %d and %d bytes", c.method, c.target, status, len(got), c.status, len(c.want))
			}
		}
	}
}

func TestConnTellsABrokenServer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort")
		_ = conn.Close()
	}))
	defer server.Close()
	conn, err := Dial(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, _, err := conn.Do("GET", "/", nil); err == nil {
		t.Error("a body that ends early passes")
	}
}

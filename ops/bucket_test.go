package ops_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"abagraph/ops"
)

// faulty is a store that fails in one way, as often as it is told.
type faulty struct {
	store http.Handler
	fault atomic.Pointer[http.HandlerFunc] // a request of the case before may still hang
	left  atomic.Int32
	done  chan struct{}
}

func (f *faulty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := r.Method == http.MethodPut || r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, ".backup")
	if body && f.left.Add(-1) >= 0 {
		(*f.fault.Load())(w, r)
		return
	}
	f.store.ServeHTTP(w, r)
}

// hang does nothing until the test ends.
func (f *faulty) hang(http.ResponseWriter, *http.Request) { <-f.done }

// half answers with half of what it should, and breaks off or goes silent.
func (f *faulty) half(silent bool) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		whole := httptest.NewRecorder()
		f.store.ServeHTTP(whole, r)
		for name, values := range whole.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(whole.Code)
		_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()/2])
		if silent {
			_ = http.NewResponseController(w).Flush()
			<-f.done
		}
		panic(http.ErrAbortHandler)
	}
}

// TestStoreInTrouble: a store that fails for a moment is asked again; one that goes on
// failing, or says nothing more, ends the command with an error that names no key, and
// nothing is taken for a backup that is none.
func TestStoreInTrouble(t *testing.T) {
	const always = 1 << 20
	f := &faulty{done: make(chan struct{})}
	backend := s3mem.New()
	f.store = gofakes3.New(backend).Server()
	if err := backend.CreateBucket("safe"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(f.done) })
	options := ops.BucketOptions{Place: "s3://safe/a", Endpoint: server.URL, Region: "us-east-1", AccessKey: "id-of-a-test", SecretKey: "secret-of-a-test"}
	options.SetStall(300 * time.Millisecond)
	bucket, err := ops.OpenBucket(options)
	if err != nil {
		t.Fatal(err)
	}
	fails := func(status int) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "<Error><Code>WentWrong</Code><Message>not today</Message></Error>")
		}
	}
	cut := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	name := "abagraph-abc234-tx1-20260101T000000.000Z.backup"
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(strings.Repeat("0123456789", 10_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what  string
		times int32
		fault func(http.ResponseWriter, *http.Request)
		says  string // "" = it works at last
	}{
		{"sends, the store fails once", 1, fails(503), ""},
		{"sends, the connection is cut once", 1, cut, ""},
		{"sends, the store fails for good", always, fails(403), "WentWrong"},
		{"sends, the store hangs for good", always, f.hang, "timeout"},
		{"fetches, the store hangs once", 1, f.hang, ""},
		{"fetches, half comes, then nothing, once", 1, f.half(true), ""},
		{"fetches, half comes, then a cut, once", 1, f.half(false), ""},
		{"fetches, half comes, for good", always, f.half(false), "unexpected EOF"},
	} {
		f.left.Store(0)
		fault := http.HandlerFunc(c.fault)
		f.fault.Store(&fault)
		var err error
		if strings.HasPrefix(c.what, "sends") {
			if err := bucket.Remove(t.Context(), name); err != nil {
				t.Fatal(err)
			}
			f.left.Store(c.times)
			_, err = bucket.Put(t.Context(), file)
			f.left.Store(0)
		} else {
			if _, err := bucket.Put(t.Context(), file); err != nil && !strings.Contains(err.Error(), "there already") {
				t.Fatal(err)
			}
			f.left.Store(c.times)
			var got string
			if got, err = bucket.Fetch(t.Context(), name, t.TempDir()); err == nil {
				content, _ := os.ReadFile(got)
				if len(content) != 100_000 || !strings.HasSuffix(string(content), "6789") {
					t.Errorf("%s: %d bytes came", c.what, len(content))
				}
			}
		}
		switch {
		case c.says == "" && err != nil:
			t.Errorf("%s: %v", c.what, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "secret-of")):
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

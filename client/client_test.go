package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"abagraph/client"
	"abagraph/fact"
)

// serve starts a server with one handler and a client of it that repeats fast.
func serve(t *testing.T, handler http.HandlerFunc, options ...client.Option) *client.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	options = append([]client.Option{client.WithRetry(4, time.Millisecond)}, options...)
	c, err := client.New(server.URL+"/api/", options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// headers are what requests carried. One whose connection breaks is served beside the
// next one.
type headers struct {
	mu   sync.Mutex
	list []string
}

// add keeps one, and tells how many there are.
func (h *headers) add(value string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, value)
	return len(h.list)
}

func (h *headers) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.list)
}

func TestNewRefusesWhatIsNoBaseURL(t *testing.T) {
	for _, base := range []string{"", "localhost:8080", "ftp://x", "http://", "http://a?b=c", "http://u:p@h", "http://h#f", "::"} {
		if _, err := client.New(base); err == nil {
			t.Errorf("New(%q) took it", base)
		}
	}
}

func TestWriteIsRepeatedUnderOneKey(t *testing.T) {
	var sent headers
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch sent.add(r.Header.Get("Idempotency-Key")) {
		case 1:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
			io.WriteString(w, `{"error":{"code":"NoLeader","message":"none"}}`)
		case 2:
			w.WriteHeader(http.StatusGatewayTimeout)
			io.WriteString(w, `{"error":{"code":"Timeout","message":"unknown"}}`)
		case 3:
			panic(http.ErrAbortHandler) // the answer is lost
		default:
			w.Header().Set("X-Abagraph-Tx", "7")
			w.WriteHeader(http.StatusCreated)
			io.WriteString(w, `{"id":"f1","subject":"a","predicate":"b","object":12345678901234567890,"valid_until":null,"superseded":1,"superseded_ids":["f0"]}`)
		}
	})
	got, err := c.Assert(context.Background(), client.Assert{Subject: "a", Predicate: "b", Object: fact.TextObject("<c>")}, client.Write{})
	if err != nil {
		t.Fatal(err)
	}
	if keys := sent.all(); len(keys) != 4 || keys[0] == "" || keys[0] != keys[3] || keys[1] != keys[2] {
		t.Errorf("sent under the keys %q", keys)
	}
	if got.Duplicate || got.Tx != 7 || got.Fact.Object.Text != "12345678901234567890" || got.Fact.ValidUntil != fact.Forever || got.SupersededIDs[0] != "f0" {
		t.Errorf("read %+v", got)
	}
}

// What the last request was told does not hide what an earlier one may have done,
// whoever sent it again: the client, or net/http on a connection that broke.
func TestWRT01ALostAnswerIsNotARefusal(t *testing.T) {
	var writes atomic.Int32
	handle := func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet:
			io.WriteString(w, `{"ok":true}`)
		case writes.Add(1) == 1:
			panic(http.ErrAbortHandler) // it may be done, and the answer is lost
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
			io.WriteString(w, `{"error":{"code":"NoLeader","message":"nothing was done"}}`)
		}
	}
	for name, attempts := range map[string]int{"sent again by the client": 2, "sent again by net/http": 1} {
		writes.Store(0)
		c := serve(t, handle, client.WithRetry(attempts, time.Millisecond))
		if attempts == 1 { // which does so on a connection that has been used
			if _, err := c.Do(context.Background(), client.Call{Method: http.MethodGet, Path: "/api/health"}); err != nil {
				t.Fatal(err)
			}
		}
		_, err := c.Assert(context.Background(), client.Assert{Subject: "a", Predicate: "b"}, client.Write{})
		if client.CodeOf(err) != fact.Timeout || client.StatusOf(err) != http.StatusGatewayTimeout || !strings.Contains(err.Error(), "NoLeader: nothing was done") {
			t.Errorf("%s: %v", name, err)
		}
		if n := writes.Load(); n != 2 {
			t.Errorf("%s: it was sent %d times", name, n)
		}
		writes.Store(1) // from the start there is no leader: nothing is open
		if _, err := c.Assert(context.Background(), client.Assert{Subject: "a", Predicate: "b"}, client.Write{}); client.CodeOf(err) != fact.NoLeader {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRefusalIsNotRepeated(t *testing.T) {
	var calls atomic.Int32
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.WriteHeader(http.StatusConflict)
		io.WriteString(w, `{"error":{"code":"Conflict","message":"two","field":"object","ids":["x","y"]}}`)
	})
	_, err := c.Retract(context.Background(), "a/b", client.Write{})
	var e *client.Error
	if !errors.As(err, &e) || e.Status != 409 || e.Code != fact.Conflict || e.Field != "object" || len(e.IDs) != 2 {
		t.Fatalf("got %#v", err)
	}
	if e.Error() != "Conflict: two" || calls.Load() != 1 {
		t.Errorf("said %q after %d calls", e.Error(), calls.Load())
	}
}

func TestForeignAnswersAndLongOnesAreErrors(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/predicates" {
			io.WriteString(w, `["`+strings.Repeat("x", 5000)+`"]`)
			return
		}
		w.WriteHeader(http.StatusTeapot)
		io.WriteString(w, "<html>proxy</html>")
	}, client.WithMaxAnswer(4096))
	if err := c.Health(context.Background()); err == nil || client.CodeOf(err) != "I'mateapot" || !strings.Contains(err.Error(), "proxy") {
		t.Errorf("a foreign answer: %v", err)
	}
	if _, err := c.Predicates(context.Background(), client.Listing{}); err == nil || !strings.Contains(err.Error(), "longer") {
		t.Errorf("a long answer: %v", err)
	}
}

func TestReadParametersAndHeaders(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		want := "as_of=2020-01-01&backfill=0&include_retracted=1&known_at=5&limit=3&min_tx=9&object=o&subject=a+b&tenant=acme"
		if r.URL.RawQuery != want || r.Header.Get("Authorization") != "Bearer k" || r.Header.Get("Idempotency-Key") != "" {
			t.Errorf("sent %q, %v", r.URL.RawQuery, r.Header)
		}
		h := w.Header()
		h.Set("X-Abagraph-Tx", "12")
		h.Set("X-Abagraph-Now", "34")
		h.Set("X-Abagraph-Epoch", "e1")
		h.Set("X-Abagraph-Backfilled", "2")
		h.Add("X-Abagraph-Warning", "as_of looks like seconds")
		io.WriteString(w, `[{"id":"1","object":null},{"id":"2","object":true},{"id":"3","object":{"hash":"`+strings.Repeat("ab", 32)+`","size":3}}]`)
	}, client.WithKey("k"), client.WithTenant("acme"))
	list, err := c.Facts(context.Background(), client.FactQuery{
		Read: client.Read{AsOf: "2020-01-01", KnownAt: client.At(5), NoBackfill: true, MinTx: 9}, Subject: "a b", Object: "o",
		IncludeRetracted: true, Limit: 3,
	})
	if err != nil {
		t.Fatal(err)
	}
	if list.Tx != 12 || list.Now != 34 || list.Epoch != "e1" || list.Backfilled != 2 || len(list.Warnings) != 1 {
		t.Errorf("headers read as %+v", list.Meta)
	}
	if k := list.Facts[2].Object; k.Kind != fact.Blob || k.Size != 3 || list.Facts[1].Object.Bool != true || list.Facts[0].Object.Kind != fact.Null {
		t.Errorf("objects read as %+v", list.Facts)
	}
}

func TestBodiesAreWrittenAsTheServerReadsThem(t *testing.T) {
	number, err := fact.NumberObject("object", "1.50")
	if err != nil {
		t.Fatal(err)
	}
	source := "s"
	body, err := json.Marshal(client.Transact{
		Compares: []client.Compare{{Subject: "a", Predicate: "b", Absent: true}, {Subject: "a", Predicate: "b", Expect: &fact.Object{}}},
		Retracts: []client.Retract{{ID: "1"}, {ID: "2", DeclaredKnownAt: "5"}},
		Asserts:  []client.Assert{{Subject: "a", Predicate: "b", Object: number, Source: &source, ValidFrom: "2020-01-01", Policy: "coexist"}},
		Backfill: &client.Backfill{Reason: "r"},
	})
	want := `{"compares":[{"absent":true,"predicate":"b","subject":"a"},{"expect":null,"predicate":"b","subject":"a"}],` +
		`"retracts":["1",{"id":"2","declared_known_at":"5"}],` +
		`"asserts":[{"subject":"a","predicate":"b","object":1.50,"valid_from":"2020-01-01","source":"s","policy":"coexist"}],` +
		`"backfill":{"reason":"r"}}`
	if err != nil || string(body) != want {
		t.Errorf("wrote %s, %v", body, err)
	}
}

func TestContextEndsACall(t *testing.T) {
	release := make(chan struct{})
	c := serve(t, func(http.ResponseWriter, *http.Request) { <-release })
	defer close(release)
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := c.Stats(ctx, client.Read{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestSSE_02_EachEventOnce cuts the stream in the middle of a tx, sends it anew
// and asks for a resync: the reader sees each event once, in order.
func TestSSE_02_EachEventOnce(t *testing.T) {
	var connections atomic.Int32
	var asked headers
	event := func(id string, tx int, name string) string {
		data := fmt.Sprintf("data: {\"op\":\"assert\",\"tx\":%d,\"fact\":{\"id\":%q}}\r\n\r\n", tx, name)
		if id != "" {
			return "id: " + id + "\r\n" + data
		}
		return data
	}
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/stats" {
			w.Header().Set("X-Abagraph-Tx", "4")
			w.Header().Set("X-Abagraph-Epoch", "e")
			io.WriteString(w, `{}`)
			return
		}
		asked.add(r.Header.Get("Last-Event-ID"))
		switch connections.Add(1) {
		case 1:
			io.WriteString(w, ":keepalive\n\n"+event("e:5", 5, "a")+event("", 6, "b")+event("", 6, "c")+"data: {\"op\":\"as")
		case 2:
			io.WriteString(w, event("", 6, "b")+event("", 6, "c")+event("e:6", 6, "d")+"id: e:9\n:keepalive\n\n")
		case 3:
			io.WriteString(w, "event: resync\ndata: {\"reason\":\"epoch\"}\n\n")
		default:
			io.WriteString(w, event("e:10", 10, "z"))
		}
	})
	var got []string
	done := errors.New("seen enough")
	err := c.Stream(context.Background(), client.StreamQuery{}, func(e client.Event) error {
		if e.Op == client.OpResync {
			got = append(got, e.Op)
			return nil
		}
		got = append(got, e.Fact.ID)
		if e.Fact.ID == "z" {
			return done
		}
		return nil
	})
	if !errors.Is(err, done) {
		t.Fatal(err)
	}
	if s := strings.Join(got, " "); s != "a b c d resync z" {
		t.Errorf("saw %s", s)
	}
	if s := strings.Join(asked.all(), " "); s != "e:4 e:5 e:9 e:4" {
		t.Errorf("asked to go on after %s", s)
	}
}

func TestStreamEndsWhereItIsRefused(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `{"error":{"code":"NotFound","message":"no such route"}}`)
	})
	err := c.Stream(context.Background(), client.StreamQuery{TxGt: "3"}, func(client.Event) error { return nil })
	if client.StatusOf(err) != http.StatusNotFound {
		t.Errorf("got %v", err)
	}
}

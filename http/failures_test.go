package http_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"abagraph/fact"
	httpd "abagraph/http"
	"abagraph/internal/onenode"
	"abagraph/memory"
)

// faulty is an engine that fails on demand.
type faulty struct {
	*onenode.Node
	err   atomic.Pointer[error]
	panic atomic.Bool
	hang  atomic.Bool
	hangs chan struct{} // told of each call that hangs
}

func (f *faulty) fault(ctx context.Context) error {
	if f.panic.Load() {
		panic("a secret value")
	}
	if f.hang.Load() {
		select {
		case f.hangs <- struct{}{}:
		default:
		}
		<-ctx.Done()
		return ctx.Err()
	}
	if err := f.err.Load(); err != nil {
		return *err
	}
	return nil
}

func (f *faulty) Propose(ctx context.Context, r *fact.Request) (*fact.Result, error) {
	if err := f.fault(ctx); err != nil {
		return nil, err
	}
	return f.Node.Propose(ctx, r)
}

func (f *faulty) Basis(ctx context.Context, level fact.Level, minTx uint64) (fact.Basis, error) {
	if level == fact.Stale && minTx == 0 {
		return f.Node.Basis(ctx, level, 0)
	}
	if err := f.fault(ctx); err != nil {
		return fact.Basis{}, err
	}
	return f.Node.Basis(ctx, level, minTx)
}

func startFaulty(t *testing.T, tune ...func(*memory.Options)) (*rig, *faulty) {
	t.Helper()
	f := &faulty{Node: onenode.Start(t), hangs: make(chan struct{}, 1)}
	r := start(t, "", func(c *httpd.Config) {
		o := memory.Options{Engine: f, View: f.View, Timeout: time.Minute}
		for _, f := range tune {
			f(&o)
		}
		s, err := memory.New(o)
		if err != nil {
			t.Fatal(err)
		}
		c.Memory = s
	})
	return r, f
}

// What the engine cannot do is told by its code; a read that needs no leader
// goes on.
func TestEngineFailures(t *testing.T) {
	r, f := startFaulty(t)
	r.assert("A:1", "p", "1")
	for _, c := range []struct {
		err    error
		status int
		code   string
		retry  bool
	}{
		{fact.Errorf(fact.NoLeader, "no leader"), 503, "NoLeader", true},
		{fact.Errorf(fact.Closed, "closing"), 503, "Closed", true},
		{fact.Errorf(fact.RateLimited, "too many"), 429, "RateLimited", true},
		{fact.Errorf(fact.Timeout, "unknown"), 504, "Timeout", false},
		{fact.Errorf(fact.StorageCorruption, "damaged"), 500, "StorageCorruption", false},
		{errors.New("a disk of secret name"), 500, "Io", false},
	} {
		f.err.Store(&c.err)
		for _, got := range []*reply{r.get("/api/facts"), r.post("/api/facts", `{"subject":"A:1","predicate":"p","object":2}`), r.get("/api/stream")} {
			e := got.fails(c.status, c.code)
			if (got.Header.Get("Retry-After") != "") != c.retry || strings.Contains(e.text("message"), "secret") {
				t.Errorf("%s: %v %v", c.code, got.Header, e)
			}
		}
		r.get("/api/facts?consistency=stale").status(http.StatusOK)
		r.get("/api/health").status(http.StatusOK)
		r.get("/api/ready").fails(http.StatusServiceUnavailable, "NoLeader")
	}
	f.err.Store(nil)
	if got := column(r.get("/api/facts").list(), "object"); got != "1" {
		t.Errorf("facts: %s", got)
	}
	if !strings.Contains(r.logs.String(), "a disk of secret name") {
		t.Error("the operator was not told")
	}
}

// soonOver gives requests little time, where a test wants it to run out.
func soonOver(o *memory.Options) { o.Timeout = 200 * time.Millisecond }

// C-32: a write whose outcome is unknown says so.
func TestTimeouts(t *testing.T) {
	r, f := startFaulty(t, soonOver)
	f.hang.Store(true)
	e := r.post("/api/facts", `{"subject":"A:1","predicate":"p"}`).fails(http.StatusGatewayTimeout, "Timeout")
	if !strings.Contains(e.text("message"), "unknown") {
		t.Errorf("message %s", e.text("message"))
	}
	e = r.get("/api/facts").fails(http.StatusGatewayTimeout, "Timeout")
	if strings.Contains(e.text("message"), "unknown") {
		t.Errorf("a read has no outcome: %s", e.text("message"))
	}
	f.hang.Store(false)
	e = r.get("/api/facts?min_tx=99").fails(http.StatusGatewayTimeout, "Timeout")
	if !strings.Contains(e.text("message"), "99") || e["field"] != "min_tx" {
		t.Errorf("%v", e)
	}
}

// A panic is an answer too, without its value; the next request is served.
func TestPanicsAreAnswered(t *testing.T) {
	r, f := startFaulty(t)
	f.panic.Store(true)
	r.post("/api/facts", `{"subject":"A:1","predicate":"p"}`).fails(http.StatusInternalServerError, "Io")
	f.panic.Store(false)
	r.assert("A:1", "p", "1")
	if logs := r.logs.String(); !strings.Contains(logs, "abagraph.server.panic") || strings.Contains(logs, "a secret value") {
		t.Errorf("logs: %s", logs)
	}
}

func TestShutdownFinishesWhatRuns(t *testing.T) {
	r, f := startFaulty(t, soonOver)
	f.hang.Store(true)
	answer := make(chan *reply)
	go func() { answer <- r.post("/api/facts", `{"subject":"A:1","predicate":"p"}`) }()
	<-f.hangs
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := r.inst.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	(<-answer).fails(http.StatusGatewayTimeout, "Timeout")
}

package golden

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/fsm"
	httpd "abagraph/http"
	"abagraph/internal/embed"
	rlog "abagraph/log"
	"abagraph/memory"
	"abagraph/replication"
)

// adminKey is the operator's key of every golden directory.
const adminKey = "golden-operator"

// node is one whole node over a data directory, but for its socket.
type node struct {
	t       *testing.T
	clock   atomic.Int64
	stands  bool // the clock does
	dir     *rlog.Dir
	machine *fsm.Machine
	raft    *replication.Node
	door    *memory.Service
	server  *httpd.Server
}

// open starts a node whose clock begins at an instant, and goes on by a
// millisecond each time that it is read, unless it stands.
func open(t *testing.T, data string, at fact.Instant, stands bool) (*node, error) {
	t.Helper()
	n := &node{t: t, stands: stands}
	n.clock.Store(int64(at))
	if err := n.start(data); err != nil {
		return nil, errors.Join(err, n.close())
	}
	return n, nil
}

func (n *node) start(data string) (err error) {
	if n.dir, err = rlog.Claim(data); err != nil {
		return err
	}
	n.machine, err = fsm.Open(fsm.Options{Dir: n.dir.State(), CacheBytes: 8 << 20, MemTableBytes: 1 << 20})
	if err != nil {
		return err
	}
	n.raft, err = replication.Open(replication.Options{NodeID: "golden", Dir: n.dir, Machine: n.machine, Clock: n.now, SweepInterval: -1, CheckInterval: -1})
	if err != nil {
		return err
	}
	provider, err := embed.New(embed.Options{Provider: embed.Hash, Dim: 16})
	if err != nil {
		return err
	}
	n.door, err = memory.New(memory.Options{
		Engine: n.raft, View: func(ctx context.Context) (memory.View, error) { return n.machine.ViewWithin(ctx) }, Live: n.machine.Live, Leads: n.raft.Leads,
		AdminKey: adminKey, RegistryVersion: n.machine.RegistryVersion, Embedder: provider, Embedding: embed.Hash,
		Now: func() time.Time { return n.now().Time() },
	})
	if err != nil {
		return err
	}
	n.server, err = httpd.NewServer(httpd.Config{Bind: "127.0.0.1:0", Memory: n.door, Logger: slog.New(slog.DiscardHandler), Version: "golden"})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(n.t.Context(), 30*time.Second)
	defer cancel()
	return n.raft.WaitReady(ctx)
}

func (n *node) now() fact.Instant {
	if n.stands {
		return fact.Instant(n.clock.Load())
	}
	return fact.Instant(n.clock.Add(1))
}

// close ends the node; what is in the store's memory goes to its files.
func (n *node) close() error {
	var errs []error
	if n.server != nil {
		errs = append(errs, n.server.Shutdown(context.Background()))
	}
	if n.door != nil {
		n.door.Close()
	}
	if n.raft != nil {
		errs = append(errs, n.raft.Close())
	}
	if n.machine != nil {
		errs = append(errs, n.machine.Close())
	}
	if n.dir != nil {
		errs = append(errs, n.dir.Close())
	}
	return errors.Join(errs...)
}

// ask sends one request with the operator's key, or with another.
func (n *node) ask(q question) (status int, answer any) {
	n.t.Helper()
	r := httptest.NewRequest(q.Method, q.Path, strings.NewReader(q.Body))
	r.Host = "127.0.0.1"
	r.Header.Set("Authorization", "Bearer "+adminKey)
	if q.Key != "" {
		r.Header.Set("Authorization", "Bearer "+q.Key)
	}
	if q.Body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if q.Idem != "" {
		r.Header.Set("Idempotency-Key", q.Idem)
	}
	w := httptest.NewRecorder()
	n.server.Handler().ServeHTTP(w, r)
	decoder := json.NewDecoder(bytes.NewReader(w.Body.Bytes()))
	decoder.UseNumber()
	if err := decoder.Decode(&answer); err != nil && !errors.Is(err, io.EOF) {
		n.t.Fatalf("%s %s answered %d %q: %v", q.Method, q.Path, w.Code, w.Body.String(), err)
	}
	return w.Code, answer
}

// must asks what has to be answered with a status, and returns the answer.
func (n *node) must(status int, q question) map[string]any {
	n.t.Helper()
	got, answer := n.ask(q)
	if got != status {
		n.t.Fatalf("%s %s %s answered %d, not %d: %v", q.Method, q.Path, q.Body, got, status, answer)
	}
	object, ok := answer.(map[string]any)
	if !ok {
		n.t.Fatalf("%s %s answered no object: %v", q.Method, q.Path, answer)
	}
	return object
}

func (n *node) post(path, body string) map[string]any {
	n.t.Helper()
	return n.must(http.StatusOK, question{Method: http.MethodPost, Path: path, Body: body})
}

func (n *node) made(path, body string) map[string]any {
	n.t.Helper()
	return n.must(http.StatusCreated, question{Method: http.MethodPost, Path: path, Body: body})
}

package http_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"abagraph/fact"
	"abagraph/memory"
)

// operator stands in for the node behind the operator's routes.
type operator struct {
	memory.Operations
	open  atomic.Int32
	short bool // ends before its size
	busy  bool
}

const copied = "what a backup is made of"

func (o *operator) Backup(context.Context) (memory.Backup, error) {
	if o.busy {
		return nil, fact.Errorf(fact.RateLimited, "another backup of this node is under way")
	}
	o.open.Add(1)
	return copyOf{o}, nil
}

type copyOf struct{ of *operator }

func (c copyOf) Position() fact.Position { return fact.Position{Tx: 7, Epoch: "abc", RecordedAt: 5} }
func (c copyOf) Size() int64             { return int64(len(copied)) }
func (c copyOf) Close() error            { c.of.open.Add(-1); return nil }
func (c copyOf) Write(_ context.Context, to io.Writer) error {
	text := copied
	if c.of.short {
		text = text[:5]
	}
	_, err := io.WriteString(to, text)
	if c.of.short {
		return errors.New("the disk failed")
	}
	return err
}

// TestBackupRoute: the operator alone gets the whole store, with its length and its
// tx; parameters that would mean something else are refused by name, and a backup
// that cannot be finished does not look like one that was.
func TestBackupRoute(t *testing.T) {
	o := new(operator)
	r := startWith(t, memory.Options{AdminKey: "secret-admin-key", Operations: o})
	got := r.get("/api/admin/backup").status(http.StatusOK)
	if got.Body != copied || got.Header.Get("Content-Length") != "24" || got.Header.Get("X-Abagraph-Tx") != "7" || got.Header.Get("X-Abagraph-Epoch") != "abc" ||
		got.Header.Get("Content-Type") != "application/octet-stream" || !strings.Contains(got.Header.Get("Content-Disposition"), "abagraph-abc-tx7.backup") {
		t.Errorf("answer %+v", got)
	}
	r.get("/api/admin/backup?consistency=stale").status(http.StatusOK)
	if head := r.do(http.MethodHead, "/api/admin/backup", "").status(http.StatusOK); head.Body != "" {
		t.Errorf("HEAD answers %q", head.Body)
	}
	for query, field := range map[string]string{"tenant=a": "tenant", "explain=1": "explain", "as_of=1": "as_of", "consistency=fast": "consistency"} {
		if e := r.get("/api/admin/backup?"+query).fails(http.StatusBadRequest, "SchemaInvalid"); e.text("field") != field {
			t.Errorf("%s: %v", query, e)
		}
	}
	r.as("").get("/api/admin/backup").fails(http.StatusNotFound, "NotFound")
	r.post("/api/tenants", `{"id":"acme"}`).status(http.StatusCreated)
	key := r.post("/api/tenants/acme/keys", `{"role":"admin"}`).status(http.StatusCreated).object().text("key")
	r.as(key).get("/api/admin/backup").fails(http.StatusForbidden, "Forbidden")
	r.post("/api/admin/backup", "").fails(http.StatusMethodNotAllowed, "MethodNotAllowed")

	o.busy = true
	if got := r.get("/api/admin/backup"); got.fails(http.StatusTooManyRequests, "RateLimited") == nil || got.Header.Get("Retry-After") == "" {
		t.Errorf("no Retry-After: %v", got.Header)
	}
	o.busy, o.short = false, true
	req, err := http.NewRequest(http.MethodGet, r.url+"/api/admin/backup", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer secret-admin-key")
	res, err := noRedirect.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a backup that failed reads as %q, %v", body, err)
	}
	if n := o.open.Load(); n != 0 {
		t.Errorf("%d backups were left open", n)
	}
}

// A server that was given no operations says so.
func TestNoOperations(t *testing.T) {
	start(t, "").get("/api/admin/backup").fails(http.StatusNotFound, "NotFound")
}

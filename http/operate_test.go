package http_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/memory"
)

// asked is what the operator's routes have asked for.
type asked struct {
	operator
	calls []string
	wrong []string // in the store
}

func (a *asked) note(format string, args ...any) error {
	a.calls = append(a.calls, fmt.Sprintf(format, args...))
	return nil
}

func (a *asked) Nodes(context.Context) (memory.NodesReport, error) {
	return memory.NodesReport{NodeID: "n1", ClusterID: "c", LeaderID: "n1", Term: 3, CommitIndex: 9, Members: []memory.NodeReport{
		{ID: "n1", Address: "10.0.0.1:9080", Voter: true, Leader: true, Answers: true, Term: 3, Tx: 4, Digest: "ab", Epoch: "e", DataBytes: 5}, {ID: "n2", Reader: true},
	}}, nil
}

func (a *asked) Snapshot(context.Context) (uint64, error) { return 12, a.note("snapshot") }

func (a *asked) VerifyStore(context.Context) (memory.StoreCheck, error) {
	return memory.StoreCheck{Tx: 4, Epoch: "e", Digest: "ab", Keys: 9, Problems: a.wrong}, a.note("verify")
}

func (a *asked) Remove(_ context.Context, id string) error {
	if id == "nobody" {
		return fact.Errorf(fact.NotFound, "there is no member %q", id)
	}
	return a.note("remove %s", id)
}

func (a *asked) SetVoter(_ context.Context, id string, voter bool) error {
	return a.note("voter %s %v", id, voter)
}

func (a *asked) Transfer(_ context.Context, id string) error { return a.note("transfer %q", id) }

// TestOperatorRoutes: each does the one thing that it says, for the operator alone,
// and nothing where a request is malformed.
func TestOperatorRoutes(t *testing.T) {
	o := new(asked)
	r := startWith(t, memory.Options{AdminKey: "secret-admin-key", Operations: o})
	got := r.get("/api/admin/nodes").status(http.StatusOK)
	want := `{"node_id":"n1","cluster_id":"c","leader_id":"n1","term":3,"commit_index":9,"problem":null,"members":[` +
		`{"id":"n1","address":"10.0.0.1:9080","voter":true,"reader":false,"leader":true,"answers":true,"term":3,"applied_index":0,"lag":0,"tx":4,"snapshot_index":0,"log_bytes":0,"data_bytes":5,"free_bytes":0,"disk_bytes":0,"epoch":"e","digest":"ab","problem":null},` +
		`{"id":"n2","address":null,"voter":false,"reader":true,"leader":false,"answers":false,"term":null,"applied_index":null,"lag":null,"tx":null,"snapshot_index":null,"log_bytes":null,"data_bytes":null,"free_bytes":null,"disk_bytes":null,"epoch":null,"digest":null,"problem":null}]}`
	if got.Body != want {
		t.Errorf("nodes:\n%s\nnot\n%s", got.Body, want)
	}
	if got := r.post("/api/admin/verify", "").status(http.StatusOK).Body; got != `{"sound":true,"epoch":"e","digest":"ab","tx":4,"keys":9,"facts":0,"versions":0,"events":0,"outcomes":0,"tenants":0,"unchecked":0,"untold":0,"problems":[]}` {
		t.Errorf("verify: %s", got)
	}
	o.wrong = []string{"a key without its fact"}
	if got := r.post("/api/admin/verify", "").status(http.StatusOK).Body; !strings.Contains(got, `"sound":false`) || !strings.Contains(got, `"problems":["a key without its fact"]`) {
		t.Errorf("verify: %s", got)
	}
	if got := r.post("/api/admin/snapshot", "").status(http.StatusOK).Body; got != `{"ok":true,"snapshot_index":12}` {
		t.Errorf("snapshot: %s", got)
	}
	if got := r.delete("/api/admin/peers/n%202").status(http.StatusOK).Body; got != `{"ok":true,"node_id":"n 2"}` {
		t.Errorf("remove: %s", got)
	}
	r.post("/api/admin/peers/n2", `{"voter":true}`).status(http.StatusOK)
	r.post("/api/admin/peers/n2", `{"voter":false}`).status(http.StatusOK)
	r.post("/api/admin/transfer", `{"to":"n2"}`).status(http.StatusOK)
	r.post("/api/admin/transfer", "").status(http.StatusOK)
	r.post("/api/admin/transfer", `{"to":null}`).status(http.StatusOK)
	if all := strings.Join(o.calls, "; "); all != `verify; verify; snapshot; remove n 2; voter n2 true; voter n2 false; transfer "n2"; transfer ""; transfer ""` {
		t.Errorf("asked for %s", all)
	}

	o.calls = nil
	r.delete("/api/admin/peers/nobody").fails(http.StatusNotFound, "NotFound")
	for path, bodies := range map[string][]string{
		"/api/admin/peers/n2": {"", `{}`, `{"voter":null}`, `{"voter":"yes"}`, `{"voter":true,"force":true}`, `{"voter":true,"voter":false}`, `[]`},
		"/api/admin/transfer": {`{"to":7}`, `{"from":"n1"}`, `"n2"`},
		"/api/admin/snapshot": {`{}`},
	} {
		for _, body := range bodies {
			r.post(path, body).fails(http.StatusBadRequest, "SchemaInvalid")
		}
		r.post(path+"?tenant=a", `{"voter":true}`).fails(http.StatusBadRequest, "SchemaInvalid")
		r.post(path+"?force=1", `{"voter":true}`).fails(http.StatusBadRequest, "SchemaInvalid")
	}
	r.post("/api/tenants", `{"id":"acme"}`).status(http.StatusCreated)
	key := r.post("/api/tenants/acme/keys", `{"role":"admin"}`).status(http.StatusCreated).object().text("key")
	for path, method := range map[string]string{"/api/admin/nodes": "GET", "/api/admin/snapshot": "POST", "/api/admin/transfer": "POST", "/api/admin/peers/n1": "DELETE"} {
		r.as(key).do(method, path, "").fails(http.StatusForbidden, "Forbidden")
		r.as("").do(method, path, "").fails(http.StatusNotFound, "NotFound")
	}
	r.as(key).post("/api/admin/peers/n1", `{"voter":false}`).fails(http.StatusForbidden, "Forbidden")
	if len(o.calls) > 0 {
		t.Errorf("asked for %v", o.calls)
	}
}

package http_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// tenantOf registers a tenant and returns the server for a key of it.
func (r *rig) tenantOf(id, role string) *rig {
	r.t.Helper()
	made := r.post("/api/tenants", fmt.Sprintf(`{"id":%q,"role":%q}`, id, role)).status(http.StatusCreated).object()
	return r.as(made["key"].(string))
}

// keyOf makes a key of a tenant and returns the server for it.
func (r *rig) keyOf(tenant, name, role string) *rig {
	r.t.Helper()
	made := r.post("/api/tenants/"+tenant+"/keys", fmt.Sprintf(`{"name":%q,"role":%q}`, name, role)).status(http.StatusCreated).object()
	return r.as(made["key"].(string))
}

func (r *rig) records(path string) []doc {
	r.t.Helper()
	var answer struct {
		Records []doc
		Next    any
	}
	r.get(path).status(http.StatusOK).decode(&answer)
	return answer.Records
}

// TestAuditSaysWhoDidWhat: by the name of the key, never the key, for the tenant's
// admin and the operator alone, without a word of any fact.
func TestAuditSaysWhoDidWhat(t *testing.T) {
	r := start(t, "secret-admin-key")
	acme := r.tenantOf("acme", "admin")
	agent := r.keyOf("acme", "agent-7", "write")
	first := agent.assert("Person:canary-p", "likes", `"canary-tea"`, `"source":"canary-s"`)
	agent.assert("Person:canary-p", "likes", `"canary-coffee"`, `"source":"canary-s"`)
	agent.delete("/api/facts/" + first["id"].(string)).status(http.StatusOK)
	acme.post("/api/branches", `{"name":"trial"}`).status(http.StatusCreated)
	acme.post("/api/transact", `{"asserts":[{"subject":"a","predicate":"b","object":"c"}],"backfill":{"declared_known_at":1600000000000,"reason":"import of 2020"}}`).status(http.StatusOK)

	got := acme.records("/api/audit")
	want := []string{"write by acme/default", "branch.create by acme/default on trial", "write by acme/agent-7", "write by acme/agent-7", "write by acme/agent-7", "key.add by admin on acme/", "tenant.create by admin on acme"}
	if len(got) != len(want) {
		t.Fatalf("%d records: %v", len(got), got)
	}
	for i, d := range got {
		text := fmt.Sprintf("%v by %v", d["action"], d["actor"])
		if d["target"] != nil {
			text += fmt.Sprintf(" on %v", d["target"])
		}
		if !strings.HasPrefix(text, want[i]) || d["tenant"] != "acme" || d["hash"] != nil || d["digest"] != nil {
			t.Errorf("record %d is %q: %v", i, text, d)
		}
	}
	if d := got[0]; d["reason"] != "import of 2020" || fmt.Sprint(d["declared_known_at"]) != "1600000000000" {
		t.Errorf("the backfill is %v", d)
	}
	if text := column(got[2:6], "asserted") + " " + column(got[2:6], "superseded") + " " + column(got[2:6], "retracted"); text != "0,1,1,null 0,1,0,null 1,0,0,null" {
		t.Errorf("asserted, superseded, retracted: %s", text)
	}
	all := r.get("/api/audit").status(http.StatusOK).Body
	for _, secret := range []string{"canary", acme.key, agent.key, "secret-admin-key"} {
		if strings.Contains(all, secret) {
			t.Errorf("the trail tells %q: %s", secret, all)
		}
	}
	agent.get("/api/audit").fails(http.StatusForbidden, "Forbidden")
}

// TestAuditFiltersAndPages: filters narrow, pages go on both ways, and what is
// malformed is refused by name.
func TestAuditFiltersAndPages(t *testing.T) {
	r := start(t, "secret-admin-key")
	acme := r.tenantOf("acme", "admin")
	for i := range 5 {
		acme.assert(fmt.Sprint("Thing:", i), "is", `"there"`)
	}
	r.post("/api/admin/purge?tenant=acme&confirm=1&subject=Thing:0", "").status(http.StatusOK)
	for path, want := range map[string]string{
		"/api/audit": "7,6,5,4,3,2,1", "/api/audit?limit=2": "7,6", "/api/audit?limit=2&tx_lt=6": "5,4", "/api/audit?tx_gt=0&limit=3": "1,2,3",
		"/api/audit?tx_gt=5": "6,7", "/api/audit?tx_gt=5&tx_lt=7": "6", "/api/audit?action=purge": "7", "/api/audit?actor=admin": "7,1",
		"/api/audit?action=registry": "1", "/api/audit?action=tenant.create&actor=nobody": "", "/api/audit?to=2001-01-01": "", "/api/audit?from=2001-01-01": "7,6,5,4,3,2,1",
		"/api/audit?from=9000-01-01": "", "/api/audit?tenant=acme": "7,6,5,4,3,2,1", "/api/audit?tenant=other": "",
	} {
		if got := column(r.records(path), "tx"); got != want {
			t.Errorf("%s tells the txs %q, not %q", path, got, want)
		}
	}
	if next := r.get("/api/audit?limit=2").object()["next"]; fmt.Sprint(next) != "6" {
		t.Errorf("next is %v", next)
	}
	purge := r.records("/api/audit?action=purge")[0]
	if purge["asserted"] != nil || strings.Contains(fmt.Sprint(purge), "Thing") || len(fmt.Sprint(purge["hash"])) != 64 {
		t.Errorf("the purge is told as %v", purge)
	}
	for path, field := range map[string]string{
		"/api/audit?tx_gt=x": "tx_gt", "/api/audit?limit=10001": "limit", "/api/audit?agent=x": "agent", "/api/audit?from=soon": "from", "/api/audit?branch=x": "branch",
	} {
		if e := r.get(path).fails(http.StatusBadRequest, "SchemaInvalid"); e["field"] != field {
			t.Errorf("%s blames %v", path, e["field"])
		}
	}
}

// TestTEN01AuditStaysInside: a tenant's trail is the same bytes, txs and times
// apart, whether there is another tenant or not.
func TestTEN01AuditStaysInside(t *testing.T) {
	trail := func(other bool) string {
		r := start(t, "secret-admin-key")
		if other {
			globex := r.tenantOf("globex", "admin")
			globex.assert("Person:canary", "canary", `"canary"`)
		}
		acme := r.tenantOf("acme", "admin")
		acme.assert("a", "b", `"c"`)
		if other {
			r.post("/api/admin/purge?confirm=1&subject=Person:canary", "").status(http.StatusOK)
		}
		acme.assert("a", "b", `"d"`)
		list := acme.records("/api/audit")
		for _, d := range list {
			delete(d, "tx")
			delete(d, "recorded_at")
		}
		return fmt.Sprint(list)
	}
	if alone, beside := trail(false), trail(true); alone != beside {
		t.Errorf("alone:\n%s\nbeside another:\n%s", alone, beside)
	}
}

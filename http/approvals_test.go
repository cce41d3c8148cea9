package http_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"abagraph/memory"
)

// TestTwoAdministrators: what destroys data is done when both keys have sent the
// same request, once, and never before; what waits tells nothing of whom.
func TestTwoAdministrators(t *testing.T) {
	r := startWith(t, memory.Options{AdminKey: "first-admin-key", SecondAdminKey: "second-admin-key"})
	second := r.as("second-admin-key")
	acme := r.tenantOf("acme", "admin")
	acme.assert("Person:canary", "likes", `"tea"`)
	purge := "/api/admin/purge?tenant=acme&subject=Person:canary&confirm=1"
	there := func(want int) {
		t.Helper()
		if got := len(acme.get("/api/facts").list()); got != want {
			t.Fatalf("%d facts, want %d", got, want)
		}
	}
	ask := func(by *rig) string {
		t.Helper()
		got := by.post(purge, "").status(http.StatusAccepted).object()
		return got["approval"].(map[string]any)["id"].(string)
	}
	id := ask(r)
	there(1)
	if list := second.get("/api/admin/approvals").status(http.StatusOK).Body; !strings.Contains(list, id) || !strings.Contains(list, `"by":"admin"`) || strings.Contains(list, "canary") {
		t.Errorf("what waits: %s", list)
	}
	r.post(purge+"&approval="+id, "").fails(http.StatusForbidden, "Forbidden")
	second.post("/api/admin/purge?tenant=acme&subject=Person:other&confirm=1&approval="+id, "").fails(http.StatusConflict, "Conflict")
	second.post("/api/admin/purge?subject=Person:canary&confirm=1&approval="+id, "").fails(http.StatusConflict, "Conflict")
	second.delete("/api/tenants/acme?approval="+id).fails(http.StatusConflict, "Conflict")
	second.post(purge+"&approval=nobody", "").fails(http.StatusNotFound, "NotFound")
	second.post(purge+"&approval=", "").fails(http.StatusBadRequest, "SchemaInvalid")
	cookie := second.post("/api/session", `{"key":"second-admin-key"}`).status(http.StatusOK).Header.Get("Set-Cookie")
	cookie, _, _ = strings.Cut(cookie, ";")
	r.as("").post(purge+"&approval="+id, "", "Cookie: "+cookie, "Origin: "+r.url).fails(http.StatusForbidden, "Forbidden")
	acme.post(purge+"&approval="+id, "").fails(http.StatusForbidden, "Forbidden")
	there(1)
	second.post(purge+"&approval="+id, "").status(http.StatusOK)
	there(0)
	// A repetition is told what came of it, and erases nothing more.
	acme.assert("Person:canary", "likes", `"coffee"`)
	if got := second.post(purge+"&approval="+id, "").status(http.StatusOK).object(); fmt.Sprint(got["deleted"]) != "1" {
		t.Errorf("the repetition is told %v", got)
	}
	there(1)
	second.post("/api/admin/purge?tenant=acme&subject=Person:other&confirm=1&approval="+id, "").fails(http.StatusConflict, "Conflict")
	r.post(purge+"&approval="+id, "").fails(http.StatusNotFound, "NotFound")
	if got := second.get("/api/admin/approvals").Body; got != `{"approvals":[]}` {
		t.Errorf("what was used waits: %s", got)
	}
	if again := ask(r); again == id || ask(r) != again {
		t.Error("who asks twice for the same has two approvals")
	}

	// It ends by itself, and the other way round it works as well.
	id = ask(second)
	r.node.Advance(memory.ApprovalTime + 1e9)
	r.post("/api/facts", `{"subject":"a","predicate":"b","object":"c"}`).status(http.StatusCreated)
	r.post(purge+"&approval="+id, "").fails(http.StatusNotFound, "NotFound")
	id = second.delete("/api/tenants/acme").status(http.StatusAccepted).object()["approval"].(map[string]any)["id"].(string)
	r.delete("/api/tenants/acme?approval=" + id).status(http.StatusOK)
	acme.get("/api/facts").fails(http.StatusNotFound, "NotFound")
	if got := column(r.records("/api/audit?action=purge"), "actor"); got != `"admin-2"` {
		t.Errorf("the trail names %s", got)
	}
}

// TestPolicyTakesTwoAdministrators: a tenant's policy is changed by both, whole, and no
// other way; the tenant's own admin is not held up.
func TestPolicyTakesTwoAdministrators(t *testing.T) {
	r := startWith(t, memory.Options{AdminKey: "first-admin-key", SecondAdminKey: "second-admin-key"})
	second := r.as("second-admin-key")
	acme := r.tenantOf("acme", "admin")
	policy := func(version string) string {
		return `{"version":"` + version + `","rules":[{"role":"admin","permissions":["*"]}]}`
	}
	asked := r.do(http.MethodPut, "/api/policy?tenant=acme", policy("v1")).status(http.StatusAccepted).object()
	id := asked["approval"].(map[string]any)["id"].(string)
	second.do(http.MethodPut, "/api/policy?tenant=acme&approval="+id, policy("v2")).fails(http.StatusConflict, "Conflict")
	r.post("/api/facts?tenant=acme", `{"subject":"Role:admin","predicate":"grants","object":"Permission:*","policy":"coexist"}`).fails(http.StatusForbidden, "Forbidden")
	if got := acme.get("/api/policy").object(); got["active"] != false {
		t.Errorf("the policy is %v", got)
	}
	for range 2 {
		second.do(http.MethodPut, "/api/policy?tenant=acme&approval="+id, policy("v1")).status(http.StatusOK)
	}
	rule := acme.get("/api/policy").object()["rules"].([]any)[0].(map[string]any)["fact_id"].(string)
	r.delete("/api/facts/"+rule+"?tenant=acme").fails(http.StatusForbidden, "Forbidden")
	acme.do(http.MethodPut, "/api/policy", policy("v2")).status(http.StatusOK)
}

// TestOneAdministrator: without a second key nothing waits, and an approval means
// nothing.
func TestOneAdministrator(t *testing.T) {
	r := start(t, "first-admin-key")
	r.post("/api/admin/purge?subject=x&confirm=1", "").status(http.StatusOK)
	r.post("/api/admin/purge?subject=x&confirm=1&approval=y", "").fails(http.StatusBadRequest, "SchemaInvalid")
	if got := r.get("/api/admin/approvals").status(http.StatusOK).Body; got != `{"approvals":[]}` {
		t.Error(got)
	}
	r.as("second-admin-key").get("/api/facts").fails(http.StatusNotFound, "NotFound")
}

// TestOwnStatementsAreNotForged: an admin cannot write the other's approval, nor a
// reference that /api/secrets refuses, by any way of writing facts.
func TestOwnStatementsAreNotForged(t *testing.T) {
	r := startWith(t, memory.Options{AdminKey: "first-admin-key", SecondAdminKey: "second-admin-key"})
	r.post("/api/branches", `{"name":"side"}`).status(http.StatusCreated)
	for _, own := range []string{
		`{"subject":"Approval:01a22ce3-9e31-721c-8262-df8bf786dacd","predicate":"approves","object":"purge 00","source":"admin-2"}`,
		`{"subject":"Secret:acme/x","predicate":"secret_reference","object":"env:ABAGRAPH_ADMIN_KEY"}`,
	} {
		for _, path := range []string{"/api/facts", "/api/facts?branch=side"} {
			r.post(path, own).fails(http.StatusForbidden, "Forbidden")
		}
		r.post("/api/transact", `{"asserts":[{"subject":"a","predicate":"b","object":"c"},`+own+`]}`).fails(http.StatusForbidden, "Forbidden")
		r.post("/api/digest", `{"facts":[`+own+`]}`).fails(http.StatusForbidden, "Forbidden")
		r.post("/api/facts?tenant=acme", own).status(http.StatusCreated) // in a tenant it means nothing
	}
	if got := r.get("/api/admin/approvals").Body; got != `{"approvals":[]}` {
		t.Error(got)
	}
	if got := r.get("/api/secrets?tenant=acme").status(http.StatusOK).Body; strings.Contains(got, "ADMIN_KEY") {
		t.Error(got)
	}
}

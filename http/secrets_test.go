package http_test

import (
	"net/http"
	"strings"
	"testing"

	"abagraph/internal/onenode"
	"abagraph/memory"
)

// TestSecretsAreReferences: a reference is made, moved, listed and taken back by
// the operator; a tenant's admin sees the names of its own tenant alone.
func TestSecretsAreReferences(t *testing.T) {
	r := start(t, "secret-admin-key")
	acme, globex := r.tenantOf("acme", "admin"), r.tenantOf("globex", "admin")
	writer := r.keyOf("acme", "agent", "write")
	made := r.post("/api/secrets?tenant=acme", `{"name":"stripe","reference":"env:STRIPE_SECRET"}`).status(http.StatusCreated).object()
	if made["name"] != "stripe" || made["tenant"] != "acme" || made["reference"] != "env:STRIPE_SECRET" {
		t.Errorf("made %v", made)
	}
	r.post("/api/secrets?tenant=acme", `{"name":"stripe","reference":"env:STRIPE_SECRET"}`).status(http.StatusOK)
	r.post("/api/secrets?tenant=acme", `{"name":"stripe","reference":"file:/run/secrets/stripe"}`).status(http.StatusCreated)
	r.post("/api/secrets?tenant=acme", `{"name":"a.b-c_1","reference":"env:OTHER"}`).status(http.StatusCreated)
	if got := r.get("/api/secrets?tenant=acme").status(http.StatusOK).Body; !strings.Contains(got, `"name":"a.b-c_1"`) || !strings.Contains(got, `"reference":"file:/run/secrets/stripe"`) || strings.Contains(got, "STRIPE") {
		t.Errorf("the list is %s", got)
	}
	if got := acme.get("/api/secrets/stripe").status(http.StatusOK).object(); got["name"] != "stripe" || got["reference"] != nil {
		t.Errorf("a tenant's admin sees %v", got)
	}
	if got := globex.get("/api/secrets").status(http.StatusOK).Body; got != `{"secrets":[]}` {
		t.Errorf("another tenant sees %s", got)
	}
	globex.get("/api/secrets/stripe?tenant=acme").fails(http.StatusNotFound, "NotFound")
	writer.get("/api/secrets").fails(http.StatusForbidden, "Forbidden")
	acme.post("/api/secrets", `{"name":"x","reference":"env:X"}`).fails(http.StatusForbidden, "Forbidden")
	acme.delete("/api/secrets/stripe").fails(http.StatusForbidden, "Forbidden")
	if got := acme.get("/api/facts?predicate=secret_reference").status(http.StatusOK).list(); len(got) != 0 {
		t.Errorf("a tenant reads references as facts: %v", got)
	}
	// A tenant's own facts of that name make no reference.
	acme.assert("Secret:acme/mine", "secret_reference", `"env:ABAGRAPH_ADMIN_KEY"`)
	acme.get("/api/secrets/mine").fails(http.StatusNotFound, "NotFound")
	r.delete("/api/secrets/stripe?tenant=acme").status(http.StatusOK)
	r.get("/api/secrets/stripe?tenant=acme").fails(http.StatusNotFound, "NotFound")
	r.delete("/api/secrets/stripe?tenant=acme").fails(http.StatusNotFound, "NotFound")
}

// TestBadSecretsAreRefused: a value, whatever it is called, is never stored, and
// its text comes back in no message and no log line.
func TestBadSecretsAreRefused(t *testing.T) {
	r := start(t, "secret-admin-key")
	for body, field := range map[string]string{
		`{"name":"x","value":"canary-s3cret"}`: "value", `{"name":"x","reference":"env:X","value":"canary-s3cret"}`: "value",
		`{"name":"x","reference":"canary-s3cret"}`: "reference", `{"name":"x","reference":"env:ABAGRAPH_ADMIN_KEY"}`: "reference",
		`{"name":"a/b","reference":"env:X"}`: "name", `{"name":"","reference":"env:X"}`: "name", `{"reference":"env:X"}`: "name", `{"name":"x"}`: "reference",
		`{"name":"x","reference":"env:X","note":"y"}`: "note", `{"name":"x","reference":7}`: "reference",
	} {
		got := r.post("/api/secrets?tenant=acme", body)
		if e := got.fails(http.StatusBadRequest, "SchemaInvalid"); e["field"] != field {
			t.Errorf("%s blames %v", body, e["field"])
		}
		if strings.Contains(got.Body, "canary") {
			t.Errorf("the answer holds the value: %s", got.Body)
		}
	}
	r.post("/api/secrets?tenant=acme&branch=x", `{"name":"x","reference":"env:X"}`).fails(http.StatusBadRequest, "SchemaInvalid")
	if strings.Contains(r.logs.String(), "canary") || r.get("/api/stats").object()["tx"] == nil || r.node.Position().Tx != 0 {
		t.Error("something was written or told")
	}
}

// TestSecretIsReadWhenUsed: the value is what the reference names at that moment.
func TestSecretIsReadWhenUsed(t *testing.T) {
	node := onenode.Start(t)
	s := node.Service(t, memory.Options{AdminKey: "secret-admin-key"})
	operator, err := s.Resolve(t.Context(), "secret-admin-key")
	if err != nil {
		t.Fatal(err)
	}
	acme, err := operator.In("acme")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.SetSecret(t.Context(), acme, memory.WriteOptions{}, "hook", "env:A_HOOK_CANARY", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Secret(t.Context(), "acme", "hook"); err == nil || !strings.Contains(err.Error(), "not set") {
		t.Errorf("unset: %v", err)
	}
	t.Setenv("A_HOOK_CANARY", "canary")
	if got, err := s.Secret(t.Context(), "acme", "hook"); err != nil || got != "canary" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := s.Secret(t.Context(), "globex", "hook"); err == nil {
		t.Error("another tenant's secret was read")
	}
}

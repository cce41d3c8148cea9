package main

import (
	"path/filepath"
	"strings"
	"testing"

	"abagraph/client"
	"abagraph/fact"
)

// TestOBS01LogDump: the log is told without a text of a fact unless it is asked for,
// and never with a key; from an entry, and so many.
func TestOBS01LogDump(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	p := launch(t, "--bind", "127.0.0.1:0", "--data", data, "--admin-key", "the-operators-secret-key").up()
	admin, err := client.New(p.url, client.WithKey("the-operators-secret-key"))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	tenant, err := admin.CreateTenant(t.Context(), client.NewTenant{ID: "acme"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(p.url, client.WithKey(tenant.Key))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Assert(t.Context(), client.Assert{Subject: "Person:marked-subject", Predicate: "marked-predicate", Object: fact.TextObject("marked-object")},
		client.Write{IdempotencyKey: "marked-idempotency-key"}); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Purge(t.Context(), client.PurgeTarget{Subject: "Person:marked-subject", Tenant: "acme"}); err != nil {
		t.Fatal(err)
	}
	r := shell(t)
	if said := r.fails("ops", "log", "dump", data); !strings.Contains(said, "in use by another process") {
		t.Errorf("while it runs: %q", said)
	}
	p.stop()
	for _, terminal := range []bool{false, true} {
		r.terminal = terminal
		out, full := r.ok("ops", "log", "dump", data), r.ok("ops", "log", "dump", data, "--facts")
		for _, secret := range []string{"the-operators-secret-key", tenant.Key, tenant.Key[:12], "marked-idempotency-key"} {
			if strings.Contains(out, secret) || strings.Contains(full, secret) {
				t.Errorf("the dump holds %q", secret)
			}
		}
		if strings.Contains(out, "marked") || strings.Count(full, "marked-object") != 1 || strings.Count(full, "Person:marked-subject") != 2 {
			t.Errorf("the dump is\n%s\nwith facts\n%s", out, full)
		}
		for _, want := range []string{"membership", "noop", "tick", "batch", "write", "purge", "tenants", "acme"} {
			if !strings.Contains(out, want) {
				t.Errorf("no %s in\n%s", want, out)
			}
		}
	}
	r.terminal = false
	if out := r.ok("ops", "log", "dump", data, "--from", "2", "--limit", "2"); strings.Count(out, "\n") != 2 || !strings.HasPrefix(out, `{"index":2,`) {
		t.Errorf("two entries: %s", out)
	}
	if said := r.fails("ops", "log", "dump", t.TempDir()); !strings.Contains(said, "open the log") {
		t.Errorf("nothing there: %q", said)
	}
}

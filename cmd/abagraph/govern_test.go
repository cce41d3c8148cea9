package main

import (
	"encoding/json"
	"strings"
	"testing"

	"abagraph/memory"
)

const policyDraft = `{"version":"v1","rules":[
	{"role":"analyst","permissions":["facts:read"]},
	{"role":"analyst","effect":"deny","permissions":["facts:read"],"predicates":["salary*"],"branches":["main"]},
	{"agent":"importer","permissions":["facts:write"],"sources":["crm"]},
	{"agent":"importer","permissions":["facts:write"],"branches":["trial"]}],
	"roles":[{"agent":"agent-7","role":"analyst"}]}`

// A policy is tried, put in force, written as the document that it was, and taken back.
func TestPolicyCommands(t *testing.T) {
	r := serving(t, "")
	file := r.file("policy.json", policyDraft)
	if got := r.object("policy", "put", file, "--dry-run"); got["dry_run"] != true || got["added"] != 4.0 {
		t.Errorf("the dry run wrote %v", got)
	}
	if got := r.object("policy", "simulate", "agent-7", "facts:read", "--predicate", "salary", "--file", file); got["allowed"] != false || got["why"] != "denied" {
		t.Errorf("simulate wrote %v", got)
	}
	if got := r.object("policy", "simulate", "agent-7", "facts:read", "--predicate", "salary"); got["allowed"] != true || got["why"] != "no_policy" {
		t.Errorf("simulate wrote %v", got)
	}
	tx := r.object("policy", "put", file)["tx"]
	if got := r.object("policy", "list"); got["version"] != "v1" || len(got["rules"].([]any)) != 3 {
		t.Errorf("list wrote %v", got)
	}
	before := r.ok("policy", "document")
	if got := r.object("policy", "put", r.file("same.json", before)); got["unchanged"] != 4.0 || got["tx"] != tx {
		t.Errorf("the document of a policy is another one: %v of %s", got, before)
	}
	if got := r.object("policy", "delete", "--version", "none"); got["removed"] != 4.0 {
		t.Errorf("delete wrote %v", got)
	}
	var at struct{ Tx json.Number }
	if json.Unmarshal([]byte(r.ok("policy", "delete", "--version", "none")), &at) != nil {
		t.Error("delete wrote no tx")
	}
	r.in = strings.Replace(r.ok("policy", "document", "--tx", "1"), `"v1"`, `"v3"`, 1)
	if got := r.object("policy", "put", "-"); got["version"] != "v3" || got["added"] != 4.0 {
		t.Errorf("going back wrote %v", got)
	}
	if got := r.fails("policy", "simulate", "agent-7", "facts:fly"); !strings.Contains(got, "SchemaInvalid: permission") {
		t.Errorf("simulate said %q", got)
	}
	if got := r.fails("policy", "put", r.file("broken.json", `{"version":"v4","rule":[]}`)); !strings.Contains(got, "SchemaInvalid: rule") {
		t.Errorf("put said %q", got)
	}
	r.terminal = true
	if got := r.ok("policy", "list"); !strings.Contains(got, "predicate salary*, bran") || !strings.Contains(got, "source crm or branch") || !strings.Contains(got, "Agent:agent-7") {
		t.Errorf("list shows %s", got)
	}
	if got := r.ok("policy", "simulate", "agent-7", "facts:read", "--predicate", "salary"); !strings.Contains(got, "Role:analyst deny facts:read") {
		t.Errorf("simulate shows %s", got)
	}
}

// A promotion that takes two fails for the first, and is done by the second.
func TestPromotionTakesTwoKeys(t *testing.T) {
	r := serving(t, "admin-key")
	r.env["ABAGRAPH_KEY"] = "admin-key"
	r.ok("tenant", "create", "acme")
	key := func(name string) string {
		return r.object("tenant", "key", "acme", "--name", name)["key"].(string)
	}
	maker, checker := key("maker"), key("checker")
	r.in = `{"version":"v1","rules":[{"role":"write","permissions":["*"]}],"requires":[{"permission":"branch:promote","branches":["side*"]}]}`
	r.ok("policy", "put", "-", "--tenant", "acme")
	r.in = r.ok("policy", "document", "--tenant", "acme")
	if got := r.object("policy", "put", "-", "--tenant", "acme"); got["added"] != 0.0 || got["removed"] != 0.0 {
		t.Errorf("the document of a policy is another one: %v of %s", got, r.in)
	}
	r.ok("branch", "create", "side", "--key", maker)
	r.ok("assert", "Person:p", "likes", "tea", "--branch", "side", "--key", maker)
	code, out, told := r.run("branch", "promote", "side", "--key", maker)
	var p struct{ Approval struct{ ID string } }
	if err := json.Unmarshal([]byte(out), &p); err != nil || code != 1 || !strings.HasPrefix(told, "pending: this needs the approval of another agent") {
		t.Fatalf("asking: exit %d, %s%s", code, out, told)
	}
	r.terminal = true
	if got := r.ok("approvals", "--key", checker); !strings.Contains(got, "branch.promote  acme/maker") {
		t.Errorf("approvals shows %s", got)
	}
	if got := r.ok("policy", "list", "--tenant", "acme"); !strings.Contains(got, "branch side*") {
		t.Errorf("list shows %s", got)
	}
	r.terminal = false
	if got := r.object("branch", "promote", "side", "--approval", p.Approval.ID, "--key", checker); got["promoted"] != 1.0 {
		t.Errorf("promote wrote %v", got)
	}
}

// A reference says where a secret is, and no value is taken for one.
func TestSecretCommands(t *testing.T) {
	r := serving(t, "")
	if got := r.object("secret", "set", "stripe", "--env", "STRIPE_SECRET"); got["reference"] != "env:STRIPE_SECRET" {
		t.Errorf("set wrote %v", got)
	}
	r.ok("secret", "set", "ledger", "--file", "/run/secrets/ledger")
	for _, c := range [][]string{{"--file", "ledger"}, {}, {"--file", "/a", "--env", "B"}, {"--env", "ABAGRAPH_ADMIN_KEY"}} {
		r.fails(append([]string{"secret", "set", "other"}, c...)...)
	}
	if got := r.object("secret", "list"); len(got["secrets"].([]any)) != 2 {
		t.Errorf("list wrote %v", got)
	}
	if got := r.object("secret", "get", "ledger"); got["reference"] != "file:/run/secrets/ledger" {
		t.Errorf("get wrote %v", got)
	}
	r.ok("secret", "delete", "ledger")
	if got := r.fails("secret", "get", "ledger"); !strings.HasPrefix(got, "NotFound: ") {
		t.Errorf("get said %q", got)
	}
	if got := r.ok("__complete", "secret", "delete", "s"); !strings.HasPrefix(got, "stripe\n") {
		t.Errorf("the shell is offered %q", got)
	}
}

func TestAlertCommands(t *testing.T) {
	r := serving(t, "")
	made := r.object("alert", "set", "doubt", "--kind", "confidence", "--threshold", "0.8", "--predicate", "plan*")
	if made["threshold"] != 0.8 || made["predicate"] != "plan*" || made["state"] != nil {
		t.Errorf("set wrote %v", made)
	}
	if got := r.fails("alert", "set", "doubt", "--kind", "confidence"); !strings.Contains(got, "--threshold is missing") {
		t.Errorf("set said %q", got)
	}
	if got := r.fails("alert", "set", "doubt", "--kind", "mood", "--threshold", "1"); !strings.Contains(got, "SchemaInvalid: kind") {
		t.Errorf("set said %q", got)
	}
	if got := r.object("alert", "list", "--state", "firing"); len(got["alerts"].([]any)) != 0 {
		t.Errorf("list wrote %v", got)
	}
	r.terminal = true
	if got := r.ok("alert", "list", "--kind", "confidence"); !strings.Contains(got, "doubt  confidence  0.8") || !strings.Contains(got, "1 alert\n") {
		t.Errorf("list shows %s", got)
	}
	r.terminal = false
	r.ok("alert", "delete", "doubt")
	r.fails("alert", "get", "doubt")
}

// Tenants and their keys: a key is shown once, and ends when it is revoked.
func TestTenantCommands(t *testing.T) {
	r := serving(t, "admin-key")
	r.env["ABAGRAPH_KEY"] = "admin-key"
	if got := r.object("tenant", "create", "acme", "--name", "Acme"); got["key"] == nil || got["role"] != "write" {
		t.Errorf("create wrote %v", got)
	}
	made := r.object("tenant", "key", "acme", "--name", "agent-7", "--role", "read")
	key, id := made["key"].(string), made["id"].(string)
	if got := r.ok("tenant", "keys", "acme"); strings.Contains(got, key) || !strings.Contains(got, id) {
		t.Errorf("keys wrote %s", got)
	}
	if got := r.fails("assert", "a", "b", "c", "--key", key); !strings.HasPrefix(got, "Forbidden: ") {
		t.Errorf("a key that may read wrote: %s", got)
	}
	r.ok("query", "--key", key)
	r.ok("tenant", "revoke", "acme", id)
	r.fails("query", "--key", key)
	if got := r.object("tenant", "get", "acme"); got["status"] != "active" {
		t.Errorf("get wrote %v", got)
	}
	r.ok("tenant", "delete", "acme")
	if got := r.ok("tenant", "list"); !strings.Contains(got, `"deleted"`) {
		t.Errorf("list wrote %s", got)
	}
}

// A purge counts until it is confirmed; with two admin keys it takes both.
func TestPurgeCommands(t *testing.T) {
	r := servingWith(t, memory.Options{AdminKey: "first-key", SecondAdminKey: "second-key"})
	r.env["ABAGRAPH_KEY"] = "first-key"
	r.ok("assert", "Person:berta", "likes", "tea", "--tenant", "acme")
	target := []string{"purge", "--subject", "Person:berta", "--tenant", "acme"}
	if got := r.object(target...); got["dry_run"] != true || got["facts"] != 1.0 {
		t.Errorf("the preview wrote %v", got)
	}
	target = append(target, "--confirm")
	code, out, told := r.run(target...)
	var p struct{ Approval struct{ ID, By string } }
	if err := json.Unmarshal([]byte(out), &p); err != nil || code != 1 || p.Approval.By != "admin" || !strings.HasPrefix(told, "pending: this needs the other admin key") {
		t.Fatalf("asking: exit %d, %s%s", code, out, told)
	}
	if got := r.ok("approvals"); !strings.Contains(got, p.Approval.ID) || strings.Contains(got, "berta") {
		t.Errorf("approvals wrote %s", got)
	}
	if got := r.objects("--tenant", "acme"); got != `"tea"` {
		t.Fatalf("left: %s", got)
	}
	target = append(target, "--approval", p.Approval.ID)
	if got := r.fails(target...); !strings.HasPrefix(got, "Forbidden: ") {
		t.Errorf("who asked is told %q", got)
	}
	if got := r.object(append(target, "--key", "second-key")...); got["deleted"] != 1.0 {
		t.Errorf("purge wrote %v", got)
	}
	if got := r.objects("--tenant", "acme"); got != "" {
		t.Errorf("left: %s", got)
	}
	r.ok("tenant", "create", "acme")
	if code, out, _ := r.run("tenant", "delete", "acme"); code != 1 || !strings.Contains(out, "pending") {
		t.Errorf("asking: exit %d, %s", code, out)
	}
	for _, wrong := range [][]string{{}, {"--subject", "a", "--prefix", "b"}, {"--subject", "a", "--confirm", "--approval", "x"}} {
		r.fails(append([]string{"purge"}, wrong...)...)
	}
}

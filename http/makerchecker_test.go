package http_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const promotionTakesTwo = `{"version":"v1","rules":[
	{"role":"editor","permissions":["facts:*","branch:*"]},
	{"agent":"watcher","permissions":["facts:read"]}],
	"requires":[{"permission":"branch:promote","approval":"maker-checker"},{"permission":"branch:discard","branches":["release-*"]},{"permission":"Permission:branch:discard","branches":["hotfix"]}],
	"roles":[{"agent":"agent-7","role":"editor"},{"agent":"agent-8","role":"editor"}]}`

// TestPromotionTakesTwo: what the policy requires an approval for waits for another
// agent, is bound to what was on the branch, and is done once.
func TestPromotionTakesTwo(t *testing.T) {
	r, _, maker := governed(t, promotionTakesTwo)
	checker, watcher := r.keyOf("acme", "agent-8", "write"), r.keyOf("acme", "watcher", "write")
	other := r.tenantOf("other", "write")
	maker.post("/api/branches", `{"name":"side"}`).status(http.StatusCreated)
	write := func(object string) {
		t.Helper()
		maker.post("/api/facts?branch=side", `{"subject":"Person:p","predicate":"likes","object":"`+object+`"}`).status(http.StatusCreated)
	}
	write("tea")
	promote := "/api/branches/side/promote"
	ask := func(by *rig) string {
		t.Helper()
		return by.post(promote, "").status(http.StatusAccepted).object()["approval"].(map[string]any)["id"].(string)
	}
	if got := maker.post(promote, `{"dry_run":true}`).status(http.StatusOK).object(); fmt.Sprint(got["promoted"]) != "1" {
		t.Errorf("the dry run: %v", got)
	}
	watcher.post(promote, "").fails(http.StatusForbidden, "Forbidden")
	id := ask(maker)
	if again := ask(maker); again != id {
		t.Error("who asks twice has two approvals")
	}
	if got := checker.get("/api/admin/approvals").status(http.StatusOK).Body; !strings.Contains(got, id) || !strings.Contains(got, `"action":"branch.promote","by":"acme/agent-7"`) {
		t.Errorf("what waits: %s", got)
	}
	for _, blind := range []*rig{r, other} {
		if got := blind.get("/api/admin/approvals").status(http.StatusOK).Body; got != `{"approvals":[]}` {
			t.Errorf("another sees %s", got)
		}
	}
	maker.post(promote+"?approval="+id, "").fails(http.StatusForbidden, "Forbidden")
	r.keyOf("acme", "agent-7", "write").post(promote+"?approval="+id, "").fails(http.StatusForbidden, "Forbidden")
	watcher.post(promote+"?approval="+id, "").fails(http.StatusForbidden, "Forbidden")
	other.post("/api/branches", `{"name":"side"}`).status(http.StatusCreated)
	other.post(promote+"?approval="+id, "").fails(http.StatusBadRequest, "SchemaInvalid")
	checker.post("/api/branches/side/discard?approval="+id, "").fails(http.StatusBadRequest, "SchemaInvalid")
	write("coffee")
	checker.post(promote+"?approval="+id, "").fails(http.StatusConflict, "Conflict")
	if got := maker.get("/api/facts?subject=Person:p").list(); len(got) != 0 {
		t.Fatal("it was promoted")
	}
	id = ask(maker)
	first := checker.post(promote+"?approval="+id, "").status(http.StatusOK).object()
	if fmt.Sprint(first["promoted"]) != "1" {
		t.Errorf("promoted: %v", first)
	}
	if again := checker.post(promote+"?approval="+id, "").status(http.StatusOK).object(); fmt.Sprint(again) != fmt.Sprint(first) {
		t.Errorf("the repetition is told %v, not %v", again, first)
	}
	if got := maker.get("/api/facts?subject=Person:p").list(); len(got) != 1 || got[0].text("object") != "coffee" {
		t.Errorf("on main: %v", got)
	}
	maker.post("/api/branches/missing/promote", "").fails(http.StatusNotFound, "NotFound")
}

// TestRequirementsAreOfBranches: a requirement is for the branches that it names, by
// fact or by document alike; the administrator stands above it, and one that could not
// be judged by is refused.
func TestRequirementsAreOfBranches(t *testing.T) {
	r, admin, agent := governed(t, promotionTakesTwo)
	for _, name := range []string{"release-1", "hotfix", "plain"} {
		agent.post("/api/branches", `{"name":"`+name+`"}`).status(http.StatusCreated)
	}
	agent.delete("/api/branches/plain").status(http.StatusOK)
	agent.delete("/api/branches/hotfix").status(http.StatusAccepted)
	agent.delete("/api/branches/release-1").status(http.StatusAccepted)
	r.delete("/api/branches/release-1?tenant=acme").status(http.StatusOK)
	got := admin.get("/api/policy").object()["requires"].([]any)
	if len(got) != 2 || fmt.Sprint(got[0].(map[string]any)["branches"]) != "[release-* hotfix]" {
		t.Errorf("the requirements are %v", got)
	}
	answer := admin.post("/api/policy/simulate", `{"principal":"agent-7","permission":"branch:discard","branch":"release-9"}`).status(http.StatusOK).object()
	if answer["allowed"] != true || answer["requires"].(map[string]any)["approval"] != "maker-checker" {
		t.Errorf("simulate: %v", answer)
	}
	same := admin.do(http.MethodPut, "/api/policy", promotionTakesTwo).status(http.StatusOK).object()
	if fmt.Sprint(same["added"]) != "0" || fmt.Sprint(same["removed"]) != "0" {
		t.Errorf("the same again: %v", same)
	}
	fact := func(subject, object, properties string) string {
		return `{"subject":"` + subject + `","predicate":"requires","object":"` + object + `","policy":"coexist"` + properties + `}`
	}
	agent.post("/api/facts", fact("Permission:branch:create", "Approval:maker-checker", "")).fails(http.StatusForbidden, "Forbidden")
	for body, field := range map[string]string{
		fact("Permission:facts:write", "Approval:maker-checker", ""):                                    "subject",
		fact("Permission:branch:create", "Approval:boss", ""):                                           "object",
		fact("Permission:branch:create", "Approval:maker-checker", `,"properties":{"branch":["a"]}`):    "properties.branch",
		fact("Permission:branch:create", "Approval:maker-checker", `,"properties":{"branches":["*a"]}`): "properties.branches[0]",
	} {
		if e := admin.post("/api/facts", body).fails(http.StatusBadRequest, "SchemaInvalid"); e["field"] != field {
			t.Errorf("%s blames %v", body, e["field"])
		}
	}
	admin.post("/api/facts", fact("Permission:branch:create", "Approval:maker-checker", "")).status(http.StatusCreated)
	agent.post("/api/branches", `{"name":"new"}`).status(http.StatusAccepted)
	for body, field := range map[string]string{
		`{"version":"v2","requires":[{"permission":"facts:read"}]}`:                        "requires[0].permission",
		`{"version":"v2","requires":[{"permission":"branch:promote","approval":"boss"}]}`:  "requires[0].approval",
		`{"version":"v2","requires":[{"permission":"branch:promote","predicates":["a"]}]}`: "requires[0].predicates",
	} {
		if e := admin.do(http.MethodPut, "/api/policy", body).fails(http.StatusBadRequest, "SchemaInvalid"); e["field"] != field {
			t.Errorf("%s blames %v", body, e["field"])
		}
	}
}

package http_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// governed is a tenant with an admin, an agent of role write, and a policy.
func governed(t *testing.T, policy string) (r, admin, agent *rig) {
	t.Helper()
	r = start(t, "secret-admin-key")
	admin = r.tenantOf("acme", "admin")
	agent = r.keyOf("acme", "agent-7", "write")
	if policy != "" {
		admin.do(http.MethodPut, "/api/policy", policy).status(http.StatusOK)
	}
	return r, admin, agent
}

const readNotes = `{"version":"v1","rules":[
	{"role":"reader","permissions":["facts:read"],"predicates":["works_at","knows","references","title","body","cites","links*"]},
	{"role":"admin","permissions":["*"]},
	{"role":"reader","permissions":["facts:write"],"predicates":["works_at"],"sources":["crm"],"branches":["main"]}],
	"roles":[{"agent":"agent-7","role":"reader"}]}`

// TestPolicyDeniesByDefault: without a policy all is as it was; with one, what no
// rule grants is refused, and nothing is written.
func TestPolicyDeniesByDefault(t *testing.T) {
	r, admin, agent := governed(t, "")
	agent.assert("Person:p", "salary", `1`)
	admin.do(http.MethodPut, "/api/policy", readNotes).status(http.StatusOK)
	before := r.node.Position().Tx
	for body, field := range map[string]string{
		`{"asserts":[{"subject":"Person:p","predicate":"works_at","object":"x","source":"crm"},{"subject":"Person:p","predicate":"salary","object":2,"source":"crm"}]}`: "asserts[1]",
		`{"asserts":[{"subject":"Person:p","predicate":"works_at","object":"x"}]}`:                                                                                      "",
		`{"asserts":[{"subject":"Person:p","predicate":"works_at","object":"x","source":"hr"}]}`:                                                                        "",
		`{"compares":[{"subject":"Person:p","predicate":"salary","expect":5}],"asserts":[{"subject":"Person:p","predicate":"works_at","object":"x","source":"crm"}]}`:   "",
	} {
		if e := agent.post("/api/transact", body).fails(http.StatusForbidden, "Forbidden"); field != "" && e["field"] != field {
			t.Errorf("%s: %v", body, e)
		}
	}
	salary := admin.get("/api/facts?predicate=salary").list()[0].text("id")
	agent.delete("/api/facts/"+salary).fails(http.StatusForbidden, "Forbidden")
	agent.post("/api/branches", `{"name":"x"}`).fails(http.StatusForbidden, "Forbidden")
	r.keyOf("acme", "stranger", "write").get("/api/facts").fails(http.StatusForbidden, "Forbidden")
	if r.node.Position().Tx != before+1 { // the stranger's key
		t.Error("something was written")
	}
	agent.assert("Person:p", "works_at", `"Org:x"`, `"source":"crm"`)
	admin.assert("Person:p", "salary", `3`)
	r.post("/api/facts?tenant=acme", `{"subject":"Person:p","predicate":"salary","object":4}`).status(http.StatusCreated)
}

// TestPolicyProtectsItself: nobody grants anything to themselves, by any way of
// writing, and an admin can always put a policy right.
func TestPolicyProtectsItself(t *testing.T) {
	r, admin, agent := governed(t, "")
	grant := `{"subject":"Role:write","predicate":"grants","object":"Permission:*"}`
	agent.post("/api/facts", grant).fails(http.StatusForbidden, "Forbidden")
	agent.post("/api/transact", `{"asserts":[`+grant+`]}`).fails(http.StatusForbidden, "Forbidden")
	agent.post("/api/digest", `{"facts":[{"subject":"Agent:agent-7","predicate":"acts_as","object":"Role:admin"}]}`).fails(http.StatusForbidden, "Forbidden")
	agent.post("/api/branches", `{"name":"side"}`).status(http.StatusCreated)
	agent.post("/api/facts?branch=side", grant).fails(http.StatusForbidden, "Forbidden")
	if got := admin.get("/api/policy").object(); got["active"] != false || len(got["roles"].([]any)) != 0 {
		t.Errorf("the policy is %v", got)
	}
	admin.do(http.MethodPut, "/api/policy", `{"version":"locked","rules":[{"role":"nobody","permissions":["facts:read"]}]}`).status(http.StatusOK)
	rule := admin.get("/api/policy").object()["rules"].([]any)[0].(map[string]any)["fact_id"].(string)
	agent.delete("/api/facts/"+rule).fails(http.StatusForbidden, "Forbidden")
	admin.get("/api/facts").fails(http.StatusForbidden, "Forbidden")
	admin.get("/api/audit").status(http.StatusOK)
	agent.get("/api/policy").fails(http.StatusForbidden, "Forbidden")
	admin.do(http.MethodPut, "/api/policy", `{"version":"open","rules":[{"role":"write","permissions":["*"]}]}`).status(http.StatusOK)
	agent.get("/api/facts").status(http.StatusOK)
	admin.do(http.MethodPut, "/api/policy", `{"version":"none"}`).status(http.StatusOK)
	admin.get("/api/facts").status(http.StatusOK)
	if got := r.records("/api/audit?tenant=acme&actor=acme/agent-7"); len(got) != 1 {
		t.Errorf("the agent wrote more than its branch: %v", got)
	}
}

// TestPolicyVersions: a version replaces the one before in one tx, is readable as it
// was, and two that were made beside each other do not mix.
func TestPolicyVersions(t *testing.T) {
	_, admin, _ := governed(t, readNotes)
	was := admin.get("/api/policy").status(http.StatusOK)
	tx := was.Header.Get("X-Abagraph-Tx")
	if got := admin.do(http.MethodPut, "/api/policy", readNotes).status(http.StatusOK).object(); fmt.Sprintln(got["added"], got["removed"], got["unchanged"]) != "0 0 4\n" {
		t.Errorf("the same again: %v", got)
	}
	changed := strings.Replace(readNotes, `"works_at","knows"`, `"works_at"`, 1)
	admin.do(http.MethodPut, "/api/policy", changed).fails(http.StatusBadRequest, "SchemaInvalid")
	changed = strings.Replace(changed, "v1", "v2", 1)
	dry := admin.do(http.MethodPut, "/api/policy?dry_run=1", changed).status(http.StatusOK).object()
	if fmt.Sprintln(dry["added"], dry["removed"], dry["dry_run"]) != "4 4 true\n" {
		t.Errorf("dry run: %v", dry)
	}
	done := admin.do(http.MethodPut, "/api/policy", changed).status(http.StatusOK).object()
	if fmt.Sprintln(done["added"], done["removed"], done["version"]) != "4 4 v2\n" {
		t.Errorf("done: %v", done)
	}
	if got := admin.get("/api/policy").object(); got["version"] != "v2" || len(got["rules"].([]any)) != 3 {
		t.Errorf("now %v", got)
	}
	if got := admin.get("/api/policy?tx=" + tx).object(); got["version"] != "v1" || fmt.Sprint(got["rules"]) != fmt.Sprint(was.object()["rules"]) {
		t.Errorf("as it was: %v, not %v", got, was.Body)
	}
}

// TestPolicySimulation says which rule decides, of the policy in force and of one
// that is only proposed.
func TestPolicySimulation(t *testing.T) {
	r, admin, _ := governed(t, readNotes)
	r.keyOf("acme", "looker", "read")
	ask := func(body string) string {
		t.Helper()
		got := admin.post("/api/policy/simulate", body).status(http.StatusOK).object()
		rule := "none"
		if m, ok := got["rule"].(map[string]any); ok {
			rule = fmt.Sprint(m["subject"], " ", m["effect"], " ", m["permission"])
		}
		return fmt.Sprint(got["allowed"], " ", got["why"], " by ", rule)
	}
	for body, want := range map[string]string{
		`{"principal":"agent-7","permission":"facts:read","predicate":"works_at"}`:                                                         "true granted by Role:reader grant facts:read",
		`{"principal":"Agent:agent-7","permission":"facts:read","resource":{"predicate":"salary"}}`:                                        "false no_rule by none",
		`{"agent":"agent-7","permission":"facts:write","predicate":"works_at","source":"crm"}`:                                             "true granted by Role:reader grant facts:write",
		`{"agent":"agent-7","permission":"facts:write","predicate":"works_at","source":"crm","branch":"side"}`:                             "false no_rule by none",
		`{"agent":"looker","permission":"facts:write","predicate":"works_at","source":"crm"}`:                                              "false key_role by none",
		`{"principal":"Role:admin","permission":"branch:promote"}`:                                                                         "true granted by Role:admin grant *",
		`{"principal":"x","permission":"facts:read","policy":{"version":"w"}}`:                                                             "true no_policy by none",
		`{"principal":"x","permission":"facts:read","policy":{"version":"w","rules":[{"agent":"x","effect":"deny","permissions":["*"]}]}}`: "false denied by Agent:x deny *",
	} {
		if got := ask(body); got != want {
			t.Errorf("%s: %s, not %s", body, got, want)
		}
	}
	for body, field := range map[string]string{
		`{"permission":"facts:read"}`: "principal", `{"principal":"a"}`: "permission", `{"principal":"a","permission":"facts:*"}`: "permission",
		`{"principal":"a","permission":"facts:read","key_role":"boss"}`: "key_role", `{"principal":"a","permission":"facts:read","resource":{"who":1}}`: "resource.who",
		`{"principal":"a","permission":"facts:read","policy":{}}`: "policy.version",
	} {
		if e := admin.post("/api/policy/simulate", body).fails(http.StatusBadRequest, "SchemaInvalid"); e["field"] != field {
			t.Errorf("%s blames %v", body, e["field"])
		}
	}
	r.get("/api/policy").fails(http.StatusBadRequest, "SchemaInvalid")
	r.get("/api/policy?tenant=acme").status(http.StatusOK)
}

// policyReads are the reads that a policy is held against, with ids put in.
func policyReads(id string) []string {
	return []string{"/api/facts", "/api/facts?status=all&limit=10000", "/api/facts?as_of=1700000000000", "/api/facts?subject=Person:p&status=all", "/api/facts?tx_gt=0",
		"/api/facts?known_at=4000000000000", "/api/entities", "/api/entities?limit=1", "/api/entities/Person:p", "/api/predicates", "/api/stats", "/api/facts/" + id,
		"/api/facts/" + id + "/history", "/api/facts/" + id + "/explain", "/api/walk?start=Person:p&depth=3", "/api/walk?start=Org:x&direction=in", "/api/graph", "/api/graph?q=canary",
		"/api/path?from=Person:p&to=Org:x", "/api/factcheck", "/api/changes?from=0&to=4000000000000", "/api/pages/Person:p",
		"/api/facts?subject=Person:p&predicate=works_at", "/api/facts?predicate=canary_p", "/api/facts?object=canary"}
}

// TestPolicyHidesFromEveryRead: an agent that may not see some facts is answered
// by every read exactly as if they were not there.
func TestPolicyHidesFromEveryRead(t *testing.T) {
	answers := func(hidden bool) string {
		_, admin, agent := governed(t, readNotes)
		if hidden {
			admin.assert("Canary:s", "canary_p", `"canary object"`, `"source":"canary source"`)
			admin.assert("Person:p", "canary_p", `"Canary:s"`, `"policy":"coexist"`)
			admin.assert("Person:p", "canary_q", `"Org:x"`, `"properties":{"why":"canary"}`)
			gone := admin.assert("Person:p", "canary_q", `"Org:y"`)
			admin.delete("/api/facts/" + gone.text("id")).status(http.StatusOK)
		}
		f := admin.assert("Person:p", "works_at", `"Org:x"`)
		admin.assert("Person:p", "knows", `"Person:q"`)
		admin.assert("Person:q", "works_at", `"Org:x"`)
		var all strings.Builder
		for _, path := range policyReads(f.text("id")) {
			p := agent.get(path)
			if strings.Contains(p.Body, "anary") {
				t.Errorf("%s shows the canary: %s", path, p.Body)
			}
			all.WriteString(scrub(path, p))
		}
		for _, body := range []string{`{"query":"canary object"}`, `{"query":"who works at Org:x"}`} {
			p := agent.post("/api/search", body).status(http.StatusOK)
			if strings.Contains(p.Body, "Canary") || strings.Contains(p.Body, "canary_") {
				t.Errorf("search shows the canary: %s", p.Body)
			}
		}
		if p := agent.post("/api/context", `{"goal":"canary object of Person:p","seeds":["Person:p"]}`).status(http.StatusOK); strings.Contains(p.Body, "Canary:s") || strings.Contains(p.Body, "canary_p") {
			t.Errorf("a packet shows the canary: %s", p.Body)
		}
		return all.String()
	}
	if one, two := answers(false), answers(true); one != two {
		t.Errorf("answers depend on what is hidden:\n%s\n%s", one, two)
	}
}

// TestPolicyHidesFromWritesAndStreams: what a write closes, what a guard meets, what
// the stream tells, and a diff.
func TestPolicyHidesFromWritesAndStreams(t *testing.T) {
	_, admin, agent := governed(t, `{"version":"v1","rules":[{"role":"admin","permissions":["*"]},
		{"agent":"agent-7","permissions":["facts:*","branch:*"],"sources":["crm"]}]}`)
	secret := admin.assert("Person:p", "works_at", `"canary"`, `"source":"hr"`)
	agent.get("/api/facts/"+secret.text("id")).fails(http.StatusNotFound, "NotFound")
	agent.post("/api/transact", `{"compares":[{"subject":"Person:p","predicate":"works_at","expect":"x"}],"asserts":[{"subject":"a","predicate":"b","object":"c","source":"crm"}]}`).
		fails(http.StatusForbidden, "Forbidden")
	got := agent.post("/api/transact", `{"asserts":[{"subject":"Person:p","predicate":"works_at","object":"Org:x","source":"crm"}]}`).status(http.StatusOK)
	if strings.Contains(got.Body, "canary") {
		t.Errorf("a write shows what it closed: %s", got.Body)
	}
	l := agent.listen("/api/stream?tx_gt=0")
	for e := range 2 {
		text := fmt.Sprint(l.next())
		if strings.Contains(text, "canary") || strings.Contains(text, `"hr"`) {
			t.Errorf("event %d shows what is hidden: %s", e, text)
		}
		if strings.Contains(text, "Org:x") {
			break
		}
	}
	agent.post("/api/branches", `{"name":"side"}`).status(http.StatusCreated)
	agent.get("/api/branches/side").status(http.StatusOK)
	agent.get("/api/branches/side/diff").fails(http.StatusForbidden, "Forbidden")
	// A grant that is taken back is taken back at once, on a stream that runs too.
	admin.do(http.MethodPut, "/api/policy", `{"version":"v2","rules":[{"role":"admin","permissions":["*"]}]}`).status(http.StatusOK)
	agent.get("/api/facts").fails(http.StatusForbidden, "Forbidden")
	agent.post("/api/facts", `{"subject":"a","predicate":"b","object":"c","source":"crm"}`).fails(http.StatusForbidden, "Forbidden")
}

// TestPolicyHidesFromWriters: what a write cut, repeated or retracted of what its
// writer may not read is not told, nor is it counted by explain.
func TestPolicyHidesFromWriters(t *testing.T) {
	_, admin, agent := governed(t, `{"version":"v1","rules":[{"role":"admin","permissions":["*"]},
		{"agent":"agent-7","permissions":["facts:read"],"sources":["crm"]},{"agent":"agent-7","permissions":["facts:write"]}]}`)
	none := func(what string, p *reply) *reply {
		t.Helper()
		if strings.Contains(p.Body, "canary") || strings.Contains(p.Body, "active_before") {
			t.Errorf("%s shows what is hidden: %s", what, p.Body)
		}
		return p
	}
	for _, path := range []string{"/api/facts?explain=1", "/api/transact?explain=1"} {
		admin.post("/api/facts", `{"subject":"Person:p","predicate":"`+path+`","object":"canary","source":"hr","valid_from":"2020-01-01"}`).status(http.StatusCreated)
		cut := `{"subject":"Person:p","predicate":"` + path + `","object":"x","source":"crm","valid_from":"2021-01-01","valid_until":"2022-01-01"}`
		if strings.Contains(path, "transact") {
			cut = `{"asserts":[` + cut + `]}`
		}
		none("a cut", agent.post(path, cut))
	}
	same := `{"subject":"Person:q","predicate":"salary","object":5,"source":"hr"}`
	hidden := admin.assert("Person:q", "salary", "5", `"source":"hr"`, `"properties":{"note":"canary"}`).text("id")
	none("a repetition", agent.post("/api/facts", same).status(http.StatusOK))
	gone := none("a retraction", agent.post("/api/transact", `{"retracts":["`+hidden+`"]}`).status(http.StatusOK)).object()
	if fmt.Sprint(gone["retracted"]) != "["+hidden+"]" || len(gone["facts"].([]any)) != 0 {
		t.Errorf("a retraction: %v", gone)
	}
}

// TestPolicyHidesFromExplain: no figure tells whether something hidden is there.
func TestPolicyHidesFromExplain(t *testing.T) {
	_, admin, agent := governed(t, `{"version":"v1","rules":[{"role":"admin","permissions":["*"]},{"agent":"agent-7","permissions":["facts:read"],"sources":["crm"]}]}`)
	admin.assert("Person:z", "salary", `"canary"`, `"source":"hr"`)
	for _, path := range []string{"/api/facts?subject=", "/api/facts?object=", "/api/search?subject=", "/api/search?q=", "/api/walk?start=", "/api/pages/", "/api/context?goal=", "/api/path?to=Person:q&from="} {
		name, missing := "Person:z", "Person:nobody"
		if strings.HasSuffix(path, "object=") || strings.HasSuffix(path, "q=") || strings.HasSuffix(path, "goal=") {
			name, missing = "canary", "nobody"
		}
		stats := func(of string) string {
			got := agent.get(path + of + "&explain=1")
			if strings.HasPrefix(path, "/api/pages") {
				got = agent.get(path + of + "?explain=1")
			}
			e, _ := got.object()["explain"].(map[string]any)
			return strings.ReplaceAll(fmt.Sprint(got.Status, e["stats"]), of, "")
		}
		if one, two := stats(name), stats(missing); one != two {
			t.Errorf("%s: %s of what is hidden, %s of what is not there", path, one, two)
		}
	}
}

// TestPolicyFactsStandSideBySide: a rule that would close another one, or expire
// into nothing, is refused with what to do.
func TestPolicyFactsStandSideBySide(t *testing.T) {
	_, admin, _ := governed(t, "")
	rule := `{"subject":"Role:analyst","predicate":"denies","object":"Permission:facts:read"`
	for more, field := range map[string]string{``: "policy", `,"policy":"reject"`: "policy", `,"policy":"coexist","transient":true,"valid_until":"2999-01-01"`: "transient"} {
		if e := admin.post("/api/facts", rule+more+"}").fails(http.StatusBadRequest, "SchemaInvalid"); e["field"] != field {
			t.Errorf("%s blames %v", more, e)
		}
	}
	admin.post("/api/facts", rule+`,"policy":"coexist"}`).status(http.StatusCreated)
	admin.get("/api/facts").fails(http.StatusForbidden, "Forbidden")
}

// TestPolicyDenialsHoldOnBranches: what is denied on a branch is denied on every branch
// that stands upon it, where its facts are inherited, in reads, guards, promotions and
// simulations; what is denied on a branch alone is denied there alone.
func TestPolicyDenialsHoldOnBranches(t *testing.T) {
	_, admin, agent := governed(t, `{"version":"v1","rules":[{"role":"admin","permissions":["*"]},{"agent":"agent-7","permissions":["*"]},
		{"agent":"agent-7","effect":"deny","permissions":["facts:read"],"predicates":["salary"],"branches":["main"]},
		{"agent":"agent-7","effect":"deny","permissions":["facts:read"],"predicates":["plan"],"branches":["side"]}]}`)
	admin.assert("Person:p", "salary", `"canary"`)
	admin.assert("Person:p", "plan", `"open"`)
	agent.post("/api/branches", `{"name":"side"}`).status(http.StatusCreated)
	agent.post("/api/branches", `{"name":"deep","parent":"side"}`).status(http.StatusCreated)
	admin.post("/api/facts?branch=side", `{"subject":"Person:p","predicate":"salary","object":"canary too"}`).status(http.StatusCreated)
	admin.post("/api/facts?branch=side", `{"subject":"Person:p","predicate":"plan","object":"canary three"}`).status(http.StatusCreated)
	for _, branch := range []string{"main", "side", "deep"} {
		for _, path := range []string{"/api/facts?status=all&", "/api/facts?subject=Person:p&", "/api/facts?predicate=salary&", "/api/search?q=canary&", "/api/context?goal=salary&", "/api/changes?from=0&to=4000000000000&"} {
			got := agent.get(path + "branch=" + branch).status(http.StatusOK).Body
			if strings.Contains(got, "canary t") || strings.Contains(got, `"predicate":"salary"`) {
				t.Errorf("%s on %s shows %s", path, branch, got)
			}
		}
		agent.post("/api/transact?branch="+branch, `{"compares":[{"subject":"Person:p","predicate":"salary","expect":"x"}],"asserts":[{"subject":"a","predicate":"b","object":"c"}]}`).fails(http.StatusForbidden, "Forbidden")
		if got := admin.post("/api/policy/simulate", `{"principal":"agent-7","permission":"facts:read","predicate":"salary","branch":"`+branch+`"}`).object(); got["why"] != "denied" {
			t.Errorf("simulated on %s: %v", branch, got)
		}
	}
	if got := agent.get("/api/facts?predicate=plan").list(); len(got) != 1 {
		t.Errorf("a denial on a branch holds on main: %v", got)
	}
	admin.assert("Person:p", "plan", `"closed"`)
	if got := agent.post("/api/branches/side/promote", `{"dry_run":true}`).status(http.StatusOK).Body; strings.Contains(got, "canary") {
		t.Errorf("a promotion shows %s", got)
	}
}

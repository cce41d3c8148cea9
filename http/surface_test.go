package http_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	httpd "abagraph/http"
)

func TestEntitiesAndPredicates(t *testing.T) {
	r := start(t, "")
	r.assert("Person:alice", "works_at", `"Company:beta"`)
	r.assert("Person:alice", "title", `"Staff Engineer"`)
	r.assert("orphan-node", "p", "1")
	r.assert("Path:a/b c", "p", "1")
	r.assert("https://example.test/x", "p", "1")
	const want = `[{"id":"Path:a/b c","kind":null,"name":"Path:a/b c","fact_count":1},{"id":"Person:alice","kind":"Person","name":"alice","fact_count":2},` +
		`{"id":"https://example.test/x","kind":null,"name":"https://example.test/x","fact_count":1},{"id":"orphan-node","kind":null,"name":"orphan-node","fact_count":1}]`
	if got := r.get("/api/entities").status(http.StatusOK); got.Body != want || got.Header.Get("X-Abagraph-Next") != "" {
		t.Errorf("entities: %s", got.Body)
	}
	page := r.get("/api/entities?limit=2").status(http.StatusOK)
	if len(page.list()) != 2 || page.Header.Get("X-Abagraph-Next") != "Person%3Aalice" {
		t.Errorf("a page: %s %v", page.Body, page.Header)
	}
	if got := column(r.get("/api/entities?after="+page.Header.Get("X-Abagraph-Next")).list(), "id"); got != `"https://example.test/x","orphan-node"` {
		t.Errorf("the next page: %s", got)
	}
	if got := r.get("/api/predicates").Body; got != `["p","title","works_at"]` {
		t.Errorf("predicates: %s", got)
	}
	if got := r.get("/api/predicates?after=p&limit=1"); got.Body != `["title"]` || got.Header.Get("X-Abagraph-Next") != "title" {
		t.Errorf("predicates: %s", got.Body)
	}
	for _, path := range []string{"Person%3Aalice", "Person:alice"} {
		e := r.get("/api/entities/" + path).status(http.StatusOK).object()
		if e.text("id") != "Person:alice" || e.text("kind") != "Person" || e.text("name") != "alice" || len(e["facts"].([]any)) != 2 {
			t.Errorf("%s: %v", path, e)
		}
	}
	for path, id := range map[string]string{"Path:a/b%20c": "Path:a/b c", "Path%3Aa%2Fb%20c": "Path:a/b c", "https://example.test/x": "https://example.test/x", "orphan-node": "orphan-node"} {
		if got := r.get("/api/entities/" + path).status(http.StatusOK).object(); got.text("id") != id {
			t.Errorf("%s: %v", path, got)
		}
	}
	if got := r.get("/api/entities/Company:beta").status(http.StatusOK).object(); got.text("facts") != "[]" {
		t.Errorf("known as an object only: %v", got)
	}
	e := r.get("/api/entities/Person:unknown").fails(http.StatusNotFound, "NotFound")
	if e.text("message") != "no entity: Person:unknown" {
		t.Errorf("message %s", e.text("message"))
	}
}

// IDN-02: case and near spellings are other things; white space is refused.
func TestIDN02CaseVariants(t *testing.T) {
	r := start(t, "")
	for _, s := range []string{"Service:Billing", "service:billing", "Chip:QX1603", "Chip:QX1605"} {
		r.assert(s, "works_at", "1")
		r.assert(s, "Works_At", "2")
	}
	r.post("/api/facts", `{"subject":"Service:billing ","predicate":"p"}`).fails(http.StatusBadRequest, "SchemaInvalid")
	if got := r.get("/api/entities").list(); len(got) != 4 {
		t.Errorf("entities: %v", got)
	}
	if got := r.get("/api/stats").object(); got.text("entities") != "4" || got.text("predicates") != "2" {
		t.Errorf("stats: %v", got)
	}
	if got := column(r.get("/api/facts?subject=service:billing&predicate=works_at").list(), "object"); got != "1" {
		t.Errorf("facts: %s", got)
	}
	// One name in two compositions is one thing, in writes and in filters.
	r.assert("Caf\u00e9:x", "p", "1")
	if got := r.assert("Cafe\u0301:x", "p", "2"); got.text("superseded") != "1" {
		t.Errorf("composed and decomposed differ: %v", got)
	}
	if got := r.get("/api/facts?subject=" + url.QueryEscape("Cafe\u0301:x")).list(); column(got, "object") != "2" {
		t.Errorf("filter: %v", got)
	}
}

// IDN-03: names that are query syntax elsewhere are plain names here.
func TestIDN03NamesThatAreSyntax(t *testing.T) {
	r := start(t, "")
	names := []string{"a-b", "x | y", `C:\dir\f.txt`, `"quoted"`, "*", "?", "(", "NOT", "OR", "%", "_", "'; --", "${x}", "🙂", "a/b", "a&b=c", "#x", "..", "a+b", "%41", "null"}
	for i, name := range names {
		body, _ := json.Marshal(map[string]any{"subject": name, "predicate": name, "object": i})
		r.post("/api/facts", string(body)).status(http.StatusCreated)
	}
	for i, name := range names {
		q := url.QueryEscape(name)
		for _, filter := range []string{"subject=" + q, "predicate=" + q, "subject=" + q + "&predicate=" + q} {
			if got := column(r.get("/api/facts?"+filter).status(http.StatusOK).list(), "object"); got != fmt.Sprint(i) {
				t.Errorf("%s: %s", filter, got)
			}
		}
		if got := r.get("/api/entities/" + url.PathEscape(name)).status(http.StatusOK).object(); got.text("id") != name {
			t.Errorf("entity %s: %v", name, got)
		}
	}
	r.get("/api/facts?subject="+strings.Repeat("x", 10_000)).fails(http.StatusBadRequest, "SchemaInvalid")
	if got := r.post("/api/admin/purge?prefix=%25&confirm=1", "").status(http.StatusOK).object(); got.text("deleted") != "2" {
		t.Errorf("purge of %%: %v", got) // % and %41, and no wildcard
	}
	if got := r.post("/api/admin/purge?subject=*&confirm=1", "").status(http.StatusOK).object(); got.text("deleted") != "1" {
		t.Errorf("purge of *: %v", got)
	}
}

func TestPurge(t *testing.T) {
	r := start(t, "root-key")
	a := r.as(r.post("/api/tenants", `{"id":"a"}`).object().text("key"))
	for i := range 4 {
		a.assert(fmt.Sprintf("Contact:%d", i), "p", "1")
	}
	a.assert("Person:alice", "p", "1")
	a.assert("Person:alice", "p", "2")
	r.assert("Person:alice", "p", "3")
	if got := r.get("/api/admin/purge?prefix=Contact:").status(http.StatusOK).Body; got != `{"prefix":"Contact:","facts":4,"dry_run":true}` {
		t.Errorf("preview: %s", got)
	}
	if got := r.get("/api/admin/purge?kind=Contact").Body; got != `{"kind":"Contact","facts":4,"dry_run":true}` {
		t.Errorf("preview by kind: %s", got)
	}
	r.post("/api/admin/purge?subject=Person:alice", "").fails(http.StatusBadRequest, "SchemaInvalid")
	for _, query := range []string{"", "?subject=", "?subject=A:1&kind=A"} {
		r.get("/api/admin/purge"+query).fails(http.StatusBadRequest, "SchemaInvalid")
	}
	if got := r.post("/api/admin/purge", "").fails(http.StatusBadRequest, "SchemaInvalid"); got.text("message") != "need ?kind= , ?prefix= or ?subject=" {
		t.Errorf("a purge of nothing, unconfirmed: %v", got)
	}
	if got := r.get("/api/admin/purge").fails(http.StatusBadRequest, "SchemaInvalid"); got.text("message") != "need ?kind= , ?prefix= or ?subject=" {
		t.Errorf("message %s", got.text("message"))
	}
	if got := r.post("/api/admin/purge?subject=Person:alice&tenant=a&confirm=1", "").status(http.StatusOK).Body; got != `{"subject":"Person:alice","deleted":2,"dry_run":false}` {
		t.Errorf("purge: %s", got)
	}
	if got := column(r.get("/api/facts?subject=Person:alice&status=all").list(), "object"); got != "3" {
		t.Errorf("left: %s", got)
	}
	r.post("/api/admin/purge?kind=Contact&confirm=1", "").status(http.StatusOK)
	if got := a.get("/api/facts?status=all").list(); len(got) != 0 {
		t.Errorf("left in a: %v", got)
	}
	if logs := r.logs.String(); strings.Count(logs, "abagraph.admin.purge") != 2 || strings.Contains(logs, "Person:alice") {
		t.Errorf("logs: %s", logs)
	}
}

func TestStatsHealthObservability(t *testing.T) {
	r := start(t, "")
	r.assert("A:1", "p", "1")
	r.assert("A:1", "p", "2")
	r.assert("A:2", "q", "3", `"confidence":0.5`)
	const want = `{"facts":{"active":1,"superseded":1,"retracted":0,"candidate":1,"total":3},"entities":2,"predicates":2,"tenants":1,"tenant":"default","tx":3,"version":"0.1.0"}`
	if got := r.get("/api/stats").status(http.StatusOK).Body; got != want {
		t.Errorf("stats: %s", got)
	}
	if got := r.get("/api/health").Body; got != `{"ok":true}` {
		t.Errorf("health: %s", got)
	}
	o := r.get("/api/observability").status(http.StatusOK).object()
	for _, field := range []string{"window", "uptime_ms", "total_events", "errors", "error_rate", "events_24h", "freshness_ms", "by_event", "recent"} {
		if o[field] == nil {
			t.Errorf("observability lacks %s: %v", field, o)
		}
	}
	if cluster, told := o["cluster"]; !told || cluster != nil {
		t.Errorf("a server that knows of no cluster tells %v", cluster)
	}
	if !strings.Contains(r.logs.String(), `"event":"abagraph.server.start","bind":"127.0.0.1:`) {
		t.Errorf("no start event: %s", r.logs.String())
	}
}

func TestConnectAndIndex(t *testing.T) {
	r := start(t, "root-key")
	c := r.at("localhost:7700").get("/api/connect").status(http.StatusOK)
	if got := c.object(); got.text("rest_base") != "http://localhost:7700/api" || got.text("stream_endpoint") != "http://localhost:7700/api/stream" ||
		got.text("tenant") != "admin" || got.text("auth") != "Authorization: Bearer <YOUR_API_KEY>" {
		t.Errorf("connect: %v", got)
	}
	if strings.Contains(c.Body, "root-key") {
		t.Error("the key is echoed")
	}
	public := start(t, "root-key", func(c *httpd.Config) { c.BaseDomain = "example.test" })
	if got := public.at("acme.example.test").get("/api/connect").object(); got.text("rest_base") != "https://acme.example.test/api" {
		t.Errorf("connect: %v", got)
	}
	if got := r.get("/api").object(); got.text("name") != "abagraph" {
		t.Errorf("index: %v", got)
	}
}

// C-27: explain=1 on every endpoint, with figures that were measured.
func TestExplainEverywhere(t *testing.T) {
	r := start(t, "root-key")
	key := r.post("/api/tenants?explain=1", `{"id":"a"}`).status(http.StatusCreated)
	explained := func(p *reply, op string, stats ...string) doc {
		t.Helper()
		d := p.object()
		e, ok := d["explain"].(map[string]any)
		if !ok || d["result"] == nil || doc(e).text("op") != op || e["plan"] == "" {
			t.Fatalf("%s: %s", op, p.Body)
		}
		if ms, err := e["total_ms"].(json.Number).Float64(); err != nil || ms < 0 {
			t.Errorf("%s: total_ms %v", op, e["total_ms"])
		}
		if len(e["steps"].([]any)) == 0 {
			t.Errorf("%s: no steps", op)
		}
		for _, s := range stats {
			name, want, _ := strings.Cut(s, "=")
			if got := doc(e["stats"].(map[string]any)).text(name); got != want {
				t.Errorf("%s: %s is %s, want %s", op, name, got, want)
			}
		}
		return d
	}
	explained(key, "change_tenants")
	r.assert("A:1", "p", "1")
	done := explained(r.post("/api/facts?explain=true", `{"subject":"A:1","predicate":"p","object":2}`).status(http.StatusCreated), "assert_fact",
		"policy=auto_supersede", "active_before=1", "active_after=1", "active_delta=0", "status=active")
	explained(r.post("/api/facts?explain=1", `{"subject":"A:1","predicate":"p","object":3,"confidence":0.1}`), "assert_fact", "status=candidate", "active_delta=0")
	id := doc(done["result"].(map[string]any)).text("id")
	list := explained(r.get("/api/facts?subject=A:1&explain=1"), "query_facts", "input.subject=A:1", "results=1", "limit_hit=false")
	if plan := list["explain"].(map[string]any)["plan"]; plan != "pick by_subject index" {
		t.Errorf("plan %v", plan)
	}
	tail := explained(r.get("/api/facts?predicate=p&status=active&as_of=5&limit=1&explain=1"), "query_facts")
	if plan := tail["explain"].(map[string]any)["plan"].(string); !strings.HasPrefix(plan, "pick by_predicate index → status filter, as_of time travel") {
		t.Errorf("plan %v", plan)
	}
	for _, q := range [][2]string{{"object=2", "by_object"}, {"limit=5", "full_scan"}} {
		got := explained(r.get("/api/facts?explain=1&"+q[0]), "query_facts")
		if plan := got["explain"].(map[string]any)["plan"].(string); !strings.Contains(plan, q[1]) {
			t.Errorf("%s: plan %v", q[0], plan)
		}
	}
	for path, op := range map[string]string{
		"/api/health": "health", "/api/ready": "ready", "/api/stats": "stats", "/api/observability": "observability", "/api/entities": "list_entities",
		"/api/entities/A:1": "get_entity", "/api/predicates": "list_predicates", "/api/connect": "connect", "/api/session": "session", "/api/tenants": "list_tenants",
		"/api/tenants/a": "get_tenant", "/api/tenants/a/keys": "list_keys", "/api/admin/purge?subject=A:1": "purge_preview", "/api": "index",
		"/api/facts/" + id: "get_fact", "/api/facts/" + id + "/history": "history",
	} {
		glue := "?"
		if strings.Contains(path, "?") {
			glue = "&"
		}
		explained(r.get(path+glue+"explain=1").status(http.StatusOK), op)
	}
	explained(r.post("/api/transact?explain=1", `{"asserts":[{"subject":"A:1","predicate":"p","object":9}]}`), "transact", "superseded=1")
	explained(r.delete("/api/facts/"+id+"?explain=1"), "retract_fact", "status=retracted")
	explained(r.post("/api/admin/purge?subject=A:1&confirm=1&explain=1", ""), "purge")
	explained(r.post("/api/session?explain=1", `{"key":"root-key"}`), "log_in")
	r.get("/api/facts?explain=1&limit=-1").fails(http.StatusBadRequest, "SchemaInvalid")
}

func TestMetricsHaveBoundedLabels(t *testing.T) {
	r := start(t, "root-key")
	r.assert("Secret:subject", "p", "1")
	r.get("/api/facts/some-id-of-mine")
	r.get("/no/such/route")
	got := r.as("").get("/metrics").status(http.StatusOK).Body
	for _, line := range []string{
		`abagraph_http_requests_total{method="POST",route="/api/facts",status="2xx"} 1`,
		`abagraph_http_requests_total{method="GET",route="/api/facts/:id",status="4xx"} 1`,
		`abagraph_http_requests_total{method="other",route="unmatched",status="4xx"} 1`,
		`abagraph_facts{status="active"} 1`, "abagraph_stream_subscribers 0", "abagraph_http_request_seconds_bucket",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("no line %s", line)
		}
	}
	for _, secret := range []string{"Secret:subject", "some-id-of-mine", "such/route"} {
		if strings.Contains(got, secret) {
			t.Errorf("%s is in a label", secret)
		}
	}
}

// OBS-01: no secret reaches a log, a metric or an error.
func TestOBS01SecretsStaySecret(t *testing.T) {
	const root, mark = "rootsecret-0123456789", "marksecret-9876543210"
	r := start(t, root)
	tenant := r.post("/api/tenants", `{"id":"a"}`).object().text("key")
	a := r.as(tenant)
	var bodies strings.Builder
	keep := func(p *reply) { bodies.WriteString(p.Body + fmt.Sprint(p.Header)) }
	for _, who := range []*rig{r, a, r.as(mark), r.as("")} {
		keep(who.get("/api/facts?token=" + mark))
		keep(who.get("/api/facts?subject=" + mark + "%20"))
		keep(who.post("/api/facts", `{"subject":"A:1","predicate":"p","`+mark[:8]+`":1`))
		keep(who.get("/api/facts?explain=1"))
		keep(who.post("/api/session", `{"key":"`+mark+`"}`))
		keep(who.get("/api/connect"))
		keep(who.get("/metrics"))
		keep(who.get("/"+mark, "Cookie: abagraph_session="+mark))
		keep(who.do("PUT", "/api/facts?key="+mark, "x"))
	}
	keep(r.get("/api/facts?tx_gt=99999"))
	keep(r.get("/api/tenants/a/keys"))
	keep(r.get("/api/facts?tenant=&subject=Tenant:a&status=all"))
	for name, text := range map[string]string{"logs": r.logs.String(), "answers": bodies.String()} {
		for _, secret := range []string{root[:14], tenant[4:12], mark[:14]} {
			if secret == mark[:14] && name == "answers" {
				continue // a caller may be shown its own words
			}
			if strings.Contains(text, secret) {
				t.Errorf("%q is in the %s", secret, name)
			}
		}
	}
}

// TEN-01: with one tenant's key nothing of another's shows, on any read.
func TestTEN01TheCanaryNeverShows(t *testing.T) {
	alone, shared := start(t, "root-key"), start(t, "root-key")
	answers := func(r *rig, withB bool) string {
		a := r.as(r.post("/api/tenants", `{"id":"a"}`).object().text("key"))
		b := r.as(r.post("/api/tenants", `{"id":"b"}`).object().text("key"))
		if withB {
			for i := range 3 {
				b.assert("Canary:s", "canary_p", fmt.Sprintf(`"canary object %d"`, i), `"source":"canary source"`, `"properties":{"canary":1}`, `"policy":"coexist"`, `"confidence":0.9`)
				b.assert("Person:p", "works_at", `"canary"`, `"policy":"coexist"`, fmt.Sprintf(`"valid_from":%d`, i))
				r.delete("/api/facts/" + b.get("/api/facts").list()[0].text("id") + "?tenant=b")
			}
			b.post("/api/facts", `{"subject":"Canary:s","predicate":"canary_low","confidence":0.1}`)
		}
		f := a.assert("Person:p", "works_at", `"Org:x"`)
		a.assert("Person:p", "works_at", `"Org:y"`)
		var all strings.Builder
		for _, path := range []string{"/api/facts", "/api/facts?status=all&limit=10000", "/api/facts?as_of=6", "/api/facts?object=canary", "/api/facts?predicate=canary_p",
			"/api/facts?subject=Canary:s&status=all", "/api/facts?tx_gt=0", "/api/facts?tenant=b", "/api/entities", "/api/entities?limit=1", "/api/entities/Canary:s",
			"/api/predicates", "/api/stats", "/api/connect", "/api/session", "/api/facts/" + f.text("id") + "/history", "/api/facts/" + f.text("id")} {
			for _, explain := range []string{"", "explain=1"} {
				glue := "?"
				if strings.Contains(path, "?") {
					glue = "&"
				}
				p := a.get(strings.TrimSuffix(path+glue+explain, glue))
				if strings.Contains(strings.ToLower(p.Body+fmt.Sprint(p.Header)), "canary\"") || strings.Contains(p.Body, "canary ") {
					t.Errorf("%s shows the canary: %s", path, p.Body)
				}
				all.WriteString(scrub(path, p))
			}
		}
		return all.String()
	}
	if one, two := answers(alone, false), answers(shared, true); one != two {
		t.Errorf("answers depend on another tenant:\n%s\n%s", one, two)
	}
}

// scrub leaves out of an answer what C-24 lets depend on others: txs, times and
// ids, and the times measured by explain.
func scrub(path string, p *reply) string {
	if strings.HasPrefix(path, "/api/facts/") {
		path = "one fact"
	}
	var v any
	if err := json.Unmarshal([]byte(p.Body), &v); err != nil {
		return path + " " + p.Body
	}
	text, _ := json.Marshal(scrubValue(v))
	return fmt.Sprintln(path, p.Status, string(text))
}

func scrubValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			switch name {
			case "tx", "id", "valid_from", "valid_until", "recorded_at", "stated_from", "stated_until", "superseded_by", "continues", "ms", "total_ms", "rest_base", "stream_endpoint", "snippets", "superseded_ids":
				delete(v, name)
			default:
				v[name] = scrubValue(inner)
			}
		}
	case []any:
		for i := range v {
			v[i] = scrubValue(v[i])
		}
	}
	return v
}

// TEN-03: knowing an id is not enough, and looks like not knowing it.
func TestTEN03KnowingAnID(t *testing.T) {
	r := start(t, "root-key")
	a := r.as(r.post("/api/tenants", `{"id":"a"}`).object().text("key"))
	b := r.as(r.post("/api/tenants", `{"id":"b"}`).object().text("key"))
	theirs := b.assert("B:1", "p", `"x"`).text("id")
	unknown := "00000000-0000-7000-8000-000000000000"
	tx := func(id string) string {
		return `{"asserts":[{"subject":"A:1","predicate":"p"}],"retracts":["` + id + `"]}`
	}
	for _, call := range []func(id string) *reply{
		func(id string) *reply { return a.get("/api/facts/" + id) },
		func(id string) *reply { return a.get("/api/facts/" + id + "/history") },
		func(id string) *reply { return a.get("/api/facts/" + id + "?tx=3") },
		func(id string) *reply { return a.delete("/api/facts/" + id) },
		func(id string) *reply { return a.post("/api/transact", tx(id)) },
	} {
		got, want := call(theirs), call(unknown)
		got.fails(http.StatusNotFound, "NotFound")
		got.Body = strings.ReplaceAll(got.Body, theirs, unknown)
		got.Header.Del("X-Abagraph-Now")
		want.Header.Del("X-Abagraph-Now")
		if !same(got, want) {
			t.Errorf("another's id: %s %v\nan unknown one: %s %v", got.Body, got.Header, want.Body, want.Header)
		}
	}
	if got := a.get("/api/facts?status=all").list(); len(got) != 0 {
		t.Errorf("a mixed batch wrote: %v", got)
	}
	if got := b.get("/api/facts/" + theirs).object(); got.text("status") != "active" {
		t.Errorf("b's fact: %v", got)
	}
	a.post("/api/transact", `{"compares":[{"subject":"B:1","predicate":"p","expect":"x"}],"asserts":[{"subject":"A:1","predicate":"p"}]}`).fails(http.StatusConflict, "CompareFailed")
}

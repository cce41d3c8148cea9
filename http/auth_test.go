package http_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	httpd "abagraph/http"
)

// same reports whether two answers are one to the byte, the date apart.
func same(a, b *reply) bool {
	ah, bh := a.Header.Clone(), b.Header.Clone()
	ah.Del("Date")
	bh.Del("Date")
	return a.Status == b.Status && a.Body == b.Body && fmt.Sprint(ah) == fmt.Sprint(bh)
}

// C-42: a denied call and a route that does not exist are one answer.
func TestDeniedIsAMissingRoute(t *testing.T) {
	r := start(t, "root-key")
	anyone := r.as("")
	missing := anyone.get("/api/nothing").status(http.StatusNotFound)
	missing.fails(http.StatusNotFound, "NotFound")
	for _, call := range []struct{ method, path, body string }{
		{"GET", "/api/facts", ""}, {"POST", "/api/facts", `{"subject":"A:1","predicate":"p"}`}, {"POST", "/api/facts", `{`},
		{"DELETE", "/api/facts/x", ""}, {"PUT", "/api/facts", "x"}, {"GET", "/api/stream", ""}, {"GET", "/api/tenants", ""},
		{"POST", "/api/admin/purge?confirm=1", ""}, {"GET", "/api/stats?nonsense=1", ""}, {"POST", "/mcp", "{}"}, {"POST", "/", ""},
		{"GET", "/api/facts?token=root-key", ""}, {"GET", "/api/facts?access_token=root-key", ""}, {"OPTIONS", "/api/facts", ""},
		{"GET", "/api/facts/", ""}, {"GET", "/api//facts", ""}, {"GET", "/API/FACTS", ""}, {"GET", "/api/session", ""}, {"GET", "/v1/x", ""},
	} {
		for _, who := range []*rig{anyone, r.as("wrong-key")} {
			if got := who.do(call.method, call.path, call.body); !same(got, missing) {
				t.Errorf("%s %s: %d %s %v", call.method, call.path, got.Status, got.Body, got.Header)
			}
		}
	}
	if got := r.get("/api/nothing"); !same(got, missing) {
		t.Errorf("with a key, a missing route differs: %v", got.Header)
	}
	for _, header := range []string{"Authorization: Basic cm9vdC1rZXk=", "Authorization: root-key", "Authorization: Bearer", "Authorization: Bearer root-key x"} {
		if got := anyone.get("/api/facts", header); !same(got, missing) {
			t.Errorf("%s: %d", header, got.Status)
		}
	}
	r.as("").get("/api/facts", "Authorization: bearer root-key").status(http.StatusOK)
	for _, path := range []string{"/api", "/v1", "/api/"} {
		got := anyone.get(path)
		got.fails(http.StatusUnauthorized, "Unauthorized")
		if got.Header.Get("WWW-Authenticate") == "" {
			t.Error("no challenge")
		}
		r.get(path).status(http.StatusOK)
	}
	anyone.get("/api/health").status(http.StatusOK)
	anyone.get("/api/ready").status(http.StatusOK)
	if logs := r.logs.String(); !strings.Contains(logs, `"event":"abagraph.auth.denied","path":"/api/facts"`) {
		t.Errorf("denials are not logged: %s", logs)
	}
}

func TestWEB04MethodsAndHead(t *testing.T) {
	r := start(t, "root-key")
	// WEB-04: the wrong method says which ones are right, HEAD is GET without a body.
	got := r.do("PUT", "/api/facts", `{}`)
	got.fails(http.StatusMethodNotAllowed, "MethodNotAllowed")
	if allow := got.Header.Get("Allow"); !strings.Contains(allow, "GET") || !strings.Contains(allow, "POST") {
		t.Errorf("Allow: %s", allow)
	}
	for _, path := range []string{"/api/health", "/api/facts", "/api/stats", "/api/entities", "/metrics"} {
		head, get := r.do("HEAD", path, ""), r.get(path)
		if head.Status != http.StatusOK || head.Body != "" || head.Header.Get("Content-Type") != get.Header.Get("Content-Type") {
			t.Errorf("HEAD %s: %d %q %v", path, head.Status, head.Body, head.Header)
		}
	}
	if head := r.do("HEAD", "/api/stream", ""); head.Status != http.StatusOK || head.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("HEAD of the stream: %v", head)
	}
	r.get("/api/facts/?subject=A:1").status(http.StatusNotFound)
}

// WEB-04, MCP-04 (REST part): who may call from a browser.
func TestOriginsAndHosts(t *testing.T) {
	r := start(t, "root-key", func(c *httpd.Config) { c.AllowedOrigins = []string{"https://console.example.test"} })
	for _, origin := range []string{"https://evil.example.test", "null", "http://localhost.evil.example.test", "https://console.example.test.evil.test", "file://"} {
		for _, path := range []string{"/api/facts", "/api/health", "/api/stream", "/nothing"} {
			r.get(path, "Origin: "+origin).fails(http.StatusForbidden, "Forbidden")
		}
		r.do("OPTIONS", "/api/facts", "", "Origin: "+origin, "Access-Control-Request-Method: POST").fails(http.StatusForbidden, "Forbidden")
	}
	for _, path := range []string{"/api/facts", "/api/stream", "/nothing", "/mcp"} {
		for _, who := range []*rig{r, r.as("")} {
			got := who.do("OPTIONS", path, "", "Origin: https://console.example.test", "Access-Control-Request-Method: POST")
			if got.Status != http.StatusNoContent || got.Header.Get("Access-Control-Allow-Origin") != "https://console.example.test" || got.Header.Get("Vary") != "Origin" {
				t.Errorf("preflight of %s: %d %v", path, got.Status, got.Header)
			}
		}
	}
	got := r.get("/api/facts", "Origin: https://console.example.test").status(http.StatusOK)
	if got.Header.Get("Access-Control-Allow-Origin") == "" {
		t.Error("an allowed origin is not told so")
	}
	r.get("/api/facts", "Origin: "+r.url).status(http.StatusOK)
	for _, host := range []string{"evil.example.test", "192.0.2.1", "127.0.0.1.evil.test"} {
		r.at(host).get("/api/health").fails(http.StatusForbidden, "Forbidden")
	}
	for _, host := range []string{"localhost", "LOCALHOST:80", "localhost.", "127.0.0.2", "[::1]:99"} {
		r.at(host).get("/api/health").status(http.StatusOK)
	}
	r.do("POST", "/api/facts", `{"subject":"A:1","predicate":"p"}`, "Content-Type: text/plain").fails(http.StatusBadRequest, "SchemaInvalid")
	r.do("POST", "/api/facts", `{"subject":"A:1","predicate":"p"}`, "Content-Type: application/json; charset=utf-8").status(http.StatusCreated)
}

// While auth is off, a page that gives this machine a name of its own gets
// nothing, also where the server has a domain.
func TestRebindingWithoutAuth(t *testing.T) {
	r := start(t, "", func(c *httpd.Config) { c.BaseDomain = "example.test" })
	for host, want := range map[string]int{"example.test": 200, "a.example.test": 200, "localhost": 200, "evil.test": 403, "example.test.evil.test": 403} {
		if got := r.at(host).get("/api/facts").Status; got != want {
			t.Errorf("%s: %d, want %d", host, got, want)
		}
	}
}

func TestSessions(t *testing.T) {
	r := start(t, "root key/ü")
	a := r.post("/api/tenants", `{"id":"acme"}`).status(http.StatusCreated).object()
	anyone := r.as("")
	for key, want := range map[string]string{a.text("key"): `{"scope":"tenant","tenant":"acme"}`, "root key/ü": `{"scope":"admin"}`} {
		got := anyone.post("/api/session", `{"key":"`+key+`"}`).status(http.StatusOK)
		if got.Body != want {
			t.Errorf("log in: %s", got.Body)
		}
		cookie := got.Header.Get("Set-Cookie")
		if !strings.HasPrefix(cookie, "abagraph_session=") || !strings.Contains(cookie, "Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax") {
			t.Errorf("cookie %s", cookie)
		}
		cookie, _, _ = strings.Cut(cookie, ";")
		anyone.get("/api/facts", "Cookie: "+cookie).status(http.StatusOK)
		fact := `{"subject":"A:1","predicate":"p"}`
		anyone.post("/api/facts", fact, "Cookie: "+cookie).fails(http.StatusForbidden, "Forbidden")
		anyone.post("/api/facts", fact, "Cookie: "+cookie, "Origin: "+r.url).status(http.StatusCreated)
		anyone.get("/api/facts", "Cookie: "+cookie, "Authorization: Bearer wrong").status(http.StatusNotFound)
	}
	missing := anyone.get("/api/nothing")
	if got := anyone.post("/api/session", `{"key":"wrong"}`); !same(got, missing) {
		t.Errorf("a wrong key: %d %s %v", got.Status, got.Body, got.Header)
	}
	out := anyone.delete("/api/session").status(http.StatusOK)
	if !strings.Contains(out.Header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("log out: %v", out.Header)
	}
	// Revoking a key ends its sessions at once.
	cookie := "Cookie: abagraph_session=" + a.text("key")
	anyone.get("/api/session", cookie).status(http.StatusOK)
	r.delete("/api/tenants/acme/keys/" + a.text("key_id")).status(http.StatusOK)
	anyone.get("/api/session", cookie).status(http.StatusNotFound)
	r.as(a.text("key")).get("/api/facts").status(http.StatusNotFound)
}

// raw sends bytes and returns the answer's first line, having checked that its
// body is the envelope of an error.
func (r *rig) raw(request string) string {
	r.t.Helper()
	answer, first := r.answer(r.connect(request))
	e, _ := answer.object()["error"].(map[string]any)
	answer.fails(answer.Status, doc(e).text("code"))
	return first
}

// What net/http refuses before any handler has the one envelope too.
func TestRefusalsOfTheProtocolAreEnveloped(t *testing.T) {
	r := start(t, "")
	for request, want := range map[string]string{
		"GET /api/health HTTP/1.1\r\n\r\n":              "400",
		"GET /api/health HTTP/1.1\r\nHost: a b\r\n\r\n": "400",
		"nonsense\r\n\r\n":                              "400",
		"GET /api/health HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 1<<20+6000) + "\r\n\r\n": "431",
		"POST /api/facts HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: zip\r\n\r\n":                     "501",
		"POST /api/facts HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n":                          "400",
	} {
		if got := r.raw(request); !strings.Contains(got, want) {
			t.Errorf("%.60q: %s, want %s", request, got, want)
		}
	}
	r.get("/api/health").status(http.StatusOK)
}

// TEN-04: token and host must agree.
func TestTEN04WhichHostDecides(t *testing.T) {
	r := start(t, "root-key", func(c *httpd.Config) { c.BaseDomain = "example.test" })
	a := r.as(r.post("/api/tenants", `{"id":"a"}`).object().text("key"))
	r.post("/api/tenants", `{"id":"b"}`).status(http.StatusCreated)
	for host, want := range map[string]int{
		"a.example.test": 200, "A.EXAMPLE.TEST:443": 200, "a.example.test.": 200, "example.test": 200, "www.example.test": 200,
		"elsewhere.test": 200, "127.0.0.1": 200, "b.example.test": 404, "a.b.example.test": 404, "b.a.example.test": 404,
		"unknown.example.test": 404, "a_b.example.test": 404, ".example.test": 404,
	} {
		if got := a.at(host).get("/api/facts").Status; got != want {
			t.Errorf("tenant a on %s: %d, want %d", host, got, want)
		}
	}
	a.at("a.example.test").get("/api/facts", "X-Forwarded-Host: b.example.test").status(http.StatusOK)
	a.at("b.example.test").get("/api/facts", "X-Forwarded-Host: a.example.test").status(http.StatusNotFound)
	r.at("b.example.test").get("/api/facts").status(http.StatusOK)
	cookie := a.as("").at("a.example.test").post("/api/session", `{"key":"`+a.key+`"}`).status(http.StatusOK).Header.Get("Set-Cookie")
	if !strings.Contains(cookie, "Secure") || strings.Contains(cookie, "Domain") {
		t.Errorf("cookie %s", cookie)
	}
	a.as("").at("b.example.test").post("/api/session", `{"key":"`+a.key+`"}`).status(http.StatusNotFound)
	a.as("").at("b.example.test").get("/api/facts", "Cookie: abagraph_session="+a.key).status(http.StatusNotFound)
	missing := a.at("b.example.test").get("/api/nothing")
	if got := a.at("b.example.test").get("/api/facts"); !same(got, missing) {
		t.Error("another tenant's subdomain differs from a missing route")
	}
	raw := func(request string) string { return r.raw(strings.ReplaceAll(request, "KEY", a.key)) }
	if got := raw("GET /api/facts HTTP/1.1\r\nHost: a.example.test\r\nHost: b.example.test\r\nAuthorization: Bearer KEY\r\n\r\n"); !strings.Contains(got, " 400") {
		t.Errorf("two Host headers: %s", got)
	}
	if got := raw("GET /api/facts HTTP/1.1\r\nHost: user@a.example.test\r\nAuthorization: Bearer KEY\r\n\r\n"); !strings.Contains(got, " 400") {
		t.Errorf("user information in the Host: %s", got)
	}
	if got := raw("GET http://b.example.test/api/facts HTTP/1.1\r\nHost: a.example.test\r\nAuthorization: Bearer KEY\r\n\r\n"); !strings.Contains(got, " 404") {
		t.Errorf("absolute form: %s", got)
	}
}

// A subdomain is its tenant's for the administrator too: nothing of another shows there, and
// nothing is filed under another, unless tenant= names one.
func TestAnOperatorOnASubdomain(t *testing.T) {
	for admin, base := range map[string]string{"root-key": "null", "": `"default"`} { // with auth off the same holds
		r := start(t, admin, func(c *httpd.Config) { c.BaseDomain = "example.test" })
		for _, tenant := range []string{"a", "b"} {
			r.post("/api/tenants", `{"id":"`+tenant+`"}`).status(http.StatusCreated)
			r.post("/api/facts?tenant="+tenant, `{"subject":"Of:`+tenant+`","predicate":"p"}`).status(http.StatusCreated)
		}
		a := r.at("A.example.test:443")
		for path, want := range map[string]string{"/api/facts": "Of:a", "/api/facts?tenant=b": "Of:b"} {
			if got := a.get(path).status(http.StatusOK).list(); len(got) != 1 || got[0].text("subject") != want {
				t.Errorf("%s on a's host: %v", path, got)
			}
		}
		for path, want := range map[string]string{"/api/facts": `"a"`, "/api/facts?tenant=b": `"b"`} {
			if got := a.post(path, `{"subject":"New:1","predicate":"p"}`).status(http.StatusCreated).Body; !strings.Contains(got, `"tenant":`+want) {
				t.Errorf("a write to %s on a's host: %s", path, got)
			}
		}
		if got := r.at("www.example.test").post("/api/facts", `{"subject":"New:2","predicate":"p"}`).Body; !strings.Contains(got, `"tenant":`+base) {
			t.Errorf("a write on www: %s", got)
		}
		if got := a.get("/api/admin/purge?subject=New:1").object(); got.text("facts") != "1" {
			t.Errorf("a purge on a's host counts %v", got)
		}
		if got := a.get("/api/tenants").status(http.StatusOK).list(); len(got) != 2 {
			t.Errorf("the list of tenants on a's host: %v", got)
		}
	}
}

// The keys of a tenant that was deleted stay invalid when its name is given out again.
func TestKeysOfATenantThatWasDeleted(t *testing.T) {
	r := start(t, "root-key")
	old := r.as(r.post("/api/tenants", `{"id":"acme"}`).status(http.StatusCreated).object().text("key"))
	old.post("/api/facts", `{"subject":"A:1","predicate":"p"}`).status(http.StatusCreated)
	spare := r.as(r.post("/api/tenants/acme/keys", `{"name":"spare","role":"admin"}`).status(http.StatusCreated).object().text("key"))
	r.delete("/api/tenants/acme").status(http.StatusOK)
	old.get("/api/facts").status(http.StatusNotFound)
	r.node.Advance(time.Second)
	made := r.post("/api/tenants", `{"id":"acme"}`).status(http.StatusCreated).object()
	r.as(made.text("key")).get("/api/facts").status(http.StatusOK)
	for _, key := range []*rig{old, spare} {
		key.get("/api/facts").status(http.StatusNotFound)
		key.post("/api/facts", `{"subject":"A:1","predicate":"q"}`).status(http.StatusNotFound)
		r.as("").get("/api/facts", "Cookie: abagraph_session="+key.key).status(http.StatusNotFound)
		r.as("").post("/api/session", `{"key":"`+key.key+`"}`).status(http.StatusNotFound)
	}
	list := r.get("/api/tenants/acme/keys").status(http.StatusOK).list()
	if len(list) != 3 {
		t.Fatalf("the keys are %v", list)
	}
	for _, key := range list {
		if revoked := key["revoked_at"] != nil; revoked == (key.text("id") == made.text("key_id")) {
			t.Errorf("key %v", key)
		}
	}
}

// A body may name a tenant on every route of a tenant's data (C-43): a tenant's own key
// means its own by it, and the administrator the one of the request.
func TestATenantInABody(t *testing.T) {
	r := start(t, "root-key", everything)
	r.post("/api/tenants", `{"id":"a"}`).status(http.StatusCreated)
	a := r.as(r.post("/api/tenants/a/keys", `{"role":"admin"}`).status(http.StatusCreated).object().text("key"))
	for _, one := range []struct{ method, path, body string }{
		{"POST", "/api/facts", `"subject":"A:1","predicate":"p"`},
		{"POST", "/api/transact", `"asserts":[{"subject":"A:1","predicate":"q","tenant":"b"}]`},
		{"POST", "/api/digest", `"facts":[{"subject":"A:1","predicate":"r"}]`},
		{"POST", "/api/search", `"question":"a"`},
		{"POST", "/api/context", `"goal":"a"`},
		{"POST", "/api/enrich", `"facts":[{"subject":"A:1","predicate":"p"}]`},
		{"POST", "/api/compact", `"facts":[],"token_budget":10`},
		{"POST", "/api/branches", `"name":"draft"`},
		{"POST", "/api/branches/draft/promote", `"dry_run":true`},
		{"PUT", "/api/pages/A:1", `"body":"x"`},
		{"POST", "/api/connectors", `"name":"crm"`},
		{"POST", "/api/leases", `"resource":"r","holder":"h"`},
		{"POST", "/api/alerts", `"name":"doubt","kind":"confidence","threshold":0.8`},
		{"POST", "/api/reports", `"name":"daily"`},
		{"PUT", "/api/policy?dry_run=1", `"version":"v1"`},
		{"POST", "/api/policy/simulate", `"principal":"x","permission":"facts:read"`},
		{"POST", "/api/sources/x/undo", `"dry_run":true`},
	} {
		if got := a.do(one.method, one.path, "{"+one.body+`,"tenant":"b"}`); got.Status >= 300 {
			t.Errorf("%s %s by a's key: %d %s", one.method, one.path, got.Status, got.Body)
		}
		mark := "?"
		if strings.Contains(one.path, "?") {
			mark = "&"
		}
		body := strings.ReplaceAll("{"+one.body+`,"tenant":"a"}`, `"b"`, `"a"`)
		if got := r.do(one.method, one.path+mark+"tenant=a", body); got.Status >= 300 && got.Status != http.StatusConflict {
			t.Errorf("%s %s by the administrator: %d %s", one.method, one.path, got.Status, got.Body)
		}
		if one.path != "/api/context" { // where a body may name any, as documented
			r.do(one.method, one.path, body).fails(http.StatusBadRequest, "SchemaInvalid")
		}
	}
	if got := r.get("/api/facts?tenant=b").list(); len(got) != 0 {
		t.Errorf("b has %v", got)
	}
}

func TestRolesAndTenants(t *testing.T) {
	r := start(t, "root-key")
	made := r.post("/api/tenants", `{"id":"acme","name":"Acme Corp","quota_facts":50000}`).status(http.StatusCreated).object()
	for field, want := range map[string]string{"id": "acme", "name": "Acme Corp", "status": "active", "quota_facts": "50000", "role": "write"} {
		if made.text(field) != want {
			t.Errorf("%s is %s", field, made.text(field))
		}
	}
	r.post("/api/tenants", `{"id":"acme"}`).fails(http.StatusConflict, "Conflict")
	for _, id := range []string{"", "a_b", "a~b", "a:b", "ü", strings.Repeat("a", 65)} {
		r.post("/api/tenants", `{"id":"`+id+`"}`).fails(http.StatusBadRequest, "SchemaInvalid")
	}
	key := func(role string) *rig {
		return r.as(r.post("/api/tenants/acme/keys", `{"role":"`+role+`","name":"k-`+role+`"}`).status(http.StatusCreated).object().text("key"))
	}
	reader, writer, owner := key("read"), key("write"), key("admin")
	writer.assert("A:1", "p", "1")
	reader.get("/api/facts").status(http.StatusOK)
	reader.post("/api/facts", `{"subject":"A:1","predicate":"p","object":2}`).fails(http.StatusForbidden, "Forbidden")
	reader.post("/api/transact", `{"asserts":[{"subject":"A:1","predicate":"p","object":2}]}`).fails(http.StatusForbidden, "Forbidden")
	reader.delete("/api/facts/x").fails(http.StatusForbidden, "Forbidden")
	for _, who := range []*rig{reader, writer, owner} {
		for _, call := range [][2]string{{"GET", "/api/tenants"}, {"POST", "/api/tenants"}, {"DELETE", "/api/tenants/acme"}, {"GET", "/api/tenants/other"},
			{"GET", "/api/admin/purge?subject=A:1"}, {"POST", "/api/admin/purge?subject=A:1&confirm=1"}, {"GET", "/api/tenants/other/keys"}} {
			body := ""
			if call == [2]string{"POST", "/api/tenants"} {
				body = `{"id":"mine"}`
			}
			who.do(call[0], call[1], body).fails(http.StatusForbidden, "Forbidden")
		}
	}
	writer.get("/api/tenants/acme/keys").fails(http.StatusForbidden, "Forbidden")
	keys := owner.get("/api/tenants/acme/keys").status(http.StatusOK)
	if len(keys.list()) != 4 || strings.Contains(keys.Body, owner.key) || strings.Contains(keys.Body, "hash") {
		t.Errorf("keys: %s", keys.Body)
	}
	rotated := owner.post("/api/tenants/acme/keys", `{"role":"write","name":"k-write","rotate":true}`).status(http.StatusCreated).object()
	writer.get("/api/facts").status(http.StatusNotFound)
	r.as(rotated.text("key")).get("/api/facts").status(http.StatusOK)
	r.post("/api/tenants/acme/keys", "").status(http.StatusCreated)
	r.delete("/api/tenants/acme/keys/nope").fails(http.StatusNotFound, "NotFound")
	r.post("/api/tenants/none/keys", `{}`).fails(http.StatusNotFound, "NotFound")

	row := r.get("/api/tenants/acme").status(http.StatusOK).object()
	if row.text("fact_count") != "1" {
		t.Errorf("row %v", row)
	}
	if got := column(r.get("/api/tenants").list(), "id"); got != `"acme"` {
		t.Errorf("tenants %s", got)
	}
	r.get("/api/tenants/none").fails(http.StatusNotFound, "NotFound")
	if got := r.delete("/api/tenants/acme").status(http.StatusOK).Body; got != `{"ok":true,"id":"acme","note":"soft-deleted; use /api/admin/purge to erase data"}` {
		t.Errorf("delete: %s", got)
	}
	reader.get("/api/facts").status(http.StatusNotFound)
	if got := r.get("/api/tenants/acme").object(); got.text("status") != "deleted" {
		t.Errorf("deleted: %v", got)
	}
	r.post("/api/tenants", `{"id":"acme"}`).status(http.StatusCreated)
	for _, event := range []string{"abagraph.tenant.create", "abagraph.tenant.delete"} {
		if !strings.Contains(r.logs.String(), event) {
			t.Errorf("no event %s", event)
		}
	}
}

// C-40, C-41: whose data an operator reads and writes.
func TestOperatorScopes(t *testing.T) {
	r := start(t, "root-key")
	a := r.as(r.post("/api/tenants", `{"id":"a"}`).object().text("key"))
	a.assert("A:1", "p", `"of a"`)
	if r.assert("A:1", "p", `"ownerless"`).text("tenant") != "null" {
		t.Error("an admin's write is not ownerless")
	}
	if got := r.post("/api/facts?tenant=a", `{"subject":"A:1","predicate":"p","object":"by admin"}`).status(http.StatusCreated).object(); got.text("tenant") != "a" || got.text("superseded") != "1" {
		t.Errorf("in tenant a: %v", got)
	}
	if got := column(r.get("/api/facts?subject=A:1").list(), "object"); got != `"by admin","ownerless"` {
		t.Errorf("all: %s", got)
	}
	if got := column(r.get("/api/facts?subject=A:1&tenant=a").list(), "object"); got != `"by admin"` {
		t.Errorf("tenant=a: %s", got)
	}
	if got := column(a.get("/api/facts?subject=A:1&tenant=b").list(), "object"); got != `"by admin"` {
		t.Errorf("a scoped caller with tenant=: %s", got)
	}
	if got := a.post("/api/facts?tenant=b", `{"subject":"A:2","predicate":"p","tenant":"b"}`).status(http.StatusCreated).object(); got.text("tenant") != "a" {
		t.Errorf("a scoped caller wrote to %s", got.text("tenant"))
	}
	r.post("/api/facts", `{"subject":"A:2","predicate":"p","tenant":"b"}`).fails(http.StatusBadRequest, "SchemaInvalid")
	r.get("/api/facts?tenant=a_b").fails(http.StatusBadRequest, "SchemaInvalid")
	if got := r.get("/api/stats").object(); got.text("tenant") != "admin" || got.text("tenants") != "1" {
		t.Errorf("stats %v", got)
	}
	if got := a.get("/api/stats").object(); got.text("tenant") != "a" || got.text("tenants") != "1" || got.text("entities") != "2" {
		t.Errorf("stats of a: %v", got)
	}
}

func TestNoListeningBeyondLoopbackWithoutAKey(t *testing.T) {
	r := start(t, "")
	_ = r
	for _, bind := range []string{"0.0.0.0:0", ":0", "192.0.2.1:80", "example.test:80"} {
		r.refuses(bind)
	}
}

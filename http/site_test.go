package http_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"abagraph/docs"
	httpd "abagraph/http"
	"abagraph/http/discover"
)

// newSite is a server with keys, documents and tools, asked by someone without a key.
func newSite(t *testing.T) *rig {
	t.Helper()
	return start(t, "root-key", everything, func(c *httpd.Config) {
		c.Docs = docs.Files
		c.Tools = []discover.Tool{{Name: "another", Title: "Another", Description: "Does something else."}, {Name: "build_context", Title: "Brief", Description: "Everything for a task."}, {Name: "recall", Title: "Recall", Description: "Looks things up."}, {Name: "remember", Title: "Remember", Description: "Saves a fact."}}
	}).as("")
}

// TestDiscoveryIsPublic: F-534 to F-550, without a key, each with the Link header.
func TestDiscoveryIsPublic(t *testing.T) {
	r := newSite(t)
	const links = `</sitemap.xml>; rel="sitemap", </index.md>; rel="alternate"; type="text/markdown", </openapi.json>; rel="service-desc", ` +
		`</.well-known/api-catalog>; rel="api-catalog", </llms.txt>; rel="describedby"`
	for path, want := range map[string][2]string{
		"/llms.txt":                         {"text/markdown; charset=utf-8", "## For AI agents (when to use)"},
		"/api/llms.txt":                     {"text/markdown; charset=utf-8", "`GET /api/facts`: List facts"},
		"/docs/llms.txt":                    {"text/markdown; charset=utf-8", "/docs/API.md)"},
		"/llms-full.txt":                    {"text/markdown; charset=utf-8", "# REST API"},
		"/index.md":                         {"text/markdown; charset=utf-8", "# abagraph"},
		"/":                                 {"text/markdown; charset=utf-8", "# abagraph"},
		"/auth.md":                          {"text/markdown; charset=utf-8", "Authorization: Bearer"},
		"/pricing.md":                       {"text/markdown; charset=utf-8", "# Pricing"},
		"/docs/SEMANTICS.md":                {"text/markdown; charset=utf-8", "C-13"},
		"/docs":                             {"text/html; charset=utf-8", "<h1>abagraph API</h1>"},
		"/robots.txt":                       {"text/plain; charset=utf-8", "Sitemap: " + r.url + "/sitemap.xml"},
		"/sitemap.xml":                      {"application/xml", "<loc>" + r.url + "/llms.txt</loc>"},
		"/openapi.json":                     {"application/json", `{"openapi":"3.1.0"`},
		"/.well-known/api-catalog":          {"application/linkset+json", `{"linkset":[{"anchor":"` + r.url + `","service-desc":[{"href":"` + r.url + `/openapi.json","type":"application/openapi+json"}]`},
		"/.well-known/agent-card.json":      {"application/json", `{"id":"recall","name":"Recall"`},
		"/.well-known/agent.json":           {"application/json", `{"id":"recall","name":"Recall"`},
		"/.well-known/mcp/server-card.json": {"application/json", `"serverUrl":"` + r.url + `/mcp","transport":"http","tools":[{"name":"another",`},
		"/api/health":                       {"application/json", `{"ok":true}`},
	} {
		got := r.get(path).status(http.StatusOK)
		if got.Header.Get("Content-Type") != want[0] || !strings.Contains(got.Body, want[1]) || got.Header.Get("Link") != links {
			t.Errorf("%s: %v\n%.300s", path, got.Header, got.Body)
		}
		head := r.do(http.MethodHead, path, "").status(http.StatusOK)
		if head.Body != "" || head.Header.Get("Content-Type") != want[0] {
			t.Errorf("HEAD %s: %q %v", path, head.Body, head.Header)
		}
		if tag := got.Header.Get("Etag"); tag != "" {
			if again := r.get(path, "If-None-Match: W/"+tag).status(http.StatusNotModified); again.Body != "" {
				t.Errorf("%s again: %q", path, again.Body)
			}
			r.get(path, `If-None-Match: "another"`).status(http.StatusOK)
			r.get(path+"?explain=1").fails(http.StatusBadRequest, "SchemaInvalid")
		}
		r.get(path+"?utm=x").fails(http.StatusBadRequest, "SchemaInvalid")
	}
	r.get("/docs/nothing.md").fails(http.StatusNotFound, "NotFound")
	r.get("/docs/..%2fgo.mod").fails(http.StatusNotFound, "NotFound")
}

// TestModeAgent: F-539, the document of discovery as it is documented.
func TestModeAgent(t *testing.T) {
	r := newSite(t)
	got := r.get("/?mode=agent").status(http.StatusOK)
	for _, want := range []string{
		`{"name":"abagraph","description":"The memory layer for AI agents`, `"url":"` + r.url + `"`, `"docs":"` + r.url + `/llms-full.txt"`, `"llms_txt":"` + r.url + `/llms.txt"`,
		`"openapi":"` + r.url + `/openapi.json"`, `"auth":{"type":"bearer","header":"Authorization: Bearer <tenant-key>","guide":"` + r.url + `/auth.md","note":`,
		`"mcp":{"transport":"http-jsonrpc","endpoint":"` + r.url + `/mcp","card":"` + r.url + `/.well-known/mcp/server-card.json","tools":["remember","recall","build_context","another"]}`,
		`"endpoints":{"context":"POST /api/context {seeds[],goal,token_budget}","facts":"GET/POST /api/facts","search":"GET /api/search","stream":"GET /api/stream (SSE)"}`,
		`"capabilities":["context-compaction","bitemporal-memory","hybrid-recall","provenance","mcp","streaming"]`,
	} {
		if !strings.Contains(got.Body, want) {
			t.Errorf("lacks %s:\n%s", want, got.Body)
		}
	}
	r.get("/?mode=human").fails(http.StatusBadRequest, "SchemaInvalid")
	if got := r.get("/", "Accept: text/html,*/*").status(http.StatusFound); got.Header.Get("Location") != "/docs" {
		t.Errorf("a browser is sent to %q", got.Header.Get("Location"))
	}
	r.get("/", "Accept: text/markdown, text/html").status(http.StatusOK)
}

var address = regexp.MustCompile(`https?://[^\s"'<>)\]` + "`" + `]+`)

// TestEveryLinkOfDiscoveryLeadsSomewhere follows each address of this server that a page
// names.
func TestEveryLinkOfDiscoveryLeadsSomewhere(t *testing.T) {
	r := newSite(t)
	operator := r.as("root-key")
	seen := map[string]bool{}
	for _, path := range []string{"/llms.txt", "/docs/llms.txt", "/index.md", "/auth.md", "/sitemap.xml", "/robots.txt", "/?mode=agent", "/.well-known/api-catalog", "/.well-known/agent-card.json", "/docs"} {
		for _, link := range address.FindAllString(r.get(path).Body, -1) {
			rest, ours := strings.CutPrefix(link, r.url)
			if !ours {
				if !strings.HasPrefix(link, "http://www.sitemaps.org/") && !strings.Contains(link, ".example") {
					t.Errorf("%s names %s, which is not here", path, link)
				}
				continue
			}
			rest, _, _ = strings.Cut(rest, "#")
			if seen[rest] || path == "/docs" {
				continue
			}
			seen[rest] = true
			switch got := operator.get(rest); got.Status {
			case http.StatusOK:
			case http.StatusMethodNotAllowed: // it is there for POST
			default:
				t.Errorf("%s names %s: %d", path, link, got.Status)
			}
		}
	}
	if len(seen) < 25 {
		t.Errorf("only %d links were found", len(seen))
	}
}

// TestReferencePage: everything that is described is shown, and nothing is fetched or run.
func TestReferencePage(t *testing.T) {
	r := newSite(t)
	got := r.get("/docs").status(http.StatusOK)
	for _, o := range described(t).document.Operations {
		if !strings.Contains(got.Body, `<article id="`+o.ID+`">`) {
			t.Errorf("%s %s is not shown", o.Method, o.Path)
		}
	}
	for _, bad := range []string{"<script", "src=", "@import", "url(", "root-key", "&lt;code&gt;", "ZgotmplZ"} {
		if strings.Contains(got.Body, bad) {
			t.Errorf("the page has %s", bad)
		}
	}
	for _, link := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(got.Body, -1) {
		if !strings.Contains(got.Body, `id="`+link[1]+`"`) {
			t.Errorf("#%s leads nowhere", link[1])
		}
	}
	if policy := got.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'") {
		t.Errorf("policy %q", policy)
	}
}

// TestDiscoveryByHost: addresses are those of the Host, https for a public name, and a
// Host that is no name is not repeated.
func TestDiscoveryByHost(t *testing.T) {
	r := start(t, "root-key", func(c *httpd.Config) { c.BaseDomain = "example.test" }).as("")
	if got := r.at("acme.example.test").get("/?mode=agent").Body; !strings.Contains(got, `"url":"https://acme.example.test"`) || strings.Contains(got, `"mcp":`) {
		t.Errorf("a public host: %s", got)
	}
	if got := r.at(`x"onload=1.example.test`).get("/index.md"); strings.Contains(got.Body, "onload") {
		t.Errorf("a strange host is repeated: %s", got.Body)
	}
}

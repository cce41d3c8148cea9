package main

import (
	"bytes"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// misplace puts a secret where people put it by mistake, and has what is called from
// here fail and tell the secret.
func (s *siege) misplace() {
	wrong, quoting := hidden["a key that is none"], func(text string) string { return strings.ReplaceAll(text, "WRONG", hidden["a key that is none"]) }
	model := s.model.Config("anthropic", hidden["key that a model refuses"])
	for _, a := range []attempt{
		{method: "GET", path: "/api/facts?key=WRONG"}, {method: "GET", path: "/api/facts?access_token=WRONG"}, {method: "GET", path: "/api/facts?tenant=WRONG"}, {method: "GET", path: "/WRONG"},
		{method: "GET", path: "/api/facts/WRONG"}, {method: "GET", path: "/api/stream?key=WRONG"}, {method: "GET", path: "/docs/WRONG"}, {method: "WRONG", path: "/api/facts"},
		{method: "GET", path: "/api/facts", header: [2]string{"X-Api-Key", wrong}}, {method: "GET", path: "/api/facts", header: [2]string{"Authorization", "Basic " + wrong}},
		{method: "GET", path: "/api/facts", header: [2]string{"Cookie", "abagraph_session=" + wrong}}, {method: "GET", path: "/api/facts", header: [2]string{"Origin", "https://" + wrong}},
		{method: "GET", path: "/api/facts", header: [2]string{"X-Abagraph-Min-Tx", wrong}}, {method: "GET", path: "/api/facts", header: [2]string{"Traceparent", wrong}}, {method: "GET", path: "/api/facts", header: [2]string{"User-Agent", wrong}},
		{method: "GET", path: "/api/facts", header: [2]string{"Referer", "https://a.example/?key=" + wrong}}, {method: "GET", path: "/api/facts", header: [2]string{"X-Request-Id", wrong}},
		{method: "POST", path: "/api/session", body: `{"key":"WRONG"}`}, {method: "POST", path: "/api/session?key=WRONG", body: `{"WRONG":1}`}, {method: "POST", path: "/api/facts", body: `{"WRONG":1}`},
		{method: "POST", path: "/api/facts", body: `{"subject":"WRONG`}, {method: "POST", path: "/api/secrets", body: `{"name":"s","value":"WRONG"}`}, {method: "POST", path: "/api/secrets", body: `{"name":"s","reference":"WRONG"}`},
		{method: "POST", path: "/api/connectors", body: `{"name":"w","url":"https://u:WRONG@a.example/"}`}, {method: "POST", path: "/api/connectors", body: `{"name":"w","url":"https://a.example/?api_key=WRONG"}`},
		{method: "POST", path: "/api/alerts", body: `{"name":"w","kind":"freshness","threshold":1,"webhook":"https://u:WRONG@a.example/"}`},
		{method: "POST", path: "/api/connectors/aconn/events", body: `{"id":1}`, header: [2]string{"X-Hub-Signature-256", wrong}}, {method: "POST", path: "/mcp", body: `{"jsonrpc":"2.0","id":"WRONG","method":"WRONG"}`},
		{method: "POST", path: "/mcp", body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"WRONG","arguments":{"key":"WRONG"}}}`}, {method: "POST", path: "/mcp", body: `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"abagraph://WRONG/entity/x"}}`},
		{method: "POST", path: "/api/ask", body: `{"question":"what of aname?","model":` + model + `}`}, {method: "POST", path: "/api/digest", body: `{"content":"Qbsubj works.","model":` + model + `}`},
		{method: "POST", path: "/api/ask", body: `{"question":"what of aname?","model":` + strings.ReplaceAll(model, s.model.URL, "http://WRONG.invalid:1/") + `}`},
		{method: "POST", path: "/api/digest/scrape", body: `{"url":"` + s.model.URL + `/qb","scraper":{"provider":"firecrawl","key":"` + hidden["key of a scraper"] + `","endpoint":"` + s.feed.URL + `/qb"},"model":` + model + `}`},
		{method: "POST", path: "/api/digest/scrape", body: `{"url":"` + s.model.URL + `/qb","scraper":{"provider":"tavily","key":"` + hidden["key of a scraper"] + `","endpoint":"` + s.feed.URL + `/qb"},"model":` + model + `}`},
		{method: "POST", path: "/api/facts", body: `{"subject":"A:2","predicate":"p","object":"` + hidden["an address"] + `","source":"` + hidden["an address"] + `","properties":{"card":"` + hidden["a card"] + `"}}`},
		{method: "POST", path: "/api/facts", body: `{"subject":"` + hidden["an address"] + `","predicate":"p","object":1}`}, {method: "PUT", path: "/api/pages/Aaa:two", body: `{"title":"` + hidden["an address"] + `","body":"` + hidden["a card"] + `"}`},
		{method: "POST", path: "/api/connectors/aconn/events", body: `{"id":"1","mail":"` + hidden["an address"] + `"}`}, {method: "POST", path: "/api/signup", body: `{"email":"x@a.example","message":"` + hidden["a card"] + `"}`},
		{method: "POST", path: "/api/reports", body: `{"name":"mail","title":"` + hidden["an address"] + `"}`}, {method: "POST", path: "/api/leases", body: `{"resource":"r","holder":"` + hidden["an address"] + `"}`},
		{method: "POST", path: "/api/transact", body: `{"asserts":[{"subject":"A:3","predicate":"p","object":1}],"backfill":{"declared_known_at":1700000000000,"reason":"` + hidden["an address"] + `"}}`},
	} {
		a.path, a.body, a.method = quoting(a.path), quoting(a.body), strings.ReplaceAll(a.method, "WRONG", "HS-WRONG")
		got := s.try(s.ann, &entrances[2], &a)
		for _, name := range []string{"key that a model refuses", "key of a scraper"} {
			if strings.Contains(got.body, hidden[name]) {
				s.t.Errorf("%s %s tells the %s: %s", a.method, a.path, name, got.body)
			}
		}
		if got.status == http.StatusInternalServerError {
			s.t.Errorf("%s %s %s is answered %d %s", a.method, a.path, a.body, got.status, got.body)
		}
	}
}

// lookAround reads all that a node writes by itself: its log, its figures, its spans,
// its files and a backup of them.
func (s *siege) lookAround() {
	secrets := s.secrets()
	for _, a := range []*attacker{s.ann, s.amy} {
		secrets["key of "+a.name], secrets["reader's key of "+a.name], secrets["admin's key of "+a.name] = a.write, a.read, a.admin
	}
	told := map[string]string{"a span": s.traces.Text()}
	root := s.as(hidden["admin key"])
	for _, node := range s.nodes {
		root.node = node
		told["a metric"] += root.raw("GET /metrics", "")
		told["the window"] += root.raw("GET /api/observability", "")
		told["a backup"] += root.raw("GET /api/admin/backup", "")
	}
	for _, node := range s.nodes {
		node.stop()
		told["a line of the log"] += node.out.String() + node.errs.String()
	}
	told["a span"] = s.traces.Text()
	for where, text := range told {
		s.search(secrets, where, text)
		if where != "a backup" && strings.Contains(strings.ToLower(text), "zzcanary") {
			s.t.Errorf("%s tells what a tenant stored: %s", where, near(text, "zzcanary"))
		}
		if (where == "a metric" || where == "the window" || where == "a span") && strings.Contains(text, "qbten") {
			s.t.Errorf("%s tells a name: %s", where, near(text, "qbten"))
		}
	}
	for _, dir := range s.data {
		s.searchFiles(secrets, dir)
	}
}

func (s *siege) search(secrets map[string]string, where, text string) {
	for name, secret := range secrets {
		if strings.Contains(text, secret) {
			s.t.Errorf("%s holds the %s: %q", where, name, near(text, secret))
		}
	}
}

var unprintable = regexp.MustCompile(`[^ -~]+`)

// near is what stands around a word.
func near(text, word string) string {
	at := strings.Index(strings.ToLower(text), strings.ToLower(word))
	return unprintable.ReplaceAllString(text[max(0, at-200):min(len(text), at+100)], "·")
}

func (s *siege) searchFiles(secrets map[string]string, dir string) {
	seen := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		s.search(secrets, path, string(raw))
		if bytes.Contains(raw, []byte("zzcanary")) {
			seen++
		}
		return err
	})
	if err != nil || seen == 0 {
		s.t.Errorf("%s: the words of facts are in %d files, so that nothing can be found: %v", dir, seen, err)
	}
}

package http_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// edgesOf writes the edges of an answer in few words.
func edgesOf(list any) string {
	var words []string
	edges, _ := list.([]any)
	for _, e := range edges {
		d := doc(e.(map[string]any))
		words = append(words, d.text("from")+" "+d.text("predicate")+" "+d.text("to"))
	}
	return strings.Join(words, ", ")
}

func reachedOf(d doc) string {
	var words []string
	for _, r := range d["reached"].([]any) {
		words = append(words, r.(string))
	}
	return strings.Join(words, " ")
}

// The curl commands of the documents' pages about the graph, as they stand.
func TestCurlsOfTheGraph(t *testing.T) {
	s := newShell(t)
	post := func(body string) {
		t.Helper()
		s.curl(`curl -s -X POST "$ABAGRAPH_BASE_URL/api/facts" -H "Authorization: Bearer $ABAGRAPH_API_KEY" -H "Content-Type: application/json" -d '` + body + `'`).status(201)
		s.node.Advance(time.Millisecond)
	}
	for _, body := range []string{
		`{"subject":"Person:sarah","predicate":"works_at","object":"Org:acme","valid_from":"2026-01-01","confidence":0.95,"source":"hr-system"}`,
		`{"subject":"Person:omar","predicate":"works_at","object":"Org:acme","valid_from":"2026-03-01","confidence":0.90,"source":"hr-system"}`,
		`{"subject":"Person:alice","predicate":"works_at","object":"Company:beta","confidence":0.9}`,
		`{"subject":"Person:alice","predicate":"member_of","object":"Team:platform","confidence":0.85}`,
		`{"subject":"Company:beta","predicate":"headquartered_in","object":"City:sf","valid_from":"2020-01-01"}`,
		`{"subject":"Person:alice","predicate":"age","object":41}`,
		`{"subject":"Person:karpathy","predicate":"references","object":"Org:openai","conflict_policy":"Coexist","source":"wikipedia:Andrej_Karpathy"}`,
		`{"subject":"Person:karpathy","predicate":"references","object":"Org:tesla","conflict_policy":"Coexist","source":"wikipedia:Andrej_Karpathy"}`,
		`{"subject":"Person:karpathy","predicate":"references","object":"Project:llm_wiki","conflict_policy":"Coexist","source":"wikipedia:Andrej_Karpathy"}`,
		`{"subject":"Org:openai","predicate":"references","object":"Person:karpathy","conflict_policy":"Coexist"}`,
	} {
		post(body)
	}
	const acmeIn = "Person:omar works_at Org:acme, Person:sarah works_at Org:acme"
	const references = "Person:karpathy references Project:llm_wiki, Person:karpathy references Org:tesla, Person:karpathy references Org:openai, Org:openai references Person:karpathy"
	const alice = "Person:alice member_of Team:platform, Person:alice works_at Company:beta"
	for command, want := range map[string]string{
		`curl -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  "$ABAGRAPH_BASE_URL/api/walk?start=Person:alice"`: alice + ", Company:beta headquartered_in City:sf",
		`curl -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  "$ABAGRAPH_BASE_URL/api/walk?start=Person:karpathy&depth=3&direction=both&edge_types=references,cites"`: references,
		`curl -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  "$ABAGRAPH_BASE_URL/api/walk?start=Person:alice&as_of=1718000000000"`: "",
		`curl -H "Authorization: Bearer $TOKEN" \
  'https://api.abagraph.com/api/walk?start=Org:acme&direction=in&depth=1&edge_types=works_at'`: acmeIn,
		`curl "$ABAGRAPH_BASE_URL/api/walk?start=Person:alice&depth=2&edge_types=works_at,member_of" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY"`: alice,
		`curl "$ABAGRAPH_BASE_URL/api/walk?start=Company:beta&direction=in&edge_types=works_at" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY"`: "Person:alice works_at Company:beta",
		`curl "$ABAGRAPH_BASE_URL/api/walk?entity=Person:alice&depth=2&direction=outbound" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY"`: alice + ", Company:beta headquartered_in City:sf",
		`curl -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  'https://acme.abagraph.com/api/walk?subject=Person%3Akarpathy&predicate=references&depth=2'`: references,
	} {
		got := s.curl(command).status(200).object()
		if edgesOf(got["edges"]) != want || got["limited"] != false {
			t.Errorf("%s: %s, want %s", command, edgesOf(got["edges"]), want)
		}
	}
	got := s.curl(`curl -H "Authorization: Bearer $TOKEN" 'https://api.abagraph.com/api/walk?start=Org:acme&direction=in&depth=1&edge_types=works_at'`).object()
	if got.text("start") != "Org:acme" || reachedOf(got) != "Org:acme Person:omar Person:sarah" {
		t.Errorf("into acme: %v", got)
	}
	edge := doc(got["edges"].([]any)[1].(map[string]any))
	if f := doc(edge["fact"].(map[string]any)); edge.text("confidence") != "0.95" || edge.text("source") != "hr-system" || f.text("id") != edge.text("id") ||
		f.text("object") != "Org:acme" || f.text("status") != "active" || f.text("valid_from") != "1767225600000" {
		t.Errorf("an edge: %v", edge)
	}
	explained := s.curl(`curl -H "Authorization: Bearer $ABAGRAPH_API_KEY" "$ABAGRAPH_BASE_URL/api/walk?start=Person:alice&explain=1"`).status(200).object()
	explain := doc(explained["explain"].(map[string]any))
	stats := doc(explain["stats"].(map[string]any))
	if explain.text("op") != "walk" || stats.text("reached") != "4" || stats.text("edges_emitted") != "3" || doc(explained["result"].(map[string]any)).text("start") != "Person:alice" {
		t.Errorf("explain: %v", explained)
	}
	whole := s.curl(`curl -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  "$ABAGRAPH_BASE_URL/api/graph"`).status(200).object()
	if whole.text("total_nodes") != "11" || whole.text("total_edges") != "9" || whole["limited"] != false || len(whole["nodes"].([]any)) != 11 || len(whole["edges"].([]any)) != 9 {
		t.Errorf("graph: %v", whole)
	}
	focused := s.curl(`curl "$ABAGRAPH_BASE_URL/api/graph?q=alice&limit=40" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY"`).status(200)
	if want := `{"nodes":[{"id":"Person:alice","kind":"Person","name":"alice","degree":2,"fact_count":3},{"id":"Company:beta","kind":"Company","name":"beta","degree":2,"fact_count":1},` +
		`{"id":"Team:platform","kind":"Team","name":"platform","degree":1,"fact_count":0}],"edges":[{"id":"`; !strings.HasPrefix(focused.Body, want) ||
		!strings.HasSuffix(focused.Body, `"from":"Person:alice","to":"Company:beta","predicate":"works_at","confidence":0.9}],"total_nodes":3,"total_edges":2,"limited":false}`) {
		t.Errorf("focused: %s", focused.Body)
	}
}

// What walk, graph and path refuse, with the field named, and what they take.
func TestGraphParameters(t *testing.T) {
	r := start(t, "")
	r.assert("Person:a", "knows", `"Person:b"`)
	for path, field := range map[string]string{
		"/api/walk": "start", "/api/walk?start=": "start", "/api/walk?entity=%20x": "entity", "/api/walk?start=a&entity=a": "entity",
		"/api/walk?start=a&start=b": "start", "/api/walk?start=a&subject=b": "subject", "/api/walk?start=" + strings.Repeat("x", 1025): "start",
		"/api/walk?start=a%00": "start", "/api/walk?start=%ff": "start",
		"/api/walk?start=a&depth=17": "depth", "/api/walk?start=a&depth=-1": "depth", "/api/walk?start=a&depth=1.5": "depth", "/api/walk?start=a&depth=": "depth",
		"/api/walk?start=a&depth=99999999999999999999": "depth",
		"/api/walk?start=a&direction=up":               "direction", "/api/walk?start=a&direction=": "direction", "/api/walk?start=a&dir=in": "dir",
		"/api/walk?start=a&edge_types=": "edge_types", "/api/walk?start=a&edge_types=a,,b": "edge_types", "/api/walk?start=a&predicate=a,": "predicate",
		"/api/walk?start=a&edge_types=a&predicate=a": "predicate", "/api/walk?start=a&edge_types=a" + strings.Repeat(",a", 64): "edge_types",
		"/api/walk?start=a&edge_types=a&edge_types=b": "edge_types", "/api/walk?start=a&limit=5": "limit", "/api/walk?start=a&as_off=1": "as_off",
		"/api/walk?start=a&as_of=yesterday": "as_of", "/api/walk?start=a&known_at=1&tx=1": "tx", "/api/walk?start=a&tx=99": "tx",
		"/api/walk?start=a&consistency=strong": "consistency", "/api/walk?start=a&backfill=maybe": "backfill",
		"/api/graph?limit=10001": "limit", "/api/graph?limit=-1": "limit", "/api/graph?q=" + strings.Repeat("x", 1025): "q", "/api/graph?start=a": "start",
		"/api/graph?depth=1": "depth", "/api/graph?as_of=x": "as_of", "/api/graph?q=%ff": "q",
		"/api/path": "from", "/api/path?from=a": "to", "/api/path?to=a": "from", "/api/path?from=a&to=": "to", "/api/path?from=a&to=b&depth=0": "depth",
		"/api/path?from=a&to=b&depth=17": "depth", "/api/path?from=a&to=b&limit=101": "limit", "/api/path?from=a&to=b&limit=x": "limit",
		"/api/path?from=a&to=b&direction=sideways": "direction", "/api/path?from=a&to=b&q=x": "q",
	} {
		if e := r.get(path).fails(http.StatusBadRequest, "SchemaInvalid"); e.text("field") != field {
			t.Errorf("%.80s: field %s, want %s: %s", path, e.text("field"), field, e.text("message"))
		}
	}
	for _, path := range []string{"/api/walk?start=a", "/api/graph", "/api/path?from=a&to=b"} {
		glue := "?"
		if strings.Contains(path, "?") {
			glue = "&"
		}
		r.get(path+glue+"branch=other").fails(http.StatusNotFound, "NotFound")
		r.post(path, `{}`).fails(http.StatusMethodNotAllowed, "MethodNotAllowed")
		if got := r.do(http.MethodHead, path, "").status(http.StatusOK); got.Body != "" {
			t.Errorf("HEAD %s: %q", path, got.Body)
		}
		for _, more := range []string{"branch=main", "consistency=stale", "min_tx=1", "tx=1", "as_of=2024-01-01", "known_at=2024-01-01&backfill=0", "as_of=1718000000000&tx=0"} {
			r.get(path + glue + more).status(http.StatusOK)
		}
	}
	for direction, want := range map[string]string{"out": "Person:a", "OUTBOUND": "Person:a", "In": "Person:b", "inbound": "Person:b", "both": "Person:a"} {
		if got := r.get("/api/walk?depth=1&start=" + want + "&direction=" + direction).status(http.StatusOK).object(); edgesOf(got["edges"]) != "Person:a knows Person:b" {
			t.Errorf("%s: %v", direction, got)
		}
	}
	if got := r.get("/api/walk?start=Person:a&depth=0").object(); reachedOf(got) != "Person:a" || len(got["edges"].([]any)) != 0 {
		t.Errorf("depth 0: %v", got)
	}
	if got := r.get("/api/walk?start=Person:a&edge_types=likes,%20knows").object(); edgesOf(got["edges"]) != "Person:a knows Person:b" {
		t.Errorf("a list with a space: %v", got)
	}
}

// A name that no fact mentions is a warning, and no error.
func TestGraphUnknownNamesAreWarnings(t *testing.T) {
	r := start(t, "")
	r.assert("Person:a", "knows", `"Person:b"`)
	for path, want := range map[string]string{
		"/api/walk?start=Person:nobody":                     `{"start":"Person:nobody","reached":["Person:nobody"],"edges":[],"limited":false,"warnings":["no fact mentions Person:nobody at the time that is read"]}`,
		"/api/walk?start=Person:a&tx=0":                     `{"start":"Person:a","reached":["Person:a"],"edges":[],"limited":false,"warnings":["no fact mentions Person:a at the time that is read","the namespace default does not exist, or holds no facts yet"]}`,
		"/api/walk?start=Person:b":                          `{"start":"Person:b","reached":["Person:b"],"edges":[],"limited":false}`,
		"/api/walk?start=Person:a&edge_types=likes":         `{"start":"Person:a","reached":["Person:a"],"edges":[],"limited":false}`,
		"/api/path?from=Person:a&to=Person:x":               `{"from":"Person:a","to":"Person:x","length":null,"paths":[],"limited":false,"warnings":["no fact mentions Person:x at the time that is read"]}`,
		"/api/path?from=Person:x&to=Person:x":               `{"from":"Person:x","to":"Person:x","length":0,"paths":[[]],"limited":false,"warnings":["no fact mentions Person:x at the time that is read"]}`,
		"/api/path?from=Person:b&to=Person:a&direction=out": `{"from":"Person:b","to":"Person:a","length":null,"paths":[],"limited":false}`,
		"/api/graph?tx=0":                                   `{"nodes":[],"edges":[],"total_nodes":0,"total_edges":0,"limited":false,"warnings":["the namespace default does not exist, or holds no facts yet"]}`,
		"/api/graph?q=nothing":                              `{"nodes":[],"edges":[],"total_nodes":0,"total_edges":0,"limited":false}`,
	} {
		if got := r.get(path).status(http.StatusOK); got.Body != want {
			t.Errorf("%s: %s", path, got.Body)
		}
	}
	seconds := r.get("/api/walk?start=Person:a&as_of=1718800000").object()
	if list, _ := seconds["warnings"].([]any); len(list) != 2 {
		t.Errorf("a time in seconds and a name unknown then: %v", seconds)
	}
}

// Two ends beside one hub meet in it: what else is around the hub is not looked
// at, and cuts nothing.
func TestPathDoesNotLookAroundAHub(t *testing.T) {
	r := start(t, "")
	var batch []string
	for i := range 30 {
		batch = append(batch, fmt.Sprintf(`{"subject":"Person:%d","predicate":"works_at","object":"Org:hub"}`, i))
	}
	r.post("/api/transact", `{"asserts":[`+strings.Join(batch, ",")+`]}`).status(http.StatusOK)
	got := r.get("/api/path?from=Person:1&to=Person:2&explain=1").status(http.StatusOK).object()
	stats := doc(doc(got["explain"].(map[string]any))["stats"].(map[string]any))
	if paths := doc(got["result"].(map[string]any)); number(paths["length"]) != 2 || number(stats["candidates_scanned"]) != 2 {
		t.Errorf("length %v, %v facts looked at, want 2 and 2", paths["length"], stats["candidates_scanned"])
	}
}

// What an edge is (C-5): an entity reference, or a name that is a subject; no
// number, URL, time or plain text.
func TestGraphWhatAnEdgeIs(t *testing.T) {
	r := start(t, "")
	for i, object := range []string{`"Org:x"`, `"bob"`, `"nobody"`, `"https://x.org/a"`, `"2024-01-01T00:00:00Z"`, `"has: space"`, `"Org:"`, `1`, `"1"`, `true`, `null`,
		`{"hash":"` + strings.Repeat("ab", 32) + `","size":3}`, `"Person:a"`, `"Zo\u0065\u0308:x"`, `"Org:zoe\u0308"`} {
		r.assert("Person:a", fmt.Sprintf("p%02d", i), object)
	}
	r.assert("bob", "age", `42`)
	r.assert("1", "is", `"a name"`)
	got := r.get("/api/walk?start=Person:a&depth=1").status(http.StatusOK).object()
	want := "Person:a p14 Org:zoë, Person:a p12 Person:a, Person:a p08 1, Person:a p01 bob, Person:a p00 Org:x"
	if edgesOf(got["edges"]) != want || reachedOf(got) != "Person:a Org:zoë 1 bob Org:x" {
		t.Errorf("%s, want %s", edgesOf(got["edges"]), want)
	}
	for start, want := range map[string]string{
		"Org:zo\u00eb": "Person:a p14 Org:zoë", "Org:zoe\u0308": "Person:a p14 Org:zoë", "1": "Person:a p08 1", "bob": "Person:a p01 bob", "nobody": "",
	} {
		got := r.get("/api/walk?direction=in&depth=1&start=" + url.QueryEscape(start)).status(http.StatusOK).object()
		if edgesOf(got["edges"]) != want {
			t.Errorf("into %s: %s, want %s", start, edgesOf(got["edges"]), want)
		}
	}
	for _, name := range []string{"a-b", "x | y", `C:\dir\f.txt`, `"quoted"`, "*", "?", "(", "NOT", "%", "_", "'; --", "${x}", "🙂", "a,b"} {
		r.assert(name, "next", `"Org:x"`)
		got := r.get("/api/walk?start=" + url.QueryEscape(name)).status(http.StatusOK).object()
		if edgesOf(got["edges"]) != name+" next Org:x" {
			t.Errorf("IDN-03: from %s: %v", name, got)
		}
		if got := r.get("/api/graph?q=" + url.QueryEscape(name)).status(http.StatusOK).object(); len(got["nodes"].([]any)) < 2 {
			t.Errorf("IDN-03: around %s: %v", name, got)
		}
	}
}

// TIM-10: a walk through a period that a correction has cut in two follows at
// each instant the one edge that holds, with every filter.
func TestTIM10WalksOfSplitPeriods(t *testing.T) {
	r := start(t, "")
	const jan, mar, jun = 1735689600000, 1740787200000, 1748736000000
	r.assert("Person:x", "works_at", `"Org:a"`, fmt.Sprintf(`"valid_from":%d`, jan))
	before := r.get("/api/facts").Header.Get("X-Abagraph-Tx")
	r.assert("Person:x", "works_at", `"Org:b"`, fmt.Sprintf(`"valid_from":%d,"valid_until":%d`, mar, jun))
	r.assert("Org:a", "seat", `"City:a"`, fmt.Sprintf(`"valid_from":%d`, jan))
	r.assert("Org:b", "seat", `"City:b"`, fmt.Sprintf(`"valid_from":%d`, jan))
	for at, want := range map[string]string{
		fmt.Sprint(jan - 1): "", fmt.Sprint(mar - 1): "a", fmt.Sprint(mar): "b", fmt.Sprint(jun - 1): "b", fmt.Sprint(jun): "a", "": "a",
	} {
		when := ""
		if at != "" {
			when = "&as_of=" + at
		}
		org := "Person:x works_at Org:" + want
		for filter, edges := range map[string]string{
			"start=Person:x": org + ", Org:" + want + " seat City:" + want, "start=Person:x&edge_types=works_at": org, "start=Person:x&depth=1": org,
			"start=Person:x&edge_types=seat": "", "start=City:" + want + "&direction=in": "Org:" + want + " seat City:" + want + ", " + org,
			"start=Org:" + want + "&direction=both&depth=1": "Org:" + want + " seat City:" + want + ", " + org,
		} {
			if want == "" {
				filter, edges = "start=Person:x", ""
			}
			got := r.get("/api/walk?" + filter + when).status(http.StatusOK).object()
			if edgesOf(got["edges"]) != edges {
				t.Errorf("%s%s: %s, want %s", filter, when, edgesOf(got["edges"]), edges)
			}
		}
		if want == "" {
			continue
		}
		if got := r.get("/api/path?from=Person:x&to=City:" + want + when).status(http.StatusOK).object(); got.text("length") != "2" {
			t.Errorf("path%s: %v", when, got)
		}
		if got := r.get("/api/graph?q=works_at" + when).status(http.StatusOK).object(); edgesOf(got["edges"]) != org {
			t.Errorf("graph%s: %v", when, got)
		}
	}
	// What was known before the correction: the old edge at every instant.
	got := r.get(fmt.Sprintf("/api/walk?start=Person:x&as_of=%d&tx=%s", mar, before)).status(http.StatusOK)
	if edges := edgesOf(got.object()["edges"]); edges != "Person:x works_at Org:a" || got.Header.Get("X-Abagraph-Tx") != before {
		t.Errorf("as known before: %s", edges)
	}
}

// TEN-01: no walk, path or graph shows or depends on another tenant's facts; an
// admin who names none sees all, and edges stay within their tenants.
func TestTEN01WalksStayInside(t *testing.T) {
	alone, shared := start(t, "root-key"), start(t, "root-key")
	answers := func(r *rig, withB bool) string {
		a := r.as(r.post("/api/tenants", `{"id":"a"}`).object().text("key"))
		b := r.as(r.post("/api/tenants", `{"id":"b"}`).object().text("key"))
		if withB {
			for i := range 3 {
				b.assert("Person:p", "knows", fmt.Sprintf(`"Canary:%d"`, i), `"policy":"coexist"`)
				b.assert(fmt.Sprintf("Canary:%d", i), "canary_p", `"Org:x"`)
			}
			b.assert("bare", "canary_p", `"Org:y"`)
		}
		a.assert("Person:p", "works_at", `"Org:x"`)
		a.assert("Person:p", "nick", `"bare"`)
		a.assert("Org:x", "seat", `"City:c"`)
		var all strings.Builder
		for _, path := range []string{"/api/walk?start=Person:p", "/api/walk?start=Person:p&depth=16&direction=both", "/api/walk?start=Canary:1", "/api/walk?start=bare&direction=both",
			"/api/walk?start=Org:x&direction=in&as_of=253402300799999", "/api/walk?start=Person:p&tenant=b", "/api/walk?start=Org:y&direction=in", "/api/graph", "/api/graph?q=canary",
			"/api/graph?q=bare", "/api/graph?limit=1", "/api/graph?limit=10000&tenant=b", "/api/path?from=Person:p&to=City:c", "/api/path?from=Person:p&to=Org:y&depth=16"} {
			for _, explain := range []string{"", "explain=1"} {
				glue := "?"
				if strings.Contains(path, "?") {
					glue = "&"
				}
				p := a.get(strings.TrimSuffix(path+glue+explain, glue)).status(http.StatusOK)
				if told := strings.ToLower(p.Body); strings.Contains(told, "canary") && !strings.Contains(path, "start=Canary") {
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
	got := shared.get("/api/walk?start=Person:p").status(http.StatusOK).object()
	for _, part := range []string{"Person:p works_at Org:x", "Person:p knows Canary:2"} {
		if !strings.Contains(edgesOf(got["edges"]), part) {
			t.Errorf("an admin over all tenants misses %s: %s", part, edgesOf(got["edges"]))
		}
	}
	if strings.Contains(edgesOf(got["edges"]), "nick") {
		t.Errorf("a text became an edge by another tenant's subject: %v", got)
	}
	if got := shared.get("/api/walk?start=Person:p&tenant=a").object(); strings.Contains(edgesOf(got["edges"]), "Canary") {
		t.Errorf("tenant=a: %v", got)
	}
}

// The graph view leaves one line of log, which holds no word of the question.
func TestGraphViewIsLogged(t *testing.T) {
	r := start(t, "")
	r.assert("Person:secret", "knows", `"Person:b"`)
	r.get("/api/graph?q=secret&limit=7").status(http.StatusOK)
	r.get("/api/graph").status(http.StatusOK)
	r.get("/api/walk?start=Person:secret").status(http.StatusOK)
	r.get("/api/path?from=Person:secret&to=Person:b").status(http.StatusOK)
	lines := strings.Split(strings.TrimSpace(r.logs.String()), "\n")
	var views []doc
	for _, line := range lines {
		var d doc
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line, "secret") || strings.Contains(line, "walk") || strings.Contains(line, "path") {
			t.Errorf("the log tells too much: %s", line)
		}
		if d.text("event") == "abagraph.graph.view" {
			views = append(views, d)
		}
	}
	if len(views) != 2 || views[0].text("level") != "info" || views[0].text("nodes_total") != "2" || views[0].text("nodes_returned") != "2" ||
		views[0].text("edges_returned") != "1" || views[0].text("limit") != "7" || views[0].text("q") != "(6 characters)" || views[1].text("q") != "" {
		t.Errorf("lines: %v", views)
	}
}

// The same request on the same state has the same bytes, also where the state
// lies in the past by then.
func TestGraphSameBytes(t *testing.T) {
	r := start(t, "")
	for i := range 40 {
		r.assert(fmt.Sprintf("N:%d", i%7), "p", fmt.Sprintf(`"N:%d"`, i%5), `"policy":"coexist"`, fmt.Sprintf(`"valid_from":%d`, i))
	}
	paths := []string{"/api/walk?start=N:1&depth=4&direction=both", "/api/walk?start=N:3&direction=in", "/api/graph?limit=4", "/api/graph?q=n:2", "/api/path?from=N:6&to=N:4&limit=100"}
	pin := "&tx=40&as_of=1000"
	first := map[string]string{}
	for _, path := range paths {
		first[path] = r.get(path + pin).status(http.StatusOK).Body
	}
	for i := range 20 {
		r.assert(fmt.Sprintf("N:%d", i%7), "p", fmt.Sprintf(`"N:%d"`, i%3), `"source":"later"`)
	}
	list := r.get("/api/facts?limit=3").list()
	for _, f := range list {
		r.delete("/api/facts/" + f.text("id")).status(http.StatusOK)
	}
	for _, path := range paths {
		if got := r.get(path + pin).status(http.StatusOK).Body; got != first[path] {
			t.Errorf("%s: %s\nbefore: %s", path, got, first[path])
		}
	}
}

// A namespace that does not exist is said to, rather than shown as an empty graph.
func TestGraphOfNoNamespace(t *testing.T) {
	r := start(t, "")
	r.assert("Person:a", "knows", `"Person:b"`)
	if got := r.get("/api/graph?tenant=nosuch").status(200).object(); !strings.Contains(fmt.Sprint(got["warnings"]), "nosuch does not exist") {
		t.Errorf("got %v", got)
	}
	if got := r.get("/api/graph?tenant=default").status(200).object(); got["warnings"] != nil {
		t.Errorf("got %v", got)
	}
}

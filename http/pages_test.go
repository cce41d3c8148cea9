package http_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// The curl commands of the documents' page about wiki links, as they stand.
func TestCurlsOfPages(t *testing.T) {
	s := newShell(t)
	s.curl(`curl -X POST -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{ "asserts": [
    {"subject":"Person:karpathy","predicate":"wiki_page","object":"Page:Person:karpathy","source":"wikipedia:Andrej_Karpathy"},
    {"subject":"Page:Person:karpathy","predicate":"title","object":"Andrej Karpathy","source":"wikipedia:Andrej_Karpathy"},
    {"subject":"Page:Person:karpathy","predicate":"wiki_body","object":"Andrej co-founded Org:openai and led AI at Org:tesla. He is now working on Project:llm_wiki.","source":"wikipedia:Andrej_Karpathy"},
    {"subject":"Person:karpathy","predicate":"references","object":"Org:openai","conflict_policy":"Coexist","source":"wikipedia:Andrej_Karpathy"},
    {"subject":"Person:karpathy","predicate":"references","object":"Org:tesla","conflict_policy":"Coexist","source":"wikipedia:Andrej_Karpathy"},
    {"subject":"Person:karpathy","predicate":"references","object":"Project:llm_wiki","conflict_policy":"Coexist","source":"wikipedia:Andrej_Karpathy"} ]
  }' \
  'https://acme.abagraph.com/api/transact'`).status(200)
	if got := s.curl(`curl -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  'https://acme.abagraph.com/api/walk?subject=Person%3Akarpathy&predicate=references&depth=2'`).status(200).object(); len(got["edges"].([]any)) != 3 {
		t.Errorf("walk: %v", got)
	}
	if got := s.curl(`curl -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  'https://acme.abagraph.com/api/facts?subject=Person%3Akarpathy&predicate=references'`).status(200).list(); len(got) != 3 {
		t.Errorf("references: %v", got)
	}
	cited := s.curl(`curl -X POST -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{ "subject": "Page:Person:karpathy", "predicate": "cites", "object": "https://karpathy.ai",
    "properties": { "quote": "AI researcher and educator." },
    "source": "wikipedia:Andrej_Karpathy", "conflict_policy": "Coexist" }' \
  'https://acme.abagraph.com/api/facts'`).status(201).object()
	if cited.text("object") != "https://karpathy.ai" || cited.text("source") != "wikipedia:Andrej_Karpathy" || cited.text("status") != "active" {
		t.Errorf("cites: %v", cited)
	}
	// A page that was written fact by fact reads like one that was saved.
	for _, name := range []string{"Person:karpathy", "Page:Person:karpathy", "Person%3Akarpathy"} {
		p := s.curl(`curl -H "Authorization: Bearer $ABAGRAPH_API_KEY" "$ABAGRAPH_BASE_URL/api/pages/` + name + `"`).status(200).object()
		if p.text("id") != "Page:Person:karpathy" || p.text("subject") != "Person:karpathy" || p.text("title") != "Andrej Karpathy" ||
			p.text("source") != "wikipedia:Andrej_Karpathy" || targets(p) != "Org:openai Org:tesla Project:llm_wiki" ||
			cites(p) != "https://karpathy.ai (AI researcher and educator.)" {
			t.Errorf("the page by %s: %v", name, p)
		}
	}
	// And saving it takes over what it was made of.
	saved := s.curl(`curl -X PUT -H "Authorization: Bearer $ABAGRAPH_API_KEY" -d '{"body":"He was at [[Org:openai]].","source":"wikipedia:Andrej_Karpathy"}' "$ABAGRAPH_BASE_URL/api/pages/Person:karpathy"`).status(200).object()
	if targets(saved) != "Org:openai" || saved.text("title") != "null" || cites(saved) != "" || saved["created"] != false ||
		saved.text("removed") != `{"citations":["https://karpathy.ai"],"links":["Org:tesla","Project:llm_wiki"]}` || len(saved["retracted"].([]any)) != 4 {
		t.Errorf("saved: %v", saved)
	}
}

func targets(p doc) string {
	var words []string
	for _, l := range p["links"].([]any) {
		words = append(words, l.(map[string]any)["target"].(string))
	}
	return strings.Join(words, " ")
}

func cites(p doc) string {
	var words []string
	for _, c := range p["citations"].([]any) {
		word := doc(c.(map[string]any))
		if word.text("quote") == "null" {
			words = append(words, word.text("url"))
			continue
		}
		words = append(words, word.text("url")+" ("+word.text("quote")+")")
	}
	return strings.Join(words, " ")
}

// A page is saved whole, and every earlier state of it can be read again.
func TestPageIsSavedAndReadAtEveryTime(t *testing.T) {
	r := start(t, "")
	const path = "/api/pages/Person:ada"
	first := r.do("PUT", path, `{"title":"Ada","body":"Friend of [[Person:charles|Babbage]]; see [[Topic:engines]], [[Topic:engines|again]] and [[a place]].",
		"citations":[{"url":"http://a","quote":"one"},{"url":"http://a","quote":"two"},{"url":"http://b"}]}`).status(201).object()
	if first.text("id") != "Page:Person:ada" || first.text("source") != "wiki:Page:Person:ada" || targets(first) != "Person:charles Topic:engines a place" ||
		cites(first) != "http://a (one) http://a (two) http://b" ||
		first.text("snippet") != "Friend of Babbage; see Topic:engines, again and a place." || len(first["written"].([]any)) != 8 {
		t.Errorf("the first save: %v", first)
	}
	if w, ok := first["warnings"].([]any); !ok || !strings.Contains(fmt.Sprint(w), "a place") {
		t.Errorf("the first save warns %v", first["warnings"])
	}
	for _, f := range r.get("/api/facts?subject=Person:ada&predicate=references").list() {
		if f.text("policy") != "coexist" || f.text("source") != "wiki:Page:Person:ada" {
			t.Errorf("a reference: %v", f)
		}
	}
	tx := first.text("tx")
	r.node.Advance(time.Second)
	at := fmt.Sprint(r.node.Now())
	again := r.do("PUT", path, `{"title":"Ada","body":"Friend of [[Person:charles|Babbage]]; see [[Topic:engines]], [[Topic:engines|again]] and [[a place]].",
		"citations":[{"url":"http://b"},{"url":"http://a","quote":"one"},{"url":"http://a","quote":"two"}]}`).status(200).object()
	if len(again["written"].([]any))+len(again["retracted"].([]any)) != 0 || again.text("tx") != tx {
		t.Errorf("the same again: %v", again)
	}
	r.node.Advance(time.Second)
	second := r.do("PUT", path, `{"title":"Ada Lovelace","body":"See [[Topic:engines]].","citations":[{"url":"http://a","quote":"three"}]}`).status(200).object()
	if targets(second) != "Topic:engines" || cites(second) != "http://a (three)" || second.text("superseded") != "2" ||
		second.text("removed") != `{"citations":["http://a","http://b"],"links":["Person:charles","a place"]}` {
		t.Errorf("the second save: %v", second)
	}
	for query, want := range map[string][3]string{
		"":                                 {"Ada Lovelace", "Topic:engines", "http://a (three)"},
		"?tx=" + tx:                        {"Ada", "Person:charles Topic:engines a place", cites(first)},
		"?known_at=" + at:                  {"Ada", "Person:charles Topic:engines a place", cites(first)},
		"?known_at=" + at + "&as_of=" + at: {"Ada", "Person:charles Topic:engines a place", cites(first)},
		"?as_of=" + at:                     {"Ada", "Person:charles Topic:engines a place", ""},
		"?include_retracted=1&as_of=" + at: {"Ada", "Person:charles Topic:engines a place", cites(first)},
	} {
		p := r.get(path + query).status(200).object()
		if p.text("title") != want[0] || targets(p) != want[1] || cites(p) != want[2] {
			t.Errorf("%s: %s, %s, %s; want %q", query, p.text("title"), targets(p), cites(p), want)
		}
	}
	r.get(path+"?as_of=1").fails(404, "NotFound")
	r.get(path+"?tx=0").fails(404, "NotFound")
	if got := r.get(path + "?explain=1").status(200).object()["explain"].(map[string]any); got["op"] != "page" {
		t.Errorf("explain: %v", got)
	}
	// Another source takes the page's facts over.
	third := r.do("PUT", path, `{"subject":"Person:ada","title":"Ada Lovelace","body":"See [[Topic:engines]].","source":"editor"}`).status(200).object()
	if third.text("source") != "editor" || targets(third) != "Topic:engines" || len(r.get("/api/facts?subject=Person:ada&predicate=references").list()) != 1 {
		t.Errorf("the third save: %v", third)
	}
	back := r.do("PUT", path, `{"title":"Ada Lovelace","body":"See [[Topic:engines]]."}`).status(200).object()
	if back.text("source") != "wiki:Page:Person:ada" || len(r.get("/api/facts?subject=Page:Person:ada").list()) != 2 {
		t.Errorf("the fourth save: %v", back)
	}
}

func TestPageInput(t *testing.T) {
	r := start(t, "")
	const path = "/api/pages/Person:ada"
	long := strings.Repeat("x", 1020)
	for body, field := range map[string]string{
		`{}`:                       "body",
		`{"body":null}`:            "body",
		`{"body":7}`:               "body",
		`{"body":"x","titel":"y"}`: "titel",
		`{"body":"x","title":7}`:   "title",
		`{"body":"x","source":7}`:  "source",
		`{"body":"x","source":"` + long + `wwwww"}`:    "source",
		`{"body":"x","citations":{}}`:                  "citations",
		`{"body":"x","citations":["u"]}`:               "citations[0]",
		`{"body":"x","citations":[{"quote":"q"}]}`:     "citations[0].url",
		`{"body":"x","citations":[{"url":""}]}`:        "citations[0].url",
		`{"body":"x","citations":[{"url":"u","q":1}]}`: "citations[0].q",
		`{"body":"x","subject":"Person:eve"}`:          "subject",
		`{"body":"x","id":"Page:x"}`:                   "id",
	} {
		if e := r.do("PUT", path, body).fails(400, "SchemaInvalid"); e.text("field") != field {
			t.Errorf("%s: %v", body, e)
		}
	}
	for _, path := range []string{"/api/pages/", "/api/pages/%20a", "/api/pages/" + long, "/api/pages/" + strings.Repeat("x", 1019)} {
		r.do("PUT", path, `{"body":"x"}`).fails(400, "SchemaInvalid")
		r.get(path).fails(404, "NotFound")
	}
	r.do("PUT", "/api/pages/"+strings.Repeat("x", 1019), `{"body":"x","source":"s"}`).status(201)
	r.get(path+"?limit=3").fails(400, "SchemaInvalid")
	r.get(path+"?include_retracted=1").fails(400, "SchemaInvalid")
	r.post(path, `{"body":"x"}`).fails(405, "MethodNotAllowed")
	r.get(path).fails(404, "NotFound")
	if got := r.get("/api/facts?subject=Person:ada").list(); len(got) != 0 {
		t.Errorf("a refused save wrote %v", got)
	}
}

// A page may have an id of its own, and what is no page's name does not keep one
// from being saved.
func TestPageNames(t *testing.T) {
	r := start(t, "")
	r.assert("Team:x", "wiki_page", `"page:brief"`)
	r.assert("page:brief", "wiki_body", `"About [[Team:x]]"`)
	for _, name := range []string{"Team:x", "page:brief"} {
		if p := r.get("/api/pages/" + name).status(200).object(); p.text("id") != "page:brief" || p.text("subject") != "Team:x" || p.text("body") != "About [[Team:x]]" {
			t.Errorf("by %s: %v", name, p)
		}
	}
	if p := r.do("PUT", "/api/pages/page:brief", `{"body":"[[Team:y]]"}`).status(200).object(); p.text("id") != "page:brief" || p.text("subject") != "Team:x" {
		t.Errorf("saved by its id: %v", p)
	}
	r.assert("Team:z", "wiki_page", `7`)
	if p := r.do("PUT", "/api/pages/Team:z", `{"body":"z"}`).status(201).object(); p.text("id") != "Page:Team:z" {
		t.Errorf("beside a wiki_page that is no name: %v", p)
	}
	if p := r.do("PUT", "/api/pages/Page:Team:z", `{"subject":"Team:z","body":"again"}`).status(200).object(); p.text("subject") != "Team:z" || p.text("body") != "again" {
		t.Errorf("saved by its id: %v", p)
	}
	if p := r.do("PUT", "/api/pages/Page:Team:new", `{"body":"new"}`).status(201).object(); p.text("subject") != "Team:new" || p.text("id") != "Page:Team:new" {
		t.Errorf("made by its id: %v", p)
	}
}

// Two saves at the same time never mix, whatever else is written meanwhile; the
// same key writes once.
func TestPageSavesNeverMix(t *testing.T) {
	r := start(t, "")
	const writers, saves = 6, 8
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for n := range saves {
				mark := fmt.Sprintf("%d-%d", w, n)
				body := fmt.Sprintf(`{"title":"t%s","body":"[[A:%s]] [[B:%s]]","source":"s%d","citations":[{"url":"u%s","quote":"q"}]}`, mark, mark, mark, w%2, mark)
				got := r.do("PUT", "/api/pages/Page_of:all", body, "Idempotency-Key: "+mark)
				if got.Status >= 300 {
					t.Errorf("a save: %s", got.Body)
				}
				again := r.do("PUT", "/api/pages/Page_of:all", body, "Idempotency-Key: "+mark)
				if again.Status != got.Status || again.Body != got.Body {
					t.Errorf("the repeated save answers %s, and first %s", again.Body, got.Body)
				}
				r.post("/api/facts", fmt.Sprintf(`{"subject":"Page_of:all","predicate":"references","object":"C:%s","policy":"coexist","source":"crm"}`, mark)).status(201)
			}
		})
	}
	group.Wait()
	seen := 0
	for tx := 1; ; tx++ {
		got := r.get(fmt.Sprint("/api/pages/Page_of:all?tx=", tx))
		if got.Status != http.StatusOK {
			break
		}
		p := got.object()
		mark := strings.TrimPrefix(p.text("title"), "t")
		if targets(p) != "A:"+mark+" B:"+mark || cites(p) != "u"+mark+" (q)" || p.text("body") != "[[A:"+mark+"]] [[B:"+mark+"]]" {
			t.Fatalf("tx %d mixes two saves: %s", tx, got.Body)
		}
		seen++
	}
	if seen < writers*saves {
		t.Errorf("only %d txs show the page", seen)
	}
	if got := r.get("/api/facts?subject=Page_of:all&predicate=references&limit=1000").list(); len(got) != writers*saves+2 {
		t.Errorf("%d references hold, want those of the last save and all of the other source's", len(got))
	}
}

// TEN-01 for pages: another tenant's page is neither shown nor met.
func TestTEN01Pages(t *testing.T) {
	r := start(t, "admin")
	keys := map[string]string{}
	for _, id := range []string{"ta", "tb"} {
		keys[id] = r.post("/api/tenants", `{"id":"`+id+`"}`).status(201).object().text("key")
	}
	a, b := r.as(keys["ta"]), r.as(keys["tb"])
	b.do("PUT", "/api/pages/Person:x", `{"title":"canary","body":"canary [[Canary:1]]","source":"canary","citations":[{"url":"canary","quote":"canary"}]}`).status(201)
	a.get("/api/pages/Person:x").fails(404, "NotFound")
	a.get("/api/pages/Page:Person:x").fails(404, "NotFound")
	a.do("PUT", "/api/pages/Person:x", `{"body":"mine [[Mine:1]]"}`).status(201)
	for _, query := range []string{"", "?explain=1", "?as_of=" + fmt.Sprint(r.node.Now()), "?known_at=" + fmt.Sprint(r.node.Now()), "?tenant=tb"} {
		if got := a.get("/api/pages/Person:x" + query).status(200); strings.Contains(got.Body, "anary") {
			t.Errorf("%s shows another tenant's page: %s", query, got.Body)
		}
	}
	if p := b.get("/api/pages/Person:x").status(200).object(); p.text("title") != "canary" {
		t.Errorf("another tenant's save changed %v", p)
	}
	// An operator is shown one tenant's page, never a mixture, and saves its own.
	if p := r.get("/api/pages/Person:x?tenant=tb").status(200).object(); p.text("title") != "canary" {
		t.Errorf("tenant=tb: %v", p)
	}
	if p := r.get("/api/pages/Person:x").status(200).object(); targets(p) != "Mine:1" && targets(p) != "Canary:1" {
		t.Errorf("over all tenants: %v", p)
	}
	r.do("PUT", "/api/pages/Person:x", `{"body":"ownerless"}`).status(201)
	if got, _ := json.Marshal(b.get("/api/pages/Person:x").object()); strings.Contains(string(got), "ownerless") {
		t.Errorf("the operator's page is shown to a tenant: %s", got)
	}
	read := r.post("/api/tenants/ta/keys", `{"role":"read"}`).status(201).object().text("key")
	r.as(read).do("PUT", "/api/pages/Person:x", `{"body":"x"}`).fails(403, "Forbidden")
	r.as(read).get("/api/pages/Person:x").status(200)
}

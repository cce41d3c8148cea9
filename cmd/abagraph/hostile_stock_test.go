package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"abagraph/internal/models/standin"
)

// What the nodes are given and nobody may be told: settings, secrets of their
// environment, keys that callers bring along, and data that masking takes out.
var hidden = map[string]string{
	"admin key": "hs-admin-2f8c1d", "second admin key": "hs-second-93bb07", "cluster secret": "hs-cluster-51ac9e", "key of the masking": "hs-pii-77de10",
	"key of the vectors": "hs-embed-0c64aa", "secret of a webhook": "hs-hook-b81f35", "key of the victim's model": "hs-model-e90d42", "key of a scraper": "hs-scraper-4a7e66", "key that a model refuses": "hs-refused-1b6f0d",
	"a key that is none": "hs-wrong-d5c0f1", "an address": "hs-erika.muster@mail.example", "a card": "4012 8888 8888 1881",
}

// texts of the victim's, of which the first is short and the second a job.
const shortText = "Qbsubj works at Qbobj. Zzcanary sings to " + "hs-erika.muster@mail.example" + "."

func longText() string {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "# Chapter %d\n\nQbsubj met qbguest%d. %s\n\n", i, i, strings.Repeat("Zzcanary sang all day. ", 260))
	}
	return b.String()
}

// inTwinsWords makes of the twin's words those of the attacker, so that what stands
// outside treats both alike.
var inTwinsWords = strings.NewReplacer("qn", "qb", "Qn", "Qb", "amy", "ann")

// aNumber is what differs between texts that mean the same: ids, hashes and times.
var aNumber = regexp.MustCompile(`[0-9a-f-]{16,}|[0-9]+`)

// vectors is an endpoint of embeddings.
func vectors(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Input []string }
		if json.NewDecoder(r.Body).Decode(&q) != nil || r.Header.Get("Authorization") != "Bearer "+hidden["key of the vectors"] {
			t.Errorf("the endpoint of vectors was asked %s without its key, or for nothing", r.URL)
		}
		var list []string
		for i, text := range q.Input {
			h := fnv.New64a()
			_, _ = io.WriteString(h, aNumber.ReplaceAllString(inTwinsWords.Replace(text), ""))
			sum, numbers := h.Sum64(), []string{}
			for range 8 {
				numbers = append(numbers, fmt.Sprint(1+sum%16))
				sum >>= 4
			}
			list = append(list, fmt.Sprintf(`{"index":%d,"embedding":[%s]}`, i, strings.Join(numbers, ",")))
		}
		fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(list, ","))
	}))
	t.Cleanup(s.Close)
	return s
}

// source is a source of records, and a place where webhooks end.
func source(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/zzcanary" {
			fmt.Fprint(w, `{"id":"zzcanary","qbpred":"zzcanary of the source"}`)
			return
		}
		fmt.Fprint(w, `{"id":"one","aname":"of a source"}`)
	}))
	t.Cleanup(s.Close)
	return s
}

var aName = regexp.MustCompile(`Q[bn]subj`)

// readsFacts is a model that finds in a text that somebody works somewhere, answers
// questions, and tells its key when it fails.
func readsFacts(c standin.Call) standin.Reply {
	switch {
	case c.Key == hidden["key that a model refuses"]:
		return standin.Reply{Status: http.StatusUnauthorized}
	case c.Name == "scores":
		_, lines, _ := strings.Cut(c.Text, "\n\nFacts:\n")
		var list []string
		for i := range strings.Split(strings.TrimSpace(lines), "\n") {
			list = append(list, fmt.Sprintf(`{"n":%d,"score":0.95,"reason":"seen"}`, i+1))
		}
		return standin.Reply{JSON: `{"scores":[` + strings.Join(list, ",") + `]}`}
	case c.Name == "facts":
		name := aName.FindString(c.Text)
		if name == "" {
			return standin.Reply{JSON: `{"facts":[]}`}
		}
		return standin.Reply{JSON: `{"facts":[{"subject":"Person:` + strings.ToLower(name) + `","predicate":"qbread","object":"` + name + `","several":false,"valid_from":null,"valid_until":null,"quote":"` + name + `"}]}`}
	}
	return standin.Reply{JSON: `{"answer":"yes","confidence":0.9,"used":[1]}`}
}

// stock gives the victim one of everything.
func (s *siege) stock() {
	root, b := s.as(hidden["admin key"]), s.as(s.tenant("qbten", "zzcanary Inc."))
	boss := s.as(s.key("qbten", "qbboss", "admin"))
	other := s.as(s.key("qbten", "qbagent", "write"))
	s.victim, s.boss = b.key, boss.key
	model := `,"model":` + s.model.Config("openai", hidden["key of the victim's model"])

	root.do("POST /api/secrets?tenant=qbten", `{"name":"qbsecret","reference":"env:HOSTILE_SECRET"}`)
	fact := b.do("POST /api/facts", `{"subject":"Person:qbsubj","predicate":"qbpred","object":"Org:qbobj","source":"qbsource","properties":{"note":"zzcanary"},"valid_from":1600000000000}`, "Idempotency-Key: qbonce")
	s.know("<fact>", fact["id"])
	s.know("<tx>", fact["tx"])
	for i, more := range []string{`"valid_from":1610000000000`, `"policy":"coexist"`, `"transient":true,"valid_until":4102444800000`, `"valid_from":1500000000000,"valid_until":1510000000000`} {
		b.do("POST /api/facts", fmt.Sprintf(`{"subject":"Person:qbsubj","predicate":"qbpred%d","object":"zzcanary object %d","source":"qbsource",%s}`, i%2, i, more))
	}
	s.know("<candidate>", b.do("POST /api/facts", `{"subject":"Person:qbsubj","predicate":"qbguess","object":"zzcanary guess","confidence":0.1}`)["id"])
	gone := b.do("POST /api/facts", `{"subject":"Person:qbsubj","predicate":"qbgone","object":"zzcanary gone"}`)
	b.do("DELETE /api/facts/"+fmt.Sprint(gone["id"]), "")
	masked := b.do("POST /api/facts", fmt.Sprintf(`{"subject":"Person:qbsubj","predicate":"qbnote","object":"zzcanary %s, %s"}`, hidden["an address"], hidden["a card"]))
	if fmt.Sprint(masked["pii_masked"]) != "2" {
		s.t.Errorf("masked were %v of 2", masked["pii_masked"])
	}
	b.do("POST /api/transact", `{"asserts":[{"subject":"Org:qbobj","predicate":"qbknows","object":"Person:qbsubj","declared_known_at":1650000000000,"valid_from":1650000000000}],"backfill":{"reason":"zzcanary files"}}`)
	b.do("PUT /api/pages/Person:qbsubj", `{"title":"zzcanary page","body":"zzcanary of [[Org:qbobj|it]].","citations":[{"url":"https://zzcanary.example","quote":"zzcanary"}]}`)
	b.do("POST /api/branches", `{"name":"qbother"}`)
	b.do("POST /api/branches", `{"name":"qbbranch"}`)
	s.know("<branched>", b.do("POST /api/facts?branch=qbbranch", `{"subject":"Person:qbsubj","predicate":"qbpred","object":"zzcanary of a branch"}`)["id"])
	read := b.do("POST /api/digest", `{"content":`+quoted(shortText)+`,"source":"qbsource"`+model+`}`)
	if read["document"] == nil || fmt.Sprint(read["pii_masked"]) != "1" {
		s.t.Errorf("the text was read as %v", read)
	}
	s.know("<blob>", b.list("/api/facts?predicate=content")[0]["object"].(map[string]any)["hash"])
	job := b.do("POST /api/digest", `{"content":`+quoted(longText())+`,"source":"qbsource"`+model+`}`)["job"]
	s.know("<job>", job)
	s.settled(b, fmt.Sprint(job))
	b.do("POST /api/connectors", `{"name":"qbconn","label":"zzcanary","mapping":{"subject":"Person:$id"}}`)
	b.do("POST /api/connectors/qbconn/events", `{"id":"qbsubj","qbseen":"zzcanary of a record"}`)
	boss.do("POST /api/connectors", `{"name":"qbfeed","kind":"poll","url":"`+s.feed.URL+`/zzcanary","mapping":{"subject":"Person:$id"},"pull":{"auth":{"secret":"qbsecret"}}}`)
	b.do("POST /api/connectors/qbfeed/pull", "")
	b.do("POST /api/triggers", `{"name":"qbtrigger","connector":"qbfeed","schedule":"0 0 1 1 *"}`)
	boss.do("POST /api/reports", `{"name":"qbreport","title":"zzcanary weekly","subject":"Person:qbsubj"}`)
	boss.do("POST /api/reports/qbreport/run", "")
	boss.do("POST /api/alerts", `{"name":"qbalert","kind":"freshness","threshold":60,"source":"qbsource","webhook":"`+s.feed.URL+`/zzcanary","secret":"qbsecret"}`)
	b.do("POST /api/leases", `{"resource":"qbres","holder":"qbholder","ttl_secs":86400}`)
	boss.do("PUT /api/policy", `{"version":"qbpolicy","requires":[{"permission":"branch:promote"}]}`)
	waits := other.do("POST /api/branches/qbbranch/promote", "")
	s.know("<approval>", waits["approval"].(map[string]any)["id"])
	s.know("<key>", boss.list("/api/tenants/qbten/keys")[0]["id"])
	root.do("POST /api/embeddings", "")
	s.as("").do("POST /api/signup", `{"email":"qb@ask.example","company":"zzcanary"}`)
	b.do("POST /api/session", `{"key":"`+b.key+`"}`)
}

// settled waits for a job.
func (s *siege) settled(b *speaker, job string) {
	for {
		got := b.do("GET /api/digest/jobs/"+job, "")
		switch got["status"] {
		case "done":
			return
		case "stopped":
			s.t.Fatalf("the job stopped: %v", got)
		}
	}
}

// know keeps a word of the server's making, and the word that the twin says for it.
func (s *siege) know(name string, value any) {
	s.t.Helper()
	if value == nil {
		s.t.Fatalf("%s was not told", name)
	}
	text := fmt.Sprint(value)
	s.names = append(s.names, name, text)
	if strings.HasPrefix(name, "<tx") {
		return
	}
	s.theirs = append(s.theirs, text)
	s.twins = append(s.twins, text, nobodys(name, text))
}

// nobodys is a word of the same form that was never given to anybody.
func nobodys(name, text string) string {
	if name == "<blob>" {
		sum := sha256.Sum256([]byte(strings.ReplaceAll(shortText, "Qb", "Qn")))
		return hex.EncodeToString(sum[:])
	}
	end := "0"
	if strings.HasSuffix(text, "0") {
		end = "1"
	}
	return text[:len(text)-1] + end
}

// stockOf gives an attacker things of its own, so that there is something to compare.
func (s *siege) stockOf(who *attacker) {
	w, boss, in := s.as(who.write), s.as(who.admin), who.words
	w.do("POST /api/facts", in(`{"subject":"Aaa:one","predicate":"aknows","object":"Person:qbsubj","source":"asource"}`))
	w.do("POST /api/facts", in(`{"subject":"Aaa:one","predicate":"aname","object":"one"}`))
	w.do("POST /api/facts", in(`{"subject":"Aaa:one","predicate":"aname","object":"two"}`))
	w.do("POST /api/facts", in(`{"subject":"Aaa:one","predicate":"aguess","object":"three","confidence":0.1}`))
	w.do("PUT /api/pages/Aaa:one", in(`{"title":"One","body":"[[Person:qbsubj]]"}`))
	w.do("POST /api/branches", in(`{"name":"abranch"}`))
	w.do("POST /api/connectors", in(`{"name":"aconn"}`))
	boss.do("POST /api/reports", in(`{"name":"areport","schedule":"0 0 1 1 *"}`))
	w.do("POST /api/leases", in(`{"resource":"ares","holder":"aholder","ttl_secs":86400}`))
	boss.do("POST /api/alerts", in(`{"name":"aalert","kind":"freshness","threshold":60}`))
}

package http_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	httpd "abagraph/http"
)

// shell runs the documents' curl commands as they are written there.
type shell struct {
	*rig
	vars    map[string]string
	cookies string
}

// curl runs one command. Hosts are the documents' own; all of them are served
// by the one server of the test.
func (s *shell) curl(command string) *reply {
	s.t.Helper()
	method, body, target := http.MethodGet, "", ""
	var headers []string
	words := s.split(command)
	for i := 0; i < len(words); i++ {
		switch words[i] {
		case "curl", "-s", "-N":
		case "-X":
			i++
			method = words[i]
		case "-H":
			i++
			headers = append(headers, words[i])
		case "-d":
			i++
			body = words[i]
		case "-b":
			i++
			headers = append(headers, "Cookie: "+s.cookies)
		case "-c":
			i++
		default:
			if strings.HasPrefix(words[i], "-") || target != "" {
				s.t.Fatalf("curl: what is %q?", words[i])
			}
			target = words[i]
		}
	}
	u, err := url.Parse(target)
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" && !strings.Contains(strings.Join(headers, "\n"), "Content-Type") {
		headers = append(headers, "Content-Type: application/x-www-form-urlencoded") // as curl does
	}
	answer := s.at(u.Host).do(method, u.RequestURI(), body, headers...)
	if cookie := answer.Header.Get("Set-Cookie"); cookie != "" {
		s.cookies, _, _ = strings.Cut(cookie, ";")
	}
	return answer
}

// split splits a command into words as a shell does.
func (s *shell) split(command string) []string {
	var words []string
	var word strings.Builder
	open, quote := false, byte(0)
	for i := 0; i < len(command); i++ {
		c := command[i]
		switch {
		case quote == '\'' && c == '\'', quote == '"' && c == '"':
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, open = c, true
		case c == '\\' && quote != '\'':
			i++
			if command[i] != '\n' {
				word.WriteByte(command[i])
			}
		case c == '$' && quote != '\'':
			n := strings.IndexFunc(command[i+1:], func(r rune) bool { return r != '_' && (r < 'A' || r > 'Z') })
			if n < 0 {
				n = len(command) - i - 1
			}
			word.WriteString(s.vars[command[i+1:i+1+n]])
			i, open = i+n, true
		case quote == 0 && (c == ' ' || c == '\n'):
			if open {
				words = append(words, word.String())
				word.Reset()
				open = false
			}
		default:
			word.WriteByte(c)
			open = true
		}
	}
	if open {
		words = append(words, word.String())
	}
	return words
}

func newShell(t *testing.T) *shell {
	t.Helper()
	r := start(t, "operator-key", func(c *httpd.Config) { c.BaseDomain = "abagraph.com" })
	s := &shell{rig: r.as(""), vars: map[string]string{}}
	for _, tenant := range []string{"acme", "nas", "globex"} {
		key := r.post("/api/tenants", `{"id":"`+tenant+`"}`).status(http.StatusCreated).object().text("key")
		s.vars["KEY_"+strings.ToUpper(tenant)] = key
	}
	s.become("acme")
	return s
}

func (s *shell) become(tenant string) {
	key := s.vars["KEY_"+strings.ToUpper(tenant)]
	if tenant == "operator" {
		key = "operator-key"
	}
	for _, name := range []string{"ABAGRAPH_API_KEY", "ABAGRAPH_TOKEN", "TOKEN", "ACME_KEY"} {
		s.vars[name] = key
	}
	s.vars["ABAGRAPH_BASE_URL"] = "https://acme.abagraph.com"
}

func TestCurlsOfQuickstartAndFacts(t *testing.T) {
	s := newShell(t)
	if got := s.curl(`curl -s "$ABAGRAPH_BASE_URL/api/health"`).status(200).Body; got != `{"ok":true}` {
		t.Errorf("health: %s", got)
	}
	first := s.curl(`curl -s -X POST "$ABAGRAPH_BASE_URL/api/facts" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{
    "subject": "Person:alice",
    "predicate": "works_at",
    "object": "Company:acme",
    "confidence": 0.95,
    "source": "onboarding-form"
  }'`).status(201).object()
	if first.text("status") != "active" || first.text("valid_until") != "null" {
		t.Errorf("first: %v", first)
	}
	s.node.Advance(time.Second)
	s.curl(`curl -s -X POST "$ABAGRAPH_BASE_URL/api/facts" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{"subject":"Person:alice","predicate":"works_at","object":"Company:beta"}'`).status(201)
	for command, want := range map[string]string{
		`curl -s "$ABAGRAPH_BASE_URL/api/facts?subject=Person:alice&predicate=works_at" -H "Authorization: Bearer $ABAGRAPH_API_KEY"`:                     `"Company:beta"`,
		`curl -s "$ABAGRAPH_BASE_URL/api/facts?subject=Person:alice&as_of=` + first.text("valid_from") + `" -H "Authorization: Bearer $ABAGRAPH_API_KEY"`: `"Company:acme"`,
		`curl -s "$ABAGRAPH_BASE_URL/api/facts?subject=Person:alice&as_of=1749999999000" -H "Authorization: Bearer $ABAGRAPH_API_KEY"`:                    ``,
		`curl -s "$ABAGRAPH_BASE_URL/api/facts?subject=Person:alice" -H "Authorization: Bearer $ABAGRAPH_API_KEY"`:                                        `"Company:beta"`,
		`curl -s "$ABAGRAPH_BASE_URL/api/facts?subject=Person:alice&status=superseded" -H "Authorization: Bearer $ABAGRAPH_API_KEY"`:                      `"Company:acme"`,
		`curl -s "$ABAGRAPH_BASE_URL/api/facts?limit=10" -H "Authorization: Bearer $ABAGRAPH_API_KEY"`:                                                    `"Company:beta"`,
		`curl -H "Authorization: Bearer $TOKEN" 'https://acme.abagraph.com/api/facts?subject=Person:alice&limit=10'`:                                      `"Company:beta"`,
		`curl -H "Authorization: Bearer $ABAGRAPH_API_KEY" "$ABAGRAPH_BASE_URL/api/facts"`:                                                                `"Company:beta"`,
	} {
		if got := column(s.curl(command).status(200).list(), "object"); got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
	explained := s.curl(`curl -s "$ABAGRAPH_BASE_URL/api/facts?subject=Person:alice&explain=1" -H "Authorization: Bearer $ABAGRAPH_API_KEY"`).status(200).object()
	if explained["result"] == nil || explained["explain"] == nil {
		t.Errorf("explain: %v", explained)
	}
	s.curl(`curl -X POST -H "Authorization: Bearer $TOKEN" \
  -H "Content-Type: application/json" \
  -d '{"subject":"Person:alice","predicate":"works_at","object":"Company:acme","confidence":0.95,"source":"hr-system"}' \
  'https://acme.abagraph.com/api/facts'`).status(201)
	s.curl(`curl -X DELETE -H "Authorization: Bearer $TOKEN" 'https://acme.abagraph.com/api/facts/01JXXXXXXXXXXXXXXXXXXXXXXX'`).fails(404, "NotFound")
	period := s.curl(`curl -X POST $ABAGRAPH_BASE_URL/api/facts \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{
    "subject": "Person:alice",
    "predicate": "worked_at",
    "object": "Org:acme",
    "valid_from": 1704067200000,
    "valid_until": 1711929600000,
    "source": "hr-export"
  }'`).status(201).object()
	if period.text("valid_from") != "1704067200000" || period.text("valid_until") != "1711929600000" {
		t.Errorf("period: %v", period)
	}
	guess := s.curl(`curl -X POST $ABAGRAPH_BASE_URL/api/facts \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{ "subject": "Person:alice", "predicate": "works_at", "object": "Org:unknown-startup", "confidence": 0.4, "source": "unverified-twitter" }'`).status(201).object()
	if guess.text("status") != "candidate" || guess.text("superseded") != "0" {
		t.Errorf("candidate: %v", guess)
	}
	if got := s.curl(`curl "$ABAGRAPH_BASE_URL/api/facts?subject=Person:alice&status=candidate" -H "Authorization: Bearer $ABAGRAPH_API_KEY"`).status(200).list(); len(got) != 1 {
		t.Errorf("candidates: %v", got)
	}
}

func TestCurlsOfTheGuides(t *testing.T) {
	s := newShell(t)
	post := func(path, body string) *reply {
		t.Helper()
		return s.curl(`curl -s -X POST "$ABAGRAPH_BASE_URL` + path + `" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  -H "Content-Type: application/json" \
  -d '` + body + `'`)
	}
	get := func(query string) []doc {
		t.Helper()
		return s.curl(`curl -s "$ABAGRAPH_BASE_URL/api/facts?` + query + `" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY"`).status(200).list()
	}
	// Time travel: T_BETWEEN=$(date +%s%3N), sleep 1, supersede.
	post("/api/facts", `{"subject":"Person:sarah","predicate":"works_at","object":"Org:acme"}`).status(201)
	s.vars["T_BETWEEN"] = fmt.Sprint(int64(s.node.Now()))
	s.node.Advance(time.Second)
	post("/api/facts", `{"subject":"Person:sarah","predicate":"works_at","object":"Org:beta"}`).status(201)
	if got := column(get("subject=Person:sarah&predicate=works_at"), "object"); got != `"Org:beta"` {
		t.Errorf("present: %s", got)
	}
	if got := column(get("subject=Person:sarah&predicate=works_at&as_of=$T_BETWEEN"), "object"); got != `"Org:acme"` {
		t.Errorf("past: %s", got)
	}
	if got := column(get("subject=Person:sarah&predicate=works_at&status=Superseded"), "object"); got != `"Org:acme"` {
		t.Errorf("superseded: %s", got)
	}
	// Set-valued predicates.
	post("/api/facts", `{"subject":"Person:sarah","predicate":"tag","object":"engineer","policy":"coexist"}`).status(201)
	post("/api/facts", `{"subject":"Person:sarah","predicate":"tag","object":"lead","policy":"coexist"}`).status(201)
	if got := get("subject=Person:sarah&predicate=tag"); len(got) != 2 {
		t.Errorf("tags: %v", got)
	}
	// Retract and assert atomically.
	post("/api/facts", `{"subject":"Project:atlas","predicate":"status","object":"in-review"}`).status(201)
	s.vars["FACT_ID"] = get("subject=Project:atlas&predicate=status")[0].text("id")
	s.curl(`curl -s -X POST "$ABAGRAPH_BASE_URL/api/transact" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  -H "Content-Type: application/json" \
  -d "{
    \"asserts\": [{\"subject\":\"Project:atlas\",\"predicate\":\"status\",\"object\":\"shipped\"}],
    \"retracts\": [\"$FACT_ID\"]
  }"`).status(200)
	if got := column(get("subject=Project:atlas&predicate=status"), "object"); got != `"shipped"` {
		t.Errorf("status: %s", got)
	}
	if got := get("subject=Project:atlas&status=Retracted"); len(got) != 1 {
		t.Errorf("retracted: %v", got)
	}
	s.curl(`curl -s "$ABAGRAPH_BASE_URL/api/facts?tx_gt=2" -H "Authorization: Bearer $ABAGRAPH_API_KEY"`).status(200)
	// The layers' own examples, on other hosts.
	s.become("nas")
	s.curl(`curl -X POST -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \
  -d '{"subject":"Person:sarah","predicate":"raised_concern","object":"price is too high for our budget","confidence":0.9,"source":"call-2026-06-20"}' \
  'https://api.abagraph.com/api/facts'`).status(201)
	s.curl(`curl -H "Authorization: Bearer $TOKEN" 'https://nas.abagraph.com/api/facts?subject=Person:sarah&as_of=1717200000'`).status(200)
	s.curl(`curl -H "Authorization: Bearer $TOKEN" 'https://nas.abagraph.com/api/facts?subject=Person:sarah&explain=1'`).status(200)
	s.curl(`curl -X POST https://nas.abagraph.com/api/facts \
  -H "Authorization: Bearer $ABAGRAPH_TOKEN" \
  -d '{"subject":"Person:sarah","predicate":"works_at","object":"Org:acme","confidence":0.95,"source":"hr-feed"}'`).status(201)
}

func TestCurlsOfAuthAndTheRest(t *testing.T) {
	s := newShell(t)
	s.curl(`curl https://acme.abagraph.com/api/facts -H "Authorization: Bearer $ACME_KEY"`).status(200)
	s.curl(`curl https://globex.abagraph.com/api/facts -H "Authorization: Bearer $ACME_KEY"`).fails(404, "NotFound")
	s.curl(`curl -H "Authorization: Bearer $ACME_KEY" 'https://other.abagraph.com/api/facts'`).fails(404, "NotFound")
	in := s.curl(`curl -s -c cookies.txt -X POST https://acme.abagraph.com/api/session \
  -H "Content-Type: application/json" \
  -d "{\"key\": \"$ACME_KEY\"}"`).status(200)
	if in.Body != `{"scope":"tenant","tenant":"acme"}` || !strings.Contains(in.Header.Get("Set-Cookie"), "Secure; SameSite=Lax") {
		t.Errorf("log in: %s %v", in.Body, in.Header)
	}
	s.curl(`curl -s -b cookies.txt https://acme.abagraph.com/api/facts`).status(200)
	s.curl(`curl -b cookies.txt https://acme.abagraph.com/api/stats`).status(200)
	s.curl(`curl -s -b cookies.txt -X DELETE https://acme.abagraph.com/api/session`).status(200)
	s.curl(`curl -X POST "$ABAGRAPH_BASE_URL/api/facts" -H "Authorization: Bearer $ABAGRAPH_API_KEY" -H "Content-Type: application/json" -d '{"subject":"Person:alice","predicate":"p"}'`).status(201)
	for command, want := range map[string]string{
		`curl "$ABAGRAPH_BASE_URL/api/stats" -H "Authorization: Bearer $ABAGRAPH_API_KEY"`:                   `"tenant":"acme"`,
		`curl "$ABAGRAPH_BASE_URL/api/predicates" -H "Authorization: Bearer $ABAGRAPH_API_KEY"`:              `["p"]`,
		`curl "$ABAGRAPH_BASE_URL/api/entities" -H "Authorization: Bearer $ABAGRAPH_API_KEY"`:                `[{"id":"Person:alice","kind":"Person","name":"alice","fact_count":1}]`,
		`curl "$ABAGRAPH_BASE_URL/api/entities/Person%3Aalice" -H "Authorization: Bearer $ABAGRAPH_API_KEY"`: `{"id":"Person:alice","kind":"Person","name":"alice","facts":[{`,
		`curl -s "$ABAGRAPH_BASE_URL/api/connect" -H "Authorization: Bearer $ABAGRAPH_API_KEY"`:              `"rest_base":"https://acme.abagraph.com/api"`,
	} {
		if got := s.curl(command).status(200).Body; !strings.Contains(got, want) {
			t.Errorf("%s: %s", command, got)
		}
	}
	s.become("operator")
	s.curl(`curl -X POST "$ABAGRAPH_BASE_URL/api/tenants" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{"id":"acme2","name":"Acme Corp","quota_facts":50000}'`).status(201)
	s.curl(`curl "$ABAGRAPH_BASE_URL/api/tenants" -H "Authorization: Bearer $ABAGRAPH_API_KEY"`).status(200)
	s.curl(`curl "$ABAGRAPH_BASE_URL/api/tenants/acme" -H "Authorization: Bearer $ABAGRAPH_API_KEY"`).status(200)
	for command, want := range map[string]string{
		`curl "$ABAGRAPH_BASE_URL/api/admin/purge?prefix=Person:" -H "Authorization: Bearer $ABAGRAPH_API_KEY"`:                       `{"prefix":"Person:","facts":1,"dry_run":true}`,
		`curl -X POST "$ABAGRAPH_BASE_URL/api/admin/purge?subject=Person:bob&confirm=1" -H "Authorization: Bearer $ABAGRAPH_API_KEY"`: `{"subject":"Person:bob","deleted":0,"dry_run":false}`,
		`curl -X DELETE "$ABAGRAPH_BASE_URL/api/tenants/acme" -H "Authorization: Bearer $ABAGRAPH_API_KEY"`:                           `{"ok":true,"id":"acme","note":"soft-deleted; use /api/admin/purge to erase data"}`,
	} {
		if got := s.curl(command).status(200).Body; got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}

// TestCurlsOfSearch runs the documents' searches as they are written there.
func TestCurlsOfSearch(t *testing.T) {
	s := newShell(t)
	s.become("acme")
	s.curl(`curl -X POST -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \
  -d '{"subject":"Person:sarah","predicate":"raised_concern","object":"price is too high for our budget","confidence":0.9,"source":"call-2026-06-20"}' \
  'https://api.abagraph.com/api/facts'`).status(201)
	s.curl(`curl -X POST "$ABAGRAPH_BASE_URL/api/facts" -H "Authorization: Bearer $ABAGRAPH_API_KEY" -H "Content-Type: application/json" -d '{"subject":"Person:alice","predicate":"works_at","object":"Company:beta"}'`).status(201)
	for command, want := range map[string]string{
		`curl -X POST $ABAGRAPH_BASE_URL/api/search -H "Authorization: Bearer $ABAGRAPH_API_KEY" -H "Content-Type: application/json" -d '{"question": "who does alice work for?", "top_k": 5}'`: `"Person:alice","predicate":"works_at","object":"Company:beta"`,
		`curl "$ABAGRAPH_BASE_URL/api/search?question=Where+does+Alice+work%3F&top_k=5" -H "Authorization: Bearer $ABAGRAPH_API_KEY"`:                                                           `"Person:alice","predicate":"works_at","object":"Company:beta"`,
		`curl -X POST "$ABAGRAPH_BASE_URL/api/search" -H "Authorization: Bearer $ABAGRAPH_API_KEY" -H "Content-Type: application/json" -d '{"question":"Where does Alice work?","top_k":5}'`:    `"Person:alice","predicate":"works_at","object":"Company:beta"`,
		`curl -H "Authorization: Bearer $TOKEN" 'https://api.abagraph.com/api/search?question=pricing+objections&top_k=5'`:                                                                      `"object":"price is too high for our budget"`,
	} {
		got := s.curl(command).status(200).Body
		if !strings.HasPrefix(got, `{"kind":"search_result","question":`) || !strings.Contains(got, want) {
			t.Errorf("%s: %s", command, got)
		}
	}
}

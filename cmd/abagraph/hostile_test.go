package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"abagraph/internal/models/standin"
	"abagraph/internal/otlp/collector"
)

// siege is a victim among attackers: ann, who calls each route and tool with the victim's
// words, and amy, her twin, who does the same with words that nobody has. What both are
// answered must be the same, so that nobody can tell whether something is there.
type siege struct {
	t      *testing.T
	nodes  []*process // the first leads
	gate   *process   // which is asked
	data   []string
	traces *collector.Collector
	model  *standin.Server
	feed   *httptest.Server

	victim, boss string   // keys of the victim's
	names        []string // words that stand for what the server made
	theirs       []string // what the server made for the victim
	twins        []string // the victim's words, each before the twin's
	epoch, now   string
	told         map[string]bool // complaints, each once
	ann, amy     *attacker
	cat          *attacker       // who minds its own things
	before       string          // what it was answered before the victim had any
	echoed       map[string]bool // of theirs, what the attacker has written itself
	judged       map[string]bool // long answers that were judged already
	marks        int
}

// attacker is a tenant that is not the victim's.
type attacker struct {
	name               string // ann, or amy, the twin
	read, write, admin string
	words              func(string) string // how it says a text of the tables
	plain              *strings.Replacer   // takes its own words from an answer
}

// speaker speaks to a node with a key, and is answered what it wants.
type speaker struct {
	s    *siege
	node *process
	key  string
}

func (s *siege) as(key string) *speaker { return &speaker{s, s.nodes[0], key} }

var plainClient = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 8},
	Timeout:       2 * time.Minute,
}

// raw sends what must succeed.
func (c *speaker) raw(what, body string, headers ...string) string {
	c.s.t.Helper()
	status, text := c.send(what, body, headers...)
	for leaderless(status, text) {
		status, text = c.send(what, body, headers...)
	}
	if status >= 300 {
		c.s.t.Fatalf("%s %s: %d %s", what, body, status, text)
	}
	return text
}

// may sends what may be refused.
func (c *speaker) may(what, body string) bool {
	status, _ := c.send(what, body)
	return status < 300
}

func (c *speaker) send(what, body string, headers ...string) (int, string) {
	c.s.t.Helper()
	method, path, _ := strings.Cut(what, " ")
	r, err := http.NewRequest(method, c.node.url+path, strings.NewReader(body))
	if err != nil {
		c.s.t.Fatal(err)
	}
	if c.key != "" {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	got, err := plainClient.Do(r)
	if err != nil {
		c.s.t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		c.s.t.Fatalf("%s: %v", what, err)
	}
	return got.StatusCode, string(text)
}

func (c *speaker) do(what, body string, headers ...string) map[string]any {
	c.s.t.Helper()
	var got map[string]any
	text := c.raw(what, body, headers...)
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&got); err != nil {
		c.s.t.Fatalf("%s: %v: %s", what, err, text)
	}
	return got
}

func (c *speaker) list(path string) []map[string]any {
	c.s.t.Helper()
	var got []map[string]any
	if text := c.raw("GET "+path, ""); json.Unmarshal([]byte(text), &got) != nil || len(got) == 0 {
		c.s.t.Fatalf("%s: %s", path, text)
	}
	return got
}

// tenant makes a tenant, and returns its key.
func (s *siege) tenant(id, name string) string {
	return s.as(hidden["admin key"]).do("POST /api/tenants", `{"id":"`+id+`","name":"`+name+`"}`)["key"].(string)
}

func (s *siege) key(tenant, name, role string) string {
	return s.as(hidden["admin key"]).do("POST /api/tenants/"+tenant+"/keys", `{"name":"`+name+`","role":"`+role+`"}`)["key"].(string)
}

func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

// besiege starts nodes with all that they may be told, and stocks the tenants.
func besiege(t *testing.T, nodes int) *siege {
	s := &siege{t: t, traces: collector.Start(t), model: standin.New(t, readsFacts), feed: source(t), told: map[string]bool{}, echoed: map[string]bool{}, judged: map[string]bool{}, now: fmt.Sprint(time.Now().UnixMilli())}
	embeddings, dir, path := vectors(t), t.TempDir(), built(t)
	for i := range nodes {
		data := filepath.Join(dir, fmt.Sprint(i))
		args := []string{"serve", "--bind", "127.0.0.1:0", "--peer-bind", "127.0.0.1:0", "--node-id", fmt.Sprint("node-", i), "--data", data, "--base-domain", "mem.example",
			"--log-level", "debug", "--otlp-endpoint", s.traces.URL, "--alert-interval-secs", "0", "--outbound-allow", "127.0.0.1", "--embedding", "http", "--embedding-base-url", embeddings.URL + "/v1",
			"--embedding-model", "eight", "--embedding-dim", "8", "--embedding-timeout-ms", "60000", "--election-timeout-ms", "3000"}
		if i > 0 {
			args = append(args, "--join", s.nodes[0].peers)
		}
		command := program(t, args...)
		command.Path = path
		for name, value := range map[string]string{"ABAGRAPH_ADMIN_KEY": "admin key", "ABAGRAPH_SECOND_ADMIN_KEY": "second admin key", "ABAGRAPH_CLUSTER_SECRET": "cluster secret",
			"ABAGRAPH_PII_KEY": "key of the masking", "ABAGRAPH_EMBEDDING_API_KEY": "key of the vectors", "HOSTILE_SECRET": "secret of a webhook"} {
			command.Env = append(command.Env, name+"="+hidden[value])
		}
		s.nodes, s.data = append(s.nodes, launchAs(t, command).up()), append(s.data, data)
	}
	s.gate = s.nodes[nodes-1]
	s.epoch = s.readEpoch()
	s.cat = s.attacker("cat")
	s.brief(s.cat)
	s.stockOf(s.cat)
	s.before = s.lookAs(s.cat)
	s.stock()
	return s
}

func (s *siege) readEpoch() string {
	var seen struct{ Cluster struct{ Epoch string } }
	if err := json.Unmarshal([]byte(s.as(hidden["admin key"]).raw("GET /api/observability", "")), &seen); err != nil {
		s.t.Fatal(err)
	}
	return seen.Cluster.Epoch
}

// lookAs is what a tenant's keys are answered by every route that reads.
func (s *siege) lookAs(who *attacker) string {
	var all strings.Builder
	d := readDescription(s.t, s.as(who.read).raw("GET /openapi.json", ""))
	for _, a := range d.attempts(s.t, who.words) {
		if a.method != http.MethodGet || !a.plain || !a.steady || a.route == "GET /api/stream" {
			continue
		}
		for _, w := range entrances[:3] {
			got := s.try(who, &w, &a)
			fmt.Fprintf(&all, "%s, %s: %d\n%s\n%s\n", w.name, a.path, got.status, s.settle(who, headersOf(got.headers)), s.settle(who, got.body))
		}
	}
	return all.String()
}

// attacker makes an attacker of a name.
func (s *siege) attacker(name string) *attacker {
	a := &attacker{name: name, write: s.tenant(name, name)}
	a.read, a.admin = s.key(name, "areader", "read"), s.key(name, "aboss", "admin")
	return a
}

// brief tells an attacker what there is to be said.
func (s *siege) brief(who *attacker) {
	who.words = s.wordsOf(who)
	at := 0
	var pairs []string
	if who.name == "amy" {
		at, pairs = 1, []string{"qn", "qb", "Qn", "Qb", "amy", "ann"}
	}
	for i := 0; i < len(s.twins); i += 2 {
		pairs = append(pairs, s.twins[i+at], fmt.Sprintf("<theirs %d>", i))
	}
	who.plain = strings.NewReplacer(pairs...)
}

// wordsOf is how an attacker says a text of the tables.
func (s *siege) wordsOf(who *attacker) func(string) string {
	if who.name == "cat" { // who knows nothing of the victim
		return strings.NewReplacer("<now>", s.now, "<tx>", "1", "<epoch>", s.epoch, "<feed>", s.feed.URL, "<model>", "{}", "qb", "qc", "ann", "cat").Replace
	}
	said := strings.NewReplacer(append(append([]string{}, s.names...), "<now>", s.now, "<epoch>", s.epoch, "<feed>", s.feed.URL, "<model>", s.model.Config("openai", "attackers-own"))...)
	if who.name == "ann" {
		return said.Replace
	}
	twin := strings.NewReplacer(append(append([]string{}, s.twins...), "qb", "qn", "Qb", "Qn", "ann", "amy")...)
	return func(text string) string { return twin.Replace(said.Replace(text)) }
}

// An entrance is how an attacker comes in.
type entrance struct {
	name  string
	whole bool // with each value of each parameter
	with  func(r *http.Request, who *attacker, words func(string) string)
}

func bearing(key func(*attacker) string) func(*http.Request, *attacker, func(string) string) {
	return func(r *http.Request, who *attacker, _ func(string) string) {
		if key := key(who); key != "" {
			r.Header.Set("Authorization", "Bearer "+key)
		}
	}
}

var entrances = []entrance{
	{"with a key that reads", false, bearing(func(a *attacker) string { return a.read })},
	{"with a key that writes", false, bearing(func(a *attacker) string { return a.write })},
	{"with an admin's key", true, bearing(func(a *attacker) string { return a.admin })},
	{"without a key", false, bearing(func(*attacker) string { return "" })},
	{"with a key that is none", false, bearing(func(*attacker) string { return hidden["a key that is none"] })},
	{"with a cookie", false, func(r *http.Request, who *attacker, _ func(string) string) {
		r.AddCookie(&http.Cookie{Name: "abagraph_session", Value: url.QueryEscape(who.admin)})
		r.Header.Set("Origin", "http://"+r.Host)
	}},
	{"at the victim's host", false, func(r *http.Request, who *attacker, words func(string) string) {
		r.Host = words("qbten.mem.example")
		r.Header.Set("Authorization", "Bearer "+who.admin)
	}},
	{"with the victim's name in headers", false, func(r *http.Request, who *attacker, words func(string) string) {
		r.Header.Set("Authorization", "Bearer "+who.admin)
		for _, name := range []string{"X-Tenant", "X-Tenant-Id", "X-Abagraph-Tenant", "X-Abagraph-Namespace", "X-Abagraph-Branch", "X-Forwarded-User", "X-Scope-Orgid"} {
			r.Header.Set(name, words("qbten"))
		}
		for _, name := range []string{"X-Forwarded-Host", "X-Original-Host", "X-Host"} {
			r.Header.Set(name, words("qbten.mem.example"))
		}
		r.Header.Set("X-Original-Url", words("/api/facts?tenant=qbten"))
		r.Header.Set("X-Http-Method-Override", "GET")
		r.Header.Set("Forwarded", words("host=qbten.mem.example"))
	}},
}

// answer is what was said to an attempt, all of it.
type answer struct {
	status  int
	headers http.Header
	body    string
}

func leaderless(status int, body string) bool {
	return status == http.StatusServiceUnavailable && strings.Contains(body, `"NoLeader"`)
}

// try makes an attempt, again where nobody leads at the moment.
func (s *siege) try(who *attacker, w *entrance, a *attempt) *answer {
	for {
		got := s.once(who, w, a)
		if !leaderless(got.status, got.body) {
			return got
		}
	}
}

func (s *siege) once(who *attacker, w *entrance, a *attempt) *answer {
	r, err := http.NewRequest(a.method, s.gate.url+a.path, strings.NewReader(a.body))
	if err != nil {
		s.t.Fatal(err)
	}
	if a.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w.with(r, who, who.words)
	if a.header[0] != "" {
		r.Header.Set(a.header[0], a.header[1])
	}
	got, err := plainClient.Do(r)
	if err != nil {
		s.t.Fatalf("%s %s: %v", a.method, a.path, err)
	}
	defer got.Body.Close()
	if got.StatusCode == http.StatusOK && strings.HasPrefix(got.Header.Get("Content-Type"), "text/event-stream") && a.method == http.MethodGet {
		return &answer{got.StatusCode, got.Header, s.follow(who, r.URL.Query(), got.Body)}
	}
	text, err := io.ReadAll(got.Body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", a.method, a.path, err)
	}
	return &answer{got.StatusCode, got.Header, string(text)}
}

// follow reads a stream up to a fact that its own tenant writes now.
func (s *siege) follow(who *attacker, q url.Values, body io.Reader) string {
	or := func(name, preset string) string {
		if q.Get(name) == "" {
			return preset
		}
		return q.Get(name)
	}
	s.marks++
	mark := fmt.Sprint("mark ", (s.marks+1)/2)
	if !s.as(who.write).may("POST /api/facts?branch="+or("branch", "main"), fmt.Sprintf(`{"subject":%q,"predicate":%q,"object":%q}`, or("subject", "Aaa:mark"), or("predicate", "marks"), mark)) {
		return "" // of a branch that is closed, on which nothing comes any more
	}
	var all strings.Builder
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fmt.Fprintln(&all, lines.Text())
		if strings.Contains(lines.Text(), `"`+mark+`"`) {
			return all.String()
		}
	}
	s.t.Fatalf("a stream ended: %v", lines.Err())
	return ""
}

// itsOwn is what may differ between answers to two tenants: ids, keys, hashes, txs and
// times, what follows from those, and whether the job of vectors runs at this moment.
var itsOwn = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|\baba_[A-Za-z0-9_-]+|\b[0-9a-f]{64}\b|\b1[7-9]\d{11}\b|\b20\d\d-\d\d-\d\d(?:[ T]\d\d:\d\d:\d\d(?:\.\d+)?Z)?\b|(?:tx|token|next|ms|tokens|recency|score)\\?":"?[0-9.eE+-]+"?|\b(?:tx|token) \d+|(?m:^id: .*$)|"running":(?:true|false)`)

// settle takes from an answer what may differ.
func (s *siege) settle(who *attacker, text string) string {
	return itsOwn.ReplaceAllLiteralString(who.plain.Replace(text), "<>")
}

func headersOf(h http.Header) string {
	h = h.Clone()
	for _, name := range []string{"Date", "Content-Length", "Etag", "X-Abagraph-Tx", "X-Abagraph-Now"} {
		h.Del(name)
	}
	var b strings.Builder
	_ = h.Write(&b) // a Builder takes all
	return b.String()
}

// attack makes an attempt as the attacker and as the twin, and judges what was said.
func (s *siege) attack(w *entrance, a, twin *attempt) {
	ann, amy := s.ann, s.amy
	one, two := s.try(ann, w, a), s.try(amy, w, twin)
	what := fmt.Sprintf("%s, %s %s %v %s", w.name, a.method, a.path, a.header, a.body)
	for _, got := range []*answer{one, two} {
		s.judge(what, a, got)
	}
	if !a.steady {
		return
	}
	if one.status == two.status && one.body == two.body && headersOf(one.headers) == headersOf(two.headers) {
		return
	}
	first := fmt.Sprintf("%d\n%s\n%s", one.status, s.settle(ann, headersOf(one.headers)), s.settle(ann, one.body))
	second := fmt.Sprintf("%d\n%s\n%s", two.status, s.settle(amy, headersOf(two.headers)), s.settle(amy, two.body))
	if first != second {
		s.complain("differs "+a.route+a.path, "%s: what is the victim's is answered\n%s\nand what is nobody's\n%s", what, around(first, second), around(second, first))
	}
}

// around is where a text begins to differ from another, with what is before it.
func around(text, other string) string {
	at := 0
	for at < len(text) && at < len(other) && text[at] == other[at] {
		at++
	}
	return text[:min(3, len(text))] + " … " + text[max(0, at-150):min(len(text), at+150)]
}

// judge looks for what no answer may hold.
func (s *siege) judge(what string, a *attempt, got *answer) {
	all := got.body + headersOf(got.headers)
	if s.judged[all] {
		return
	}
	if len(all) > 64<<10 {
		s.judged[all] = true // the same page for everybody
	}
	if strings.Contains(strings.ToLower(all), "zzcanary") {
		at := strings.Index(strings.ToLower(all), "zzcanary")
		s.complain("canary "+a.route, "%s: shows what is the victim's: %d … %s", what, got.status, all[max(0, at-300):min(len(all), at+100)])
	}
	asked := a.path + a.header[1] + a.body
	for _, id := range s.theirs {
		// What the attacker has written itself it may read.
		s.echoed[id] = s.echoed[id] || a.body != "" && strings.Contains(a.body, id)
	}
	for _, id := range s.theirs {
		if strings.Contains(all, id) && !strings.Contains(asked, id) && !s.echoed[id] {
			s.complain("id "+a.route, "%s: tells an id of the victim's, %s: %d %s", what, id, got.status, got.body[:min(len(got.body), 600)])
		}
	}
	for name, secret := range s.secrets() {
		if strings.Contains(all, secret) {
			s.complain("secret "+name+a.route, "%s: tells the %s", what, name)
		}
	}
	if got.status == http.StatusInternalServerError {
		s.complain("fails "+a.route, "%s: is answered %d %s", what, got.status, got.body)
	}
}

// secrets are what no answer, no log, no metric, no span and no file may hold.
func (s *siege) secrets() map[string]string {
	all := map[string]string{"key of the victim": s.victim, "admin's key of the victim": s.boss}
	for name, value := range hidden {
		all[name] = value
	}
	return all
}

func (s *siege) complain(key, format string, args ...any) {
	if s.told[key] || len(s.told) > 60 {
		return
	}
	s.told[key] = true
	s.t.Errorf(format, args...)
}

// holdings is all that the victim has, as the operator and its own keys see it.
func (s *siege) holdings(node *process) string {
	root, b, boss := s.as(hidden["admin key"]), s.as(s.victim), s.as(s.boss)
	root.node, b.node, boss.node = node, node, node
	var all strings.Builder
	for _, path := range []string{"/api/facts?status=all&limit=10000", "/api/facts?status=all&limit=10000&branch=qbbranch", "/api/branches", "/api/branches/qbbranch/diff", "/api/pages/Person:qbsubj",
		"/api/connectors", "/api/connectors/qbconn", "/api/connectors/qbfeed", "/api/triggers", "/api/triggers/qbtrigger", "/api/reports", "/api/reports/qbreport", "/api/alerts", "/api/leases", "/api/policy",
		"/api/secrets", "/api/tenants/qbten", "/api/tenants/qbten/keys", "/api/audit", "/api/stats", "/api/embeddings", "/api/entities", "/api/predicates", "/api/graph", "/api/blobs/" + s.said("<blob>"), "/api/digest/jobs/" + s.said("<job>")} {
		glue := "?"
		if strings.Contains(path, "?") {
			glue = "&"
		}
		fmt.Fprintln(&all, path, aTotal.ReplaceAllString(root.raw("GET "+path+glue+"tenant=qbten", ""), ""))
	}
	fmt.Fprintln(&all, boss.raw("GET /api/admin/approvals", ""))
	fmt.Fprintln(&all, b.raw("GET /api/session", ""))
	return all.String()
}

// aTotal is what an answer says of the whole store.
var aTotal = regexp.MustCompile(`,"tx":\d+,"version":"[^"]*"|,"job":\{[^}]*\}`)

func (s *siege) said(name string) string { return strings.NewReplacer(s.names...).Replace(name) }

// TestTEN01TheHostileTenant: a tenant that knows each name and id of another, and calls
// all that there is with them in all places, learns nothing, not even what is there, and
// changes nothing; a tenant that minds its own things cannot tell that there are others;
// and no secret is in an answer, a log, a metric, a span or a file. What a server has is
// read from its own description, so that a new route or tool is attacked, too.
func TestTEN01TheHostileTenant(t *testing.T) {
	t.Run("alone", func(t *testing.T) { besiege(t, 1).run(true) })
	t.Run("through a follower", func(t *testing.T) { besiege(t, 3).run(false) })
}

// run makes all attempts; whole with values of each parameter: an eighth of them, or
// every one where ABAGRAPH_SEED is set.
func (s *siege) run(whole bool) {
	all := os.Getenv("ABAGRAPH_SEED") != ""
	s.ann, s.amy = s.attacker("ann"), s.attacker("amy")
	for _, who := range []*attacker{s.ann, s.amy} {
		s.brief(who)
		s.stockOf(who)
	}
	s.now = fmt.Sprint(time.Now().UnixMilli()) // when all is there
	s.brief(s.ann)
	s.brief(s.amy)
	root := s.as(hidden["admin key"])
	before := s.holdings(s.gate)
	described := root.raw("GET /openapi.json", "")
	d := readDescription(s.t, described)
	tools := readTools(s.t, root.raw("POST /mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Content-Type: application/json"))
	theirs := append(d.attempts(s.t, s.ann.words), messages(s.t, tools, s.ann.words)...)
	nobodys := append(d.attempts(s.t, s.amy.words), messages(s.t, tools, s.amy.words)...)
	for _, round := range rounds {
		for _, w := range entrances {
			if round.late && !(whole && w.whole) {
				continue
			}
			for i := range theirs {
				if round.of(&theirs[i]) && (theirs[i].plain || w.whole && !round.late && whole && (all || i%8 == 0)) {
					s.attack(&w, &theirs[i], &nobodys[i])
				}
			}
		}
	}
	s.misplace()
	for _, node := range s.nodes {
		if after := s.holdings(node); after != before {
			s.t.Errorf("something of the victim's has changed: it had\n%s\nand has\n%s", around(before, after), around(after, before))
		}
	}
	if after := s.lookAs(s.cat); after != s.before {
		s.t.Errorf("a tenant's answers depend on others: it was answered\n%s\nand is\n%s", around(s.before, after), around(after, s.before))
	}
	s.lookAround()
}

func reads(a *attempt) bool   { return a.method == http.MethodGet || a.method == http.MethodHead }
func policy(a *attempt) bool  { return a.route == "PUT /api/policy" }
func ends(a *attempt) bool    { return a.method == http.MethodDelete }
func changes(a *attempt) bool { return !reads(a) && !ends(a) && !policy(a) }
func named(a *attempt) bool   { return changes(a) && strings.Contains(a.route, "{") }
func unnamed(a *attempt) bool { return changes(a) && !strings.Contains(a.route, "{") }

// rounds: first the attackers have nothing of the victim's names; then they make things
// of the same names, read, change and delete those; the policy comes late, since it says
// what they may do.
var rounds = []round{{reads, false}, {ends, false}, {named, false}, {unnamed, false}, {reads, true}, {named, true}, {policy, true}, {ends, true}, {reads, true}}

// A round is some of the attempts. Late ones are the admin's of a tenant alone.
type round struct {
	of   func(*attempt) bool
	late bool
}

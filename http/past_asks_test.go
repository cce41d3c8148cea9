package http_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// moment is one point of both times, as parameters of a query.
type moment struct {
	tx      uint64
	knownAt int64  // 0 = not given
	asOf    string // "" = not given
}

func (m moment) query() string {
	q := "tx=" + strconv.FormatUint(m.tx, 10)
	if m.knownAt != 0 { // later declarations may change what was known (C-28)
		q = "known_at=" + strconv.FormatInt(m.knownAt, 10) + "&backfill=0"
	}
	if m.asOf != "" {
		q += "&as_of=" + m.asOf
	}
	return q
}

// question is one read, whose moment is left open.
type question struct {
	name     string
	path     string // up to the next parameter
	body     string // of a POST; of MCP the arguments
	tool     string // of MCP
	rows     bool   // the answer is a list of facts
	relative bool   // the answer goes by what "now" means there
	all      bool   // of all tenants
}

// ask asks at a moment, "" for a question that names it by itself.
func (q *question) ask(r *rig, at string) string {
	if q.tool != "" {
		return said(r.post("/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+q.tool+`","arguments":{`+q.body+asFields(at)+`}}}`))
	}
	path := q.path + at
	if !q.all {
		path += "&tenant=a"
	}
	if q.body != "" {
		return said(r.post(path, q.body))
	}
	return said(r.get(path))
}

// asFields turns parameters into fields of JSON.
func asFields(at string) string {
	var b strings.Builder
	for pair := range strings.SplitSeq(at, "&") {
		name, value, _ := strings.Cut(pair, "=")
		switch name {
		case "": // there is none
		case "branch":
			fmt.Fprintf(&b, `,%q:%q`, name, value)
		default:
			fmt.Fprintf(&b, `,%q:%s`, name, value)
		}
	}
	return b.String()
}

// present is where the store stands.
func (w *pastWorld) present() (tx uint64, now int64) {
	w.t.Helper()
	p := w.root.get("/api/facts?limit=1&tenant=a").status(http.StatusOK)
	now, _ = strconv.ParseInt(p.Header.Get("X-Abagraph-Now"), 10, 64)
	return txOf(said(p)), now
}

// moments are some of the present, and some of the past.
func (w *pastWorld) moments(tx uint64, now int64) []moment {
	some := func() string { return strconv.FormatInt(w.time(), 10) }
	earlier := 1 + w.rnd.Uint64N(tx)
	past := w.first + w.rnd.Int64N(now-w.first)
	if w.oneIn(2) {
		past = min(choose(w, w.times[len(pastTimes):]), now) // the record time of a tx
	}
	return []moment{
		{tx: tx}, {tx: tx, asOf: some()}, {tx: earlier}, {tx: earlier, asOf: some()},
		{knownAt: now}, {knownAt: now, asOf: some()}, {knownAt: past}, {knownAt: past, asOf: some()},
	}
}

// questions are asked at one moment.
func (w *pastWorld) questions(m moment) []question {
	var list []question
	for _, b := range w.branches() {
		list = append(append(list, w.lists(b, m)...), w.looks(b, m)...)
	}
	return append(list, w.onlyOnMain(m)...)
}

// branches are main and the open ones, as a parameter.
func (w *pastWorld) branches() []string {
	list := []string{""}
	for _, name := range w.forks {
		list = append(list, "branch="+name+"&")
	}
	return list
}

// asker collects questions on one branch.
type asker struct {
	branch string
	list   []question
}

func (a *asker) ask(name, path string) *question {
	glue := "?"
	if strings.Contains(path, "?") {
		glue = "&"
	}
	a.list = append(a.list, question{name: name, path: path + glue + a.branch})
	return &a.list[len(a.list)-1]
}

// lists are reads that list facts and names.
func (w *pastWorld) lists(branch string, m moment) []question {
	a := &asker{branch: branch}
	name, other, verb := url.QueryEscape(choose(w, pastNames)), url.QueryEscape(choose(w, pastNames)), choose(w, pastVerbs)
	for _, filter := range []string{
		"", "&status=all", "&status=candidate", "&status=active", "&include_retracted=1", "&subject=" + name, "&status=all&subject=" + name, "&predicate=" + verb,
		"&subject=" + name + "&predicate=" + verb, "&object=" + other,
	} {
		what, _, _ := strings.Cut(filter, "=")
		a.ask("facts "+what, "/api/facts?limit=10000"+filter).rows = true
	}
	a.ask("a page by a cursor", "/api/facts?limit=5&tx_gt="+strconv.FormatUint(w.rnd.Uint64N(m.tx+1), 10))
	if len(w.ids) > 0 && m.asOf == "" {
		a.ask("one fact", "/api/facts/"+choose(w, w.ids))
	}
	a.ask("entities", "/api/entities")
	a.ask("an entity", "/api/entities/"+name)
	a.ask("predicates", "/api/predicates")
	return a.list
}

// looks are all other reads.
func (w *pastWorld) looks(branch string, m moment) []question {
	a := &asker{branch: branch}
	ask := a.ask
	name, other := url.QueryEscape(choose(w, pastNames)), url.QueryEscape(choose(w, pastNames))
	ask("walk", "/api/walk?depth=3&direction=both&start="+name)
	ask("walk out", "/api/walk?depth=2&start="+name)
	ask("path", "/api/path?limit=100&from="+name+"&to="+other)
	ask("graph", "/api/graph")
	ask("graph around", "/api/graph?q="+url.QueryEscape(choose(w, []string{"ada", "o", "works", "doctor"})))
	words := url.QueryEscape(choose(w, []string{"where does ada work", "who is a physician", "who knows bob", "Org acme title", "said twice"}))
	for _, mode := range []string{"lexical", "hybrid", "vector"} {
		ask("search "+mode, "/api/search?top_k=100&mode="+mode+"&question="+words)
	}
	ask("search with seeds", "/api/search?top_k=10&seeds="+name+"&question="+words)
	ask("search of all", "/api/search?top_k=50&order=desc&status=all&question="+words)
	ask("search at a date", "/api/search?top_k=50&question="+words+url.QueryEscape(" "+choose(w, []string{"in 2021", "yesterday", "last month", "before 2018"})))
	style := choose(w, []string{"claude", "openai", "generic"})
	ask("context", "/api/context?style="+style+"&goal="+words+"&seeds="+name)
	ask("context by a budget", "/api/context?token_budget=300&goal="+words)
	ask("factcheck", "/api/factcheck?integrity=1&limit=1000")
	ask("factcheck of a subject", "/api/factcheck?subject="+name)
	from, to := w.time(), w.time()
	for _, axis := range []string{"both", "valid", "known"} {
		ask("changes "+axis, fmt.Sprintf("/api/changes?from=%d&to=%d&axis=%s&limit=1000", min(from, to), max(from, to)+1, axis))
	}
	ask("changes until now", fmt.Sprintf("/api/changes?from=%d&limit=1000", from)).relative = true
	ask("a page", "/api/pages/"+url.PathEscape(choose(w, pastNames[:3])))
	if m.asOf != "" {
		ask("a page with what was retracted", "/api/pages/"+url.PathEscape(choose(w, pastNames[:3]))+"?include_retracted=1")
	}
	if m.knownAt == 0 { // MCP has no backfill=0
		a.list = append(a.list, w.tools(branch)...)
	}
	return a.list
}

func (w *pastWorld) tools(branch string) []question {
	branch = asFields(branch)
	tool := func(name, more string) question {
		return question{name: "tool " + name, tool: strings.Fields(name)[0], body: `"namespace":"a"` + branch + more}
	}
	name := strconv.Quote(choose(w, pastNames))
	return []question{
		tool("recall by words", `,"mode":"semantic","limit":50,"query":"where does ada work"`),
		tool("recall by pattern", `,"mode":"pattern","limit":200,"subject":`+name),
		tool("recall by a walk", `,"mode":"walk","depth":3,"start":`+name),
		tool("build_context", `,"task":"brief me on Person:ada"`),
	}
}

// sealed are reads that name their moment by themselves.
func (w *pastWorld) sealed(tx uint64, now int64) []question {
	var list []question
	for _, branch := range w.branches() {
		from, to := min(w.time(), now), min(w.time(), now)
		from, to = min(from, to), max(from, to)
		for _, axis := range []string{"both", "valid", "known"} {
			list = append(list, question{name: "changes by themselves " + axis, path: fmt.Sprintf("/api/changes?from=%d&to=%d&axis=%s&backfill=0&limit=1000&%s", from, to, axis, branch)})
		}
	}
	return append(list,
		question{name: "audit", path: fmt.Sprintf("/api/audit?limit=1000&tx_lt=%d", tx+1)},
		question{name: "audit by time", path: fmt.Sprintf("/api/audit?limit=1000&to=%d", now)},
		question{name: "audit onwards", path: fmt.Sprintf("/api/audit?limit=1000&tx_gt=3&tx_lt=%d", tx+1)},
		question{name: "tool whats_changed", tool: "whats_changed", body: fmt.Sprintf(`"namespace":"a","from":%d,"to":%d`, w.first-1000, w.first)},
	)
}

func (w *pastWorld) onlyOnMain(m moment) []question {
	list := []question{
		{name: "leases", path: "/api/leases?"}, {name: "a lease", path: "/api/leases/job?"}, {name: "policy", path: "/api/policy?"},
		{name: "reports", path: "/api/reports?"}, {name: "a report", path: "/api/reports/weekly?"}, {name: "alerts", path: "/api/alerts?"},
		{name: "a report as Markdown", path: "/api/reports/weekly?format=md&"},
		{name: "ask", path: "/api/ask?", body: `{"question":"where does ada work","model":` + w.model.Config("openai", modelKey) + `}`},
	}
	for _, hash := range w.blobs {
		list = append(list, question{name: "a text", path: "/api/blobs/" + hash + "?"})
	}
	if len(w.forks) > 0 && len(w.blobs) > 0 {
		list = append(list, question{name: "a text on a branch", path: "/api/blobs/" + choose(w, w.blobs) + "?include_retracted=1&branch=" + choose(w, w.forks) + "&"})
	}
	if w.pure {
		for _, path := range []string{
			"facts?limit=10000&status=all&", "search?top_k=100&question=ada&", "graph?", "entities?", "predicates?", "walk?depth=3&start=Person:ada&", "factcheck?", "changes?from=0&", "context?goal=ada&",
		} {
			list = append(list, question{name: "over all tenants " + path, path: "/api/" + path, all: true, relative: true})
		}
	}
	if m.asOf != "" && m.knownAt == 0 {
		list = append(list, question{name: "tool recall_as_of", tool: "recall_as_of", body: `"namespace":"a","limit":200`})

	}
	return list
}

package http_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"abagraph/internal/words"
	"abagraph/memory"
)

// startSearch is start with the word table, as a node has it by default.
func startSearch(t *testing.T, adminKey string) *rig {
	t.Helper()
	table, err := words.Load()
	if err != nil {
		t.Fatal(err)
	}
	return startWith(t, memory.Options{AdminKey: adminKey, Words: table})
}

// hits are the facts of a search's answer.
func (p *reply) hits() []doc {
	p.t.Helper()
	var list []doc
	for _, f := range p.status(http.StatusOK).object()["answer_facts"].([]any) {
		list = append(list, doc(f.(map[string]any)))
	}
	return list
}

func asks(question string) string { return "/api/search?question=" + url.QueryEscape(question) }

// The documents' own example: a question that shares no word with the fact but one
// that is used like another.
func TestSearchAnswersByMeaning(t *testing.T) {
	r := startSearch(t, "")
	r.assert("Person:sarah", "raised_concern", `"price is too high for our budget"`, `"confidence":0.9`, `"source":"call-2026-06-20"`)
	r.assert("Person:alice", "works_at", `"Company:beta"`)
	got := r.post("/api/search", `{"question":"cost objections","top_k":5}`).status(http.StatusOK).object()
	first := doc(got["answer_facts"].([]any)[0].(map[string]any))
	if got.text("kind") != "search_result" || got.text("question") != "cost objections" || got.text("mode") != "hybrid" || first.text("subject") != "Person:sarah" {
		t.Errorf("%v", got)
	}
	if list := r.get(asks("cost objections") + "&mode=lexical").hits(); len(list) != 0 {
		t.Errorf("no word is shared, and yet: %v", list)
	}
	both := r.get(asks("Where does Alice work?") + "&top_k=1").status(http.StatusOK).object()
	if both.text("entities") != `["Person:alice","Company:beta"]` {
		t.Errorf("entities: %s", both.text("entities"))
	}
	why := doc(doc(both["answer_facts"].([]any)[0].(map[string]any))["why"].(map[string]any))
	if !strings.Contains(why.text("matches"), `"found":"alice"`) || why.text("lexical") == "0" {
		t.Errorf("why: %v", why)
	}
}

// TestSearchTellsWhichObjectsAreEntities: a plain object is one as soon as, and as long
// as, a fact has it for its subject, and at an earlier tx only if one had it then.
func TestSearchTellsWhichObjectsAreEntities(t *testing.T) {
	r := startSearch(t, "")
	entities := func(more string) string {
		t.Helper()
		return r.get(asks("who rides to camelot") + "&predicate=rides_to" + more).status(http.StatusOK).object().text("entities")
	}
	expect := func(more, want string) {
		t.Helper()
		if got := entities(more); got != want {
			t.Errorf("the entities are %s, want %s", got, want)
		}
	}
	r.assert("Person:arthur", "rides_to", `"camelot"`)
	expect("", `["Person:arthur"]`)
	r.assert("camelot", "lies_in", `"logres"`)
	expect("", `["Person:arthur","camelot"]`)
	expect("&tx=1", `["Person:arthur"]`)
	r.post("/api/admin/purge?subject=camelot&confirm=1", "").status(http.StatusOK)
	expect("", `["Person:arthur"]`)
	r.assert("camelot", "lies_in", `"logres"`)
	expect("", `["Person:arthur","camelot"]`)
}

func TestSearchReadsTheTimeOfAQuestion(t *testing.T) {
	r := startSearch(t, "")
	r.assert("Team:x", "led_by", `"Person:ann"`, `"valid_from":"2015-01-01"`)
	r.assert("Team:x", "led_by", `"Person:ben"`, `"valid_from":"2019-09-21"`)
	for question, want := range map[string]string{
		"who led Team:x on 2019-09-20": `"Person:ann"`, "who led Team:x on 2019-09-21?": `"Person:ben"`, "who led Team:x in March 2018": `"Person:ann"`,
		"who led Team:x before 2014": "", "who leads Team:x": `"Person:ben"`, "who led Team:x since 2020": `"Person:ben"`,
	} {
		got := r.get(asks(question)).status(http.StatusOK)
		if column(got.hits(), "object") != want {
			t.Errorf("%s: %s", question, got.Body)
		}
		if _, said := got.object()["time"]; said != strings.ContainsAny(question, "0123456789") {
			t.Errorf("%s: whether the answer tells its time: %v", question, said)
		}
	}
	if got := r.get(asks("who led Team:x before 2014")).object().text("warnings"); !strings.Contains(got, "holds before 2014") {
		t.Errorf("an empty answer says why: %s", got)
	}
	given := r.get(asks("who led Team:x on 2019-09-20") + "&as_of=2024-01-01").status(http.StatusOK)
	if column(given.hits(), "object") != `"Person:ben"` || given.object()["time"] != nil {
		t.Errorf("as_of decides: %s", given.Body)
	}
}

func TestSearchOrderAndSeeds(t *testing.T) {
	r := startSearch(t, "")
	for i := range 5 {
		r.assert(fmt.Sprintf("Person:p%d", i), "said", fmt.Sprintf(`"the budget %s"`, strings.Repeat("is fine ", i)))
	}
	r.assert("Person:p3", "knows", `"Person:hub"`)
	byScore := column(r.get(asks("budget")).hits(), "subject")
	if newest := column(r.get(asks("budget")+"&order=desc").hits(), "subject"); newest != `"Person:p4","Person:p3","Person:p2","Person:p1","Person:p0"` {
		t.Errorf("newest first: %s", newest)
	}
	if oldest := column(r.get(asks("budget")+"&order=asc").hits(), "subject"); oldest != `"Person:p0","Person:p1","Person:p2","Person:p3","Person:p4"` {
		t.Errorf("oldest first: %s", oldest)
	}
	if byScore != `"Person:p0","Person:p1","Person:p2","Person:p3","Person:p4"` {
		t.Errorf("the shorter fact first: %s", byScore)
	}
	near := r.post("/api/search", `{"question":"budget","seeds":["Person:hub"],"top_k":1}`).hits()
	if why := doc(near[0]["why"].(map[string]any)); near[0].text("subject") != "Person:p3" || strings.HasPrefix(why.text("graph"), "-") {
		t.Errorf("near the seed: %v", near)
	}
}

func TestSearchSaysWhatItCannotDo(t *testing.T) {
	r := startSearch(t, "")
	r.assert("Person:alice", "works_at", `"Company:beta"`)
	for path, want := range map[string]string{
		asks("?!"):                         "no letter and no digit",
		asks(""):                           "question is empty",
		asks("alice") + "&seeds=Person:no": "no fact mentions Person:no",
		asks("alice") + "&seeds=Person:alice&seeds=Person:no": "no fact mentions Person:no",
		asks("alice") + `&seeds=["Person:no"]`:                "no fact mentions Person:no",
		asks("alice") + "&tenant=misspelt":                    "the namespace misspelt does not exist",
		asks("alice") + "&query_vector=0.5,0.5":               "query_vector",
	} {
		if got := r.get(path).status(http.StatusOK).object().text("warnings"); !strings.Contains(got, want) {
			t.Errorf("%s: warnings %s", path, got)
		}
	}
	off := start(t, "")
	off.assert("Person:alice", "works_at", `"Company:beta"`)
	if got := off.get(asks("alice") + "&mode=vector").status(http.StatusOK).object(); got.text("mode") != "lexical" || got["warnings"] == nil || len(got["answer_facts"].([]any)) != 1 {
		t.Errorf("without vectors: %v", got)
	}
	for field, bad := range map[string][]string{
		"mode": {"fuzzy"}, "order": {"up"}, "top_k": {"-1", "1001", "x"}, "min_score": {"x", "NaN"}, "min_confidence": {"2", "-1", "x"}, "status": {"old"},
		"seeds": {"", "a,,b", "[1]"}, "query_vector": {"a", "1,,2"}, "as_of": {"soon"}, "subject": {"%00"}, "as_off": {"1"}, "tx": {"99"},
	} {
		for _, value := range bad {
			if e := r.get(asks("alice")+"&"+field+"="+value).fails(http.StatusBadRequest, "SchemaInvalid"); !strings.HasPrefix(fmt.Sprint(e["field"]), field) {
				t.Errorf("%s=%s: %v", field, value, e)
			}
		}
	}
	for body, field := range map[string]any{
		`[]`: nil, `{"question":["a"]}`: "question", `{"question":{"a":1}}`: "question", `{"questions":"a"}`: "questions", `{"question":5}`: "question", `{"q":true}`: "q",
		`{"question":"a","subject":7}`: "subject", `{"question":"a","status":1}`: "status", `{"question":"a","seeds":1}`: "seeds", `{"seeds":[1]}`: "seeds[0]",
		`{"query_vector":["1"]}`: "query_vector[0]", `{"question":"a","top_k":1.5}`: "top_k", `{"question":"a","q":"b"}`: "q",
	} {
		if e := r.post("/api/search", body).fails(http.StatusBadRequest, "SchemaInvalid"); e["field"] != field {
			t.Errorf("%s: %v", body, e)
		}
	}
	r.post("/api/search?question=a", `{"question":"b"}`).fails(http.StatusBadRequest, "SchemaInvalid")
	r.get(asks(strings.Repeat("a", memory.MaxQuestionBytes+1))).fails(http.StatusBadRequest, "SchemaInvalid")
}

// SRC-01: the best of a small tenant are its own best, for each filter, whatever a
// large one holds that is nearer to the question.
func TestSRC01TopKIsNotCutBeforeTheFilter(t *testing.T) {
	alone, shared := startSearch(t, "root-key"), startSearch(t, "root-key")
	answers := func(r *rig, crowd int) string {
		b := r.as(r.post("/api/tenants", `{"id":"b"}`).object().text("key"))
		a := r.as(r.post("/api/tenants", `{"id":"a"}`).object().text("key"))
		for i := range 12 {
			a.assert(fmt.Sprintf("Deal:d%d", i), "note", fmt.Sprintf(`"a concern about price number %d %s"`, i, strings.Repeat("and more ", i)),
				fmt.Sprintf(`"valid_from":%d,"confidence":%v`, 1_600_000_000_000+i, []float64{0.8, 0.99, 0.6}[i%3]))
		}
		var rows []string
		for i := range crowd {
			rows = append(rows, fmt.Sprintf(`{"subject":"Deal:b%d","predicate":"price","object":"price price price","valid_from":1500000000000}`, i))
		}
		if crowd > 0 {
			b.post("/api/transact", `{"asserts":[`+strings.Join(rows, ",")+`]}`).status(http.StatusOK)
			if n := len(b.get(asks("price") + "&top_k=1000").hits()); n != 1000 {
				t.Errorf("tenant b finds %d of its own", n)
			}
		}
		all := a.get(asks("price concern") + "&top_k=1000&status=all").hits()
		var out strings.Builder
		for filter, keep := range map[string]func(doc) bool{
			"":                                func(d doc) bool { return d.text("status") == "active" },
			"&min_confidence=0.95":            func(d doc) bool { return d.text("confidence") == "0.99" },
			"&as_of=1600000000003":            func(d doc) bool { return d.text("status") == "active" && d.text("valid_from") <= "1600000000003" },
			"&status=candidate":               func(d doc) bool { return d.text("status") == "candidate" },
			"&branch=main":                    func(d doc) bool { return d.text("status") == "active" },
			"&subject=Deal:d4":                func(d doc) bool { return d.text("subject") == "Deal:d4" },
			"&predicate=note&limit=2":         func(d doc) bool { return d.text("status") == "active" },
			"&status=all&include_retracted=1": func(doc) bool { return true },
		} {
			top := 5
			if strings.Contains(filter, "limit") {
				top = 2
			} else {
				filter += "&top_k=5"
			}
			var want []doc
			for _, d := range all {
				if keep(d) && len(want) < top {
					want = append(want, d)
				}
			}
			got := a.get(asks("price concern") + filter).hits()
			if column(got, "id") != column(want, "id") || column(got, "score") != column(want, "score") || len(got) == 0 {
				t.Errorf("%s: got %s, want %s", filter, column(got, "subject"), column(want, "subject"))
			}
		}
		for _, d := range all {
			out.WriteString(d.text("subject") + " " + d.text("score") + " " + d.text("why") + "\n")
		}
		return out.String()
	}
	if one, two := answers(alone, 0), answers(shared, 10_000); one != two {
		t.Errorf("scores depend on another tenant:\n%s\n%s", one, two)
	}
}

// TIM-10 for search: at each instant, with and without filters, a search finds the
// one value that holds, as facts do.
func TestTIM10SearchOfSplitPeriods(t *testing.T) {
	r := startSearch(t, "")
	const jan, mar, jun = 1735689600000, 1740787200000, 1748736000000
	r.assert("Price:x", "amount", `"A"`, fmt.Sprintf(`"valid_from":%d`, jan))
	before := r.assert("Price:x", "amount", `"B"`, fmt.Sprintf(`"valid_from":%d,"valid_until":%d`, mar, jun))
	for _, at := range []string{"", fmt.Sprint(jan - 1), fmt.Sprint(mar - 1), fmt.Sprint(mar), fmt.Sprint(jun - 1), fmt.Sprint(jun)} {
		for _, tx := range []string{"", "&tx=1", "&tx=" + before.text("tx")} {
			for _, filter := range []string{"", "&subject=Price:x", "&subject=Price:x&predicate=amount", "&status=active", "&limit=1"} {
				when := tx
				if at != "" {
					when += "&as_of=" + at
				}
				want := r.get("/api/facts?" + strings.TrimPrefix(when+filter, "&")).status(http.StatusOK).list()
				got := r.get(asks("the amount of Price:x") + when + filter).hits()
				for i := range got {
					delete(got[i], "score")
					delete(got[i], "why")
				}
				order := func(list []doc) string {
					slices.SortFunc(list, func(a, b doc) int { return strings.Compare(a.text("id"), b.text("id")) })
					return column(list, "id") + column(list, "object") + column(list, "valid_until")
				}
				if order(got) != order(want) {
					t.Errorf("%s%s: found %v, and the facts are %v", when, filter, got, want)
				}
			}
		}
	}
}

// TEN-01 for search: nothing of another tenant shows, or moves a score, in any
// mode, at other times, with explain on.
func TestTEN01SearchStaysInside(t *testing.T) {
	alone, shared := startSearch(t, "root-key"), startSearch(t, "root-key")
	answers := func(r *rig, withB bool) string {
		b := r.as(r.post("/api/tenants", `{"id":"b"}`).object().text("key"))
		a := r.as(r.post("/api/tenants", `{"id":"a"}`).object().text("key"))
		a.assert("Person:p", "works_at", `"Org:x"`, `"valid_from":1600000000000`)
		if withB {
			b.assert("Person:p", "works_at", `"Org:x canary"`, `"source":"canary"`, `"properties":{"canary":"works canary"}`)
			b.assert("Canary:c", "canary_at", `"works works works"`)
		}
		a.assert("Person:q", "works_for", `"a doctor"`, `"valid_from":1600000000000`)
		var all strings.Builder
		for _, question := range []string{"works", "canary", "who is a physician at Org:x", "Canary:c canary_at"} {
			for _, more := range []string{"", "&mode=lexical", "&mode=vector", "&top_k=1000", "&as_of=1700000000000", "&seeds=Canary:c", "&seeds=Person:p", "&status=all", "&tenant=b", "&explain=1"} {
				p := a.get(asks(question) + more).status(http.StatusOK)
				if body := strings.ReplaceAll(strings.ToLower(p.Body), strings.ToLower(question), ""); strings.Contains(body, "canary") && !strings.Contains(more, "Canary") && !strings.Contains(question, "anary") {
					t.Errorf("%s%s shows the canary: %s", question, more, p.Body)
				}
				v := p.object()
				if inner, ok := v["result"].(map[string]any); ok {
					v = inner
				}
				for _, f := range v["answer_facts"].([]any) {
					d := doc(f.(map[string]any))
					all.WriteString(question + more + " " + d.text("subject") + " " + d.text("score") + " " + d.text("why") + "\n")
				}
				all.WriteString(v.text("entities") + v.text("warnings") + v.text("mode") + "\n")
			}
		}
		return all.String()
	}
	if one, two := answers(alone, false), answers(shared, true); one != two {
		t.Errorf("search depends on another tenant:\n%s\n%s", one, two)
	}
}

// TEN-06 for search: what was purged is found by no word, in no mode and at no
// time, and the scores of the others are as if it had never been.
func TestTEN06SearchForgetsWhatIsPurged(t *testing.T) {
	never, r := startSearch(t, ""), startSearch(t, "")
	write := func(r *rig, canary bool) {
		r.assert("Person:a", "said", `"the budget is fine"`, `"valid_from":1600000000000`)
		if canary {
			r.assert("Person:p9", "said", `"the canary budget"`, `"valid_from":1600000000000`, `"properties":{"note":"canary"}`)
			r.assert("Person:p9", "said", `"another canary budget"`, `"valid_from":1650000000000`)
			r.delete("/api/facts/" + r.assert("Person:p9", "wrote", `"canary"`).text("id")).status(http.StatusOK)
		}
		r.assert("Person:b", "said", `"no budget"`, `"valid_from":1600000000000`)
	}
	write(r, true)
	write(never, false)
	if n := len(r.get(asks("canary") + "&status=all").hits()); n != 3 {
		t.Errorf("%d facts with the canary before the purge", n)
	}
	r.post("/api/admin/purge?subject=Person:p9&confirm=1", "").status(http.StatusOK)
	for _, more := range []string{"", "&mode=vector", "&mode=lexical", "&status=all", "&as_of=1640000000000", "&tx=3", "&known_at=" + fmt.Sprint(int64(r.node.Now()))} {
		p := r.get(asks("canary") + more)
		if got := p.hits(); len(got) != 0 {
			t.Errorf("%s: %v", more, got)
		}
		if more == "&tx=3" {
			continue
		}
		scores := func(list []doc) string { return column(list, "subject") + column(list, "score") + column(list, "why") }
		if got, want := scores(r.get(asks("budget")+more).hits()), scores(never.get(asks("budget")+strings.Split(more, "&known_at")[0]).hits()); got != want {
			t.Errorf("%s: the others are scored %s, want %s", more, got, want)
		}
	}
}

// TestSearchOnBranches: on a branch, a search sees what every read of the branch
// sees, at each tx, while the branch and its parent are written to.
func TestSearchOnBranches(t *testing.T) {
	r := startSearch(t, "")
	r.assert("Person:a", "note", `"budget one"`)
	r.assert("Person:b", "note", `"budget two"`, fmt.Sprintf(`"transient":true,"valid_until":%d`, int64(r.node.Now())+60_000))
	r.post("/api/branches", `{"name":"draft"}`).status(http.StatusCreated)
	same := func(when string) {
		t.Helper()
		for _, branch := range []string{"", "&branch=draft"} {
			for _, more := range []string{"&status=all", "", "&as_of=" + fmt.Sprint(int64(r.node.Now()))} {
				order := func(list []doc) string {
					slices.SortFunc(list, func(a, b doc) int { return strings.Compare(a.text("id"), b.text("id")) })
					return column(list, "id") + column(list, "status") + column(list, "object")
				}
				got := order(r.get(asks("budget note") + "&top_k=1000" + branch + more).hits())
				want := order(r.get("/api/facts?predicate=note&limit=1000" + branch + more).status(http.StatusOK).list())
				if got != want {
					t.Errorf("%s, %s%s: found %s, and the facts are %s", when, branch, more, got, want)
				}
			}
		}
	}
	same("at the fork")
	r.post("/api/facts?branch=draft", `{"subject":"Person:a","predicate":"note","object":"budget three"}`).status(http.StatusCreated)
	r.assert("Person:c", "note", `"budget four"`)
	same("after writes to both")
	r.node.Advance(2 * 60_000_000_000)
	r.node.Sweep(t)
	same("after the sweep")
	r.post("/api/admin/purge?subject=Person:a&confirm=1", "").status(http.StatusOK)
	same("after a purge")
	r.get(asks("budget")+"&branch=nowhere").fails(http.StatusNotFound, "NotFound")
}

// TestSearchFindsWhatWasJustWritten: while others write, sweep and purge, each
// write is found by the search after it, and no hit is told twice.
func TestSearchFindsWhatWasJustWritten(t *testing.T) {
	r := startSearch(t, "")
	var group sync.WaitGroup
	for w := range 4 {
		group.Go(func() {
			for i := range 25 {
				word := fmt.Sprintf("token%dx%d", w, i)
				made := r.do(http.MethodPost, "/api/facts", fmt.Sprintf(`{"subject":"Writer:%d-%d","predicate":"wrote","object":"the %s shared"}`, w, i%5, word))
				if made.Status != http.StatusCreated {
					t.Errorf("write %s: %s", word, made.Body)
					return
				}
				if got := r.get(asks(word) + "&top_k=1"); got.Status != http.StatusOK || !strings.Contains(got.Body, word+" shared") {
					t.Errorf("%s is not found: %s", word, got.Body)
				}
				if got := r.get(asks("shared") + "&top_k=1000&status=all"); got.Status == http.StatusOK {
					seen := map[string]bool{}
					for _, d := range got.hits() {
						if id := d.text("id"); seen[id] {
							t.Errorf("%s is told twice", id)
						} else {
							seen[id] = true
						}
					}
				}
				if i%10 == 9 {
					r.post(fmt.Sprintf("/api/admin/purge?subject=Writer:%d-%d&confirm=1", w, i%5), "")
				}
			}
		})
	}
	group.Wait()
}

package http_test

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// told writes facts in few words.
func told(list any) string {
	var words []string
	facts, _ := list.([]any)
	for _, f := range facts {
		d := doc(f.(map[string]any))
		words = append(words, d.text("subject")+" "+d.text("predicate")+" "+d.text("object")+" "+d.text("status"))
	}
	return strings.Join(words, ", ")
}

func TestChanges(t *testing.T) {
	r := start(t, "")
	r.assert("Person:a", "role", `"engineer"`)
	r.assert("Person:a", "knows", `"Person:b"`)
	wrong := r.assert("Person:b", "age", `7`)
	r.assert("Person:b", "pass", `"day"`, fmt.Sprintf(`"valid_until":%d`, r.node.Now()+2000))
	r.node.Advance(time.Second)
	from := fmt.Sprint(r.node.Now())
	r.node.Advance(time.Second)
	r.assert("Person:a", "role", `"manager"`)
	r.delete("/api/facts/" + wrong.text("id")).status(200)
	r.assert("Person:c", "role", `"new"`)
	r.node.Advance(time.Second)
	to := fmt.Sprint(r.node.Now())
	r.node.Advance(time.Second)
	r.assert("Person:a", "role", `"director"`)

	for query, want := range map[string][4]string{
		"from=" + from + "&to=" + to: {
			"Person:a role manager active, Person:c role new active",
			"Person:a role engineer superseded, Person:b pass day active, Person:b age 7 retracted", "1", wrong.text("id")},
		"from=" + from + "&to=" + to + "&subject=Person:c":         {"Person:c role new active", "", "0", ""},
		"from=" + from + "&to=" + to + "&predicate=knows":          {"", "", "1", ""},
		"from=" + from + "&to=" + to + "&object=7":                 {"", "Person:b age 7 retracted", "0", wrong.text("id")},
		"from=" + from + "&to=" + to + "&limit=1&subject=Person:a": {"Person:a role manager active", "Person:a role engineer superseded", "1", ""},
		"from=" + to + "&to=" + to:                                 {"", "", "3", ""},
		"from=" + to + "&subject=Person:a":                         {"Person:a role director active", "Person:a role manager superseded", "1", ""},
		"from=" + from + "&to=" + to + "&axis=known&predicate=age": {"", "Person:b age 7 retracted", "0", wrong.text("id")},
		"from=" + from + "&to=" + to + "&axis=valid&predicate=age": {"", "", "0", ""}, // as known at to, it was never so
	} {
		d := r.get("/api/changes?" + query).status(200).object()
		if told(d["added"]) != want[0] || told(d["superseded"]) != want[1] || d.text("still_valid") != want[2] || strings.Trim(d.text("retracted"), `[]"`) != want[3] {
			t.Errorf("%s: added %s; superseded %s; %s still valid; retracted %s; want %q", query,
				told(d["added"]), told(d["superseded"]), d.text("still_valid"), d.text("retracted"), want)
		}
	}
	first := r.get("/api/changes?from=" + from + "&to=" + to + "&limit=1").status(200).object()
	if first.text("next") != "Person:a" || first.text("added_count") != "2" || first.text("superseded_count") != "3" || first.text("axis") != "both" {
		t.Errorf("the first page: %v", first)
	}
	second := r.get("/api/changes?from=" + from + "&to=" + to + "&after=" + url.QueryEscape(first.text("next"))).status(200).object()
	if told(second["added"]) != "Person:c role new active" || second["limited"] != false {
		t.Errorf("the second page: %v", second)
	}
	for query, field := range map[string]string{
		"": "from", "from=x": "from", "from=2&to=1": "from", "from=9999-01-01": "from", "from=1&axis=both_of_them": "axis", "from=1&limit=-1": "limit", "from=1&since=2": "since",
		"from=1&tx=1&known_at=1": "tx",
	} {
		if e := r.get("/api/changes?"+query).fails(400, "SchemaInvalid"); e.text("field") != field {
			t.Errorf("%s: %v", query, e)
		}
	}
	for query, still := range map[string]bool{
		"": false, "&axis=valid": false, "&axis=known": false, "&tx=8": false, "&as_of=" + to: false, "&axis=valid&tx=8": false, "&axis=known&as_of=" + to: false,
		"&axis=valid&as_of=" + to: true, "&axis=known&tx=8": true, "&axis=known&known_at=" + to: true, "&as_of=" + to + "&tx=8": true,
	} {
		got := r.get("/api/changes?from=" + from + query).status(200).object()
		if strings.Contains(fmt.Sprint(got["warnings"]), "nothing can differ") != still {
			t.Errorf("%s: %v", query, got["warnings"])
		}
	}
	if got := r.get("/api/changes?from=1700000000&to=" + to).object(); !strings.Contains(fmt.Sprint(got["warnings"]), "looks like seconds") {
		t.Errorf("seconds: %v", got["warnings"])
	}
}

// TIM-10 for what is compared and checked: a bounded correction splits a period,
// and every instant has one value, whatever the filter.
func TestTIM10ChangesAndFactcheck(t *testing.T) {
	r := start(t, "")
	a := r.assert("Price:x", "amount", `"A"`, `"valid_from":"2025-01-01"`)
	r.assert("Price:x", "amount", `"B"`, `"valid_from":"2025-03-01","valid_until":"2025-06-01"`)
	for _, c := range []struct{ from, to, added, gone, still string }{
		{"2025-02-28", "2025-03-01T00:00:00Z", "B", "A", "0"},
		{"2025-02-28", "2025-02-28T23:59:59.999Z", "", "", "1"},
		{"2025-03-01", "2025-05-31T23:59:59.999Z", "", "", "1"},
		{"2025-05-31T23:59:59.999Z", "2025-06-01", "A", "B", "0"},
		{"2025-02-28", "2025-06-01", "", "", "1"}, // A was cut in two, and is one statement
		{"2024-12-31", "2025-06-01", "A", "", "0"},
	} {
		for _, filter := range []string{"", "&subject=Price:x", "&subject=Price:x&predicate=amount", "&predicate=amount", "&limit=1"} {
			d := r.get("/api/changes?axis=valid&known_at=" + fmt.Sprint(r.node.Now()) + "&from=" + c.from + "&to=" + c.to + filter).status(200).object()
			if objects(d["added"]) != c.added || objects(d["superseded"]) != c.gone || d.text("still_valid") != c.still {
				t.Errorf("from %s to %s%s: added %s, gone %s, still %s", c.from, c.to, filter, objects(d["added"]), objects(d["superseded"]), d.text("still_valid"))
			}
		}
		for _, filter := range []string{"", "&subject=Price:x", "&predicate=amount", "&limit=1"} {
			for _, at := range []string{c.from, c.to} {
				if d := r.get("/api/factcheck?kind=multiple_active,candidate_conflict&as_of=" + at + filter).status(200).object(); d.text("count") != "0" {
					t.Errorf("as of %s%s: %v", at, filter, d)
				}
			}
		}
	}
	e := r.get("/api/facts/" + a.text("id") + "/explain").status(200).object()
	if objects(e["history"]) != "A,B,A" || objects(e["superseded"]) != "" || doc(e["superseded_by"].(map[string]any)).text("object") != "B" {
		t.Errorf("explain: %v", e)
	}
}

func objects(list any) string {
	var words []string
	for _, f := range list.([]any) {
		words = append(words, doc(f.(map[string]any)).text("object"))
	}
	return strings.Join(words, ",")
}

func TestExplainFact(t *testing.T) {
	r := start(t, "")
	old := r.assert("Person:a", "role", `"engineer"`, `"source":"hr"`)
	r.assert("Person:a", "role", `"engineer"`, `"source":"crm"`)
	r.assert("Person:a", "role", `"boss"`, `"source":"rumour","confidence":0.4`)
	r.node.Advance(time.Second)
	now := r.assert("Person:a", "role", `"manager"`, `"source":"hr","properties":{"quote":"promoted"}`)
	e := r.get("/api/facts/" + old.text("id") + "/explain").status(200).object()
	fact := doc(e["fact"].(map[string]any))
	if fact.text("status") != "superseded" || doc(e["superseded_by"].(map[string]any)).text("id") != now.text("id") ||
		objects(e["history"]) != "engineer,engineer,boss,manager" || objects(e["conflicts"]) != "boss" {
		t.Errorf("the old fact: %v", e)
	}
	c := doc(e["corroboration"].(map[string]any))
	if c.text("agree") != "1" || c.text("sources") != "2" || c.text("source_names") != `["hr","crm"]` || c.text("conflict") != "1" {
		t.Errorf("corroboration: %v", c)
	}
	e = r.get("/api/facts/" + now.text("id") + "/explain?explain=1").status(200).object()["result"].(map[string]any)
	if objects(e["superseded"]) != "engineer,engineer" || e["superseded_by"] != nil || objects(e["conflicts"]) != "boss" {
		t.Errorf("the new fact: %v", e)
	}
	if v := len(e["versions"].([]any)); v != 1 {
		t.Errorf("%d versions of the new fact", v)
	}
	r.get("/api/facts/nothing/explain").fails(404, "NotFound")
	r.get("/api/facts/"+old.text("id")+"/explain?as_of=1").fails(400, "SchemaInvalid")
	if got := r.get("/api/facts/" + old.text("id") + "/explain?limit=1").status(200).object(); !strings.Contains(fmt.Sprint(got["warnings"]), "history holds the first 1 only") {
		t.Errorf("a limit: %v", got["warnings"])
	}
}

// TEN-01 for every read of this page: what another tenant holds is neither shown
// nor counted, and nobody's answer changes by it.
func TestTEN01ChecksAndChanges(t *testing.T) {
	answers := func(withOther bool) map[string]string {
		r := start(t, "admin")
		a := r.as(r.post("/api/tenants", `{"id":"ta"}`).status(201).object().text("key"))
		b := r.as(r.post("/api/tenants", `{"id":"tb"}`).status(201).object().text("key"))
		from := r.node.Now()
		r.node.Advance(time.Second)
		var canary string
		fill := func(r *rig, mark string) string {
			id := r.assert("Person:x", "role", `"`+mark+`"`, `"source":"`+mark+`"`, `"valid_from":0`).text("id")
			r.assert("Person:x", "role", `"`+mark+`2"`, `"policy":"coexist","properties":{"`+mark+`":1}`)
			r.assert("Person:x", "role", `"`+mark+`"`, `"source":"`+mark+`2"`, `"valid_from":0`)
			r.assert(mark, "at", `"Org:`+mark+`"`)
			return id
		}
		if withOther {
			canary = fill(b, "canary")
		}
		own := fill(a, "mine")
		r.node.Advance(time.Second)
		got := map[string]string{}
		for _, path := range []string{
			"/api/factcheck", "/api/factcheck?integrity=1", "/api/factcheck?integrity=1&limit=1", "/api/factcheck?as_of=2020-01-01&tenant=tb", "/api/factcheck?explain=1",
			"/api/factcheck?subject=canary", fmt.Sprint("/api/changes?from=", from), fmt.Sprint("/api/changes?limit=1&explain=1&from=", from),
			fmt.Sprint("/api/changes?predicate=role&tenant=tb&from=", from), "/api/facts/" + own + "/explain",
		} {
			body := a.get(path).status(200).Body
			if strings.Contains(strings.ReplaceAll(body, "no fact mentions canary", ""), "canary") {
				t.Errorf("%s shows another tenant's data: %s", path, body)
			}
			if !strings.Contains(path, "explain") {
				got[strings.ReplaceAll(path, fmt.Sprint(from), "T")] = withoutTimes(a.get(path).object())
			}
		}
		if withOther {
			a.get("/api/facts/"+canary+"/explain").fails(404, "NotFound")
		}
		done := a.post("/api/consolidate", "").status(200)
		got["consolidate"] = done.object().text("collapsed") + " " + done.object().text("conflicts")
		if withOther {
			if f := b.get("/api/facts/" + canary).status(200).object(); f.text("status") != "active" {
				t.Errorf("another tenant's consolidate ended %v", f)
			}
			// The operator's spans all.
			if all := r.post("/api/consolidate", "").status(200).object(); all.text("collapsed") != "1" {
				t.Errorf("over all tenants: %v", all)
			}
		}
		return got
	}
	with, without := answers(true), answers(false)
	for path, got := range with {
		if got != without[path] {
			t.Errorf("%s: with another tenant\n%s\nwithout\n%s", path, got, without[path])
		}
	}
}

// withoutTimes writes an answer without what differs from run to run: ids, txs
// and times.
func withoutTimes(v any) string {
	switch v := v.(type) {
	case doc:
		return withoutTimes(map[string]any(v))
	case map[string]any:
		for _, name := range []string{"id", "tx", "recorded_at", "valid_from", "valid_until", "stated_from", "superseded_by", "from", "to"} {
			delete(v, name)
		}
		text := "{"
		for _, name := range sortedNames(v) {
			text += name + ":" + withoutTimes(v[name]) + ","
		}
		return text + "}"
	case []any:
		text := "["
		for _, e := range v {
			text += withoutTimes(e) + ","
		}
		return text + "]"
	}
	return fmt.Sprint(v)
}

func sortedNames(v map[string]any) []string { return slices.Sorted(maps.Keys(v)) }

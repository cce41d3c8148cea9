package http_test

import (
	"fmt"
	"testing"
	"time"
)

// Pages, checks and collapses on a branch see and change the branch alone.
func TestPagesAndChecksOnABranch(t *testing.T) {
	r := start(t, "")
	const path = "/api/pages/Person:ada"
	r.do("PUT", path, `{"title":"Ada","body":"[[Org:x]] [[Org:y]]","citations":[{"url":"http://u","quote":"q"}]}`).status(201)
	r.assert("Person:bob", "born", `1815`, `"valid_from":"1815-12-10","source":"a"`)
	r.assert("Person:bob", "born", `1815`, `"valid_from":"1815-12-10","source":"b"`)
	from := r.node.Now()
	r.node.Advance(time.Second)
	r.post("/api/branches", `{"name":"draft"}`).status(201)
	saved := r.do("PUT", path+"?branch=draft", `{"body":"[[Org:y]] [[Org:z]]"}`).status(200).object()
	if targets(saved) != "Org:y Org:z" || saved["created"] != false || saved.text("removed") != `{"citations":["http://u"],"links":["Org:x"]}` {
		t.Errorf("saved on the branch: %v", saved)
	}
	if again := r.do("PUT", path+"?branch=draft", `{"body":"[[Org:y]] [[Org:z]]"}`).status(200).object(); len(again["written"].([]any))+len(again["retracted"].([]any)) != 0 {
		t.Errorf("the same again: %v", again)
	}
	r.do("PUT", "/api/pages/Person:new?branch=draft", `{"body":"new"}`).status(201)
	if p := r.get(path + "?branch=draft").status(200).object(); targets(p) != "Org:y Org:z" || p["title"] != nil || cites(p) != "" {
		t.Errorf("the branch's page: %v", p)
	}
	if p := r.get(path).status(200).object(); targets(p) != "Org:x Org:y" || p.text("title") != "Ada" || cites(p) != "http://u (q)" {
		t.Errorf("the page of main: %v", p)
	}
	r.get("/api/pages/Person:new").fails(404, "NotFound")
	r.node.Advance(time.Second)

	if d := r.get("/api/changes?branch=draft&subject=Person:ada&from=" + fmt.Sprint(from)).status(200).object(); objects(d["added"]) != "Org:z" || objects(d["superseded"]) != "Org:x" {
		t.Errorf("changes on the branch: %v", d)
	}
	if d := r.get("/api/changes?subject=Person:ada&from=" + fmt.Sprint(from)).status(200).object(); objects(d["added"])+objects(d["superseded"]) != "" {
		t.Errorf("changes on main: %v", d)
	}
	if done := r.post("/api/consolidate?branch=draft", "").status(200).object(); done.text("collapsed") != "1" {
		t.Errorf("consolidate on the branch: %v", done)
	}
	if got := r.get("/api/facts?subject=Person:bob").list(); len(got) != 2 {
		t.Errorf("main has lost %v", got)
	}
	if got := r.get("/api/facts?subject=Person:bob&branch=draft").list(); len(got) != 1 {
		t.Errorf("the branch has %v", got)
	}
	r.assert("Person:bob", "role", `"x"`)
	r.post("/api/facts?branch=draft", `{"subject":"Person:ada","predicate":"wiki","object":1}`).status(201)
	r.post("/api/facts?branch=draft", `{"subject":"Person:ada","predicate":"wiki","object":2,"policy":"coexist"}`).status(201)
	if d := r.get("/api/factcheck?branch=draft").status(200).object(); d.text("count") != "1" {
		t.Errorf("factcheck on the branch: %v", d)
	}
	if d := r.get("/api/factcheck").status(200).object(); d.text("count") != "0" {
		t.Errorf("factcheck on main: %v", d)
	}
	for _, path := range []string{path, "/api/factcheck", "/api/changes?from=1"} {
		sign := "?"
		if path == "/api/changes?from=1" {
			sign = "&"
		}
		r.get(path+sign+"branch=none").fails(404, "NotFound")
	}
	r.do("PUT", path+"?branch=none", `{"body":"x"}`).fails(404, "NotFound")
	r.post("/api/consolidate?branch=none", "").fails(404, "NotFound")
}

package http_test

import (
	"net/http"
	"strings"
	"testing"
)

// The documents' own: guides "assert a fact", "assert and query", quickstart.
func TestAssertQueryRetract(t *testing.T) {
	r := start(t, "")
	acme := r.post("/api/facts", `{"subject":"Person:sarah","predicate":"works_at","object":"Org:acme","source":"onboarding","confidence":0.95}`).
		status(http.StatusCreated)
	f := acme.object()
	for field, want := range map[string]string{
		"subject": "Person:sarah", "object": "Org:acme", "status": "active", "confidence": "0.95", "source": "onboarding",
		"valid_until": "null", "tx": "1", "superseded": "0", "superseded_ids": "[]", "continuations": "[]", "tenant": "default",
	} {
		if got := f.text(field); got != want {
			t.Errorf("%s is %s, want %s", field, got, want)
		}
	}
	if f.text("valid_from") != f.text("recorded_at") {
		t.Error("an undated fact does not start at its record time")
	}
	r.post("/api/facts", `{"subject":"Person:sarah","predicate":"works_at","object":"Org:acme","source":"onboarding","confidence":0.95}`).
		status(http.StatusOK)
	beta := r.assert("Person:sarah", "works_at", `"Org:beta"`)
	if beta.text("superseded") != "1" || beta.text("superseded_ids") != `["`+f.text("id")+`"]` {
		t.Errorf("the receipt is %v", beta)
	}
	live := r.get("/api/facts?subject=Person:sarah&predicate=works_at").status(http.StatusOK)
	if column(live.list(), "object") != `"Org:beta"` || live.Header.Get("X-Abagraph-Tx") != "2" || live.Header.Get("X-Abagraph-Now") == "" {
		t.Errorf("live: %s %v", live.Body, live.Header)
	}
	past := r.get("/api/facts?subject=Person:sarah&status=Superseded").status(http.StatusOK).list()
	if column(past, "object") != `"Org:acme"` || past[0].text("valid_until") != beta.text("valid_from") || past[0].text("superseded_by") != beta.text("id") {
		t.Errorf("superseded: %v", past)
	}
	id := beta.text("id")
	if got := r.delete("/api/facts/" + strings.ToUpper(id)).status(http.StatusOK).Body; got != `{"ok":true,"id":"`+id+`"}` {
		t.Errorf("retract: %s", got)
	}
	r.delete("/api/facts/" + id).status(http.StatusOK)
	if got := r.get("/api/facts?subject=Person:sarah&status=Retracted").list(); column(got, "object") != `"Org:beta"` {
		t.Errorf("retracted: %v", got)
	}
	one := r.get("/api/facts/" + id).status(http.StatusOK).object()
	if one.text("status") != "retracted" || len(one["pieces"].([]any)) != 1 {
		t.Errorf("by id: %v", one)
	}
	h := r.get("/api/facts/" + id + "/history").status(http.StatusOK).object()
	if len(h["versions"].([]any)) != 2 || len(h["timeline"].([]any)) != 2 {
		t.Errorf("history: %v", h)
	}
	for _, unknown := range []string{"01J000", "00000000-0000-7000-8000-000000000000", "x%2Fy"} {
		r.get("/api/facts/"+unknown).fails(http.StatusNotFound, "NotFound")
		e := r.delete("/api/facts/"+unknown).fails(http.StatusNotFound, "NotFound")
		if !strings.HasSuffix(e.text("message"), " not found") {
			t.Errorf("message %s", e.text("message"))
		}
	}
}

func TestSetValuedAndTypedObjects(t *testing.T) {
	r := start(t, "")
	r.assert("Person:sarah", "tag", `"engineer"`, `"policy":"coexist"`)
	r.assert("Person:sarah", "tag", `"lead"`, `"conflict_policy":"Coexist"`)
	r.assert("Person:sarah", "tag", `"chair"`, `"coexist":true`)
	if got := column(r.get("/api/facts?subject=Person:sarah&predicate=tag").list(), "object"); got != `"chair","lead","engineer"` {
		t.Errorf("tags: %s", got)
	}
	for i, object := range []string{"31", "9007199254740993", "1.10", "true", "null", `"31"`, `{"hash":"` + strings.Repeat("ab", 32) + `","size":12}`} {
		r.assert("Thing:x", "p"+string(rune('a'+i)), object)
	}
	for query, want := range map[string]string{
		"31": `"31",31`, "true": "true", "null": "null", "9007199254740993": "9007199254740993", "9007199254740992": "", "1.1": "1.10", "x": "",
	} {
		if got := column(r.get("/api/facts?subject=Thing:x&object="+query).status(200).list(), "object"); got != want {
			t.Errorf("object=%s gives %s, want %s", query, got, want)
		}
	}
	r.post("/api/facts", `{"subject":"Thing:x","predicate":"pa","object":2,"policy":"reject"}`).fails(http.StatusConflict, "Conflict")
}

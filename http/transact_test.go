package http_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// The guide "atomic transactions", step by step.
func TestTransactGuide(t *testing.T) {
	r := start(t, "")
	r.assert("Person:sarah", "works_at", `"Org:acme"`)
	move := `{"compares":[{"subject":"Person:sarah","predicate":"works_at","object":"Org:acme"}],
		"asserts":[{"subject":"Person:sarah","predicate":"works_at","object":"Org:%s","source":"hr"}],"retracts":[]}`
	done := r.post("/api/transact", fmt.Sprintf(move, "beta")).status(http.StatusOK).object()
	if done.text("tx") != "2" || done.text("retracted") != "[]" || done.text("superseded") != "1" {
		t.Errorf("answer %v", done)
	}
	facts := done["facts"].([]any)
	if len(facts) != 2 || doc(facts[0].(map[string]any)).text("object") != "Org:beta" || doc(facts[1].(map[string]any)).text("status") != "superseded" {
		t.Errorf("facts %v", facts)
	}
	e := r.post("/api/transact", fmt.Sprintf(move, "gamma")).fails(http.StatusConflict, "CompareFailed")
	const failures = `[{"active":["Org:beta"],"current":["Org:beta"],"expected":"Org:acme","predicate":"works_at","subject":"Person:sarah"}]`
	if got := e.text("failures"); got != failures {
		t.Errorf("failures %s", got)
	}
	if !strings.HasPrefix(e.text("message"), "compare failed: 1 guard(s) did not match current state") {
		t.Errorf("message %s", e.text("message"))
	}
	many := r.post("/api/transact", `{"asserts":[{"subject":"Person:sarah","predicate":"role","object":"VP"},{"subject":"Person:sarah","predicate":"location","object":"Tel Aviv"}]}`).
		status(http.StatusOK).object()
	if many.text("tx") != "3" || len(many["facts"].([]any)) != 2 {
		t.Errorf("many: %v", many)
	}
	id := r.get("/api/facts?subject=Person:sarah&predicate=role").list()[0].text("id")
	swap := r.post("/api/transact", `{"asserts":[{"subject":"Person:sarah","predicate":"role","object":"CEO"}],"retracts":["`+id+`"]}`).status(http.StatusOK).object()
	if swap.text("retracted") != `["`+id+`"]` {
		t.Errorf("swap %v", swap)
	}
}

func TestTransactGuards(t *testing.T) {
	r := start(t, "")
	r.assert("Flag:f", "value", "1")
	try := func(guard string) int {
		return r.post("/api/transact", `{"compares":[`+guard+`],"asserts":[{"subject":"Log:l","predicate":"n","object":`+fmt.Sprint(len(guard))+`,"policy":"coexist"}]}`).Status
	}
	for guard, want := range map[string]int{
		`{"subject":"Flag:f","predicate":"value","expect":1}`:                    200,
		`{"subject":"Flag:f","predicate":"value","expect":1.0}`:                  200,
		`{"subject":"Flag:f","predicate":"value","expect":"1"}`:                  409,
		`{"subject":"Flag:f","predicate":"value","expect":null}`:                 409,
		`{"subject":"Flag:f","predicate":"value","absent":true}`:                 409,
		`{"subject":"Flag:g","predicate":"value","absent":true}`:                 200,
		`{"subject":"Flag:f","predicate":"value","object":1,"tenant":"default"}`: 200,
		`{"subject":"Flag:f","predicate":"value"}`:                               400,
		`{"subject":"Flag:f","predicate":"value","absent":false}`:                400,
		`{"subject":"Flag:f","predicate":"value","expect":1,"absent":true}`:      400,
		`{"subject":"Flag:f","predicate":"value","expect":1,"expect":2}`:         400,
		`{"subject":"Flag:f","predicate":"value","expects":1}`:                   400,
		`{"predicate":"value","expect":1}`:                                       400,
		`"x"`:                                                                    400,
	} {
		if got := try(guard); got != want {
			t.Errorf("%s gives %d, want %d", guard, got, want)
		}
	}
}

func TestTransactRefusesWholeBatches(t *testing.T) {
	r := start(t, "")
	good := `{"subject":"A:1","predicate":"p","object":1}`
	for body, field := range map[string]string{
		`{}`:                           "",
		`{"asserts":[],"retracts":[]}`: "",
		`{"asserts":[` + good + `,{"subject":"A:1","object":2}]}`:                   "asserts[1].predicate",
		`{"asserts":[` + good + `,{"subject":"A:1","predicate":"p","object":[1]}]}`: "asserts[1].object",
		`{"asserts":[` + good + `,{"subject":"A:1","predicate":"p","policy":"x"}]}`: "asserts[1].policy",
		`{"asserts":{"a":1}}`:                                                                                 "asserts",
		`{"asserts":[` + good + `],"retracts":[5]}`:                                                           "retracts[0]",
		`{"asserts":[` + good + `],"extra":1}`:                                                                "extra",
		`{"asserts":[{"subject":"A:1","predicate":"p","declared_known_at":5}]}`:                               "backfill",
		`{"asserts":[` + good + `],"backfill":{"reason":"r"}}`:                                                "backfill.declared_known_at",
		`{"asserts":[` + good + `],"backfill":{"declared_known_at":5,"reason":" "}}`:                          "backfill.reason",
		`{"asserts":[` + good + `],"backfill":{"declared_known_at":5}}`:                                       "backfill.reason",
		`{"asserts":[` + good + `],"backfill":{"declared_known_at":5,"declared_captured_at":6,"reason":"r"}}`: "backfill.declared_captured_at",
	} {
		if e := r.post("/api/transact", body).fails(http.StatusBadRequest, "SchemaInvalid"); field != "" && e["field"] != field {
			t.Errorf("%s: field %v, want %s", body, e["field"], field)
		}
	}
	unknown := "00000000-0000-7000-8000-000000000000"
	for _, id := range []string{unknown, "01J000"} {
		r.post("/api/transact", `{"asserts":[`+good+`],"retracts":["`+id+`"]}`).fails(http.StatusNotFound, "NotFound")
	}
	r.post("/api/transact", `{"asserts":[`+strings.Repeat(good+",", 10_000)+good+`]}`).fails(http.StatusBadRequest, "SchemaInvalid")
	if got := r.get("/api/stats").object(); got.text("tx") != "0" {
		t.Errorf("something was written: %v", got)
	}
}

func TestBackfillIsToldApart(t *testing.T) {
	r := start(t, "")
	r.post("/api/transact", `{"asserts":[{"subject":"A:1","predicate":"p","object":"old","policy":"coexist"}],"backfill":{"declared_known_at":1000000000000,"reason":"moved house"}}`).status(http.StatusOK)
	r.assert("A:2", "p", `"new"`)
	then := r.get("/api/facts?known_at=1500000000000").status(http.StatusOK)
	if column(then.list(), "object") != `"old"` || then.Header.Get("X-Abagraph-Backfilled") != "1" || then.Header.Get("X-Abagraph-Tx") != "0" {
		t.Errorf("known then: %s %v", then.Body, then.Header)
	}
	if got := r.get("/api/facts?known_at=1500000000000&backfill=0").list(); len(got) != 0 {
		t.Errorf("without declarations: %v", got)
	}
	explained := r.get("/api/facts?known_at=1500000000000&explain=1").object()["explain"].(map[string]any)["stats"].(map[string]any)
	if doc(explained).text("backfilled.tx_1") != "1" {
		t.Errorf("explain: %v", explained)
	}
}

// What is declared to be known in the future is refused by its place in the batch, again
// and again under one key.
func TestDeclarationsOfTheFutureAreNamed(t *testing.T) {
	r := start(t, "")
	id := r.assert("A:1", "p", `1`).text("id")
	const row, late = `{"subject":"A:1","predicate":"q"`, `"declared_known_at":"2999-01-01"`
	for body, field := range map[string]string{
		`{"asserts":[` + row + `}],"backfill":{"reason":"r",` + late + `}}`:                                                                     "backfill.declared_known_at",
		`{"asserts":[` + row + `,"declared_known_at":5},` + row + `,` + late + `}],"backfill":{"reason":"r"}}`:                                  "asserts[1].declared_known_at",
		`{"retracts":[{"id":"` + id + `",` + late + `}],"asserts":[` + row + `,` + late + `}],"backfill":{"reason":"r","declared_known_at":5}}`: "retracts[0].declared_known_at",
	} {
		for range 2 {
			e := r.post("/api/transact", body, "Idempotency-Key: k-"+field).fails(http.StatusBadRequest, "SchemaInvalid")
			if e["field"] != field || e["message"] != field+" is in the future" {
				t.Errorf("%s: got %v, want %s", body, e, field)
			}
		}
	}
}

// A row of several that is refused by the state is named by its place in the batch.
func TestRefusedRowsAreNamed(t *testing.T) {
	r := start(t, "")
	id := r.assert("A:1", "p", `1`).text("id")
	const none, row = "01a00000-0000-7000-8000-000000000000", `{"subject":"A:1","predicate":"p","object":2,"policy":"reject"}`
	for body, field := range map[string]any{
		`{"retracts":["` + none + `"]}`:                               nil,
		`{"retracts":["` + id + `","` + none + `"]}`:                  "retracts[1]",
		`{"retracts":["` + none + `"],"asserts":[` + row + `]}`:       "retracts[0]",
		`{"asserts":[` + row + `]}`:                                   nil,
		`{"asserts":[{"subject":"A:2","predicate":"q"},` + row + `]}`: "asserts[1]",
		`{"retracts":["` + id + `"],"asserts":[` + row + `,{"subject":"A:1","predicate":"p","object":3,"policy":"reject"}]}`: "asserts[1]",
	} {
		status, code := http.StatusConflict, "Conflict"
		if strings.Contains(body, none) {
			status, code = http.StatusNotFound, "NotFound"
		}
		e := r.post("/api/transact", body).fails(status, code)
		if e["field"] != field || field != nil && !strings.HasPrefix(e["message"].(string), field.(string)+": ") {
			t.Errorf("%s: %v, want %v", body, e, field)
		}
	}
	if got := column(r.get("/api/facts?subject=A:1").list(), "object"); got != "1" {
		t.Errorf("something was written: %s", got)
	}
}

// WRT-03: a race on one guard has one winner, and nobody meets an error of ours.
func TestWRT03FiftyClientsRace(t *testing.T) {
	r := start(t, "")
	r.assert("Job:j1", "owner", `"none"`)
	for round := range 5 {
		var wg sync.WaitGroup
		answers := make([]*reply, 50)
		for i := range answers {
			wg.Go(func() {
				answers[i] = r.post("/api/transact", fmt.Sprintf(`{"compares":[{"subject":"Job:j1","predicate":"owner","expect":"none"}],
					"asserts":[{"subject":"Job:j1","predicate":"owner","object":"w%d"}]}`, i))
			})
		}
		wg.Wait()
		won := ""
		for i, a := range answers {
			if a.Status == http.StatusOK {
				if won != "" {
					t.Fatalf("round %d: two winners", round)
				}
				won = fmt.Sprintf("w%d", i)
			}
		}
		for _, a := range answers {
			if a.Status == http.StatusOK {
				continue
			}
			e := a.fails(http.StatusConflict, "CompareFailed")
			if !strings.Contains(e.text("failures"), `"current":["`+won+`"]`) {
				t.Fatalf("a loser was not shown the winner %s: %s", won, e.text("failures"))
			}
		}
		if got := column(r.get("/api/facts?subject=Job:j1").list(), "object"); got != `"`+won+`"` {
			t.Fatalf("owners: %s", got)
		}
		r.assert("Job:j1", "owner", `"none"`)
	}
	if logs := r.logs.String(); strings.Contains(logs, `"level":"warn"`) || strings.Contains(logs, `"level":"error"`) {
		t.Errorf("a race was logged: %s", logs)
	}
}

// WRT-01: a retry with the same Idempotency-Key writes once.
func TestWRT01RetryWritesOnce(t *testing.T) {
	r := start(t, "root-key")
	a := r.as(r.post("/api/tenants", `{"id":"a"}`).object().text("key"))
	b := r.as(r.post("/api/tenants", `{"id":"b"}`).object().text("key"))
	a.assert("Counter:c", "count", "7")
	body := `{"compares":[{"subject":"Counter:c","predicate":"count","expect":7}],"asserts":[{"subject":"Counter:c","predicate":"count","object":8}]}`
	const key = "Idempotency-Key: retry-1"
	first := a.post("/api/transact", body, key).status(http.StatusOK)
	again := a.post("/api/transact", body, key).status(http.StatusOK)
	if first.Body != again.Body || first.Header.Get("X-Abagraph-Tx") != again.Header.Get("X-Abagraph-Tx") {
		t.Errorf("the retry differs:\n%s\n%s", first.Body, again.Body)
	}
	a.post("/api/transact", strings.Replace(body, "8", "9", 1), key).fails(http.StatusConflict, "Conflict")
	b.post("/api/transact", body, key).fails(http.StatusConflict, "CompareFailed")
	a.post("/api/transact", body).fails(http.StatusConflict, "CompareFailed")

	// A refusal is an outcome too, and so is what POST and DELETE answered.
	refused := a.post("/api/transact", body, "Idempotency-Key: retry-2").fails(http.StatusConflict, "CompareFailed")
	a.assert("Counter:c", "count", "7")
	if got := a.post("/api/transact", body, "Idempotency-Key: retry-2").fails(http.StatusConflict, "CompareFailed"); got.text("failures") != refused.text("failures") {
		t.Errorf("the refusal changed: %v", got)
	}
	one := a.post("/api/facts", `{"subject":"X:1","predicate":"p","object":1}`, "Idempotency-Key: k").status(http.StatusCreated)
	if two := a.post("/api/facts", `{"subject":"X:1","predicate":"p","object":1}`, "Idempotency-Key: k").status(http.StatusCreated); two.Body != one.Body {
		t.Errorf("differs:\n%s\n%s", one.Body, two.Body)
	}
	id := one.object().text("id")
	for range 2 {
		a.delete("/api/facts/"+id, "Idempotency-Key: k").status(http.StatusOK)
	}
	for _, bad := range []string{" ", "a b", strings.Repeat("x", 256), "ü"} {
		a.post("/api/facts", `{"subject":"X:1","predicate":"p"}`, "Idempotency-Key: "+bad).fails(http.StatusBadRequest, "SchemaInvalid")
	}
	tenant := r.post("/api/tenants", `{"id":"c"}`, "Idempotency-Key: t").status(http.StatusCreated).object()
	if tenant.text("key") == "null" {
		t.Error("no key in the first answer")
	}
	if got := r.post("/api/tenants", `{"id":"c"}`, "Idempotency-Key: t").status(http.StatusCreated).object(); got.text("key") != "null" || got["warnings"] == nil {
		t.Errorf("the key was told twice or made up: %v", got)
	}
}

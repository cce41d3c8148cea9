package http_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Every refusal is the one envelope, names the field, writes nothing, and
// leaves the connection usable.
func TestBadFactsAreRefusedByName(t *testing.T) {
	r := start(t, "")
	with := func(fields string) string { return `{"subject":"A:1","predicate":"p","object":"x",` + fields + `}` }
	for body, field := range map[string]string{
		`{"predicate":"p"}`:                                                           "subject",
		`{"subject":"A:1"}`:                                                           "predicate",
		`{"subject":"","predicate":"p"}`:                                              "subject",
		`{"subject":null,"predicate":"p"}`:                                            "subject",
		`{"subject":1,"predicate":"p"}`:                                               "subject",
		`{"subject":" A:1","predicate":"p"}`:                                          "subject",
		`{"subject":"A:1 ","predicate":"p"}`:                                          "subject",
		`{"subject":"A:1\u200b","predicate":"p"}`:                                     "subject",
		`{"subject":"A\u0000:1","predicate":"p"}`:                                     "subject",
		`{"subject":"A:1","predicate":"p\n"}`:                                         "predicate",
		`{"subject":"A:1","predicate":"p","object":[]}`:                               "object",
		`{"subject":"A:1","predicate":"p","object":{"hash":"x","size":1}}`:            "object",
		`{"subject":"A:1","predicate":"p","object":{"a":1}}`:                          "object",
		`{"subject":"A:1","predicate":"p","object":1e400}`:                            "object",
		`{"subject":"A:1","predicate":"p","object":1e-400}`:                           "object",
		`{"subject":"A:1","predicate":"p","object":` + strings.Repeat("1", 401) + `}`: "object",
		`{"subject":"` + strings.Repeat("a", 1025) + `","predicate":"p"}`:             "subject",
		with(`"object2":1`):                                                           "object2",
		with(`"Confidence":1`):                                                        "Confidence",
		with(`"confidence":"0.9"`):                                                    "confidence",
		with(`"confidence":null`):                                                     "confidence",
		with(`"confidence":1.0000001`):                                                "confidence",
		with(`"confidence":-1`):                                                       "confidence",
		with(`"confidence":NaN`):                                                      "confidence",
		with(`"confidence":1e-400`):                                                   "confidence",
		with(`"policy":"merge"`):                                                      "policy",
		with(`"policy":"reject","conflict_policy":"coexist"`):                         "conflict_policy",
		with(`"policy":"reject","coexist":true`):                                      "coexist",
		with(`"coexist":"yes"`):                                                       "coexist",
		with(`"source":5`):                                                            "source",
		with(`"source":"` + strings.Repeat("s", 1025) + `"`):                          "source",
		with(`"properties":"x"`):                                                      "properties",
		with(`"properties":[1]`):                                                      "properties",
		with(`"properties":{"a":1e999}`):                                              "properties",
		with(`"properties":{"a":1,"a":2}`):                                            "properties.a",
		with(`"properties":{"a":"` + strings.Repeat("x", 64<<10) + `"}`):              "properties",
		with(`"transient":1`):                                                         "transient",
		with(`"id":"x"`):                                                              "id",
		with(`"tx":5`):                                                                "tx",
		with(`"recorded_at":5`):                                                       "recorded_at",
		with(`"status":"active"`):                                                     "status",
		with(`"declared_known_at":5`):                                                 "declared_known_at",
		with(`"valid_from":5,"valid_until":5`):                                        "valid_from",
		with(`"valid_from":"yesterday"`):                                              "valid_from",
		with(`"subject":"A:2"`):                                                       "subject",
		with(`"sub\u006aect":"A:2"`):                                                  "subject",
		`[]`:                                                                          "", `"x"`: "", `{`: "", `{"a":1} {"b":2}`: "",
	} {
		e := r.post("/api/facts", body).fails(http.StatusBadRequest, "SchemaInvalid")
		if got := e["field"]; field != "" && got != field {
			t.Errorf("%.80s: field %v, want %s", body, got, field)
		}
	}
	r.post("/api/facts", "").fails(http.StatusBadRequest, "SchemaInvalid")
	r.post("/api/facts", with(`"branch":"side"`)).fails(http.StatusNotFound, "NotFound")
	r.post("/api/facts?branch=side", with(`"source":"s"`)).fails(http.StatusNotFound, "NotFound")
	if got := r.get("/api/stats").object(); got.text("tx") != "0" {
		t.Errorf("something was written: %v", got)
	}
	r.post("/api/facts?branch=main", with(`"branch":"main","policy_override":"Auto-Supersede","properties":{"a" : [1, 2.50]},"valid_until":null`)).
		status(http.StatusCreated)
	if got := r.get("/api/facts").Body; !strings.Contains(got, `"properties":{"a":[1,2.50]}`) {
		t.Errorf("properties: %s", got)
	}
}

func TestBadQueriesAreRefusedByName(t *testing.T) {
	r := start(t, "")
	for query, field := range map[string]string{
		"asof=5": "asof", "AS_OF=5": "AS_OF", "as_of=": "as_of", "as_of=soon": "as_of", "limit=10001": "limit", "limit=-1": "limit", "limit=x": "limit",
		"status=open": "status", "tx_gt=x": "tx_gt", "tx_gt=-1": "tx_gt", "tx=1&known_at=5": "tx", "tx=99": "tx", "tx=-1": "tx",
		"subject=": "subject", "subject=A:1%20": "subject", "subject=%ff": "subject", "subject=%zz": "subject", "subject=A&subject=B": "subject",
		"min_tx=x": "min_tx", "consistency=eventual": "consistency", "explain=yes": "explain", "include_retracted=2": "include_retracted",
		"recorded_at=1": "recorded_at", "id=x": "id", "token=x": "token", "backfill=x": "backfill", "tenant=a_b": "tenant",
	} {
		e := r.get("/api/facts?"+query).fails(http.StatusBadRequest, "SchemaInvalid")
		if got := e["field"]; got != field {
			t.Errorf("%s: field %v, want %s", query, got, field)
		}
	}
	r.get("/api/facts?limit=0").status(http.StatusOK)
	r.get("/api/facts?limit=10000").status(http.StatusOK)
	for _, path := range []string{"/api/stats", "/api/health", "/api/ready", "/api/entities", "/api/predicates", "/api/connect", "/api", "/api/session",
		"/api/observability", "/api/tenants", "/api/stream", "/api/entities/A:1", "/api/facts/x", "/api/facts/x/history"} {
		r.get(path+"?nonsense=1").fails(http.StatusBadRequest, "SchemaInvalid")
	}
	for _, path := range []string{"/api/facts?branch=other", "/api/facts/x?branch=other", "/api/entities?branch=other", "/api/stats?branch=other"} {
		r.get(path).fails(http.StatusNotFound, "NotFound")
	}
}

// WEB-02: what the path and the token decided, nothing else overrides.
func TestWEB02NothingOverridesPathAndToken(t *testing.T) {
	r := start(t, "root-key")
	a := r.as(r.post("/api/tenants", `{"id":"a"}`).object().text("key"))
	one, two := a.assert("A:1", "p", "1"), a.assert("A:2", "p", "2")
	for _, query := range []string{"status=active", "recorded_at=1", "id=x", "IsAdmin=true", "role=admin"} {
		a.post("/api/facts?"+query, `{"subject":"A:3","predicate":"p"}`).fails(http.StatusBadRequest, "SchemaInvalid")
	}
	a.post("/api/facts", `{"subject":"A:3","predicate":"p","Tenant":"b"}`).fails(http.StatusBadRequest, "SchemaInvalid")
	a.delete("/api/facts/"+one.text("id")+"?id="+two.text("id")).fails(http.StatusBadRequest, "SchemaInvalid")
	a.do("DELETE", "/api/facts/"+one.text("id"), `{"id":"`+two.text("id")+`"}`).fails(http.StatusBadRequest, "SchemaInvalid")
	if got := column(a.get("/api/facts").list(), "object"); got != "2,1" {
		t.Errorf("facts: %s", got)
	}
	got := a.post("/api/facts?tenant=other", `{"subject":"A:3","predicate":"p","tenant":"other"}`).status(http.StatusCreated).object()
	if got.text("tenant") != "a" {
		t.Errorf("tenant %s", got.text("tenant"))
	}
}

// WEB-03: the limit holds for what a body becomes, not for what it says it is.
func TestWEB03SizeLimits(t *testing.T) {
	const limit = 2 << 20
	r := start(t, "root-key")
	fill := func(size int) []byte {
		head, tail := `{"subject":"A:1","predicate":"p","object":"`, `"}`
		n := min(size-len(head)-len(tail), 1<<20)
		b := []byte(head + strings.Repeat("x", n) + tail)
		return append(b, bytes.Repeat([]byte(" "), size-len(b))...)
	}
	zip := func(members ...[]byte) []byte {
		var out bytes.Buffer
		for _, m := range members {
			w, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed)
			w.Write(m)
			w.Close()
		}
		return out.Bytes()
	}
	spaces := bytes.Repeat([]byte(" "), 8<<20)
	r.send("POST", "/api/facts", bytes.NewReader(fill(limit))).status(http.StatusCreated)
	r.send("POST", "/api/facts", bytes.NewReader(fill(limit+1))).fails(http.StatusRequestEntityTooLarge, "TooLarge")
	r.send("POST", "/api/facts", io.MultiReader(bytes.NewReader(fill(limit+1)))).fails(http.StatusRequestEntityTooLarge, "TooLarge") // chunked
	r.send("POST", "/api/facts", io.MultiReader(bytes.NewReader(fill(limit)))).status(http.StatusOK)
	r.send("POST", "/api/facts", bytes.NewReader(zip(fill(limit))), "Content-Encoding: gzip").status(http.StatusOK)
	for name, bomb := range map[string][]byte{"one": zip(spaces), "members": zip(spaces, spaces, fill(100)), "just over": zip(fill(limit + 1))} {
		got := r.send("POST", "/api/facts", bytes.NewReader(bomb), "Content-Encoding: gzip")
		if got.Status != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %d", name, got.Status)
		}
		got.fails(http.StatusRequestEntityTooLarge, "TooLarge")
		r.as("").send("POST", "/api/facts", bytes.NewReader(bomb), "Content-Encoding: gzip").status(http.StatusNotFound)
	}
	r.send("POST", "/api/facts", strings.NewReader("not gzip"), "Content-Encoding: gzip").fails(http.StatusBadRequest, "SchemaInvalid")
	r.send("POST", "/api/facts", bytes.NewReader(zip(fill(100))[:40]), "Content-Encoding: gzip").fails(http.StatusBadRequest, "SchemaInvalid")
	r.send("POST", "/api/facts", strings.NewReader("{}"), "Content-Encoding: br").fails(http.StatusBadRequest, "SchemaInvalid")
	r.get("/api/facts").status(http.StatusOK)
}

// ING-04: what is not a number never gets in.
func TestING04NotANumber(t *testing.T) {
	r := start(t, "")
	for _, c := range []string{"NaN", "Infinity", "-Infinity", "-1", "1.0000001", `"0.9"`, "null", "1e-400", "1e400", "[]", "true"} {
		r.post("/api/facts", `{"subject":"A:1","predicate":"p","confidence":`+c+`}`).fails(http.StatusBadRequest, "SchemaInvalid")
	}
	r.assert("A:1", "p", "1", `"confidence":1e-300`)
	if got := r.get("/api/facts?status=candidate").list(); column(got, "confidence") != "1e-300" {
		t.Errorf("confidence %v", got)
	}
}

// ING-05: deep nesting is refused, and what is accepted can be read back.
func TestING05DeepNesting(t *testing.T) {
	r := start(t, "")
	nest := func(depth int) string { return strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth) }
	for _, depth := range []int{63, 64, 65, 100, 1_000, 10_000, 10_001, 200_000} {
		got := r.post("/api/facts", `{"subject":"A:1","predicate":"p","object":`+fmt.Sprint(depth)+`,"properties":`+nest(depth)+`}`)
		if depth <= 63 { // the body itself is the first level
			got.status(http.StatusCreated)
		} else {
			got.fails(http.StatusBadRequest, "SchemaInvalid")
		}
	}
	if got := r.get("/api/facts").list(); column(got, "object") != "63" {
		t.Errorf("facts: %v", got)
	}
	r.post("/api/facts", strings.Repeat("[", 1_500_000)).fails(http.StatusBadRequest, "SchemaInvalid")
}

// ING-08: the same key twice is refused everywhere.
func TestING08TheSameKeyTwice(t *testing.T) {
	r := start(t, "")
	for path, body := range map[string]string{
		"/api/facts":    `{"subject":"X:1","subject":"X:2","predicate":"p","object":1}`,
		"/api/transact": `{"compares":[{"subject":"X:1","predicate":"p","expect":1,"expect":2}],"asserts":[{"subject":"X:1","predicate":"p"}]}`,
		"/api/session":  `{"key":"a","key":"b"}`,
		"/api/tenants":  `{"id":"a","id":"b"}`,
	} {
		e := r.post(path, body).fails(http.StatusBadRequest, "SchemaInvalid")
		if !strings.Contains(e.text("message"), "twice") {
			t.Errorf("%s: %s", path, e.text("message"))
		}
	}
}

// MCP-01, REST part: only the exact name of a field counts.
func TestMCP01TwoSpellings(t *testing.T) {
	r := start(t, "")
	for _, extra := range []string{`"SUBJECT":"X:2"`, `"Subject":"X:2"`, `"\u017fubject":"X:2"`, `"to\u212aen":"x"`} {
		r.post("/api/facts", `{"subject":"X:1","predicate":"p",`+extra+`}`).fails(http.StatusBadRequest, "SchemaInvalid")
	}
	r.get("/api/facts?SUBJECT=X:1").fails(http.StatusBadRequest, "SchemaInvalid")
}

// What has no branches cannot be read on one: an answer would be taken for that branch's.
func TestReadsWithoutBranches(t *testing.T) {
	r := start(t, "root-key")
	a := r.as(r.post("/api/tenants", `{"id":"a","role":"admin"}`).status(http.StatusCreated).object().text("key"))
	a.post("/api/branches", `{"name":"b"}`).status(http.StatusCreated)
	a.post("/api/connectors", `{"name":"crm"}`).status(http.StatusOK)
	a.post("/api/leases", `{"resource":"r","holder":"h"}`).status(http.StatusCreated)
	for _, path := range []string{
		"/api/branches", "/api/branches/b", "/api/branches/b/diff", "/api/tenants/a", "/api/tenants/a/keys",
		"/api/connectors", "/api/connectors/crm", "/api/triggers", "/api/leases", "/api/leases/r",
	} {
		if e := a.get(path+"?branch=b").fails(http.StatusBadRequest, "SchemaInvalid"); e.text("field") != "branch" {
			t.Errorf("%s: %v", path, e)
		}
	}
}

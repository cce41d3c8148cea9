package http_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestCurlsOfEnrich runs the commands of the documents' pages as written there.
func TestCurlsOfEnrich(t *testing.T) {
	s := newShell(t)
	acme := s.as(s.vars["KEY_ACME"])
	first := acme.assert("Person:sarah", "works_at", `"Org:acme"`)
	got := s.curl(`curl -s -X POST "$ABAGRAPH_BASE_URL/api/enrich" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{ "facts": [
{"subject":"Person:sarah","predicate":"works_at","object":"Org:gamma","confidence":0.8},
{"subject":"Person:bob","predicate":"email","object":"bob@example.com","confidence":0.9} ], "source": "crm-sync" }'`).status(200)
	want := `{"facts":[{"subject":"Person:sarah","predicate":"works_at","object":"Org:gamma","confidence":0.8,"source":"crm-sync"},` +
		`{"subject":"Person:bob","predicate":"email","object":"[REDACTED]","confidence":0.9,"source":"crm-sync"}],` +
		`"conflicts":[{"subject":"Person:sarah","predicate":"works_at","incoming":"Org:gamma","existing":"Org:acme","current":"Org:acme","existing_id":"` + first.text("id") + `"}],"masked":1}`
	if got.Body != want {
		t.Errorf("enriched:\n%s\nwant\n%s", got.Body, want)
	}
	got = s.curl(`curl -X POST "$ABAGRAPH_BASE_URL/api/enrich" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{ "facts": [ {"subject":"Person:sarah","predicate":"works_at","object":"Company:nova"} ], "source": "crm-import" }'`).status(200)
	if p := got.object(); len(p["conflicts"].([]any)) != 1 || number(p["masked"]) != 0 {
		t.Errorf("enriched: %s", got.Body)
	}
	if facts := acme.get("/api/facts?status=all").list(); len(facts) != 1 {
		t.Errorf("enrich wrote: %v", facts)
	}
}

// TestEnrich: whole facts and statements, what disagrees and what does not, each
// way to mask, and that the answer can be written as it is.
func TestEnrich(t *testing.T) {
	r := start(t, "root-key")
	a := r.as(r.post("/api/tenants", `{"id":"a"}`).object().text("key"))
	b := r.as(r.post("/api/tenants", `{"id":"b"}`).object().text("key"))
	b.assert("Person:x", "works_at", `"Org:theirs"`)
	a.assert("Person:x", "works_at", `"Org:one"`)
	a.assert("Person:x", "knows", `"Person:y"`)
	a.assert("Person:x", "alias", `"X"`, `"policy":"coexist"`)
	a.assert("Person:x", "age", `41`)
	a.assert("Person:x", "maybe", `"so"`, `"confidence":0.1`)
	a.assert("Person:x", "was", `"young"`, `"valid_until":1000000`, `"valid_from":1`)
	for body, want := range map[string]string{
		`{"subject":"Person:x","predicate":"works_at","object":"Org:two"}`:           "Org:one",
		`{"subject":"Person:x","predicate":"works_at","object":"Org:one"}`:           "",
		`{"subject":"Person:x","predicate":"knows","object":"Person:z"}`:             "",
		`{"subject":"Person:x","predicate":"alias","object":"Y","policy":"coexist"}`: "",
		`{"subject":"Person:x","predicate":"alias","object":"Y"}`:                    "X",
		`{"subject":"Person:x","predicate":"age","object":41.0}`:                     "",
		`{"subject":"Person:x","predicate":"age","object":"41"}`:                     "41",
		`{"subject":"Person:x","predicate":"maybe","object":"not"}`:                  "",
		`{"subject":"Person:x","predicate":"was","object":"old"}`:                    "",
		`{"subject":"Person:nobody","predicate":"works_at","object":"Org:two"}`:      "",
	} {
		p := a.post("/api/enrich", `{"facts":[`+body+`]}`).status(200).object()
		conflicts := p["conflicts"].([]any)
		if want == "" && len(conflicts) != 0 || want != "" && (len(conflicts) != 1 || doc(conflicts[0].(map[string]any)).text("existing") != want) {
			t.Errorf("%s: %v, want %q", body, conflicts, want)
		}
	}
	whole := a.get("/api/facts?subject=Person:x").status(200).Body
	p := a.post("/api/enrich", `{"mask":"hash","source":"again","facts":`+whole+`}`).status(200).object()
	if len(p["facts"].([]any)) != 4 || len(p["conflicts"].([]any)) != 0 {
		t.Errorf("whole facts: %v", p)
	}
	batch := a.post("/api/enrich", `{"mask":"hash_sha256","source":"mail","facts":[{"subject":"Person:y","predicate":"mail","object":"y@example.com","properties":{"why":"wrote from y@example.com"}},
		{"subject":"Person:y","predicate":"born","object":"2001-02-03","valid_from":5,"valid_until":9,"transient":true}]}`).status(200).object()
	if number(batch["masked"]) != 2 || strings.Contains(batch.text("facts"), "example.com") || strings.Count(batch.text("facts"), "sha256:") != 2 {
		t.Errorf("hashed: %v", batch)
	}
	a.post("/api/transact", `{"asserts":`+batch.text("facts")+`}`).status(200)
	if p := a.post("/api/enrich", `{"mask":"shift_date","facts":[{"subject":"Person:y","predicate":"born","object":"2001-02-03"}]}`).object(); number(p["masked"]) != 1 || strings.Contains(p.text("facts"), "2001-02-03") {
		t.Errorf("shifted: %v", p)
	}
	for _, odd := range []string{`"rot13"`, `false`} {
		if p := a.post("/api/enrich", `{"mask":`+odd+`,"facts":[{"subject":"s","predicate":"p","object":"y@example.com"}]}`).status(200).object(); number(p["masked"]) != 1 || !strings.Contains(p.text("warnings"), "redact was used") {
			t.Errorf("mask %s: %v", odd, p)
		}
	}
	if p := a.post("/api/enrich", `{"mask":true,"facts":[]}`).status(200).Body; p != `{"facts":[],"conflicts":[],"masked":0}` {
		t.Errorf("nothing: %s", p)
	}
}

// TestPII01EnrichKeepsWhatIsNotPersonal: values keep their type and their text.
func TestPII01EnrichKeepsWhatIsNotPersonal(t *testing.T) {
	r := start(t, "")
	for _, object := range []string{`1762164000006`, `"1762164000006"`, `4111111111111111`, `"7c1e02bd-41aa-4f0e-8202-555014399a10"`, `"order 2024-555-0199-77"`, `"10.0.0.1"`, `"52.520008, 13.404954"`, `true`, `null`, `"Mail:u@example.com"`} {
		p := r.post("/api/enrich", `{"facts":[{"subject":"Person:x","predicate":"p","object":`+object+`}]}`).status(200)
		if !strings.Contains(p.Body, `"object":`+object+`,`) || !strings.HasSuffix(p.Body, `"masked":0}`) {
			t.Errorf("%s: %s", object, p.Body)
		}
	}
}

// TestEnrichIsBounded: a long text that meets many facts is repeated only as often
// as an answer has room for, and the answer says so.
func TestEnrichIsBounded(t *testing.T) {
	r := start(t, "")
	var batch []string
	for i := range 100 {
		batch = append(batch, fmt.Sprintf(`{"subject":"Hub:h","predicate":"p","object":%d,"policy":"coexist"}`, i))
	}
	r.post("/api/transact", `{"asserts":[`+strings.Join(batch, ",")+`]}`).status(200)
	long := strings.Repeat("x", 1<<20)
	p := r.post("/api/enrich", `{"facts":[{"subject":"Hub:h","predicate":"p","object":"`+long+`"},{"subject":"Hub:h","predicate":"p","object":"y"}]}`).status(200)
	if n := strings.Count(p.Body, `"existing":`); n != 31 || len(p.Body) > 34<<20 || !strings.Contains(p.object().text("warnings"), "not all conflicts are shown") {
		t.Errorf("%d conflicts in %d bytes: %s", n, len(p.Body), p.object().text("warnings"))
	}
	p = r.post("/api/enrich", `{"facts":[{"subject":"Hub:h","predicate":"p","object":"y"}]}`).status(200)
	if n := strings.Count(p.Body, `"existing":`); n != 100 || strings.Contains(p.Body, `"warnings"`) {
		t.Errorf("%d conflicts, want 100: %s", n, p.Body)
	}
}

func TestEnrichBadInput(t *testing.T) {
	r := start(t, "")
	for body, field := range map[string]string{
		`{}`: "facts", `{"facts":{}}`: "facts", `{"facts":[1]}`: "facts[0]", `{"facts":[{"predicate":"p","object":1}]}`: "facts[0].subject",
		`{"facts":[{"subject":"s","predicate":"p","object":1,"colour":2}]}`: "facts[0].colour", `{"facts":[],"mask":1}`: "mask", `{"facts":[],"source":1}`: "source",
		`{"facts":[{"subject":"s","predicate":"p","object":1,"confidence":2}]}`:           "facts[0].confidence",
		`{"facts":[` + strings.Repeat(`{"subject":"s","predicate":"p"},`, 10000) + `{}]}`: "facts", `{"facts":[],"extra":1}`: "extra",
	} {
		if e := r.post("/api/enrich", body).fails(400, "SchemaInvalid"); e["field"] != field {
			t.Errorf("%.80s: field %v, want %s (%v)", body, e["field"], field, e["message"])
		}
	}
	r.get("/api/enrich").fails(http.StatusMethodNotAllowed, "MethodNotAllowed")
}

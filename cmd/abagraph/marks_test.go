package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Marks that must be nowhere: of personal data, and of keys.
const (
	markMail   = "piimark@example.com"
	markPhone  = "+1 202 555 0177"
	markCard   = "5105-1051-0510-5100"
	markSSN    = "078-05-1120"
	markSecret = "secretmark0123456789"
)

// said is a text of a person that has every mark of personal data.
const said = "mail " + markMail + ", ring " + markPhone + ", pay with " + markCard + ", ssn " + markSSN

// marked are requests with marks in every field that takes a text, by the operation
// that the API describes. MODEL stands for a model with a marked key, SAID for said.
var marked = map[string][]string{
	"POST /api/facts": {`/api/facts {"subject":"note: SAID","predicate":"said","object":"SAID","source":"SAID","properties":{"why":["SAID"]}}`,
		`/api/facts?branch=none {"subject":"SAID","predicate":"p","object":"SAID"}`, `/api/facts {"subject":"SAID","predicate":"p","object":"SAID","SAID":1}`, `/api/facts {"subject":"SAID`,
		`/api/facts {"subject":"Person:a","predicate":"said","object":"SAID","policy":"reject"}`},
	"POST /api/transact": {`/api/transact {"backfill":{"declared_known_at":"2020-01-01","reason":"SAID"},"asserts":[{"subject":"Person:b","predicate":"said","object":"SAID"}]}`,
		`/api/transact {"compares":[{"subject":"SAID","predicate":"said","expect":"SAID"}],"asserts":[{"subject":"Person:c","predicate":"said","object":"SAID"}]}`},
	"POST /api/search":  {`/api/search {"query":"SAID"}`},
	"POST /api/context": {`/api/context {"task":"SAID","compact_model":MODEL}`, `/api/context {"task":"SAID"}`},
	"POST /api/compact": {`/api/compact {"facts":[{"subject":"SAID","predicate":"p","object":"SAID"}],"token_budget":100}`},
	"POST /api/enrich":  {`/api/enrich {"facts":[{"subject":"SAID","predicate":"p","object":"SAID"}],"source":"SAID"}`},
	"PUT /api/pages/{subject}": {`/api/pages/Person:a {"title":"SAID","body":"[[Person:b]] SAID","source":"SAID","citations":[{"url":"https://a.example/?q=SAID","quote":"SAID"}]}`,
		`/api/pages/` + markMail + ` {"body":"SAID"}`},
	"POST /api/digest": {`/api/digest {"facts":[{"subject":"Person:d","predicate":"said","object":"SAID","properties":{"q":"SAID"}}],"source":"SAID","mask":"hash"}`,
		`/api/digest {"backfill":{"declared_known_at":"2020-01-01","reason":"SAID"},"facts":[{"subject":"Person:f","predicate":"said","object":"SAID"}]}`,
		`/api/digest {"content":"SAID and [[Person:e]]","subject":"of SAID","source":"SAID"}`, `/api/digest {"content":"SAID","extract_model":MODEL,"judge_model":MODEL}`},
	"POST /api/consolidate":               {`/api/consolidate {"subject":"SAID"}`},
	"POST /api/sources/{name}/undo":       {`/api/sources/` + markMail + `/undo {}`},
	"POST /api/branches":                  {`/api/branches {"name":"b1"}`, `/api/branches {"name":"SAID"}`},
	"DELETE /api/branches/{name}":         {`/api/branches/none`},
	"POST /api/branches/{name}/promote":   {`/api/branches/b1/promote {}`},
	"POST /api/branches/{name}/discard":   {`/api/branches/SAID/discard {}`},
	"POST /api/leases":                    {`/api/leases {"resource":"r","holder":"SAID"}`, `/api/leases {"resource":"r","holder":"agent"}`},
	"POST /api/leases/{resource}/renew":   {`/api/leases/r/renew {"holder":"SAID"}`},
	"POST /api/leases/{resource}/release": {`/api/leases/r/release {"holder":"SAID"}`},
	"POST /api/tenants":                   {`/api/tenants {"id":"acme","name":"Acme"}`, `/api/tenants {"id":"SAID"}`},
	"POST /api/tenants/{id}/keys":         {`/api/tenants/acme/keys {"name":"k","role":"SAID"}`},
	"POST /api/session":                   {`/api/session {"key":"SECRET"}`},
	"POST /mcp": {`/mcp {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"remember","arguments":{"namespace":"acme","subject":"SAID","predicate":"said","object":"SAID","source":"SAID"}}}`,
		`/mcp {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"digest","arguments":{"namespace":"acme","facts":[{"subject":"SAID","predicate":"said","object":"SAID"}]}}}`,
		`/mcp {"jsonrpc":"2.0","id":1,"method":"SAID"}`},
	"POST /api/secrets":          {`/api/secrets {"name":"crm","ref":"SECRET"}`, `/api/secrets {"name":"crm","value":"SECRET"}`},
	"POST /api/admin/peers/{id}": {`/api/admin/peers/none {}`},
	"POST /api/admin/transfer":   {`/api/admin/transfer {"to":"SAID"}`},
}

// asked are reads with marks, whose answers may repeat what was asked and whose
// traces may not.
var asked = []string{"/api/facts?object=SAID&api_key=SECRET", "/api/facts?subject=SAID&explain=1", "/api/search?q=SAID", "/api/context?task=SAID", "/api/walk?start=SAID", "/api/graph?q=SAID", "/api/entities/SAID",
	"/api/pages/SAID", "/api/path?from=SAID&to=Person:a", "/api/stream?subject=SAID&token=SECRET", "/api/facts/SAID", "/no/such/SAID?key=SECRET"}

// TestOBS01NoMarkIsLeftBehind: keys and personal data go in by every door that takes a
// text, in requests that succeed and in such that fail; afterwards no mark is in any
// line of the log, metric, event, file of the store or backup, and no key in any answer.
func TestOBS01NoMarkIsLeftBehind(t *testing.T) {
	home := t.TempDir()
	p := launch(t, "--bind", "127.0.0.1:0", "--data", filepath.Join(home, "data"), "--admin-key", "root-"+markSecret, "--log-level", "debug", "--pii-key", "pii-"+markSecret, "--embedding", "hash").up()
	answers := map[string]string{}
	for _, operation := range describedBodies(t, p) {
		method, template, _ := strings.Cut(operation.name, " ")
		lines := marked[operation.name]
		for _, body := range withMarks(operation.example) {
			lines = append(lines, parameter.ReplaceAllString(template, "none")+" "+body)
		}
		for _, line := range lines {
			path, body, _ := strings.Cut(line, " ")
			answers[line] = knock(t, p, method, path, body, "root-"+markSecret)
			knock(t, p, method, path, body, "wrong-"+markSecret)
		}
	}
	for _, path := range asked {
		answers[path] = knock(t, p, http.MethodGet, path, "", "root-"+markSecret)
	}
	for what, answer := range answers {
		if strings.Contains(answer, markSecret) {
			t.Errorf("the answer to %s has a key: %s", what, answer)
		}
	}
	if told := answers[marked["POST /api/facts"][0]]; !strings.Contains(told, `"pii_masked":16`) {
		t.Errorf("a fact with every mark: %s", told)
	}
	left := map[string]string{"the log": p.errs.String(), "the banner": p.out.String()}
	for _, path := range []string{"/metrics", "/api/observability", "/api/facts?status=all&limit=10000", "/api/facts?status=all&tenant=acme", "/api/admin/backup", "/api/audit", "/api/secrets", "/api/connect"} {
		left[path] = knock(t, p, http.MethodGet, path, "", "root-"+markSecret)
	}
	p.stop()
	left["the log at the end"] = p.errs.String()
	if err := filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		left[path] = string(raw)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	seen := []string{}
	for what, text := range left {
		if strings.Contains(text, "[REDACTED]") {
			seen = append(seen, filepath.Base(what))
		}
		for _, mark := range []string{markMail, "piimark", "555 0177", "5550177", markCard, markSSN, markSecret} {
			if at := strings.Index(text, mark); at >= 0 {
				t.Errorf("%s: %q is left: …%q…", what, mark, text[max(0, at-120):min(len(text), at+60)])
			}
		}
	}
	for _, must := range []string{"raft.db", "backup", "facts?status=all&limit=10000", "facts?status=all&tenant=acme"} {
		if !slices.Contains(seen, must) {
			t.Errorf("what was masked is not seen in %s, so that this test would not see a mark there either", must)
		}
	}
	if !strings.Contains(left["the log"], "abagraph.pii.masked") {
		t.Error("the log does not tell of masking")
	}
}

// described is an operation that takes a body, with the body that the API shows.
type described struct {
	name    string
	example any
}

// describedBodies lists the operations that take a body, as the API describes them.
func describedBodies(t *testing.T, p *process) []described {
	t.Helper()
	var api struct {
		Paths map[string]map[string]struct {
			RequestBody *struct {
				Content map[string]struct {
					Example any `json:"example"`
				} `json:"content"`
			} `json:"requestBody"`
		} `json:"paths"`
	}
	if err := json.Unmarshal([]byte(knock(t, p, http.MethodGet, "/openapi.json", "", "root-"+markSecret)), &api); err != nil {
		t.Fatal(err)
	}
	var list []described
	for path, operations := range api.Paths {
		for method, operation := range operations {
			if operation.RequestBody != nil {
				list = append(list, described{strings.ToUpper(method) + " " + path, operation.RequestBody.Content["application/json"].Example})
			}
		}
	}
	slices.SortFunc(list, func(a, b described) int { return strings.Compare(a.name, b.name) })
	if len(list) < 20 {
		t.Fatalf("the API describes %d bodies", len(list))
	}
	return list
}

var parameter = regexp.MustCompile(`\{[a-z]+\}`)

// withMarks returns bodies that are made of an example: one for each text in it, with
// marks in place of that, one with marks in place of all, and one with a field that no
// operation knows.
func withMarks(example any) []string {
	bodies := []string{`{"SAID":"SAID"}`}
	texts := 0
	put(example, func() bool { texts++; return false })
	for i := -1; i < texts; i++ {
		n := -1
		body, err := json.Marshal(put(example, func() bool { n++; return i < 0 || n == i }))
		if err == nil && example != nil {
			bodies = append(bodies, string(body))
		}
	}
	return bodies
}

// names are fields that hold names which programs choose: docs/masking.md says that
// they are never masked.
var names = []string{"predicate", "id", "name", "resource", "branch", "parent", "tenant", "role"}

// put returns a value with SAID in place of the texts that are chosen, in the order of
// their names.
func put(value any, chosen func() bool) any {
	switch v := value.(type) {
	case string:
		if chosen() {
			return "SAID"
		}
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = put(v[i], chosen)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			object[name] = v[name]
			if !slices.Contains(names, name) {
				object[name] = put(v[name], chosen)
			}
		}
		return object
	}
	return value
}

// knock sends one request with marks in its headers, too, and returns the whole answer.
func knock(t *testing.T, p *process, method, path, body, key string) string {
	t.Helper()
	model := `{"provider":"openai","endpoint":"http://127.0.0.1:9/` + markSecret + `","model":"m","key":"sk-` + markSecret + `"}`
	body = strings.NewReplacer("MODEL", model, "SAID", said, "SECRET", "k-"+markSecret).Replace(body)
	path = strings.NewReplacer("SAID", url.QueryEscape(said), "SECRET", "k-"+markSecret, " ", "%20").Replace(path)
	request, err := http.NewRequestWithContext(t.Context(), method, p.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set("Cookie", "abagraph_session=c-"+markSecret)
	request.Header.Set("Idempotency-Key", fmt.Sprintf("i-%x", sha256.Sum256([]byte(method+path+body+key))))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

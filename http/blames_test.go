package http_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestRefusalsNameTheCallersField: a refusal of what a lease, a page, an undo or
// a digest writes names what the caller sent, never a row of the batch that was made of it.
func TestRefusalsNameTheCallersField(t *testing.T) {
	r, admin, agent := governed(t, `{"version":"v1","rules":[{"role":"admin","permissions":["*"]},
		{"agent":"agent-7","permissions":["facts:read"]},{"agent":"agent-7","permissions":["facts:write"],"predicates":["knows","wiki_body","wiki_page","lease_held_by"]},
		{"agent":"agent-7","effect":"deny","permissions":["facts:write"],"predicates":["lease_held_by"]}]}`)
	for i := range 2 {
		admin.assert("Person:p", "title_of", `"x"`, fmt.Sprintf(`"source":"s%d"`, i))
	}
	for _, c := range []struct{ method, path, body, field string }{
		{http.MethodPost, "/api/leases", `{"resource":"r","holder":"a"}`, ""},
		{http.MethodPut, "/api/pages/Person:p", `{"title":"Ada","body":"a text"}`, "title"},
		{http.MethodPut, "/api/pages/Person:p", `{"body":"see [[Person:q]] and [[Person:r]]"}`, "body"},
		{http.MethodPost, "/api/sources/s0/undo", `{}`, ""},
		{http.MethodPost, "/api/digest", `{"facts":[{"subject":"a","predicate":"knows","object":"b"},{"subject":"a","predicate":"hates","object":"b"}]}`, "facts[1]"},
		{http.MethodPost, "/api/digest", `{"subject":"Person:p","content":"[[Person:q]] and [[Person:r]]"}`, "content"},
		{http.MethodPost, "/api/transact", `{"asserts":[{"subject":"a","predicate":"knows","object":"b"},{"subject":"a","predicate":"hates","object":"b"}]}`, "asserts[1]"},
	} {
		e := agent.do(c.method, c.path, c.body).fails(http.StatusForbidden, "Forbidden")
		field, _ := e["field"].(string)
		if field != c.field || strings.Contains(fmt.Sprint(e["message"]), "[") {
			t.Errorf("%s %s blames %q: %v", c.path, c.body, field, e["message"])
		}
	}
	e := r.post("/api/digest?tenant=acme", `{"facts":[{"subject":"a","predicate":"knows","object":"b"},{"subject":"Role:x","predicate":"grants","object":"Permission:*"}]}`).fails(http.StatusBadRequest, "SchemaInvalid")
	if !strings.HasPrefix(fmt.Sprint(e["field"]), "facts[1]") {
		t.Errorf("a digest blames %v", e["field"])
	}
}

package golden

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"abagraph/fact"
	"abagraph/memory"
)

// question is one request, and what was answered to it when the directory was made.
type question struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Key    string `json:"key,omitempty"` // of a tenant; "" = the operator's
	Idem   string `json:"idem,omitempty"`
	Body   string `json:"body,omitempty"`
	Status int    `json:"status"`
	Answer any    `json:"answer"`
}

// record is NAME.json.gz.
type record struct {
	Made    string `json:"made"` // the release that made it
	Clock   int64  `json:"clock"`
	Tx      uint64 `json:"tx"`
	Epoch   string `json:"epoch"`
	Digest  string `json:"digest"`
	Asked   []question
	Retried []question // writes whose outcome was kept
}

// year is a date of the golden world.
func year(n int) string { return fmt.Sprintf("%d-03-01T00:00:00Z", 2000+n) }

// fill writes a little of everything that a store can hold, for two tenants; half
// of it lies in a snapshot, and the rest in the log behind it.
func fill(t *testing.T, n *node) record {
	t.Helper()
	for _, tenant := range []string{"acme", "other"} {
		n.made("/api/tenants", fmt.Sprintf(`{"id":%q,"name":"The tenant %s"}`, tenant, tenant))
		n.values(tenant)
	}
	n.made("/api/tenants/acme/keys", `{"name":"gone","role":"read"}`)
	n.made("/api/tenants/acme/keys", `{"name":"gone","role":"write","rotate":true}`)
	reads := n.made("/api/tenants/acme/keys", `{"name":"reports","role":"read"}`)["key"].(string)
	if _, err := n.raft.TakeSnapshot(); err != nil {
		t.Fatal(err)
	}
	n.timelines("acme")
	n.timelines("other")
	n.branches("acme")
	n.document("acme")
	retried := n.outcomes()
	n.post("/api/admin/purge?tenant=acme&subject=Person:purged&confirm=1", "")
	at := n.machine.Position()
	out := record{Made: "0.1.0", Clock: n.clock.Load(), Tx: at.Tx, Epoch: at.Epoch, Digest: hex.EncodeToString(at.Digest[:]), Retried: retried}
	for _, path := range questions(at.Tx) {
		out.Asked = append(out.Asked, question{Method: http.MethodGet, Path: path})
	}
	for _, id := range n.idsOf("City:3") {
		out.Asked = append(out.Asked, question{Method: http.MethodGet, Path: "/api/facts/" + id + "?tenant=acme"},
			question{Method: http.MethodGet, Path: "/api/facts/" + id + "/history?tenant=acme"})
	}
	text := sha256.Sum256(kept(""))
	out.Asked = append(out.Asked, question{Method: http.MethodGet, Path: "/api/facts?status=all&limit=1000", Key: reads},
		question{Method: http.MethodGet, Path: "/api/audit?limit=1000"}, question{Method: http.MethodGet, Path: "/api/audit?limit=1000&tenant=acme"},
		question{Method: http.MethodGet, Path: "/api/facts?subject=" + fact.DocumentOf(text) + "&tenant=acme"}, question{Method: http.MethodHead, Path: "/api/blobs/" + hex.EncodeToString(text[:]) + "?tenant=acme"})
	return out
}

// idsOf are the facts of a subject, of whatever status.
func (n *node) idsOf(subject string) (ids []string) {
	n.t.Helper()
	_, answer := n.ask(question{Method: http.MethodGet, Path: "/api/facts?tenant=acme&status=all&subject=" + subject})
	facts, ok := answer.([]any)
	if !ok || len(facts) == 0 {
		n.t.Fatalf("%s has no facts: %v", subject, answer)
	}
	for _, f := range facts {
		ids = append(ids, f.(map[string]any)["id"].(string))
	}
	return ids
}

// values writes each kind of value, with everything that a fact may carry.
func (n *node) values(tenant string) {
	for i, object := range []string{`"text"`, `"Zürich – 東京"`, `12`, `9007199254740993`, `1.50`, `-0.25e-3`, `true`, `false`, `null`,
		`{"hash":"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef","size":12}`, `"Person:1"`} {
		n.made("/api/facts?tenant="+tenant, fmt.Sprintf(
			`{"subject":"Thing:%d","predicate":"has","object":%s,"source":"doc:%d","confidence":0.9,"properties":{"n":%d,"s":"ü","list":[1,"two",null]}}`, i, object, i%3, i))
	}
	for i := range 60 {
		n.made("/api/facts?tenant="+tenant, fmt.Sprintf(`{"subject":"Person:%d","predicate":"knows","object":"Person:%d","policy":"coexist"}`, i, (i*7+1)%60))
	}
	n.made("/api/facts?tenant="+tenant, `{"subject":"Person:purged","predicate":"likes","object":"what must not be found"}`)
}

// timelines writes values that supersede each other in every way, in any order.
func (n *node) timelines(tenant string) {
	assert := "/api/facts?tenant=" + tenant
	for i := range 12 {
		for _, k := range []int{5, 1, 3, 2, 4} {
			n.made(assert, fmt.Sprintf(`{"subject":"City:%d","predicate":"mayor","object":"Person:%d","valid_from":%q,"source":"s%d"}`, i, k+i, year(k*2), k))
		}
		n.made(assert, fmt.Sprintf(`{"subject":"City:%d","predicate":"mayor","object":"a correction","valid_from":%q,"valid_until":%q}`, i, year(5), year(7)))
		n.made(assert, fmt.Sprintf(`{"subject":"City:%d","predicate":"size","object":%d}`, i, i))
		n.made(assert, fmt.Sprintf(`{"subject":"City:%d","predicate":"size","object":%d}`, i, i+1))
		n.made(assert, fmt.Sprintf(`{"subject":"City:%d","predicate":"twin","object":"City:%d","confidence":0.4}`, i, i+1))
	}
	n.made(assert, `{"subject":"City:3","predicate":"twin","object":"City:4"}`) // confirms the candidate
	retracted := n.made(assert, `{"subject":"City:1","predicate":"river","object":"Aare"}`)["id"].(string)
	n.must(http.StatusOK, question{Method: http.MethodDelete, Path: "/api/facts/" + retracted + "?tenant=" + tenant})
	n.made(assert, fmt.Sprintf(`{"subject":"City:2","predicate":"weather","object":"rain","transient":true,"valid_until":%q}`, year(26)))
	n.made(assert, fmt.Sprintf(`{"subject":"City:2","predicate":"plan","object":"a tram","valid_from":%q}`, year(40)))
	n.post("/api/transact?tenant="+tenant, fmt.Sprintf(
		`{"asserts":[{"subject":"City:old","predicate":"founded","object":1191,"policy":"coexist"}],"backfill":{"declared_known_at":%q,"reason":"from the old books"}}`, year(10)))
	n.post("/api/transact?tenant="+tenant,
		`{"compares":[{"subject":"City:1","predicate":"size","expect":2}],"asserts":[{"subject":"City:1","predicate":"size","object":99},{"subject":"City:1","predicate":"area","object":"2.5"}]}`)
}

// branches makes one that stays open, with one upon it, one that is promoted and
// one that is discarded.
func (n *node) branches(tenant string) {
	for _, name := range []string{"open", "merged", "dropped"} {
		n.made("/api/branches?tenant="+tenant, fmt.Sprintf(`{"name":%q}`, name))
		n.made("/api/facts?tenant="+tenant+"&branch="+name, fmt.Sprintf(`{"subject":"City:5","predicate":"size","object":"as on %s"}`, name))
		n.made("/api/facts?tenant="+tenant+"&branch="+name, fmt.Sprintf(`{"subject":"City:%s","predicate":"size","object":1}`, name))
	}
	n.made("/api/branches?tenant="+tenant, `{"name":"above","parent":"open"}`)
	n.made("/api/facts?tenant="+tenant+"&branch=above", `{"subject":"City:6","predicate":"size","object":"from above"}`)
	n.post("/api/branches/merged/promote?tenant="+tenant, "")
	n.post("/api/branches/dropped/discard?tenant="+tenant, "")
}

// kept is a text of two pieces.
func kept(of string) []byte { return bytes.Repeat([]byte("what "+of+" says. "), 50_000) }

// document keeps a text in two pieces, with the fact that refers to it, and another
// that goes with its subject.
func (n *node) document(tenant string) {
	caller, err := memory.Caller{Operator: true, Role: fact.RoleAdmin, Actor: "golden"}.In(tenant)
	if err != nil {
		n.t.Fatal(err)
	}
	for _, subject := range []string{"", "Person:purged"} {
		text := kept(subject)
		hash := sha256.Sum256(text)
		if subject == "" {
			subject = fact.DocumentOf(hash)
		}
		object, err := fact.BlobObject("object", hex.EncodeToString(hash[:]), int64(len(text)))
		if err != nil {
			n.t.Fatal(err)
		}
		w := &fact.Write{Asserts: []fact.Assert{{Subject: subject, Predicate: fact.DocumentContent, Object: object, ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, Confidence: 1, KnownAt: fact.NoInstant}}}
		for i, part := range slices.Collect(slices.Chunk(text, fact.MaxBlobPart)) {
			w.Blobs = append(w.Blobs, fact.BlobPart{Hash: hash, Part: uint32(i), Data: part})
		}
		if _, err := n.door.Transact(n.t.Context(), caller, memory.WriteOptions{}, w, nil); err != nil {
			n.t.Fatal(err)
		}
	}
}

// outcomes makes writes whose outcome is kept: one that was applied and one that
// was refused.
func (n *node) outcomes() []question {
	path := "/api/facts?tenant=acme"
	list := []question{
		{Method: http.MethodPost, Path: path, Idem: "golden-1", Body: `{"subject":"Retry:1","predicate":"is","object":"once"}`},
		{Method: http.MethodPost, Path: path, Idem: "golden-2", Body: `{"subject":"City:7","predicate":"size","object":"refused","policy":"reject"}`},
	}
	for i := range list {
		list[i].Status, list[i].Answer = n.ask(list[i])
	}
	return list
}

// questions are what a golden directory is asked: every kind of read that goes to a
// family of keys of its own, of the present and of the past.
func questions(tx uint64) (all []string) {
	for _, tenant := range []string{"acme", "other"} {
		for _, q := range []string{
			"/api/facts?limit=1000", "/api/facts?status=all&limit=1000", "/api/facts?status=candidate", "/api/facts?subject=City:3",
			"/api/facts?subject=City:3&predicate=mayor&as_of=" + year(6), "/api/facts?predicate=mayor&as_of=" + year(4),
			"/api/facts?object=Person:1", "/api/facts?object=9007199254740993", "/api/facts?tx_gt=0&limit=1000", "/api/facts?subject=Person:purged&status=all",
			"/api/facts?known_at=" + year(12), "/api/entities?limit=1000", "/api/entities/City:3", "/api/predicates", "/api/stats", "/api/branches", "/api/walk?start=Person:1&depth=3",
		} {
			all = append(all, withTenant(q, tenant))
		}
		for at := uint64(0); at <= tx; at += 83 {
			all = append(all, withTenant(fmt.Sprintf("/api/facts?status=all&limit=120&tx=%d", at), tenant))
		}
	}
	for _, branch := range []string{"open", "above"} {
		all = append(all, "/api/facts?tenant=acme&limit=1000&branch="+branch, "/api/branches/"+branch+"/diff?tenant=acme")
	}
	return append(all, "/api/tenants", "/api/tenants/acme/keys", "/api/embeddings?tenant=acme", "/api/admin/purge?tenant=acme&subject=City:3")
}

func withTenant(path, tenant string) string {
	for _, c := range path {
		if c == '?' {
			return path + "&tenant=" + tenant
		}
	}
	return path + "?tenant=" + tenant
}

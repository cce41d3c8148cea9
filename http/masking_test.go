package http_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"abagraph/fact"
	"abagraph/internal/embed"
	"abagraph/memory"
	"abagraph/memory/mask"
)

// overhearing is an embedder that keeps what it is sent.
type overhearing struct {
	memory.Embedder
	mu    sync.Mutex
	heard strings.Builder
}

func (l *overhearing) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	l.mu.Lock()
	l.heard.WriteString(strings.Join(texts, "\n") + "\n")
	l.mu.Unlock()
	return l.Embedder.Embed(ctx, texts)
}

func listen(t *testing.T) *overhearing {
	t.Helper()
	e, err := embed.New(embed.Options{Provider: embed.Hash, Dim: 8})
	if err != nil {
		t.Fatal(err)
	}
	return &overhearing{Embedder: e}
}

// TestEveryWriteIsMasked: whatever takes a text masks it before a vector is made of
// it, counts what it masked, and stores, answers and logs nothing else.
func TestEveryWriteIsMasked(t *testing.T) {
	ear := listen(t)
	r := startWith(t, memory.Options{Embedder: ear, Embedding: "hash"})
	count := func(what string, got doc, want int) {
		t.Helper()
		if number(got["pii_masked"]) != want {
			t.Errorf("%s: pii_masked is %v, want %d: %v", what, got["pii_masked"], want, got)
		}
	}
	count("facts", r.post("/api/facts", `{"subject":"mail of canary1@example.com","predicate":"said","object":"call 202-555-0143 or canary2@example.com",
		"source":"inbox of canary3@example.com","properties":{"why":["canary4@example.com",{"n":4111111111111111,"deep":"canary5@example.com"}]}}`).status(201).object(), 6)
	first := r.get("/api/facts?predicate=said").list()[0]
	if first.text("subject") != "mail of [REDACTED]" || first.text("object") != "call [REDACTED] or [REDACTED]" ||
		!strings.HasPrefix(first.text("source"), "inbox of sha256:") || !strings.Contains(r.get("/api/facts?predicate=said").Body, `"properties":{"why":["[REDACTED]",{"n":4111111111111111,"deep":"[REDACTED]"}]}`) {
		t.Errorf("stored: %v", first)
	}
	count("nothing", r.post("/api/facts", `{"subject":"Person:a","predicate":"likes","object":"tea"}`).status(201).object(), 0)
	count("transact", r.post("/api/transact", `{"backfill":{"declared_known_at":"2020-01-01","reason":"told by canary6@example.com"},
		"asserts":[{"subject":"Person:b","predicate":"mail","object":"canary7@example.com"},{"subject":"Person:c","predicate":"ssn","object":"123-45-6789"}]}`).status(200).object(), 2)
	count("digest", r.post("/api/digest", `{"facts":[{"subject":"Person:d","predicate":"mail","object":"canary8@example.com"}],"mask":"hash"}`).status(200).object(), 1)
	count("links", r.post("/api/digest", `{"content":"canary9@example.com knows [[Person:e]] and [[canary10@example.com]]","subject":"notes of canary11@example.com"}`).status(200).object(), 3)
	saved := r.do("PUT", "/api/pages/canary12@example.com", `{"title":"Of canary13@example.com","body":"[[Person:a]] writes to canary14@example.com",
		"citations":[{"url":"https://canary15@example.com/x","quote":"said canary16@example.com"}],"source":"canary17@example.com"}`).status(201).object()
	count("page", saved, 6)
	if again := r.do("PUT", "/api/pages/canary12@example.com", `{"title":"Of canary13@example.com","body":"[[Person:a]] writes to canary14@example.com",
		"citations":[{"url":"https://canary15@example.com/x","quote":"said canary16@example.com"}],"source":"canary17@example.com"}`).status(200).object(); again.text("written") != "[]" || again.text("retracted") != "[]" {
		t.Errorf("the page again: %v", again)
	}
	r.post("/api/branches", `{"name":"b1"}`).status(201)
	count("branch", r.post("/api/facts?branch=b1", `{"subject":"Person:f","predicate":"mail","object":"mailto:canary18@example.com"}`).status(201).object(), 1)
	r.post("/api/branches/b1/promote", "").status(200)
	failed := r.post("/api/transact", `{"compares":[{"subject":"Person:b","predicate":"mail","expect":"canary7@example.com"},{"subject":"Person:b","predicate":"mail","absent":true}],
		"asserts":[{"subject":"Person:b","predicate":"x","object":1}]}`).fails(409, "CompareFailed")
	if n := len(failed["failures"].([]any)); n != 1 {
		t.Errorf("a guard that names what was masked: %v", failed)
	}
	for what, text := range map[string]string{
		"facts": r.get("/api/facts?status=all").Body, "the stream": fmt.Sprint(r.get("/api/facts?tx_gt=0").Body), "pages": r.get("/api/pages/[REDACTED]").Body,
		"search": r.get("/api/search?q=mail").Body, "metrics": r.get("/metrics").Body, "events": r.get("/api/observability").Body, "the log": r.logs.String(), "the embedder": ear.heard.String(),
	} {
		if strings.Contains(text, "canary") || strings.Contains(text, "123-45") || strings.Contains(text, "555-0143") {
			t.Errorf("%s hold a canary: %s", what, text)
		}
	}
	if lines := r.logs.String(); strings.Count(lines, `"abagraph.pii.masked"`) < 7 || !strings.Contains(lines, `"path":"/api/pages/*"`) || !strings.Contains(lines, `"masked":6`) {
		t.Errorf("the events: %s", lines)
	}
}

// TestPII01WritesKeepWhatIsNotPersonal: values, times, ids and names of entities.
func TestPII01WritesKeepWhatIsNotPersonal(t *testing.T) {
	r := start(t, "")
	for i, object := range []string{
		`1762164000006`, `"1762164000006"`, `"1751360400123"`, `"7c1e02bd-41aa-4f0e-8202-555014399a10"`, `"order 2024-555-0199-77"`, `"10.0.0.1"`, `"9780306406157"`, `4111111111111111`,
		`"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"`, `"52.520008, 13.404954"`, `"Person:ada@example.org"`, `"Ticket:202-555-0143"`, `"blue"`, `{"hash":"` + strings.Repeat("1", 64) + `","size":4111111111111111}`,
	} {
		got := r.post("/api/facts", fmt.Sprintf(`{"subject":"Thing:%d@example.org","predicate":"is","object":%s,"valid_from":1762164000006,"properties":{"raw":%s}}`, i, object, object)).status(201)
		if !strings.Contains(got.Body, `"object":`+object+`,`) || !strings.Contains(got.Body, `"properties":{"raw":`+object+`}`) || !strings.Contains(got.Body, `"pii_masked":0`) {
			t.Errorf("%s: %s", object, got.Body)
		}
	}
}

// TestPII04HashesByTenant: one address has one hash in a tenant, another one in
// another tenant and under another key, in every way of writing.
func TestPII04HashesByTenant(t *testing.T) {
	hashOf := func(door memory.Options, tenant string) string {
		r := startWith(t, door)
		r.post("/api/digest?tenant="+tenant, `{"mask":"hash","facts":[{"subject":"Person:a","predicate":"mail","object":"a+b@example.com"}]}`).status(200)
		shown := r.post("/api/enrich?tenant="+tenant, `{"mask":"hash_sha256","facts":[{"subject":"Person:a","predicate":"mail","object":"a+b@example.com"}]}`).status(200).object()
		stored := r.get("/api/facts?predicate=mail&tenant=" + tenant).list()[0].text("object")
		if !strings.Contains(shown.text("facts"), stored) || len(stored) != len("sha256:")+12 {
			t.Errorf("%s, and shown %v", stored, shown)
		}
		return stored
	}
	keyed := memory.Options{MaskKey: "k"}
	seen := map[string]bool{hashOf(keyed, "ta"): true, hashOf(keyed, "tb"): true, hashOf(memory.Options{}, "ta"): true, hashOf(memory.Options{}, "tb"): true}
	if len(seen) != 4 || !seen[hashOf(keyed, "ta")] {
		t.Errorf("the hashes: %v", seen)
	}
}

// TestMaskingAsSet: what the node is set to holds for writes that name nothing else.
func TestMaskingAsSet(t *testing.T) {
	const one = `{"subject":"Person:a","predicate":"born","object":"2001-02-03, a@example.com"}`
	for mode, want := range map[mask.Mode]string{mask.Unsaid: "2001-02-03, [REDACTED]", mask.Redact: "2001-02-03, [REDACTED]", mask.Hash: "2001-02-03, sha256:", mask.ShiftDate: ", [REDACTED]", mask.Off: "2001-02-03, a@example.com"} {
		r := startWith(t, memory.Options{Mask: mode})
		got := r.post("/api/facts", one).status(201).object().text("object")
		if !strings.Contains(got, want) || mode == mask.ShiftDate && strings.Contains(got, "2001-02-03") {
			t.Errorf("mode %d: %q", mode, got)
		}
		if mode == mask.Off {
			r.post("/api/digest", `{"mask":"redact","facts":[`+one+`]}`).status(200)
			if got := r.get("/api/facts?subject=Person:a").list()[0].text("object"); got != "2001-02-03, [REDACTED]" {
				t.Errorf("off, and a request that names a mask: %q", got)
			}
		}
	}
}

// TestMaskingMayNotOutgrowALimit: what masking makes longer than it may be is refused
// by its field, and nothing is written.
func TestMaskingMayNotOutgrowALimit(t *testing.T) {
	r := start(t, "")
	long := strings.TrimSpace(strings.Repeat("a@b.co ", fact.MaxNameBytes/7))
	e := r.post("/api/transact", `{"asserts":[{"subject":"s","predicate":"p","object":1},{"subject":"`+long+`","predicate":"p","object":1}]}`).fails(400, "SchemaInvalid")
	if e.text("field") != "subject" || !strings.Contains(e.text("message"), "fact 2 of 2") {
		t.Errorf("told: %v", e)
	}
	if list := r.get("/api/facts").list(); len(list) != 0 {
		t.Errorf("written: %v", list)
	}
}

// TestUndoOfAMaskedSource: the source that a client names is the one it wrote as.
func TestUndoOfAMaskedSource(t *testing.T) {
	r := start(t, "")
	r.post("/api/facts", `{"subject":"Person:a","predicate":"p","object":1,"source":"box of me@example.com"}`).status(201)
	r.post("/api/facts", `{"subject":"Person:b","predicate":"p","object":1,"source":"box of you@example.com"}`).status(201)
	if got := r.post("/api/sources/box%20of%20me@example.com/undo", `{}`).status(200).object(); number(got["statements"]) != 1 {
		t.Errorf("undone: %v", got)
	}
	if left := r.get("/api/facts").list(); len(left) != 1 || left[0].text("subject") != "Person:b" {
		t.Errorf("left: %v", left)
	}
}

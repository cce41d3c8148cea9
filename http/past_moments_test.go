package http_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"abagraph/fact"
)

// TestMomentsAtABoundary: intervals hold their start and not their end, on both axes,
// and what is recorded in one millisecond is known in it, all of it.
func TestMomentsAtABoundary(t *testing.T) {
	r := start(t, "")
	const at, ahead = 1_900_000_000_000, 1_000_000_000
	objects := func(query string) string {
		t.Helper()
		return column(r.get("/api/facts?subject=A:1&"+query).status(http.StatusOK).list(), "object")
	}
	r.node.Hold(at)
	r.assert("A:1", "dated", "1", `"valid_from":100`, `"valid_until":200`)
	first := r.assert("A:1", "p", "1")
	r.assert("A:1", "p", "2") // in the same millisecond: the first holds nowhere
	tx, _ := strconv.ParseUint(first.text("tx"), 10, 64)
	for query, want := range map[string]string{
		"as_of=99": "", "as_of=100": "1", "as_of=199": "1", "as_of=200": "",
		fmt.Sprintf("as_of=%d&predicate=p", at-1): "", fmt.Sprintf("as_of=%d&predicate=p", at): "2",
		fmt.Sprintf("known_at=%d&status=all", at-1): "", fmt.Sprintf("known_at=%d&status=all&predicate=p", at): "1,2",
		fmt.Sprintf("tx=%d&predicate=p", tx): "1", fmt.Sprintf("tx=%d&predicate=p", tx+1): "2", fmt.Sprintf("tx=%d&predicate=p", tx-1): "", "tx=0": "",
		fmt.Sprintf("tx=%d&predicate=p&as_of=%d", tx, at): "1", fmt.Sprintf("known_at=%d&predicate=p&as_of=%d", at, at): "2",
	} {
		if got := objects(query); got != want && !(want == "1,2" && got == "2,1") {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	// Once the clock has gone on, the same millisecond is past, and tells the same.
	before := r.get(fmt.Sprintf("/api/facts?known_at=%d", at)).status(http.StatusOK)
	r.node.Hold(at + 1)
	r.assert("A:1", "p", "3")
	if after := r.get(fmt.Sprintf("/api/facts?known_at=%d", at)); after.Body != before.Body || after.Header.Get("X-Abagraph-Tx") != before.Header.Get("X-Abagraph-Tx") {
		t.Errorf("%s\nand then\n%s", before.Body, after.Body)
	}
	// The future is not known yet: it reads the present. What will hold then is another question.
	live, future := r.get("/api/facts?subject=A:1"), r.get(fmt.Sprintf("/api/facts?subject=A:1&known_at=%d", at+ahead))
	if live.Body != future.Body || future.Header.Get("X-Abagraph-Now") != strconv.Itoa(at+1) {
		t.Errorf("the present: %s\nand a future that is known: %s, now is %s", live.Body, future.Body, future.Header.Get("X-Abagraph-Now"))
	}
	r.assert("A:1", "later", "4", fmt.Sprintf(`"valid_from":%d`, at+ahead))
	for query, want := range map[string]string{fmt.Sprintf("predicate=later&as_of=%d", at+ahead-1): "", fmt.Sprintf("predicate=later&as_of=%d", at+ahead): "4"} {
		if got := objects(query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// TestNamesOfAKnownMoment: which entities and predicates there were at a time by the
// clock does not depend on whether anything has been recorded since.
func TestNamesOfAKnownMoment(t *testing.T) {
	r := start(t, "")
	gone := r.assert("A:1", "was", "1")
	r.assert("A:2", "is", "1")
	r.delete("/api/facts/" + gone.text("id")).status(http.StatusOK)
	now := r.node.Now() + 5
	r.node.Hold(now)
	r.assert("A:3", "starts", "1", fmt.Sprintf(`"valid_from":%d`, now+5))
	r.node.Hold(now + 10) // A:3 holds by then, though nothing was recorded since
	ask := func() string {
		t.Helper()
		at := fmt.Sprintf("?known_at=%d", now+10)
		return r.get("/api/entities"+at).status(http.StatusOK).Body + r.get("/api/predicates"+at).status(http.StatusOK).Body
	}
	before := ask()
	r.node.Hold(now + 20)
	r.assert("A:4", "p", "1")
	if after := ask(); after != before || strings.Contains(after, "A:1") || !strings.Contains(after, "starts") {
		t.Errorf("%s\nand then\n%s", before, after)
	}
}

// TestSearchOfADiscardedBranch: what was written on a branch stays in its figures at the
// time before it was discarded, whatever is purged elsewhere.
func TestSearchOfADiscardedBranch(t *testing.T) {
	r := start(t, "root")
	for _, tenant := range []string{"a", "b"} {
		r.post("/api/facts?tenant="+tenant, `{"subject":"Person:x","predicate":"likes","object":"green tea"}`).status(http.StatusCreated)
	}
	r.post("/api/branches?tenant=a", `{"name":"draft"}`).status(http.StatusCreated)
	r.post("/api/facts?tenant=a&branch=draft", `{"subject":"Person:y","predicate":"likes","object":"black tea"}`).status(http.StatusCreated)
	last := r.post("/api/facts?tenant=a&branch=draft", `{"subject":"Person:y","predicate":"drinks","object":"milk"}`).status(http.StatusCreated).object().text("tx")
	path := "/api/search?question=who+likes+tea&tenant=a&branch=draft&tx=" + last
	before := r.get(path).status(http.StatusOK).Body
	r.post("/api/branches/draft/discard?tenant=a", "").status(http.StatusOK)
	r.post("/api/admin/purge?tenant=b&subject=Person:x&confirm=1", "").status(http.StatusOK)
	if after := r.get(path).status(http.StatusOK).Body; after != before || !strings.Contains(after, "black tea") {
		t.Errorf("%s\nand then\n%s", before, after)
	}
}

// TestEmptyThenIsTold: that there was nothing at all is told of the time that is read.
func TestEmptyThenIsTold(t *testing.T) {
	r := start(t, "")
	r.post("/api/facts?tenant=other", `{"subject":"A:1","predicate":"p","object":1}`).status(http.StatusCreated)
	ask := func(tx string) string {
		t.Helper()
		var all strings.Builder
		for _, path := range []string{"/api/graph?", "/api/search?question=x&", "/api/context?goal=x&"} {
			got := r.get(path + "tx=" + tx).status(http.StatusOK).Body
			if empty := strings.Contains(got, "holds no facts yet"); empty != (tx == "1") {
				t.Errorf("at tx %s: %s", tx, got)
			}
			all.WriteString(got)
		}
		return all.String()
	}
	before := ask("1")
	gone := r.post("/api/facts", `{"subject":"A:1","predicate":"p","object":1,"confidence":0.1}`).status(http.StatusCreated).object()
	if after := ask("1"); after != before {
		t.Errorf("%s\nand then\n%s", before, after)
	}
	ask(gone.text("tx"))
}

// TestErrorsTellWhereTheyRead: a thing that is not there at a point of record time is
// answered with that point, as one that is there.
func TestErrorsTellWhereTheyRead(t *testing.T) {
	r := start(t, "")
	first := r.assert("A:1", "p", "1")
	r.node.Advance(time.Second)
	second := r.assert("A:2", "wiki_body", "1")
	recorded, _ := strconv.ParseInt(first.text("recorded_at"), 10, 64)
	for _, path := range []string{"/api/facts/" + second.text("id"), "/api/entities/A:2", "/api/pages/A:2", "/api/leases/x", "/api/reports/x", "/api/blobs/" + strings.Repeat("ab", 32)} {
		for _, query := range []string{"?tx=" + first.text("tx"), fmt.Sprint("?known_at=", recorded+1)} {
			got := r.get(path + query)
			got.fails(http.StatusNotFound, "NotFound")
			now, _ := strconv.ParseInt(got.Header.Get("X-Abagraph-Now"), 10, 64)
			if got.Header.Get("X-Abagraph-Tx") != first.text("tx") || fact.Instant(now) > fact.Instant(recorded+1) || now < recorded {
				t.Errorf("%s%s is answered at %v", path, query, got.Header)
			}
		}
	}
}

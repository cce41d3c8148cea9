package http_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// Undoing a source retracts just what it wrote, whatever became of it since: in a
// random history of two tenants and two branches everything else stays as it was,
// the past too.
func TestUndoTakesBackJustOneSource(t *testing.T) {
	r := start(t, "root-key")
	rnd := rand.New(rand.NewPCG(5, 11))
	for range 120 {
		var rows []string
		for range 1 + rnd.IntN(3) {
			row := fmt.Sprintf(`{"subject":"P:%d","predicate":"p%d","object":%d,"confidence":%.1f`, rnd.IntN(4), rnd.IntN(3), rnd.IntN(3), 0.5+float64(rnd.IntN(6))/10)
			if s := rnd.IntN(4); s < 3 {
				row += fmt.Sprintf(`,"source":"s/%d"`, s)
			}
			if rnd.IntN(2) == 0 {
				from := 1_600_000_000_000 + rnd.IntN(50)
				row += fmt.Sprintf(`,"valid_from":%d,"valid_until":%d`, from, from+1+rnd.IntN(30))
			}
			rows = append(rows, row+"}")
		}
		tenant := []string{"ta", "tb"}[rnd.IntN(2)]
		r.post("/api/transact?tenant="+tenant, `{"asserts":[`+strings.Join(rows, ",")+`]}`).status(http.StatusOK)
	}
	r.post("/api/branches?tenant=ta", `{"name":"b"}`).status(http.StatusCreated)
	r.post("/api/facts?tenant=ta&branch=b", `{"subject":"P:b","predicate":"p","object":1,"source":"s/1"}`).status(http.StatusCreated)

	all := func(query string) map[string]doc {
		t.Helper()
		facts := map[string]doc{}
		for _, f := range r.get("/api/facts?status=all&limit=10000&" + query).status(http.StatusOK).list() {
			facts[f.text("id")] = f
		}
		return facts
	}
	was, other, branch := all("tenant=ta"), r.get("/api/facts?tenant=tb&status=all&limit=10000").Body, all("tenant=ta&branch=b")
	tx := r.get("/api/stats").object().text("tx")
	const undo = "/api/sources/s%2F1/undo?tenant=ta"
	dry := r.post(undo+"&dry_run=1", "").status(http.StatusOK).object()
	done := r.post(undo, "{}", "Idempotency-Key: once").status(http.StatusOK).object()
	again := r.post(undo, "{}", "Idempotency-Key: once").status(http.StatusOK).object()
	if fmt.Sprint(done) != fmt.Sprint(again) {
		t.Errorf("the repeated answer is\n%v, not\n%v", again, done)
	}
	if dry.text("statements") != done.text("statements") || dry.text("retracted") != done.text("retracted") || dry.text("tx") != tx || dry["dry_run"] != true {
		t.Errorf("the dry run says %v, the undo %v", dry, done)
	}
	found := map[string]int{}
	for id, f := range all("tenant=ta") {
		mine := was[id]["source"] == "s/1" && was[id]["status"] != "retracted"
		switch {
		case mine && (f["status"] != "retracted" || fmt.Sprint(f["tx"]) != done.text("tx")):
			t.Errorf("left: %v", f)
		case mine:
			found[was[id].text("status")]++
		case fmt.Sprint(f) != fmt.Sprint(was[id]):
			t.Errorf("%v became %v", was[id], f)
		}
	}
	if got := fmt.Sprint(done["found"]); got != fmt.Sprint(map[string]any{"active": found["active"], "candidate": found["candidate"], "superseded": found["superseded"]}) || len(found) != 3 {
		t.Errorf("found %s, want %v", got, found)
	}
	if now := r.get("/api/facts?tenant=tb&status=all&limit=10000").Body; now != other {
		t.Error("another tenant's facts are not as they were")
	}
	if past := all("tenant=ta&tx=" + tx); fmt.Sprint(past) != fmt.Sprint(was) {
		t.Error("the past is not as it was")
	}
	if now := all("tenant=ta&branch=b"); fmt.Sprint(now) != fmt.Sprint(branch) {
		t.Error("the branch does not show what it was made of")
	}
	empty := r.post(undo, "").status(http.StatusOK).object()
	if empty.text("retracted") != "0" || empty.text("remaining") != "0" || empty.text("tx") != done.text("tx") {
		t.Errorf("a second undo says %v", empty)
	}
	onBranch := r.post(undo+"&branch=b", `{"dry_run":true}`).status(http.StatusOK).object()
	if n := fmt.Sprint(len(branch)); onBranch.text("retracted") == "0" || n == "0" {
		t.Errorf("the branch's undo says %v", onBranch)
	}
}

// More than one transaction may hold is refused, and goes in parts; only what came
// after a tx is left to others.
func TestUndoOfManyGoesInParts(t *testing.T) {
	r := start(t, "")
	var rows []string
	for i := range 100 {
		rows = append(rows, fmt.Sprintf(`{"subject":"P:%d","predicate":"p","object":1,"source":"big"}`, i))
	}
	first := r.post("/api/transact", `{"asserts":[`+strings.Join(rows, ",")+`]}`).status(http.StatusOK).object()
	r.assert("P:last", "p", "1", `"source":"big"`)
	r.assert("P:last", "q", "1", `"source":"other"`)
	since := r.post("/api/sources/big/undo?dry_run=1&tx_gt="+first.text("tx"), "").status(http.StatusOK).object()
	if since.text("retracted") != "1" || !strings.Contains(fmt.Sprint(since["sample"]), "P:last") {
		t.Errorf("after tx %s: %v", first.text("tx"), since)
	}
	e := r.post("/api/sources/big/undo?limit=100", "").fails(http.StatusRequestEntityTooLarge, "TooLarge")
	if !strings.Contains(e["message"].(string), "partial=1") {
		t.Errorf("refused by %v", e)
	}
	r.post("/api/sources/big/undo?limit=100&dry_run=1", "").fails(http.StatusRequestEntityTooLarge, "TooLarge")
	dry := r.post("/api/sources/big/undo?limit=100&partial=1&dry_run=1", "").status(http.StatusOK).object()
	if dry.text("statements") != "100" || dry.text("retracted") != "100" || dry.text("remaining") != "101" {
		t.Errorf("a dry run of the first part: %s statements, %s of %s", dry.text("statements"), dry.text("retracted"), dry.text("remaining"))
	}
	part := r.post("/api/sources/big/undo", `{"partial":true,"limit":100}`).status(http.StatusOK).object()
	if part.text("retracted") != "100" || part.text("remaining") != "1" {
		t.Errorf("the first part: %s of %s", part.text("retracted"), part.text("remaining"))
	}
	if left := r.get("/api/facts?predicate=p").list(); len(left) != 1 || left[0]["subject"] == "P:last" {
		t.Errorf("the newest stayed: %v", left)
	}
	rest := r.post("/api/sources/big/undo?partial=1", "").status(http.StatusOK).object()
	if rest.text("retracted") != "1" || rest.text("remaining") != "0" {
		t.Errorf("the second part: %v", rest)
	}
	if got := r.get("/api/facts").list(); len(got) != 1 || got[0]["source"] != "other" {
		t.Errorf("left: %v", got)
	}
	for path, field := range map[string]string{
		"/api/sources/" + url.PathEscape(strings.Repeat("x", 1025)) + "/undo": "source",
		"/api/sources/big/undo?dry=1":                                         "dry", "/api/sources/big/undo?branch=none": "branch", "/api/sources/big/undo?tx_gt=-1": "tx_gt",
	} {
		if got := r.post(path, ""); got.Status != http.StatusBadRequest && got.Status != http.StatusNotFound || got.object()["error"].(map[string]any)["field"] != field {
			t.Errorf("%s: %d %s", path[:20], got.Status, got.Body)
		}
	}
}

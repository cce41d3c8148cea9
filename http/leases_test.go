package http_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// lease is what a lease ought to be.
type lease struct {
	holder string
	token  string
	until  int64
	over   bool // released
}

func (l *lease) status(now int64) string {
	switch {
	case l.over:
		return "released"
	case now >= l.until:
		return "stale"
	}
	return "held"
}

// A random life of leases in two tenants, against a table: who holds what, with
// which token, and who is refused.
func TestLeasesAgainstATable(t *testing.T) {
	r := start(t, "root-key")
	rnd := rand.New(rand.NewPCG(3, 4))
	table := map[string]*lease{}
	seen := map[string]int{}
	for range 400 {
		tenant, resource, holder := []string{"ta", "tb"}[rnd.IntN(2)], []string{"db/1", "job"}[rnd.IntN(2)], []string{"w1", "w2", "Agent:7"}[rnd.IntN(3)]
		ttl := 5 + rnd.IntN(60)
		r.node.Advance(time.Duration(rnd.IntN(20_000)) * time.Millisecond)
		key := tenant + " " + resource
		l := table[key]
		if l == nil {
			l = &lease{over: true}
		}
		path := "/api/leases/" + strings.ReplaceAll(resource, "/", "%2F")
		before := int64(r.node.Now())
		body := fmt.Sprintf(`{"resource":%q,"holder":%q,"ttl_secs":%d}`, resource, holder, ttl)
		state := l.status(before)
		free := state != "held"
		what := rnd.IntN(3)
		var got *reply
		switch what {
		case 0:
			got = r.post("/api/leases?tenant="+tenant, body)
		case 1:
			got = r.post(path+"/renew?tenant="+tenant, body)
		default:
			got = r.post(path+"/release?tenant="+tenant, fmt.Sprintf(`{"holder":%q}`, holder))
		}
		if after := int64(r.node.Now()); l.status(after) != state {
			continue // it expired just then: either answer is right
		}
		mine := !free && l.holder == holder
		if allowed := mine || what == 0 && free; !allowed {
			e := got.fails(http.StatusConflict, "Conflict")
			if !free && !strings.Contains(e["message"].(string), l.holder) {
				t.Fatalf("%s is told %v", holder, e)
			}
			seen["refused"]++
			continue
		}
		d := got.object()
		switch {
		case what == 2:
			got.status(http.StatusOK)
			l.over = true
			seen["released"]++
			if d["status"] != "released" || d["holder"] != nil {
				t.Fatalf("released: %v", d)
			}
		case mine:
			got.status(http.StatusOK)
			if d.text("token") != l.token || d["renewed"] != true {
				t.Fatalf("renewed %+v: %v", l, d)
			}
			l.until = max(l.until, millis(t, d["expires_at"]))
			seen["renewed"]++
		default:
			got.status(http.StatusCreated)
			if d.text("token") != d.text("tx") || d["renewed"] != false {
				t.Fatalf("acquired: %v", d)
			}
			l = &lease{holder: holder, token: d.text("token")}
			l.until = millis(t, d["expires_at"])
			if l.until < before+1000*int64(ttl) {
				t.Fatalf("%d seconds from %d are %d", ttl, before, l.until)
			}
			seen["acquired from "+state]++
		}
		if what != 2 && millis(t, d["expires_at"]) != l.until {
			t.Fatalf("expires %v, want %d", d, l.until)
		}
		table[key] = l
		shown := r.get(path + "?tenant=" + tenant).status(http.StatusOK).object()
		if want := l.status(int64(r.node.Now())); shown["status"] != want {
			t.Fatalf("shown as %v, want %s", shown, want)
		}
	}
	for _, what := range []string{"refused", "released", "renewed", "acquired from stale", "acquired from released"} {
		if seen[what] == 0 {
			t.Errorf("never %s: %v", what, seen)
		}
	}
	list := r.get("/api/leases?tenant=ta").object()["leases"].([]any)
	if len(list) != 2 || list[0].(map[string]any)["resource"] != "db/1" {
		t.Errorf("the list is %v", list)
	}
	page := r.get("/api/leases?tenant=ta&limit=1")
	if next := page.Header.Get("X-Abagraph-Next"); next != "db%2F1" || len(r.get("/api/leases?tenant=ta&after=" + next).object()["leases"].([]any)) != 1 {
		t.Errorf("the next page begins after %q", next)
	}
}

func millis(t *testing.T, v any) int64 {
	t.Helper()
	n, err := v.(json.Number).Int64()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Of many who ask at once just one gets the lease, each time it is free, and later
// ones have greater tokens.
func TestOneOfManyGetsTheLease(t *testing.T) {
	r := start(t, "")
	last := int64(0)
	for round := range 6 {
		var got, refused atomic.Int32
		var token atomic.Int64
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				a := r.post("/api/leases", fmt.Sprintf(`{"resource":"nightly-report","holder":"agent-%d","ttl_secs":300}`, i), fmt.Sprintf("Idempotency-Key: %d-%d", round, i))
				if a.Status == http.StatusConflict {
					refused.Add(1)
					return
				}
				var d struct {
					Token int64
				}
				if err := json.Unmarshal([]byte(a.Body), &d); err != nil || a.Status != http.StatusCreated {
					t.Errorf("%d: %s", a.Status, a.Body)
				}
				got.Add(1)
				token.Store(d.Token)
			})
		}
		wg.Wait()
		if got.Load() != 1 || refused.Load() != 11 {
			t.Fatalf("%d got it, %d were refused", got.Load(), refused.Load())
		}
		if token.Load() <= last {
			t.Fatalf("token %d after %d", token.Load(), last)
		}
		last = token.Load()
		r.node.Advance(301 * time.Second)
		if d := r.get("/api/leases/nightly-report").object(); d["status"] != "stale" || d.text("token") != fmt.Sprint(last) {
			t.Fatalf("past expiry it reads %v", d)
		}
	}
}

// A retry gets the answer that was lost, whatever became of the lease since; who
// held it is known at every time; and what is wrong is named.
func TestLeasesAnswerAgainAndRemember(t *testing.T) {
	r := start(t, "")
	const body = `{"resource":"r","holder":"a","ttl_secs":60}`
	first := r.post("/api/leases", body, "Idempotency-Key: k").status(http.StatusCreated).Body
	refused := r.post("/api/leases", `{"resource":"r","holder":"b"}`, "Idempotency-Key: b").fails(http.StatusConflict, "Conflict")
	at := fmt.Sprint(r.node.Now())
	r.node.Advance(61 * time.Second)
	r.post("/api/leases", `{"resource":"r","holder":"c"}`).status(http.StatusCreated)
	if again := r.post("/api/leases", body, "Idempotency-Key: k").status(http.StatusCreated).Body; again != first {
		t.Errorf("answered %s, then %s", first, again)
	}
	if again := r.post("/api/leases", `{"resource":"r","holder":"b"}`, "Idempotency-Key: b").fails(http.StatusConflict, "Conflict"); again["code"] != refused["code"] {
		t.Errorf("refused by %v, then by %v", refused, again)
	}
	r.post("/api/leases/r/release", `{"holder":"c","token":1}`).fails(http.StatusConflict, "Conflict")
	r.post("/api/leases/r/release", `{"holder":"c"}`).status(http.StatusOK)
	r.post("/api/leases/r/release", `{"holder":"c"}`).fails(http.StatusConflict, "Conflict")
	if was := r.get("/api/leases/r?as_of=" + at).object(); was["holder"] != "a" || was["status"] != "held" {
		t.Errorf("it was %v", was)
	}
	if was := r.get("/api/leases/r?tx=1").object(); was["holder"] != "a" {
		t.Errorf("at tx 1 it was %v", was)
	}
	if live := r.get("/api/facts?subject=Lease:r").list(); len(live) != 1 || live[0]["object"] != nil {
		t.Errorf("facts: %v", live)
	}
	r.post("/api/leases", `{"resource":"left","holder":"d","ttl_secs":60}`).status(http.StatusCreated)
	r.node.Advance(301 * time.Second)
	if lease := r.get("/api/leases/left").object(); lease["status"] != "stale" {
		t.Errorf("a lease that nobody renewed is %v", lease)
	}
	if check := r.get("/api/factcheck").object(); check.text("count") != "0" {
		t.Errorf("leases that have ended contradict: %v", check)
	}
	r.get("/api/leases/none").fails(http.StatusNotFound, "NotFound")
	for body, field := range map[string]string{
		`{"holder":"a"}`:                                                "resource",
		`{"resource":"r"}`:                                              "holder",
		`{"resource":"a b","holder":"a"}`:                               "resource",
		`{"resource":"r","holder":""}`:                                  "holder",
		`{"resource":"r","holder":"jane@example.com"}`:                  "holder",
		`{"resource":"r","holder":"a","ttl_secs":0}`:                    "ttl_secs",
		`{"resource":"r","holder":"a","ttl_secs":1.5}`:                  "ttl_secs",
		`{"resource":"r","holder":"a","ttl_secs":86401}`:                "ttl_secs",
		`{"resource":"r","holder":"a","ttl":5}`:                         "ttl",
		`{"resource":"r","holder":"a","token":"x"}`:                     "token",
		`{"resource":"r","holder":"a","branch":"b"}`:                    "branch",
		`{"resource":"` + strings.Repeat("x", 1020) + `","holder":"a"}`: "resource",
	} {
		if e := r.post("/api/leases", body).fails(http.StatusBadRequest, "SchemaInvalid"); e["field"] != field {
			t.Errorf("%.60s: %v", body, e)
		}
	}
	r.get("/api/leases?status=Held").status(http.StatusOK) // as every status, in any case
	if e := r.get("/api/leases?status=gone").fails(http.StatusBadRequest, "SchemaInvalid"); e["field"] != "status" {
		t.Errorf("%v", e)
	}
}

package http_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"abagraph/memory"
)

// looked has every alert of the tenant looked at, and lists name, state and value.
func (r *rig) looked(tenant string) string {
	r.t.Helper()
	if _, err := r.door.LookAtAlerts(r.t.Context(), tenant); err != nil {
		r.t.Fatal(err)
	}
	var answer struct{ Alerts []doc }
	r.get("/api/alerts?tenant=" + tenant).status(http.StatusOK).decode(&answer)
	var out []string
	for _, a := range answer.Alerts {
		out = append(out, fmt.Sprint(a["name"], "=", a["state"], ":", a["value"]))
	}
	return strings.Join(out, " ")
}

// TestAlertsMeasure: each kind says what it measures, fires past its threshold and
// ends by itself, and what is another tenant's counts for nothing.
func TestAlertsMeasure(t *testing.T) {
	r := start(t, "secret-admin-key")
	acme, globex := r.tenantOf("acme", "admin"), r.tenantOf("globex", "admin")
	for _, body := range []string{
		`{"name":"doubt","kind":"confidence","threshold":0.9,"predicate":"plan"}`,
		`{"name":"drift","kind":"drift","threshold":0.5,"predicate":"plan"}`,
		`{"name":"fight","kind":"contradictions","threshold":0}`,
		`{"name":"fresh","kind":"freshness","threshold":3600,"source":"crm*"}`,
		`{"name":"spend","kind":"cost","threshold":8}`,
	} {
		acme.post("/api/alerts", body).status(http.StatusCreated)
		acme.post("/api/alerts", body).status(http.StatusOK)
	}
	globex.assert("Person:x", "plan", `"a"`, `"confidence":0.76`)
	if got := r.looked("acme"); got != "doubt=ok:<nil> drift=ok:<nil> fight=ok:0 fresh=firing:<nil> spend=ok:5" {
		t.Errorf("of an empty memory: %s", got)
	}
	acme.assert("Person:a", "plan", `"free"`, `"confidence":0.8`, `"source":"crm:import"`)
	acme.assert("Person:b", "plan", `"free"`)
	if got := r.looked("acme"); !strings.HasPrefix(got, "doubt=ok:<nil> drift=ok:<nil> fight=ok:0 fresh=ok:") {
		t.Errorf("in order: %s", got) // what was measured when the state began stays
	}
	acme.assert("Person:a", "plan", `"pro"`, `"confidence":0.76`)
	acme.assert("Person:a", "plan", `"max"`, `"confidence":0.5`)
	acme.assert("Person:b", "plan", `"pro"`, `"confidence":0.76`)
	acme.assert("Person:b", "plan", `"free"`, `"confidence":0.77`)
	acme.assert("Person:b", "plan", `"pro"`, `"confidence":0.77`)
	r.node.Advance(2 * time.Hour)
	got := r.looked("acme")
	for _, want := range []string{"doubt=firing:0.765", "drift=firing:0.66", "fight=firing:1", "fresh=firing:72", "spend=firing:"} {
		if !strings.Contains(got, want) {
			t.Errorf("out of order: %s lacks %s", got, want)
		}
	}
	r.node.Advance(25 * time.Hour)
	if got := r.looked("acme"); !strings.Contains(got, "drift=ok:0") || !strings.Contains(got, "spend=ok:") {
		t.Errorf("a day later: %s", got)
	}
	// What an alert said is history, and is told on the stream.
	if got := column(acme.get("/api/facts?subject=Alert:drift&predicate=alert_state&status=all").list(), "object"); got != `"firing","ok","ok"` { // the newest state closed the one before in its own tx
		t.Errorf("the history of drift: %s", got)
	}
	if got := acme.get("/api/alerts?state=firing&kind=confidence").status(http.StatusOK).Body; !strings.Contains(got, `"doubt"`) || strings.Contains(got, `"fresh"`) {
		t.Errorf("filtered: %s", got)
	}
	if got := globex.get("/api/alerts").status(http.StatusOK).Body; got != `{"alerts":[]}` {
		t.Errorf("another tenant sees %s", got)
	}
}

// TestAlertsAreSetByAdmins: nobody else sets, ends or forges one; what cannot be is
// refused by name, and a changed rule is the same alert.
func TestAlertsAreSetByAdmins(t *testing.T) {
	r := start(t, "secret-admin-key")
	acme := r.tenantOf("acme", "admin")
	agent := r.keyOf("acme", "agent-7", "write")
	acme.post("/api/alerts", `{"name":"x","kind":"drift","threshold":0.5}`).status(http.StatusCreated)
	agent.post("/api/alerts", `{"name":"y","kind":"drift","threshold":0.5}`).fails(http.StatusForbidden, "Forbidden")
	agent.get("/api/alerts").fails(http.StatusForbidden, "Forbidden")
	agent.post("/api/facts", `{"subject":"Alert:x","predicate":"alert_state","object":"ok"}`).fails(http.StatusForbidden, "Forbidden")
	rule := acme.get("/api/facts?subject=Alert:x").list()[0].text("id")
	agent.delete("/api/facts/"+rule).fails(http.StatusForbidden, "Forbidden")
	changed := acme.post("/api/alerts", `{"name":"x","kind":"cost","threshold":3,"window_secs":60,"webhook":"https://hooks.example.com/x","secret":"hook"}`).status(http.StatusCreated).object()
	if fmt.Sprint(changed["kind"], changed["threshold"], changed["window_secs"], changed["webhook"]) != fmt.Sprint("cost", changed["threshold"], changed["window_secs"], "https://hooks.example.com/x") {
		t.Errorf("changed: %v", changed)
	}
	if got := acme.get("/api/alerts/x").status(http.StatusOK).object(); got["kind"] != "cost" || got["secret"] != "hook" {
		t.Errorf("changed: %v", got)
	}
	before := r.node.Position().Tx
	for body, field := range map[string]string{
		`{"kind":"drift","threshold":1}`: "name", `{"name":"a/b","kind":"drift","threshold":1}`: "name", `{"name":"a","threshold":1}`: "kind", `{"name":"a","kind":"luck","threshold":1}`: "kind",
		`{"name":"a","kind":"drift"}`: "threshold", `{"name":"a","kind":"drift","threshold":2}`: "threshold", `{"name":"a","kind":"cost","threshold":-1}`: "threshold", `{"name":"a","kind":"drift","threshold":"1"}`: "threshold",
		`{"name":"a","kind":"freshness","threshold":1,"window_secs":5}`: "window_secs", `{"name":"a","kind":"drift","threshold":1,"window_secs":0}`: "window_secs",
		`{"name":"a","kind":"cost","threshold":1,"predicate":"x"}`: "predicate", `{"name":"a","kind":"contradictions","threshold":1,"source":"x"}`: "source", `{"name":"a","kind":"drift","threshold":1,"predicate":"a*b"}`: "predicate",
		`{"name":"a","kind":"drift","threshold":1,"secret":"x"}`: "secret", `{"name":"a","kind":"drift","threshold":1,"webhook":"ftp://x"}`: "webhook",
		`{"name":"a","kind":"drift","threshold":1,"webhook":"https://me:pw@x.example"}`: "webhook", `{"name":"a","kind":"drift","threshold":1,"webhook":"secret:"}`: "webhook", `{"name":"a","kind":"drift","threshold":1,"to":"x"}`: "to",
	} {
		if e := acme.post("/api/alerts", body).fails(http.StatusBadRequest, "SchemaInvalid"); e["field"] != field {
			t.Errorf("%s blames %v", body, e["field"])
		}
	}
	r.post("/api/alerts", `{"name":"a","kind":"drift","threshold":1}`).fails(http.StatusBadRequest, "SchemaInvalid")
	acme.get("/api/alerts?state=broken").fails(http.StatusBadRequest, "SchemaInvalid")
	acme.get("/api/alerts/none").fails(http.StatusNotFound, "NotFound")
	acme.delete("/api/alerts/none").fails(http.StatusNotFound, "NotFound")
	if r.node.Position().Tx != before {
		t.Error("something was written")
	}
	r.looked("acme")
	acme.delete("/api/alerts/x").status(http.StatusOK)
	acme.get("/api/alerts/x").fails(http.StatusNotFound, "NotFound")
	if got := acme.get("/api/facts?subject=Alert:x").list(); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}

// TestAlertsThatMayNotBe: a webhook is refused where it is set, by its form; personal
// data is not stored; and of two that set one alert at the same time each is told what
// became of it.
func TestAlertsThatMayNotBe(t *testing.T) {
	guard := localGuard(t)
	r := startWith(t, memory.Options{AdminKey: "secret-admin-key", MayCall: guard.Check})
	acme := r.tenantOf("acme", "admin")
	before := r.node.Position().Tx
	for body, field := range map[string]string{
		`"name":"a","webhook":"http://169.254.169.254/latest"`: "webhook", `"name":"a","webhook":"http://[::ffff:10.0.0.1]/"`: "webhook",
		`"name":"a","webhook":"https://hooks.example.com/?to=sarah@example.com"`: "webhook", `"name":"a","source":"sarah@example.com*"`: "source", `"name":"a","predicate":"mail_sarah@example.com"`: "predicate",
		`"name":"078-05-1120"`: "name",
	} {
		if e := acme.post("/api/alerts", `{"kind":"freshness","threshold":1,`+body+`}`).fails(http.StatusBadRequest, "SchemaInvalid"); e["field"] != field {
			t.Errorf("%s blames %v", body, e)
		}
	}
	if r.node.Position().Tx != before {
		t.Error("something was written")
	}
	made := acme.post("/api/alerts", `{"name":"a","kind":"freshness","threshold":1,"source":"sarah@example.com"}`).status(http.StatusCreated).object()
	if strings.Contains(fmt.Sprint(made), "sarah") {
		t.Errorf("set: %v", made)
	}
	acme.assert("Person:a", "plan", `"free"`, `"source":"sarah@example.com"`)
	if got := r.looked("acme"); !strings.HasPrefix(got, "a=ok:") {
		t.Errorf("the source is not met: %s", got)
	}

	warned := acme.post("/api/alerts", `{"name":"b","kind":"cost","threshold":1,"webhook":"https://hooks.example.com/x","secret":"none"}`).status(http.StatusCreated).object()
	if !strings.Contains(fmt.Sprint(warned["warnings"]), "the secret none is not there") {
		t.Errorf("set: %v", warned)
	}

	var setting sync.WaitGroup
	answers := make([]*reply, 8)
	for i := range answers {
		setting.Go(func() {
			answers[i] = acme.post("/api/alerts", fmt.Sprintf(`{"name":"race","kind":"cost","threshold":%d}`, i))
		})
	}
	setting.Wait()
	for i, a := range answers {
		if a.Status == http.StatusConflict {
			continue
		}
		if got := a.status(http.StatusCreated).object(); got.text("threshold") != fmt.Sprint(i) {
			t.Errorf("asked for %d, told %v", i, got)
		}
	}
	if rules := acme.get("/api/facts?subject=Alert:race&predicate=alert_rule").list(); len(rules) != 1 {
		t.Errorf("%d rules of one name", len(rules))
	}
	r.looked("acme")
	acme.delete("/api/alerts/race").status(http.StatusOK)
	if left := acme.get("/api/facts?subject=Alert:race").list(); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

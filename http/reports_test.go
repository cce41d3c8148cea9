package http_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"abagraph/memory"
)

// edition is a section's figures and rows in few words.
func (p *reply) edition(section, columns string) string {
	p.t.Helper()
	var d struct {
		Edition struct {
			Sections []struct {
				Name   string
				Counts json.RawMessage
				Rows   []doc
			}
		}
	}
	p.decode(&d)
	for _, s := range d.Edition.Sections {
		if s.Name != section {
			continue
		}
		out := string(s.Counts)
		for _, row := range s.Rows {
			out += " "
			for i, c := range strings.Split(columns, ",") {
				if i > 0 {
					out += "/"
				}
				out += row.text(c)
			}
		}
		return out
	}
	return "none"
}

// TestReportsTellWhatHappened: sections by hand, the page and the Markdown say the
// same, an earlier edition is there as of its time, and nothing of another tenant is.
func TestReportsTellWhatHappened(t *testing.T) {
	r := start(t, "secret-admin-key")
	acme, globex := r.tenantOf("acme", "admin"), r.tenantOf("globex", "admin")
	acme.assert("Person:old", "plan", `"free"`, `"source":"crm"`, `"confidence":0.78`)
	r.node.Advance(48 * time.Hour)
	acme.assert("Person:old", "plan", `"pro"`, `"source":"crm"`)
	acme.assert("Person:new", "plan", `"x|[[Org:evil]] <b>\n# H"`, `"source":"site"`)
	acme.assert("Person:new", "plan", `"maybe"`, `"confidence":0.4`)
	globex.assert("Person:other", "plan", `"secret"`)
	acme.post("/api/reports", `{"name":"daily","title":"The day"}`).status(http.StatusCreated)
	acme.post("/api/reports", `{"name":"daily","title":"The day"}`).status(http.StatusOK)
	acme.get("/api/reports/daily?format=md").fails(http.StatusNotFound, "NotFound")
	before := r.node.Position().Tx
	preview := acme.post("/api/reports/daily/run?dry_run=1", "").status(http.StatusOK)
	if r.node.Position().Tx != before || preview.object()["dry_run"] != true {
		t.Error("a dry run wrote something")
	}
	done := acme.post("/api/reports/daily/run", "").status(http.StatusOK)
	for _, p := range []*reply{preview, done, acme.get("/api/reports/daily")} {
		for section, want := range map[string]string{
			"changes":        `{"added":2,"ended":1,"unchanged":0} added/Person:new/x|[[Org:evil]] <b>` + "\n" + `# H added/Person:old/pro superseded/Person:old/free`,
			"new_entities":   `{"new":1} /Person:new/`,
			"candidates":     `{"held":1} /Person:new/maybe`,
			"sources":        `{"sources":2} //`,
			"stale":          `{"old":0}`,
			"low_confidence": `{"doubtful":0}`,
		} {
			columns := "what,subject,object"
			got := strings.NewReplacer("null", "").Replace(p.edition(section, columns))
			if !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s\nwant %s", section, got, want)
			}
		}
		if got := p.edition("sources", "source,facts,new"); got != `{"sources":2} crm/1/1 site/1/1 null/0/1` {
			t.Errorf("sources: %s", got)
		}
		if got := p.edition("agents", "actor,txs,asserted,superseded"); !strings.Contains(got, "acme/default/4/4/1") {
			t.Errorf("agents: %s", got)
		}
		if strings.Contains(p.Body, "secret") || strings.Contains(p.Body, "globex") {
			t.Errorf("another tenant shows: %s", p.Body)
		}
	}
	page := acme.get("/api/pages/Report:daily").status(http.StatusOK).object()
	markdown := acme.get("/api/reports/daily?format=md").status(http.StatusOK)
	if page["body"] != markdown.Body || page["title"] != "The day" || len(page["links"].([]any)) != 0 {
		t.Errorf("the page is %v\nand the Markdown %s", page, markdown.Body)
	}
	if want := `| added | Person:new | plan | x\|\[\[Org:evil\]\] &lt;b&gt; \# H | 1 | site |`; !strings.Contains(markdown.Body, want) {
		t.Errorf("%s\nlacks %s", markdown.Body, want)
	}
	first := r.node.Now()
	r.node.Advance(72 * time.Hour)
	if got := acme.post("/api/reports/daily/run", "").status(http.StatusOK).edition("changes", "what"); got != `{"added":0,"ended":0,"unchanged":2}` {
		t.Errorf("three days later: %s", got)
	}
	if got := acme.get(fmt.Sprint("/api/reports/daily?as_of=", int64(first))).edition("new_entities", "subject"); got != `{"new":1} Person:new` {
		t.Errorf("as of the first edition: %s", got)
	}
	globex.get("/api/reports/daily").fails(http.StatusNotFound, "NotFound")
	if got := globex.get("/api/reports").Body; got != `{"reports":[]}` {
		t.Errorf("another tenant lists %s", got)
	}
	acme.delete("/api/reports/daily").status(http.StatusOK)
	acme.get("/api/reports/daily").fails(http.StatusNotFound, "NotFound")
	acme.get("/api/pages/Report:daily").fails(http.StatusNotFound, "NotFound")
}

// TestReportsComeOnce: however many nodes believe to lead, a time of the schedule is
// one edition; what was missed is one, a paused report comes not at all, and a run that
// failed is told.
func TestReportsComeOnce(t *testing.T) {
	r := start(t, "secret-admin-key")
	r.afterTheHour()
	acme := r.tenantOf("acme", "admin")
	acme.post("/api/reports", `{"name":"hourly","schedule":"@hourly","window_secs":3600,"sections":["changes"]}`).status(http.StatusCreated)
	acme.post("/api/reports", `{"name":"off","schedule":"@hourly","paused":true}`).status(http.StatusCreated)
	other := r.node.Service(t, memory.Options{AdminKey: "secret-admin-key"})
	round := func() (ran int) {
		t.Helper()
		now := r.node.Now()
		due, err := r.door.DueReports(t.Context(), now)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		var mu sync.Mutex
		for _, d := range due {
			for i := range 4 {
				all.Go(func() {
					once, _ := []*memory.Service{r.door, other}[i%2].RunDueReport(t.Context(), d, now)
					mu.Lock()
					defer mu.Unlock()
					if once {
						ran++
					}
				})
			}
		}
		all.Wait()
		return ran
	}
	if n := round(); n != 0 {
		t.Fatalf("%d ran before any was due", n)
	}
	for range 3 {
		r.node.Advance(5 * time.Hour)
		if n := round(); n != 1 {
			t.Fatalf("%d ran, want one for all that was missed", n)
		}
		if n := round(); n != 0 {
			t.Fatalf("%d ran again", n)
		}
	}
	if got := len(acme.get("/api/facts?subject=Report:hourly&predicate=report_edition&status=all").list()); got != 3 {
		t.Errorf("there are %d editions", got)
	}
	last := acme.get("/api/reports/hourly").object()["report"].(map[string]any)["last"].(map[string]any)
	slot, err := last["slot"].(json.Number).Int64()
	if err != nil || slot%3_600_000 != 0 || last["to"] != last["slot"] || slot > int64(r.node.Now()) || last["outcome"] != "ok" {
		t.Errorf("the last run is %v", last)
	}
	acme.post("/api/reports/off/resume", "").status(http.StatusOK)
	if n := round(); n != 0 {
		t.Errorf("%d ran to make up for the pause", n)
	}
	acme.post("/api/reports/hourly/pause", "").status(http.StatusOK)
	acme.delete("/api/reports/off").status(http.StatusOK)
	r.node.Advance(5 * time.Hour)
	if n := round(); n != 0 {
		t.Errorf("%d ran while paused", n)
	}
	// The key that declared it is gone: the run fails, and says so once.
	lost := r.keyOf("acme", "lost", "admin")
	made := lost.post("/api/reports", `{"name":"lost","schedule":"@hourly"}`).status(http.StatusCreated).object()["report"].(map[string]any)
	if made["by"] != "lost" {
		t.Errorf("declared by %v", made["by"])
	}
	for _, k := range acme.get("/api/tenants/acme/keys").list() {
		if k["name"] == "lost" {
			acme.delete("/api/tenants/acme/keys/" + k.text("id")).status(http.StatusOK)
		}
	}
	r.node.Advance(2 * time.Hour)
	if n := round(); n != 1 {
		t.Errorf("%d failed", n)
	}
	last = acme.get("/api/reports/lost").object()["report"].(map[string]any)["last"].(map[string]any)
	if last["outcome"] != "failed" || !strings.Contains(fmt.Sprint(last["problem"]), "declare the report anew") || last["tx"] != nil {
		t.Errorf("the failed run is %v", last)
	}
	acme.post("/api/reports/lost/run", "").fails(http.StatusForbidden, "Forbidden")
	if n := round(); n != 0 {
		t.Errorf("%d failed again", n)
	}
}

// TestReportsKeepToThePolicy: an edition tells what the key that declared the report
// may read at the time of the run; agents declare none, forge none, and read one only
// where they may read its facts.
func TestReportsKeepToThePolicy(t *testing.T) {
	r := start(t, "secret-admin-key")
	acme := r.tenantOf("acme", "admin")
	narrow, agent := r.keyOf("acme", "narrow", "admin"), r.keyOf("acme", "agent-7", "write")
	acme.assert("Person:a", "salary", `"fifty"`)
	acme.assert("Person:a", "works_at", `"Org:x"`)
	body := `{"name":"mine","sections":["changes","new_entities","contradictions","stale","sources"]}`
	agent.post("/api/reports", body).fails(http.StatusForbidden, "Forbidden")
	agent.post("/api/facts", `{"subject":"Report:mine","predicate":"report_edition","object":"{}"}`).fails(http.StatusForbidden, "Forbidden")
	narrow.post("/api/reports", body).status(http.StatusCreated)
	if got := narrow.post("/api/reports/mine/run", "").edition("changes", "object"); got != `{"added":2,"ended":0,"unchanged":0} Org:x fifty` {
		t.Errorf("without a policy: %s", got)
	}
	acme.do(http.MethodPut, "/api/policy", `{"version":"v1","rules":[
		{"role":"clerk","permissions":["facts:read"],"predicates":["works_at","report*"]},
		{"role":"boss","permissions":["*"]},{"role":"reader","permissions":["facts:read"],"predicates":["works_at"]}],
		"roles":[{"agent":"narrow","role":"clerk"},{"agent":"default","role":"boss"},{"agent":"agent-7","role":"reader"}]}`).status(http.StatusOK)
	for _, key := range []*rig{narrow, acme} { // whoever asks for it
		key.post("/api/reports/mine/run", "").status(http.StatusOK)
		if got := acme.get("/api/reports/mine"); got.edition("changes", "object") != `{"added":1,"ended":0,"unchanged":0} Org:x` || strings.Contains(got.Body, "fifty") {
			t.Errorf("under the policy: %s", got.Body)
		}
	}
	if got := narrow.post("/api/reports/mine/run?dry_run=1", "").Body; strings.Contains(got, "fifty") {
		t.Errorf("a dry run shows %s", got)
	}
	if got := acme.post("/api/reports/mine/run?dry_run=1", "").Body; !strings.Contains(got, "fifty") {
		t.Errorf("a dry run of one who may see all shows %s", got)
	}
	agent.get("/api/reports/mine").fails(http.StatusNotFound, "NotFound")
	agent.post("/api/reports/mine/run", "").fails(http.StatusForbidden, "Forbidden")
	r.post("/api/reports", body).fails(http.StatusBadRequest, "SchemaInvalid")
	acme.post("/api/reports?branch=x", body).fails(http.StatusBadRequest, "SchemaInvalid")
	acme.get("/api/reports/mine?format=pdf").fails(http.StatusBadRequest, "SchemaInvalid")
	acme.get("/api/reports/none").fails(http.StatusNotFound, "NotFound")
	acme.post("/api/reports/none/run", "").fails(http.StatusNotFound, "NotFound")
}

// TestReportsStayBounded: a report of many and long facts has its rows and its bytes
// bounded, and says so.
func TestReportsStayBounded(t *testing.T) {
	r := start(t, "")
	var rows []string
	for i := range 400 {
		rows = append(rows, fmt.Sprintf(`{"subject":"Thing:%d%s","predicate":"says%d","object":%q,"source":"s%d","confidence":0.76,"valid_from":1}`, i, strings.Repeat("é", 300), i, strings.Repeat("<|", 2000), i))
	}
	for part := range 4 {
		r.post("/api/transact", `{"asserts":[`+strings.Join(rows[part*100:part*100+100], ",")+`]}`).status(http.StatusOK)
	}
	got := r.post("/api/reports?dry_run=1", `{"name":"big","limit":50,"stale_secs":1}`).status(http.StatusOK)
	var d struct{ Edition struct{ Limited bool } }
	got.decode(&d)
	if !d.Edition.Limited || len(got.Body) > 300<<10 || !strings.HasPrefix(got.edition("sources", "new"), `{"sources":400} `) {
		t.Errorf("%d bytes, limited %v", len(got.Body), d.Edition.Limited)
	}
	r.post("/api/reports", `{"name":"big","limit":50}`).status(http.StatusCreated)
	r.post("/api/reports/big/run", "").status(http.StatusOK)
	if got := r.get("/api/reports/big?format=md").status(http.StatusOK).Body; len(got) > 256<<10 || !strings.Contains(got, "There are more") {
		t.Errorf("%d bytes of Markdown", len(got))
	}
	for i := range 99 {
		r.post("/api/reports", fmt.Sprintf(`{"name":"r%d"}`, i)).status(http.StatusCreated)
	}
	r.post("/api/reports", `{"name":"one-more"}`).fails(http.StatusBadRequest, "SchemaInvalid")
}

// TestReportsKeepNoPersonalData: what a declaration says is masked as facts are, or
// refused, and a dry run judges and shows it as it would be kept.
func TestReportsKeepNoPersonalData(t *testing.T) {
	r := start(t, "secret-admin-key")
	acme := r.tenantOf("acme", "admin")
	acme.assert("bob@example.com", "plan", `"free"`)
	for _, dry := range []string{"?dry_run=1", ""} {
		p := acme.post("/api/reports"+dry, `{"name":"one","title":"For bob@example.com","subject":"bob@example.com","sections":["new_entities"]}`)
		got := p.object()["report"].(map[string]any)
		if strings.Contains(p.Body, "bob@") || got["title"] != "For [REDACTED]" || got["subject"] != "[REDACTED]" || got["by"] != "default" {
			t.Errorf("%s: %s", dry, p.Body)
		}
		acme.post("/api/reports"+dry, `{"name":"415-555-2671"}`).fails(http.StatusBadRequest, "SchemaInvalid")
		acme.post("/api/reports"+dry, `{"name":"two","predicate":"bob@example.com"}`).fails(http.StatusBadRequest, "SchemaInvalid")
		// What grows beyond its bounds when it is masked is refused, and stands in nobody's way.
		acme.post("/api/reports"+dry, `{"name":"grown","title":"`+strings.Repeat("a@b.co ", 28)+`"}`).fails(http.StatusBadRequest, "SchemaInvalid")
	}
	if got := acme.post("/api/reports/one/run", "").status(http.StatusOK).edition("new_entities", "subject"); got != `{"new":1} [REDACTED]` {
		t.Errorf("of the masked subject: %s", got)
	}
	acme.post("/api/reports", `{"name":"grown"}`).status(http.StatusCreated)
	acme.post("/api/reports?dry_run=1&branch=x", `{"name":"grown"}`).fails(http.StatusBadRequest, "SchemaInvalid")
}

// TestINJ03ReportsAreNoEvidence: what a report quotes is found as the facts themselves,
// and not as the edition that told of them once, in searches and in packets.
func TestINJ03ReportsAreNoEvidence(t *testing.T) {
	r := start(t, "secret-admin-key")
	acme := r.tenantOf("acme", "admin")
	acme.assert("Person:ada", "works_at", `"Org:zanzibar"`)
	acme.post("/api/reports", `{"name":"weekly","title":"The quagga report"}`).status(http.StatusCreated)
	acme.post("/api/reports/weekly/run", "").status(http.StatusOK)
	acme.assert("Person:ada", "works_at", `"Org:elsewhere"`)
	found := acme.get("/api/search?q=who+works+at+zanzibar&limit=50").status(http.StatusOK).Body
	if strings.Contains(found, "Org:zanzibar") {
		t.Errorf("what was so is found by the edition: %s", found)
	}
	if found := acme.get("/api/search?q=quagga").status(http.StatusOK).Body; !strings.Contains(found, "The quagga report") {
		t.Errorf("a report is not found by its title: %s", found)
	}
	packet := acme.get("/api/context?goal=where+does+ada+work&include_recent=1").status(http.StatusOK).Body
	if strings.Contains(packet, "zanzibar") || strings.Contains(packet, "report_edition") || !strings.Contains(packet, "Org:elsewhere") {
		t.Errorf("a packet quotes the edition: %s", packet)
	}
}

// TestAReportsPageIsTheReports: whoever saves it by hand has it until the next edition,
// and with the report goes what the report wrote.
func TestAReportsPageIsTheReports(t *testing.T) {
	r := start(t, "secret-admin-key")
	acme := r.tenantOf("acme", "admin")
	acme.post("/api/reports", `{"name":"daily","sections":["changes"]}`).status(http.StatusCreated)
	acme.post("/api/reports/daily/run", "").status(http.StatusOK)
	by := `{"body":"My own words, see [[Org:x]].","title":"Mine","source":"me"}`
	acme.do(http.MethodPut, "/api/pages/Report:daily", by).status(http.StatusOK)
	if page := acme.get("/api/pages/Report:daily").object(); page["title"] != "Mine" {
		t.Errorf("saved as %v", page)
	}
	acme.post("/api/reports/daily/run", "").status(http.StatusOK)
	if page := acme.get("/api/pages/Report:daily").object(); page["title"] != "daily" || !strings.HasPrefix(page.text("body"), "# daily") || len(page["links"].([]any)) != 0 {
		t.Errorf("after the next edition %v", page)
	}
	acme.do(http.MethodPut, "/api/pages/Report:daily", by).status(http.StatusOK)
	acme.delete("/api/reports/daily").status(http.StatusOK)
	if page := acme.get("/api/pages/Report:daily").object(); page["title"] != "Mine" {
		t.Errorf("what somebody saved last went with the report: %v", page)
	}
}

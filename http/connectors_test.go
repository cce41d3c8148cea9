package http_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"abagraph/fact"
	httpd "abagraph/http"
	"abagraph/ingest/connect"
	"abagraph/memory"
)

// connector registers one.
func (r *rig) connector(body string, query ...string) doc {
	r.t.Helper()
	return r.post("/api/connectors"+strings.Join(query, ""), body).status(http.StatusOK).object()
}

func (r *rig) events(name, body string, headers ...string) *reply {
	r.t.Helper()
	return r.post("/api/connectors/"+name+"/events", body, headers...)
}

// counts shows what a receipt says, in short.
func (d doc) counts() string {
	return fmt.Sprintf("%s asserted, %s held, %s superseded, %s duplicates; %s records, %s skipped",
		d.text("asserted"), d.text("held"), d.text("superseded"), d.text("duplicates"), d.text("records"), d.text("skipped"))
}

// The documents' reference of connectors, as it is written.
func TestConnectorsAsDocumented(t *testing.T) {
	r := start(t, "")
	made := r.connector(`{"name":"crm_contacts","kind":"webhook","label":"CRM Contacts","mapping":{"subject":"Contact:$id","fields":["full_name","email"]}}`)
	if made["name"] != "crm_contacts" || made["kind"] != "webhook" || made["label"] != "CRM Contacts" || made["url"] != nil {
		t.Errorf("registered as %v", made)
	}
	got := r.events("crm_contacts", `{"id":"sarah","full_name":"Sarah Kim","email":"sarah@example.com"}`).status(http.StatusOK).object()
	if got["connector"] != "crm_contacts" || got.text("facts") != "2" || got.counts() != "2 asserted, 0 held, 0 superseded, 0 duplicates; 1 records, 0 skipped" || got.text("pii_masked") != "1" {
		t.Errorf("delivered: %v", got)
	}
	if facts := r.get("/api/facts?subject=Contact:sarah").list(); len(facts) != 2 || facts[0]["source"] != "crm_contacts" || facts[0].text("confidence") != "0.9" || column(facts, "predicate") != `"full_name","email"` {
		t.Errorf("facts: %v", facts)
	}
	got = r.events("crm_contacts", `[{"id":"sarah","full_name":"Sarah Lee"},{"id":"tom","full_name":"Tom"}]`).status(http.StatusOK).object()
	if got.counts() != "2 asserted, 0 held, 1 superseded, 0 duplicates; 2 records, 0 skipped" {
		t.Errorf("delivered: %v", got)
	}
	r.connector(`{"name":"trust","mapping":{"subject":"Org:$org.id","fields":{"ceo.name":"led_by","size":"employees"}},"max_confidence":0.95}`)
	got = r.events("trust", `{"org":7,"size":{"value":10,"confidence":0.7,"valid_from":2026},"ceo":{"name":"Ann"}}`).status(http.StatusOK).object()
	if got.counts() != "1 asserted, 1 held, 0 superseded, 0 duplicates; 1 records, 0 skipped" || len(r.get("/api/facts?subject=Org:7.id").list()) != 1 {
		t.Errorf("delivered: %v", got)
	}
	list := r.get("/api/connectors").object()["connectors"].([]any)
	if len(list) != 2 || list[0].(map[string]any)["ingested"] == nil || doc(list[0].(map[string]any)).text("ingested") != "3" || list[0].(map[string]any)["subject"] != "Contact:$id" {
		t.Errorf("listed: %v", list)
	}
	one := r.get("/api/connectors/crm_contacts").object()
	if recent := one["recent"].([]any); one.text("ingested") != "3" || len(recent) != 3 || recent[0].(map[string]any)["object"] != "Sarah Lee" {
		t.Errorf("shown: %v", one)
	}
	if got := r.delete("/api/connectors/crm_contacts").status(http.StatusOK).object(); got["deleted"] != "crm_contacts" {
		t.Errorf("deleted: %v", got)
	}
	r.get("/api/connectors/crm_contacts").fails(http.StatusNotFound, "NotFound")
	r.events("crm_contacts", `{"id":1}`).fails(http.StatusNotFound, "NotFound")
	if facts := r.get("/api/facts?subject=Contact:sarah").list(); len(facts) != 2 {
		t.Errorf("what it brought is gone: %v", facts)
	}
	undone := r.post("/api/sources/crm_contacts/undo", "").object()
	if undone.text("remaining") != "0" || len(r.get("/api/facts?subject=Contact:sarah").list()) != 0 {
		t.Errorf("undone: %v", undone)
	}
}

// C-52 and what else a mapping says: both forms of fields, paths, trust and times of
// single values, the cap, and what a record may lack.
func TestMappings(t *testing.T) {
	r := start(t, "")
	for name, c := range map[string]struct{ mapping, record, want string }{
		"list":      {`"mapping":{"subject":"A:$id","fields":["x","y"]}`, `{"id":1,"x":1,"y":"b","z":true}`, "A:1 x 1 0.9|A:1 y b 0.9"},
		"object":    {`"mapping":{"subject":"A:$id","fields":{"x":"size","y":"name"}}`, `{"id":1,"x":1,"y":"b"}`, "A:1 name b 0.9|A:1 size 1 0.9"},
		"every":     {``, `{"id":"q","x":1.50,"b":false,"n":null,"list":[1],"deep":{"a":1}}`, "Record:q b false 0.9|Record:q x 1.50 0.9"},
		"fixed":     {`"mapping":{"subject":"Site:main"}`, `{"visits":3}`, "Site:main visits 3 0.9"},
		"two":       {`"mapping":{"subject":"Row:${table}/$id"}`, `{"table":"t","id":4,"v":1}`, "Row:t/4 v 1 0.9"},
		"path":      {`"mapping":{"subject":"P:${user.id}","fields":{"user.name":"name"}}`, `{"user":{"id":4,"name":"n"}}`, "P:4 name n 0.9"},
		"trust":     {`"mapping":{"confidence":0.8}`, `{"id":1,"x":{"value":"a","confidence":0.76},"y":{"value":2}}`, "Record:1 x a 0.76|Record:1 y 2 0.8"},
		"cap":       {`"max_confidence":0.8`, `{"id":1,"x":1,"y":{"value":2,"confidence":1}}`, "Record:1 x 1 0.8|Record:1 y 2 0.8"},
		"consumed":  {`"mapping":{"subject":"A:$id","fields":["id","x"]}`, `{"id":1,"x":1}`, "A:1 x 1 0.9"},
		"missing":   {`"mapping":{"subject":"A:$id","fields":["x","y"]}`, `{"id":1,"y":1}`, "A:1 y 1 0.9"},
		"dollar":    {`"mapping":{"subject":"A:$id"}`, `{"id":"a$b","x":1}`, "A:a$b x 1 0.9"},
		"bignumber": {``, `{"id":9007199254740993,"n":9007199254740993}`, "Record:9007199254740993 n 9007199254740993 0.9"},
	} {
		body := `{"name":"` + name + `"`
		if c.mapping != "" {
			body += "," + c.mapping
		}
		r.connector(body + "}")
		r.events(name, c.record).status(http.StatusOK)
		var got []string
		for _, f := range r.get("/api/facts?status=all&limit=1000").list() {
			if f["source"] == name {
				got = append(got, strings.Join([]string{f.text("subject"), f.text("predicate"), f.text("object"), f.text("confidence")}, " "))
			}
		}
		sortStrings(got)
		if all := strings.Join(got, "|"); all != c.want {
			t.Errorf("%s: %s, want %s", name, all, c.want)
		}
	}
	held := r.events("trust", `{"id":2,"x":{"value":"b","confidence":0.5,"valid_from":"2024-01-01"}}`).object()
	if held.text("held") != "1" || held.text("facts") != "1" || held.text("asserted") != "0" {
		t.Errorf("held: %v", held)
	}
	shown := r.get("/api/connectors/object").object()
	if fields := fmt.Sprint(shown["mapping"].(map[string]any)["fields"]); fields != "map[x:size y:name]" {
		t.Errorf("the mapping is shown as %v", shown)
	}
}

// A source may know no more than a year, and gives it as a number or in a column of a
// table; it may also give seconds, which are never guessed (C-1).
func TestTimesOfRecords(t *testing.T) {
	r := start(t, "")
	r.connector(`{"name":"c","mapping":{"subject":"Org:$id","valid_from":"since"}}`)
	for record, want := range map[string]struct{ from, until, warning string }{
		`{"id":1,"since":2026,"v":1}`:                                        {"1767225600000", "null", ""},
		`{"id":2,"since":"1812","v":1}`:                                      {"-4986057600000", "null", ""},
		`{"id":3,"v":{"value":1,"valid_from":2024,"valid_until":2026}}`:      {"1704067200000", "1767225600000", ""},
		`{"id":4,"since":999,"v":1}`:                                         {"999", "null", ""},
		`{"id":5,"since":10000,"v":1}`:                                       {"10000", "null", ""},
		`{"id":6,"since":"0999","v":1}`:                                      {"999", "null", ""},
		`{"id":7,"since":2026.0,"v":1}`:                                      {"2026", "null", ""},
		`{"id":8,"since":1717200000,"v":1}`:                                  {"1717200000", "null", "line 1: since 1717200000 looks like seconds"},
		`{"id":9,"v":{"value":1,"valid_from":"1717200000"}}`:                 {"1717200000", "null", "line 1: v.valid_from 1717200000 looks like seconds"},
		`{"id":10,"since":"1971-01-01","v":1}`:                               {"31536000000", "null", ""},
		`{"id":11,"since":1717200000000,"v":{"value":1,"valid_until":null}}`: {"1717200000000", "null", ""},
	} {
		got := r.events("c", record).status(http.StatusOK).object()
		if w := got.text("warnings"); want.warning == "" && w != "null" || !strings.Contains(w, want.warning) {
			t.Errorf("%s: warnings %s", record, w)
		}
		_, id, _ := strings.Cut(strings.SplitN(record, ",", 2)[0], ":")
		facts := r.get("/api/facts?predicate=v&status=active&subject=Org:" + id).list()
		if len(facts) != 1 || facts[0].text("valid_from") != want.from || facts[0].text("valid_until") != want.until {
			t.Errorf("%s became %v", record, facts)
		}
	}
	r.do(http.MethodPost, "/api/connectors/c/events", "id,since,v\n20,2021,1\n", "Content-Type: text/csv").status(http.StatusOK)
	if f := r.get("/api/facts?subject=Org:20").list(); len(f) != 1 || f[0].text("valid_from") != "1609459200000" {
		t.Errorf("a table's year became %v", f)
	}
	got := r.events("c", `{"id":30,"since":1717200000,"v":1}`+"\n"+`{"id":31,"since":1717200001,"v":1}`+"\n"+`{"id":32,"since":1717200002,"v":1}`).object()
	if list := got["warnings"].([]any); len(list) != 2 || list[1] != "and so do times of 2 more records" {
		t.Errorf("several: %v", got)
	}
}

func sortStrings(list []string) {
	for i := range list {
		for j := i; j > 0 && list[j] < list[j-1]; j-- {
			list[j], list[j-1] = list[j-1], list[j]
		}
	}
}

// ING-02: lines as tools write them. Every good record lands, bad ones are listed by
// line, and the counts add up.
func TestING02DeliveriesAsToolsWriteThem(t *testing.T) {
	r := start(t, "")
	long := strings.Repeat("x", 70_000)
	for name, c := range map[string]struct {
		body      string
		want      string // ids that land
		skipped   string
		at        string // lines of problems
		mediaType string
	}{
		"bom":         {"\ufeff{\"id\":1,\"v\":1}\n{\"id\":2,\"v\":1}\n", "1 2", "0", "", ""},
		"crlf":        {"{\"id\":1,\"v\":1}\r\n{\"id\":2,\"v\":1}\r\n", "1 2", "0", "", ""},
		"no-end":      {"{\"id\":1,\"v\":1}\n{\"id\":2,\"v\":1}", "1 2", "0", "", ""},
		"blank":       {"\n\n{\"id\":1,\"v\":1}\n \n\t\n{\"id\":2,\"v\":1}\n\n", "1 2", "0", "", ""},
		"long":        {`{"id":1,"v":"` + long + "\"}\n{\"id\":2,\"v\":1}\n", "1 2", "0", "", ""},
		"too-long":    {`{"id":1,"v":"` + strings.Repeat(long, 75) + "\"}\n{\"id\":2,\"v\":1}\n", "2", "1", "1", ""},
		"two-a-line":  {"{\"id\":1,\"v\":1} {\"id\":2,\"v\":1}{\"id\":3,\"v\":1}\n{\"id\":4,\"v\":1}", "1 2 3 4", "0", "", ""},
		"broken":      {"{\"id\":1,\"v\":1}\n{\"id\":2,\"v\":1}\n{\"id\":3,\"v\n{\"id\":4,\"v\":1}\n{\"id\":5,\"v\":1}", "1 2 4 5", "1", "3", ""},
		"first":       {"{\"id\":1,\n{\"id\":2,\"v\":1}\n", "2", "1", "1", ""},
		"pretty":      {"{\n \"id\": 1,\n \"v\": 1\n}\n", "1", "0", "", ""},
		"array":       {"[\n {\"id\": 1,\n \"v\": 1},\n\n {\"id\": 2, \"v\": 1}]\n", "1 2", "0", "", ""},
		"cut-array":   {"[{\"id\":1,\"v\":1},\n{\"id\":2,\"v\":1},\n{\"id\":3", "1 2", "1", "2", ""},
		"mixed-array": {"[{\"id\":1,\"v\":1},\n7,\n{\"v\":1},{\"id\":4,\"v\":1}]", "1 4", "2", "2 3", ""},
		"after-array": {"[{\"id\":1,\"v\":1}]\n{\"id\":2,\"v\":1}\n", "1", "1", "2", ""},
		"twice":       {"{\"id\":1,\"v\":1}\n{\"id\":2,\"v\":1,\"v\":2}\n", "1", "1", "2", ""},
		"no-id":       {"{\"id\":1,\"v\":1}\n{\"v\":1}\n{\"id\":null,\"v\":1}\n{\"id\":\"\",\"v\":1}\n{\"id\":{\"a\":1},\"v\":1}\n{\"id\":6}", "1", "5", "2 3 4 5 6", ""},
		"deep":        {"{\"id\":1,\"v\":1}\n" + strings.Repeat("[", 100_000) + "\n" + strings.Repeat(`{"a":`, 5000) + "\n{\"id\":2,\"v\":1}", "1 2", "2", "2 3", ""},
		"twice-array": {"[{\"id\":1,\"v\":1},\n{\"id\":2,\"v\":1,\"v\":2},{\"id\":3,\"v\":\"\xff\"},\n{\"id\":4,\"v\":1}]", "1 4", "2", "2 2", ""},
		"twice-a-row": {"{\"id\":1,\"v\":1,\"v\":2} {\"id\":2,\"v\":1}\n", "2", "1", "1", ""},
		"csv":         {"id,v,note\r\n1,a,\r\n\r\n2,\"b, c\",\"two\r\nlines\"\r\n3,x\r\n4,\"\"\"q\"\"\",y\n", "1 2 4", "1", "6", "text/csv; charset=utf-8"},
	} {
		r.connector(`{"name":"` + name + `","mapping":{"subject":"` + name + `:$id"}}`)
		var headers []string
		if c.mediaType != "" {
			headers = append(headers, "Content-Type: "+c.mediaType)
		}
		got := r.events(strings.ReplaceAll(name, "-", "_"), c.body, headers...).status(http.StatusOK).object()
		var ids []string
		for _, e := range r.get("/api/entities?limit=10000").list() {
			if id, ok := strings.CutPrefix(e.text("id"), name+":"); ok {
				ids = append(ids, id)
			}
		}
		var lines []string
		for _, p := range got["problems"].([]any) {
			lines = append(lines, doc(p.(map[string]any)).text("line"))
			if p.(map[string]any)["reason"] == "" {
				t.Errorf("%s: no reason: %v", name, got)
			}
		}
		if strings.Join(ids, " ") != c.want || got.text("skipped") != c.skipped || strings.Join(lines, " ") != c.at {
			t.Errorf("%s: ids %v, want %s; problems in %v of %s", name, ids, c.want, lines, got.Body())
		}
		if want := fmt.Sprint(len(ids) + len(lines)); got.text("records") != want {
			t.Errorf("%s: %s records, want %s", name, got.text("records"), want)
		}
	}
	r.connector(`{"name":"n"}`)
	for body, says := range map[string]string{
		"null": "not null", "  \n\n ": "empty", "7": "a number", "{\"v\":1}\n{\"v\":2}\n": "none of the 2 records", "\xff\xfe{\x00": "UTF-16", "{": "not valid JSON",
		"[" + strings.Repeat("[", 5_000_000): "JSON", `{"id":1,"v":"` + "\xc3" + `"}`: "UTF-8",
	} {
		if e := r.events("n", body).fails(http.StatusBadRequest, "SchemaInvalid"); !strings.Contains(strings.ToLower(e["message"].(string)), strings.ToLower(says)) && says != "not valid JSON" {
			t.Errorf("%.20q: %v", body, e)
		}
	}
	if got := r.events("n", "[]").status(http.StatusOK).object(); got.text("records") != "0" {
		t.Errorf("an empty array: %v", got)
	}
	r.post("/api/connectors/n/events", "").fails(http.StatusBadRequest, "SchemaInvalid")
	r.events("n", `{"id":1,"v":1}`, "Content-Type: text/html").fails(http.StatusBadRequest, "SchemaInvalid")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := io.WriteString(z, `{"id":"z","v":1}`); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	if got := r.events("n", packed.String(), "Content-Encoding: gzip").status(http.StatusOK).object(); got.text("asserted") != "1" {
		t.Errorf("gzip: %v", got)
	}
}

// Body shows a document in an error.
func (d doc) Body() string { return fmt.Sprint(map[string]any(d)) }

// C-13: dated deliveries give the same timeline in whatever order and however often
// they come.
func TestLateAndRepeatedDeliveries(t *testing.T) {
	r := start(t, "")
	rnd := rand.New(rand.NewPCG(8, 8))
	var events []string
	for i := range 40 {
		events = append(events, fmt.Sprintf(`{"id":%d,"status":"s%d","updated_at":%d}`, rnd.IntN(4), rnd.IntN(5), 1_700_000_000_000+int64(i)*1000))
	}
	timeline := func(name string) string {
		var rows []string
		for at := range 45 {
			q := fmt.Sprintf("/api/facts?predicate=status&as_of=%d", 1_700_000_000_000+int64(at)*1000-500)
			for _, f := range r.get(q).list() {
				if f["source"] == name {
					rows = append(rows, fmt.Sprint(at, " ", strings.TrimPrefix(f.text("subject"), name), " ", f.text("object")))
				}
			}
		}
		sortStrings(rows)
		return strings.Join(rows, "|")
	}
	var want string
	for i, name := range []string{"straight", "shuffled", "repeated"} {
		r.connector(fmt.Sprintf(`{"name":%q,"mapping":{"subject":"%s:$id","valid_from":"updated_at"}}`, name, name))
		list := append([]string(nil), events...)
		if i > 0 {
			rnd.Shuffle(len(list), func(a, b int) { list[a], list[b] = list[b], list[a] })
		}
		if i == 2 {
			list = append(append(list, list[:20]...), list...)
		}
		for len(list) > 0 {
			n := min(1+rnd.IntN(9), len(list))
			r.events(name, strings.Join(list[:n], "\n")).status(http.StatusOK)
			list = list[n:]
		}
		if got := timeline(name); i == 0 {
			want = got
		} else if got != want || want == "" {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
	again := r.events("repeated", strings.Join(events, "\n")).object()
	if again.text("duplicates") != "40" || again.text("asserted") != "0" {
		t.Errorf("all of it again: %s", again.counts())
	}

	// Without dates the delivery's own name keeps it from counting twice.
	r.connector(`{"name":"undated","mapping":{"subject":"U:$id"}}`)
	r.events("undated", `{"id":1,"v":"old"}`, "Idempotency-Key: d-1").status(http.StatusOK)
	r.events("undated", `{"id":1,"v":"new"}`, "Idempotency-Key: d-2").status(http.StatusOK)
	late := r.events("undated", `{"id":1,"v":"old"}`, "Idempotency-Key: d-1").status(http.StatusOK).object()
	if got := r.values("/api/facts?subject=U:1"); got != `"new"` || late.text("asserted") != "1" {
		t.Errorf("redelivered: %s, %v", got, late)
	}
	for _, other := range []string{`{"id":2,"v":"x"}`, "{\"id\":2,\"v\":\"x\"}\n{\"id\":3,\"v\":\"x\"}\n"} {
		r.events("undated", other, "Idempotency-Key: d-1").fails(http.StatusConflict, "Conflict")
	}
	if got := r.get("/api/facts?object=x").list(); len(got) != 0 {
		t.Errorf("a name that was used wrote %v", got)
	}
}

// IDN-02: names that look alike are one connector or a conflict, and never overwrite
// one another. What is registered is what was asked for, or the answer says so.
func TestIDN02ConnectorNames(t *testing.T) {
	r := start(t, "")
	r.connector(`{"name":"crm-contacts","mapping":{"subject":"A:$id"}}`)
	for _, other := range []string{"CRM_contacts", "crm contacts", "crm_contacts", "crm--contacts"} {
		r.post("/api/connectors", fmt.Sprintf(`{"name":%q}`, other)).fails(http.StatusConflict, "Conflict")
	}
	same := r.connector(`{"name":"crm-contacts","mapping":{"subject":"A:$id"}}`)
	if same["existed"] != true || same["warnings"] != nil {
		t.Errorf("again: %v", same)
	}
	other := r.connector(`{"name":"crm-contacts","mapping":{"subject":"B:$id"}}`)
	if other["warnings"] == nil || other["mapping"].(map[string]any)["subject"] != "A:$id" {
		t.Errorf("with another mapping: %v", other)
	}
	put := r.do(http.MethodPut, "/api/connectors/crm_contacts", `{"name":"crm-contacts","mapping":{"subject":"B:$id"}}`).status(http.StatusOK).object()
	if put["mapping"].(map[string]any)["subject"] != "B:$id" || r.get("/api/connectors/CRM-Contacts").object()["subject"] != "B:$id" {
		t.Errorf("replaced: %v", put)
	}
	if got := r.get("/api/connectors").object()["connectors"].([]any); len(got) != 1 {
		t.Errorf("listed: %v", got)
	}
}

// ING-04, ING-06 and ING-08: what is wrong with a connector is named, and nothing is
// registered.
func TestConnectorsThatCannotBe(t *testing.T) {
	r := start(t, "")
	for body, field := range map[string]string{
		`{}`:                                                                                "name",
		`{"name":"___"}`:                                                                    "name",
		`{"name":"日本"}`:                                                                     "name",
		`{"name":"a","kind":"push"}`:                                                        "kind",
		`{"name":"a","kind":"poll"}`:                                                        "url",
		`{"name":"a","mapping":[]}`:                                                         "mapping",
		`{"name":"a","mappings":{}}`:                                                        "mappings",
		`{"name":"a","branch":"b"}`:                                                         "branch",
		`{"name":"a","format":"xml"}`:                                                       "format",
		`{"name":"a","mapping":{"confidence":"NaN"}}`:                                       "mapping.confidence",
		`{"name":"a","mapping":{"confidence":1.0000001}}`:                                   "mapping.confidence",
		`{"name":"a","mapping":{"confidence":null}}`:                                        "mapping.confidence",
		`{"name":"a","mapping":{"confidence":1e-400}}`:                                      "mapping.confidence",
		`{"name":"a","max_confidence":-1}`:                                                  "max_confidence",
		`{"name":"a","mapping":{"subject":""}}`:                                             "mapping.subject",
		`{"name":"a","mapping":{"subject":"Price:$"}}`:                                      "mapping.subject",
		`{"name":"a","mapping":{"subject":"${"}}`:                                           "mapping.subject",
		`{"name":"a","mapping":{"subject":" x"}}`:                                           "mapping.subject",
		`{"name":"a","mapping":{"fields":"x"}}`:                                             "mapping.fields",
		`{"name":"a","mapping":{"fields":[1]}}`:                                             "mapping.fields[0]",
		`{"name":"a","mapping":{"fields":["x","x"]}}`:                                       "mapping.fields[1]",
		`{"name":"a","mapping":{"fields":["id"]}}`:                                          "mapping.subject",
		`{"name":"a","mapping":{"fields":{"x":" "}}}`:                                       "mapping.fields.x",
		`{"name":"a","mapping":{"policy":"sometimes"}}`:                                     "mapping.policy",
		`{"name":"a","mapping":{"subject":"A:$a","subject":"B:$b"}}`:                        "mapping.subject",
		`{"name":"a","url":"https://u:p@example.com/"}`:                                     "url",
		`{"name":"a","url":"https://example.com/?api_key=abc"}`:                             "url",
		`{"name":"a","pull":{"items":"x"}}`:                                                 "pull",
		`{"name":"a","signature":{"secret":"s","scheme":"rot13"}}`:                          "signature.scheme",
		`{"name":"a","signature":{}}`:                                                       "signature.secret",
		`{"name":"a","url":"https://e.com","pull":{"auth":{"secret":"s","header":"Host"}}}`: "pull.auth.header",
	} {
		if e := r.post("/api/connectors", body).fails(http.StatusBadRequest, "SchemaInvalid"); e["field"] != field {
			t.Errorf("%s: %v", body, e)
		}
	}
	if got := r.get("/api/facts?status=all").list(); len(got) != 0 {
		t.Errorf("written: %v", got)
	}
	r.connector(`{"name":"a","mapping":{"policy":"reject"}}`)
	r.events("a", `{"id":1,"v":"x"}`).status(http.StatusOK)
	got := r.events("a", "{\"id\":2,\"v\":\"y\"}\n{\"id\":1,\"v\":\"z\"}\n{\"id\":3,\"v\":{\"value\":1,\"confidence\":\"NaN\"}}\n{\"id\":4,\"v\":\"w\"}").status(http.StatusOK).object()
	if got.counts() != "2 asserted, 0 held, 0 superseded, 0 duplicates; 4 records, 2 skipped" {
		t.Errorf("one is refused by the policy, one by its value: %v", got)
	}
	if p := got["problems"].([]any); len(p) != 2 {
		t.Errorf("problems: %v", p)
	}
}

// TEN-03: another tenant's connector is one that is not there, and leaves no trace.
func TestTEN03ConnectorsOfAnother(t *testing.T) {
	r := start(t, "root-key")
	tenant := func(name string) *rig {
		return r.as(r.post("/api/tenants", fmt.Sprintf(`{"id":%q}`, name)).status(http.StatusCreated).object().text("key"))
	}
	a, b := tenant("ta"), tenant("tb")
	b.connector(`{"name":"canary","mapping":{"subject":"S:$id"}}`)
	for _, name := range []string{"canary", "none"} {
		for _, got := range []*reply{
			a.get("/api/connectors/" + name), a.events(name, `{"id":1,"v":1}`), a.delete("/api/connectors/" + name), a.events(name, "junk"),
		} {
			if e := got.fails(http.StatusNotFound, "NotFound"); strings.ReplaceAll(e["message"].(string), name, "X") != `no connector: "X"` {
				t.Errorf("%s: %v", name, e)
			}
		}
	}
	if got := a.get("/api/connectors").Body; got != `{"connectors":[]}` {
		t.Errorf("listed: %s", got)
	}
	a.connector(`{"name":"canary"}`)
	a.events("canary", `{"id":1,"v":1}`).status(http.StatusOK)
	a.post("/api/sources/canary/undo", "").status(http.StatusOK)
	if one := b.get("/api/connectors/canary").object(); one.text("ingested") != "0" || one["subject"] != "S:$id" {
		t.Errorf("the other has %v", one)
	}
	reader := r.as(r.post("/api/tenants/ta/keys", `{"role":"read"}`).object().text("key"))
	for _, got := range []*reply{reader.events("canary", `{"id":1,"v":1}`), reader.post("/api/connectors", `{"name":"x"}`), reader.delete("/api/connectors/canary")} {
		got.fails(http.StatusForbidden, "Forbidden")
	}
}

// A delivery to a connector with a secret must be signed, by either scheme; what is
// not is not read at all, and no answer or log line holds the secret.
func TestSignedDeliveries(t *testing.T) {
	const secret = "whsec_Y2FuYXJ5LXNlY3JldC0xMjM0NTY="
	var door *memory.Service
	r := startWith(t, memory.Options{}, func(c *httpd.Config) {
		door = c.Memory
		var err error
		c.Connect, err = connect.New(connect.Options{Memory: door, Secret: func(_ context.Context, tenant, name string) (string, error) {
			if tenant != "default" || name != "hook" {
				return "", fact.Errorf(fact.NotFound, "no secret: %s of %s", name, tenant)
			}
			return secret, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
	})
	sign := func(key []byte, text string) []byte {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(text))
		return h.Sum(nil)
	}
	const body = `{"id":1,"v":1}`
	r.connector(`{"name":"gh","signature":{"secret":"hook"}}`)
	good := "X-Hub-Signature-256: sha256=" + hex.EncodeToString(sign([]byte(secret), body))
	for _, headers := range [][]string{nil, {"X-Hub-Signature-256: sha256=00"}, {strings.Replace(good, "=", "=0", 1)}, {"X-Hub-Signature: sha1=00"}} {
		r.events("gh", body, headers...).fails(http.StatusForbidden, "Forbidden")
	}
	r.events("gh", body+" ", good).fails(http.StatusForbidden, "Forbidden")
	r.events("gh", body, good, "X-GitHub-Delivery: 1").status(http.StatusOK)

	r.connector(`{"name":"std","signature":{"secret":"hook","scheme":"standard"},"mapping":{"subject":"S:$id"}}`)
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	signed := func(id string, at time.Time, body string) []string {
		stamp := fmt.Sprint(at.Unix())
		return []string{"Webhook-Id: " + id, "Webhook-Timestamp: " + stamp,
			"Webhook-Signature: v2,xx v1," + base64.StdEncoding.EncodeToString(sign(key, id+"."+stamp+"."+body))}
	}
	r.events("std", body, signed("m1", time.Now(), body)...).status(http.StatusOK)
	r.events("std", body, signed("m1", time.Now().Add(-time.Hour), body)...).fails(http.StatusForbidden, "Forbidden")
	r.events("std", body, signed("m1", time.Now(), body+" ")...).fails(http.StatusForbidden, "Forbidden")
	next := `{"id":1,"v":2}`
	r.events("std", next, signed("m2", time.Now(), next)...).status(http.StatusOK)
	r.events("std", body, signed("m1", time.Now(), body)...).status(http.StatusOK)
	if got := r.values("/api/facts?subject=S:1"); got != "2" {
		t.Errorf("a delivery that came again changed %s", got)
	}
	shown := r.get("/api/connectors/std").Body + r.logs.String()
	if strings.Contains(shown, "canary") || strings.Contains(shown, "Y2FuYXJ5") {
		t.Errorf("the secret shows: %s", shown)
	}
	if warned := r.connector(`{"name":"none","signature":{"secret":"other"}}`); !strings.Contains(fmt.Sprint(warned["warnings"]), "the secret other is not there") {
		t.Errorf("registered: %v", warned)
	}
	if got := r.events("none", body, good); got.Status == http.StatusOK {
		t.Errorf("taken without its secret: %s", got.Body)
	}
}

package mcp_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/mcp"
)

// TIM-05 over MCP: seconds are read as milliseconds, and the answer says so;
// what is no time is refused by the argument's name, never guessed.
func TestTIM05SecondsOverMCP(t *testing.T) {
	r := start(t, "", mcp.Full)
	r.tool("remember", `{"namespace":"acme","subject":"A:1","predicate":"p","object":"one"}`).ok()
	for name, arguments := range map[string]string{
		"recall":        `{"namespace":"acme","mode":"pattern","as_of":%s}`,
		"recall ":       `{"namespace":"acme","mode":"semantic","query":"one","as_of":%s}`,
		"recall  ":      `{"namespace":"acme","mode":"walk","start":"A:1","as_of":%s}`,
		"recall_as_of":  `{"namespace":"acme","as_of":%s}`,
		"whats_changed": `{"namespace":"acme","from":%s,"to":4102444800000}`,
		"build_context": `{"namespace":"acme","task":"one","as_of":%s}`,
		"remember":      `{"namespace":"acme","subject":"A:2","predicate":"p","object":1,"coexist":true,"valid_from":%s}`,
		"digest":        `{"namespace":"acme","facts":[{"subject":"A:3","predicate":"p","object":1,"coexist":true,"valid_from":%s}]}`,
	} {
		name = strings.TrimSpace(name)
		said := encoded(r.tool(name, fmt.Sprintf(arguments, "1718800000")).ok()["warnings"])
		if !strings.Contains(said, "looks like seconds") || !strings.Contains(said, "1970-01-20") {
			t.Errorf("%s: %s", name, said)
		}
		for _, good := range []string{"1718800000000", `"1718800000000.5"`, `"2024-06-19T12:26:40Z"`, "-457056000000", "0"} {
			if got := r.tool(name, fmt.Sprintf(arguments, good)).ok(); strings.Contains(encoded(got["warnings"]), "seconds") {
				t.Errorf("%s %s: %v", name, good, got["warnings"])
			}
		}
		for _, bad := range []string{"1718800000000000", `"2024-06-19T12:26:40"`, `"soon"`, "true", "[]", "9223372036854775808"} {
			e := r.tool(name, fmt.Sprintf(arguments, bad)).fails(fact.SchemaInvalid)
			if field, _ := e["field"].(string); !strings.HasSuffix(field, "as_of") && !strings.HasSuffix(field, "valid_from") && field != "from" {
				t.Errorf("%s %s: %v", name, bad, e)
			}
		}
	}
	r.tool("recall_as_of", `{"namespace":"acme"}`).fails(fact.SchemaInvalid)
	r.tool("recall_as_of", `{"namespace":"acme","as_of":null}`).fails(fact.SchemaInvalid)
}

// TIM-10 over MCP: recall_as_of with a filter or a limit is the whole answer
// filtered by hand, also where a correction has cut a period in two, and it is
// what REST says.
func TestTIM10RecallAsOf(t *testing.T) {
	r := start(t, "", mcp.Full)
	const jan, mar, jun = 1735689600000, 1740787200000, 1748736000000
	r.tool("remember", fmt.Sprintf(`{"namespace":"acme","subject":"Price:x","predicate":"amount","object":"A","valid_from":%d}`, jan)).ok()
	r.tool("remember", fmt.Sprintf(`{"namespace":"acme","subject":"Price:x","predicate":"amount","object":"B","valid_from":%d,"valid_until":%d}`, mar, jun)).ok()
	r.tool("remember", fmt.Sprintf(`{"namespace":"acme","subject":"Price:y","predicate":"amount","object":"Y","valid_from":%d}`, jan)).ok()
	now := int64(r.node.Now())
	for at, want := range map[int64]string{jan - 1: "", jan: `"A"`, mar - 1: `"A"`, mar: `"B"`, jun - 1: `"B"`, jun: `"A"`, now: `"A"`} {
		all := r.tool("recall_as_of", fmt.Sprintf(`{"namespace":"acme","as_of":%d}`, at)).facts()
		var byHand []doc
		for _, f := range all {
			if f["subject"] == "Price:x" {
				byHand = append(byHand, f)
			}
		}
		if column(byHand, "object") != want {
			t.Errorf("as_of %d: %s, want %s", at, column(byHand, "object"), want)
		}
		_, _, rest := r.do(http.MethodGet, fmt.Sprintf("/api/facts?tenant=acme&as_of=%d", at), "")
		for _, f := range all {
			if !strings.Contains(string(rest), f["id"].(string)) {
				t.Errorf("as_of %d: REST does not have %v", at, f)
			}
		}
		for _, filter := range []string{`"subject":"Price:x"`, `"subject":"Price:x","predicate":"amount"`, `"subject":"Price:x","limit":1`} {
			a := r.tool("recall_as_of", fmt.Sprintf(`{"namespace":"acme","as_of":%d,%s}`, at, filter))
			if column(a.facts(), "id") != column(byHand, "id") || fmt.Sprint(a.ok()["count"]) != fmt.Sprint(len(byHand)) || fmt.Sprint(a.ok()["as_of"]) != fmt.Sprint(at) {
				t.Errorf("as_of %d, %s: %s, by hand %v", at, filter, a.text, byHand)
			}
		}
		if want != "" {
			if got := r.tool("recall_as_of", fmt.Sprintf(`{"namespace":"acme","as_of":%d,"object":%s,"limit":1}`, at, want)).facts(); column(got, "id") != column(byHand, "id") {
				t.Errorf("as_of %d by object: %v", at, got)
			}
			one := r.tool("recall_as_of", fmt.Sprintf(`{"namespace":"acme","as_of":%d,"limit":1}`, at)).ok()
			if len(docs(one["facts"])) != 1 || (len(all) > 1) != (one["limited"] == true) {
				t.Errorf("as_of %d, limit 1: %v", at, one)
			}
		}
	}
}

// TestBothTimesOverMCP: what was known then stays readable, by the clock and by
// the tx that an answer told.
func TestBothTimesOverMCP(t *testing.T) {
	r := start(t, "", mcp.Full)
	first := r.tool("remember", `{"namespace":"acme","subject":"A:b","predicate":"p","object":"one","valid_from":0}`).ok()
	then := int64(r.node.Now())
	r.node.Advance(time.Hour)
	r.tool("remember", `{"namespace":"acme","subject":"A:b","predicate":"p","object":"two","valid_from":0}`).ok()
	for arguments, want := range map[string]string{
		`"as_of":5`: `"two"`,
		fmt.Sprintf(`"as_of":5,"known_at":%d`, then):  `"one"`,
		fmt.Sprintf(`"as_of":5,"tx":%v`, first["tx"]): `"one"`,
		`"as_of":5,"tx":0`:                            ``,
		`"as_of":-1,"tx":2`:                           ``,
		`"as_of":5,"tx":2`:                            `"two"`,
		`"as_of":5,"limit":0`:                         `"two"`,
	} {
		if got := column(r.tool("recall_as_of", `{"namespace":"acme",`+arguments+`}`).facts(), "object"); got != want {
			t.Errorf("%s: %s, want %s", arguments, got, want)
		}
	}
	r.tool("recall_as_of", `{"namespace":"acme","as_of":5,"tx":99}`).fails(fact.SchemaInvalid)
	r.tool("recall_as_of", `{"namespace":"acme","as_of":5,"tx":1,"known_at":5}`).fails(fact.SchemaInvalid)
}

// TestATimeInTheQuestion: a question that names a time is answered of that time,
// and the answer says so.
func TestATimeInTheQuestion(t *testing.T) {
	r := start(t, "", mcp.Full)
	r.tool("remember", `{"namespace":"acme","subject":"Project:atlas","predicate":"lead","object":"Person:alice","valid_from":1546300800000}`).ok()
	r.tool("remember", `{"namespace":"acme","subject":"Project:atlas","predicate":"lead","object":"Person:bob","valid_from":1609459200000}`).ok()
	for query, want := range map[string][2]string{
		"who is the lead of atlas":                {`"Person:bob"`, `null`},
		"who was the lead of atlas on 2019-09-21": {`"Person:alice"`, `"as_of"`},
		"who was the lead of atlas in March 2020": {`"Person:alice"`, `"from"`},
	} {
		got := r.tool("recall", `{"namespace":"acme","mode":"semantic","query":"`+query+`","limit":1}`)
		if told := encoded(got.ok()["time"]); column(got.facts(), "object") != want[0] || !strings.Contains(told, want[1]) {
			t.Errorf("%s: %s", query, got.text)
		}
	}
	if got := r.tool("recall", `{"namespace":"acme","mode":"semantic","query":"lead on 2019-09-21","as_of":1700000000000}`); column(got.facts(), "object") != `"Person:bob"` || got.ok()["time"] != nil {
		t.Errorf("as_of outranks the question: %s", got.text)
	}
}

package jsonx_test

import (
	"strconv"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

func open(t *testing.T, text string) *jsonx.Fields {
	t.Helper()
	v, err := jsonx.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return jsonx.Open(v, "")
}

// MCP-01, REST part: only the exact name counts; other spellings are refused.
func TestMCP01OnlyTheExactName(t *testing.T) {
	for _, text := range []string{
		`{"subject":"X:1","SUBJECT":"X:2"}`, `{"subject":"X:1","Subject":"X:2"}`, `{"\u017fubject":"X:2","subject":"X:1"}`,
	} {
		f := open(t, text)
		if got := f.Required("subject"); got != "X:1" {
			t.Errorf("%s: subject is %q", text, got)
		}
		if err := f.Done(); fact.CodeOf(err) != fact.SchemaInvalid || !strings.Contains(err.Error(), "not a known field") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestFieldsByType(t *testing.T) {
	f := open(t, `{"s":"x","n":5,"b":true,"null":null,"a":[1],"t":"2024-06-19T12:26:40Z","ms":-1.5}`)
	if s, ok := f.Text("s"); !ok || s != "x" {
		t.Error("s")
	}
	if n, ok := f.Integer("n", 0, 9); !ok || n != 5 {
		t.Error("n")
	}
	if _, ok := f.Text("null"); ok || !f.Flag("b") || len(f.Array("a")) != 1 {
		t.Error("null, b or a")
	}
	if f.Time("t") != 1718800000000 || f.Time("ms") != -2 || f.Time("none") != fact.NoInstant {
		t.Error("times")
	}
	if err := f.Done(); err != nil {
		t.Error(err)
	}
}

func TestFieldsNameTheFault(t *testing.T) {
	tests := []struct {
		text, field string
		read        func(*jsonx.Fields)
	}{
		{`{"s":1}`, "s", func(f *jsonx.Fields) { f.Text("s") }},
		{`{"s":null}`, "s", func(f *jsonx.Fields) { f.Required("s") }},
		{`{"s":[]}`, "s", func(f *jsonx.Fields) { f.Required("s") }},
		{`{"n":10}`, "n", func(f *jsonx.Fields) { f.Integer("n", 0, 9) }},
		{`{"n":1.5}`, "n", func(f *jsonx.Fields) { f.Integer("n", 0, 9) }},
		{`{"t":true}`, "t", func(f *jsonx.Fields) { f.Time("t") }},
		{`{"t":1718800000000000}`, "t", func(f *jsonx.Fields) { f.Time("t") }},
		{`{"id":"x"}`, "id", func(f *jsonx.Fields) { f.Refuse("id", "belongs to the server") }},
		{`[]`, "", func(*jsonx.Fields) {}},
	}
	for _, tt := range tests {
		f := open(t, tt.text)
		tt.read(f)
		err, _ := f.Done().(*fact.Error)
		if err == nil || err.Field != tt.field || err.Code != fact.SchemaInvalid {
			t.Errorf("%s: %v", tt.text, err)
		}
	}
}

func TestAnObjectOfManyFieldsHasAnUnknownOne(t *testing.T) {
	var b strings.Builder
	for i := range 400 {
		b.WriteString(`"f` + strconv.Itoa(i) + `":1,`)
	}
	f := open(t, `{`+b.String()+`"subject":"X:1"}`)
	if f.Required("subject") != "X:1" || f.Done() == nil {
		t.Error("an unknown field among many was not refused")
	}
}

// An integer is one however it is written; nothing else is.
func TestWholeNumbers(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "-0": 0, "20": 20, "20.0": 20, "2e1": 20, "2.50E1": 25, "-3.000": -3, "9007199254740993": 9007199254740993, "9223372036854775807": 1<<63 - 1, "9007199254740991.0": 1<<53 - 1,
	} {
		f := open(t, `{"n":`+text+`}`)
		if n, ok := f.Integer("n", -1<<63, 1<<63-1); !ok || n != want || f.Done() != nil {
			t.Errorf("%s is %d, %v, %v", text, n, ok, f.Done())
		}
	}
	for _, text := range []string{"20.5", "1e-1", "9007199254740993.0", "1e300", "1e999", "99999999999999999999", `"20"`, "true", "[20]"} {
		f := open(t, `{"n":`+text+`}`)
		if n, ok := f.Integer("n", -1<<63, 1<<63-1); ok || f.Done() == nil {
			t.Errorf("%s is %d", text, n)
		}
	}
}

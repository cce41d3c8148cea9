package jsonx_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

func TestParseRefuses(t *testing.T) {
	tests := []struct {
		name, text, message, field string
	}{
		{"empty", "", "the text is empty", ""},
		{"only space", " \n", "the text is empty", ""},
		{"twice", `{"subject":"X:1","subject":"X:2"}`, "the field occurs twice", "subject"},
		{"twice by escape", `{"subject":"X:1","sub\u006aect":"X:2"}`, "the field occurs twice", "subject"},
		{"twice, deep", `{"asserts":[{"p":1},{"properties":{"a":{"b":1,"b":2}}}]}`, "the field occurs twice", "asserts[1].properties.a.b"},
		{"lone surrogate", `{"a":"\ud800"}`, "half of a surrogate pair", "a"},
		{"lone low surrogate", `"\udc00"`, "half of a surrogate pair", ""},
		{"two high surrogates", `"\ud800\ud800"`, "half of a surrogate pair", ""},
		{"invalid utf-8", "\"\xff\"", "not valid UTF-8", ""},
		{"surrogate in utf-8", "\"\xed\xa0\x80\"", "not valid UTF-8", ""},
		{"control character", "\"a\nb\"", "control character", ""},
		{"bad escape", `"\x41"`, "no such escape", ""},
		{"short escape", `"\u12"`, "four hex digits", ""},
		{"trailing", `{} {}`, "something follows", ""},
		{"trailing comma", `[1,]`, "no value begins", "[1]"},
		{"two commas", `{"a":1,,"b":2}`, "name is missing", ""},
		{"no colon", `{"a" 1}`, "colon", ""},
		{"cut off", `{"a":[1,2`, "ends inside an array", "a"},
		{"cut in a string", `{"a":"b`, "ends inside a string", "a"},
		{"NaN", `{"confidence":NaN}`, "no value begins", "confidence"},
		{"Infinity", `[-Infinity]`, "without digits", "[0]"},
		{"leading zero", `01`, "leading zero", ""},
		{"plus", `+1`, "no value begins", ""},
		{"bare point", `1.`, "after its point", ""},
		{"bare exponent", `1e`, "exponent", ""},
		{"single quotes", `{'a':1}`, "name is missing", ""},
		{"comment", `{}//x`, "something follows", ""},
		{"UTF-16", "\xff\xfe{\x00}\x00", "not valid UTF-8", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := jsonx.Parse([]byte(tt.text))
			if fact.CodeOf(err) != fact.SchemaInvalid {
				t.Fatalf("Parse(%q) = %v, want SchemaInvalid", tt.text, err)
			}
			if !strings.Contains(err.Error(), tt.message) {
				t.Errorf("message %q lacks %q", err, tt.message)
			}
			if got := err.(*fact.Error).Field; got != tt.field {
				t.Errorf("field %q, want %q", got, tt.field)
			}
		})
	}
}

func TestParseKeepsWhatWasWritten(t *testing.T) {
	v, err := jsonx.Parse([]byte("\ufeff { \"n\" : 9007199254740993 , \"d\":1.10,\"e\":[ ], \"s\":\"\\ud83d\\ude00 \\u00e9\\/\\n\", \"z\":null,\"t\":true}\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"n": "9007199254740993", "d": "1.10", "e": "[ ]", "z": "null", "t": "true"} {
		if got, _ := v.Field(name); got.Raw != want {
			t.Errorf("%s is %q, want %q", name, got.Raw, want)
		}
	}
	if s, _ := v.Field("s"); s.Text != "😀 é/\n" {
		t.Errorf("s is %q", s.Text)
	}
	if _, ok := v.Field("N"); ok {
		t.Error("a name matched in another case")
	}
}

// ING-05: nesting deeper than the limit is an answer, not the end of the process.
func TestING05DeepNesting(t *testing.T) {
	for _, depth := range []int{64, 65, 100, 10_000, 200_000, 5_000_000} {
		_, err := jsonx.Parse([]byte(strings.Repeat("[", depth) + strings.Repeat("]", depth)))
		if (err == nil) != (depth <= jsonx.MaxDepth) {
			t.Errorf("depth %d: %v", depth, err)
		}
	}
	if _, err := jsonx.Parse([]byte(strings.Repeat(`{"a":`, 200_000))); fact.CodeOf(err) != fact.SchemaInvalid {
		t.Errorf("objects: %v", err)
	}
}

func TestParseBoundsTheNumberOfValues(t *testing.T) {
	text := "[" + strings.Repeat("0,", jsonx.MaxValues) + "0]"
	if _, err := jsonx.Parse([]byte(text)); fact.CodeOf(err) != fact.TooLarge {
		t.Errorf("got %v, want TooLarge", err)
	}
}

func TestParseManyFields(t *testing.T) {
	var b strings.Builder
	b.WriteByte('{')
	for i := range 5_000 {
		b.WriteString(`"f` + jsonx.Index("", i) + `":1,`)
	}
	if _, err := jsonx.Parse([]byte(b.String() + `"last":1}`)); err != nil {
		t.Fatal(err)
	}
	_, err := jsonx.Parse([]byte(b.String() + `"f[4000]":1}`))
	if err == nil || err.(*fact.Error).Field != "f[4000]" {
		t.Errorf("a late double was not named: %v", err)
	}
}

// FuzzParse compares with the standard library: what we accept it accepts too,
// and what it accepts we refuse only for a stated rule.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"subject":"Person:alice","predicate":"works_at","object":"Company:acme","confidence":0.95}`,
		`{"a":[1,2.50,-3e-7,"x\u00e9\ud83d\ude00",null,true,{"b":{}}]}`, `"\ud800"`, "\ufeff[]", `{"a":1,"a":2}`,
		`[[[[]]]]`, `1e400`, `-0`, `{"":""}`, "\"\xff\"", `{"a":`, ` `,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := jsonx.Parse(data)
		body := bytes.TrimPrefix(data, []byte("\ufeff"))
		if err != nil {
			if fact.CodeOf(err) == "" {
				t.Fatalf("an error without a code: %v", err)
			}
			stated := false
			for _, rule := range []string{"twice", "surrogate", "UTF-8", "nesting", "more than"} {
				stated = stated || strings.Contains(err.Error(), rule)
			}
			if json.Valid(body) && !stated {
				t.Fatalf("refused what is valid: %v", err)
			}
			return
		}
		if !json.Valid(body) {
			t.Fatal("accepted what is not JSON")
		}
		out, err := jsonx.Compact(nil, v, "")
		if err != nil {
			return // a number that no double holds
		}
		again, err := jsonx.Parse(out)
		if err != nil {
			t.Fatalf("cannot read back %q: %v", out, err)
		}
		twice, _ := jsonx.Compact(nil, again, "")
		if !bytes.Equal(out, twice) {
			t.Fatalf("not stable: %q then %q", out, twice)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	body := []byte(`{"subject":"Person:alice","predicate":"works_at","object":"Company:acme","confidence":0.95,"source":"hr-system","valid_from":1718000000000}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := jsonx.Parse(body); err != nil {
			b.Fatal(err)
		}
	}
}

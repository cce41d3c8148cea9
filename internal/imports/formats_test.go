package imports_test

import (
	"strings"
	"testing"
	"unicode/utf16"

	"abagraph/fact"
	"abagraph/internal/imports"
)

// TestING_02_JSONLinesAsToolsWriteThem: every good record lands, every bad one
// is named by its line, and the counts add up.
func TestING_02_JSONLinesAsToolsWriteThem(t *testing.T) {
	row := func(subject string) string {
		return `{"subject":"` + subject + `","predicate":"p","object":"o"}`
	}
	long := func(n int) string {
		return `{"subject":"long","predicate":"p","object":"` + strings.Repeat("x", n) + `"}`
	}
	for name, c := range map[string]struct {
		text    string
		written int
		refused []string
	}{
		"byte-order mark":      {"\ufeff" + row("a") + "\n", 1, nil},
		"CRLF":                 {row("a") + "\r\n" + row("b") + "\r\n", 2, nil},
		"no final line end":    {row("a") + "\n" + row("b"), 2, nil},
		"blank lines":          {"\n\n" + row("a") + "\n  \t\n\n" + row("b") + "\n\n", 2, nil},
		"a line of 70 KB":      {long(70_000) + "\n" + row("b"), 2, nil},
		"a line of 5 MB":       {long(5_000_000) + "\n" + row("b"), 2, nil},
		"a line of 20 MB":      {row("a") + "\n" + long(20_000_000) + "\n" + row("b"), 2, []string{"row 2: it is longer than 16 MiB"}},
		"two values in a line": {row("a") + " " + row("b") + "\n" + row("c"), 3, nil},
		"line 3 of 5 broken": {strings.Join([]string{row("a"), row("b"), `{"subject":`, row("d"), row("e")}, "\n"), 4,
			[]string{"row 3: it is not valid JSON: it breaks off"}},
		"array over lines":      {"[\n  " + row("a") + ",\n  " + row("b") + "\n]\n", 2, nil},
		"array that breaks off": {"[\n  " + row("a") + ",\n  " + row("b") + "\n", 2, []string{"the JSON array breaks here"}},
		"something after array": {"[" + row("a") + "]\nx", 1, []string{"row 1: something follows the end"}},
		"empty file":            {"", 0, nil},
		"empty array":           {"[]", 0, nil},
		"null":                  {"null", 0, []string{"row 1: it is no JSON object"}},
		"a number":              {"42\n" + row("a"), 1, []string{"row 1: it is no JSON object"}},
		"the same key twice":    {`{"subject":"a","subject":"b","predicate":"p","object":1}`, 0, []string{"row 1: it is not valid JSON"}},
		"a misspelt field":      {`{"subject":"a","predicate":"p","object":1,"valid_form":"2020-01-01"}`, 0, []string{`there is no field "valid_form"`}},
		"another case":          {`{"Subject":"a","predicate":"p","object":1}`, 0, []string{`there is no field "Subject"`}},
		"a lone surrogate":      {`{"subject":"\ud800","predicate":"p","object":1}`, 0, []string{"row 1: it is not valid JSON"}},
		"deep nesting":          {`{"subject":"a","predicate":"p","object":1,"properties":` + strings.Repeat("[", 100_000), 0, []string{"row 1: it is not valid JSON"}},
		"confidence as text":    {`{"subject":"a","predicate":"p","object":1,"confidence":"0.9"}`, 0, []string{"confidence must be a number"}},
		"an array as object":    {`{"subject":"a","predicate":"p","object":[1]}`, 0, []string{"object must be text"}},
		"an empty date":         {`{"subject":"a","predicate":"p","object":1,"valid_from":""}`, 0, []string{"valid_from is not a time"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore()
			report, notes, err := run(t, s, file(t, "f.jsonl", c.text), imports.Options{Format: imports.JSONLines}, imports.Config{})
			must(t, report, notes, err)
			if report.Written != c.written || len(notes) != len(c.refused) || report.Refused != len(c.refused) {
				t.Errorf("wrote %d, refused %q", report.Written, notes)
			}
			for _, want := range c.refused {
				if !contains(notes, want) {
					t.Errorf("refused %q, want %q", notes, want)
				}
			}
		})
	}
}

func TestFilesOfAnotherKindAreRefusedClearly(t *testing.T) {
	wide := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(`{"subject":"a"}`)) {
		wide = append(wide, byte(unit), byte(unit>>8))
	}
	for name, c := range map[string]struct{ text, want string }{
		"UTF-16":              {string(wide), "is UTF-16"},
		"UTF-16 without mark": {string(wide[2:]), "is UTF-16"},
		"gzip":                {"\x1f\x8b\x08\x00", "is packed by gzip"},
		"zero bytes":          {"a,b\n\x00\x00\x00", "not a text file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := run(t, newStore(), file(t, "f.jsonl", c.text), imports.Options{Format: imports.JSONLines}, imports.Config{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Lines that end in a carriage return alone, as some spreadsheets write them, would all be
// the header.
func TestCSVOfCarriageReturnsIsRefused(t *testing.T) {
	_, _, err := run(t, newStore(), file(t, "f.csv", "subject,predicate,object\ra,p,1\rb,p,2\r"), imports.Options{Format: imports.CSV}, imports.Config{})
	if err == nil || err.Error() != `the lines of the CSV file end in a carriage return alone: convert it first, as with tr '\r' '\n'` {
		t.Errorf("got %v", err)
	}
}

func TestCSV(t *testing.T) {
	text := "\ufeffName;predicate;object;valid_from;confidence;properties;note\r\n" +
		"a;p;\"two\r\nlines; and \"\"quotes\"\"\";2020-01-01;0.9;\"{\"\"k\"\":1}\";x\r\n" +
		"\r\n" +
		"b;p;;;;;\r\n" +
		"c;p;12345678901234567890;;;;\r\n" +
		"d;p\r\n" +
		"e;p;\"never closed;;;;\r\n" +
		"f;p;true;;high;;\r\n" +
		"g;p;last;;;;"
	s := newStore()
	o := imports.Options{Format: imports.CSV, Delimiter: ';', Typed: true, Map: map[string]string{"Name": "subject", "note": ""}}
	report, notes, err := run(t, s, file(t, "f.csv", text), o, imports.Config{})
	must(t, report, notes, err)
	if report.Rows != 7 || report.Written != 4 {
		t.Errorf("counted %+v", report)
	}
	for _, want := range []string{"row 7: it has 2 cells, the header has 7", "row 8: a quote is opened", "row 9: confidence is not valid JSON"} {
		if !contains(notes, want) {
			t.Errorf("refused %q, want %q", notes, want)
		}
	}
	a := s.asserts[0]
	if a.Subject != "a" || a.Object.Text != "two\nlines; and \"quotes\"" || a.ValidFrom != "2020-01-01" || *a.Confidence != 0.9 || string(a.Properties) != `{"k":1}` {
		t.Errorf("read %+v", a)
	}
	if b := s.asserts[1]; b.Object.Kind != fact.Text || b.Object.Text != "" || b.Confidence != nil {
		t.Errorf("read %+v", b)
	}
	if c := s.asserts[2]; c.Object.Kind != fact.Number || c.Object.Text != "12345678901234567890" {
		t.Errorf("read %+v", c)
	}
}

// Two fields may be read as one, where a row has one of them.
func TestTwoFieldsOfOneName(t *testing.T) {
	two := map[string]string{"Name": "subject", "Book": "source", "Page": "source"}
	for name, text := range map[string]string{
		"f.csv":   "Name,predicate,object,Book,Page\na,p,1,x,\nb,p,1,,y\nc,p,1,x,y\n",
		"f.jsonl": `{"Name":"a","predicate":"p","Book":"x"}` + "\n" + `{"Name":"b","predicate":"p","Page":"y"}` + "\n" + `{"Name":"c","predicate":"p","Book":"x","Page":"y"}` + "\n",
	} {
		format, err := imports.FormatOf(name)
		if err != nil {
			t.Fatal(err)
		}
		report, notes, err := run(t, newStore(), file(t, name, text), imports.Options{Format: format, Map: two}, imports.Config{})
		if must(t, report, nil, err); report.Written != 2 || len(notes) != 1 || !strings.Contains(notes[0], "two of its fields are the source") {
			t.Errorf("%s: %+v, %+v", name, report, notes)
		}
	}
}

func TestCSVHeaderIsJudgedBeforeAnyRow(t *testing.T) {
	for text, want := range map[string]string{
		"subject,predicate\na,b\n":                "no column \"object\"",
		"subject,predicate,object,colour\n":       "no field \"colour\"",
		"subject,predicate,object,subject\n":      "twice",
		"subject,predicate,\"object\na,b,c,d\n,,": "a quote is opened",
	} {
		s := newStore()
		_, _, err := run(t, s, file(t, "f.csv", text), imports.Options{Format: imports.CSV}, imports.Config{})
		if err == nil || !strings.Contains(err.Error(), want) || s.calls > 0 {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	report, notes, err := run(t, newStore(), file(t, "f.csv", ""), imports.Options{Format: imports.CSV}, imports.Config{})
	if must(t, report, notes, err); report.Rows != 0 {
		t.Errorf("an empty file has %d rows", report.Rows)
	}
}

func TestTriples(t *testing.T) {
	text := `# a comment
<http://ex.org/alice> <http://ex.org/knows> <http://ex.org/bob> .
<http://ex.org/alice> <http://ex.org/name> "Al\u00efce \"A\"\n"@fr . # said
_:b1 <http://ex.org/age> "42"^^<http://www.w3.org/2001/XMLSchema#integer> <http://ex.org/graph> .
_:b1 <http://ex.org/ok> "true"^^<http://www.w3.org/2001/XMLSchema#boolean>.
_:b1 <http://ex.org/born> "1999-01-01"^^<http://www.w3.org/2001/XMLSchema#date> .

<http://ex.org/alice> "literal" <http://ex.org/bob> .
<relative> <http://ex.org/p> "x" .
<http://ex.org/a> <http://ex.org/p> "x"
<http://ex.org/a> <http://ex.org/p> "x" . y
<< <http://a> <http://b> <http://c> >> <http://ex.org/p> "x" .
<http://ex.org/a> <http://ex.org/p> "\ud800" .
`
	s := newStore()
	o := imports.Options{Format: imports.NTriples, Prefixes: map[string]string{"ex": "http://ex.org/", "all": "http://"}}
	report, notes, err := run(t, s, file(t, "f.nq", text), o, imports.Config{})
	must(t, report, notes, err)
	if report.Rows != 11 || report.Written != 5 || report.Refused != 6 {
		t.Errorf("counted %+v: %q", report, notes)
	}
	for _, want := range []string{"row 8: the predicate must not be a literal", "row 9: the subject is not an absolute IRI", "row 10: the full stop",
		"row 11: something follows", "row 12: the subject is a quoted triple", "row 13: the object: "} {
		if !contains(notes, want) {
			t.Errorf("refused %q, want %q", notes, want)
		}
	}
	knows, name, age, ok, born := s.asserts[0], s.asserts[1], s.asserts[2], s.asserts[3], s.asserts[4]
	if knows.Subject != "ex:alice" || knows.Predicate != "ex:knows" || knows.Object.Text != "ex:bob" || knows.Policy != "coexist" {
		t.Errorf("read %+v", knows)
	}
	if name.Object.Text != "Alïce \"A\"\n" || string(name.Properties) != `{"lang":"fr"}` {
		t.Errorf("read %+v", name)
	}
	if age.Subject != "_:b1" || age.Object.Kind != fact.Number || age.Source == nil || *age.Source != "ex:graph" {
		t.Errorf("read %+v", age)
	}
	if !ok.Object.Bool || born.Object.Kind != fact.Text || !strings.Contains(string(born.Properties), "XMLSchema#date") {
		t.Errorf("read %+v %+v", ok, born)
	}
}

func TestExportedFactsAreReadBack(t *testing.T) {
	text := `{"id":"1","subject":"a","predicate":"p","object":{"hash":"` + strings.Repeat("ab", 32) + `","size":1},"valid_from":1,"valid_until":null,"recorded_at":5,` +
		`"confidence":0.8,"source":null,"properties":{"k":[1]},"status":"active","tenant":"t","transient":false,"tx":3,"policy":"coexist","stated_from":1,` +
		`"stated_until":null,"dated":true,"continues":null,"superseded_by":null,"declared_known_at":null}` + "\n" +
		`{"subject":"a","predicate":"p","object":"gone","valid_from":1,"valid_until":2,"status":"retracted"}` + "\n" +
		`{"subject":"a","predicate":"p","object":"nowhere","valid_from":1,"valid_until":1,"status":"superseded"}` + "\n"
	s := newStore()
	report, notes, err := run(t, s, file(t, "f.jsonl", text), imports.Options{Format: imports.JSONLines}, imports.Config{})
	must(t, report, notes, err)
	if report.Written != 1 || report.Skipped != 2 || len(notes) != 2 {
		t.Errorf("counted %+v, %q", report, notes)
	}
	if a := s.asserts[0]; a.ValidFrom != "1" || a.ValidUntil != "" || a.Object.Kind != fact.Blob || a.Source != nil || a.Policy != "coexist" {
		t.Errorf("read %+v", a)
	}
}

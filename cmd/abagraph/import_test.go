package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"abagraph/client"
)

func TestImportReportsEachRefusedLine(t *testing.T) {
	r := serving(t, "")
	path := r.file("rows.jsonl", `{"subject":"a","predicate":"p","object":"1"}
{"subject":" a","predicate":"p","object":"2"}
not json
{"subject":"b","predicate":"p","object":"3","confidence":7}
{"subject":"b","predicate":"p","object":"4","valid_from":"2021-01-01","valid_until":"2020-01-01"}

{"subject":"b","predicate":"p","object":"5","valid_from":"soon"}
{"subject":"b","predicate":"p","object":"6","policy":"perhaps"}
{"subject":"b","predicate":"p","object":"7"}
`)
	code, out, errs := r.run("import", path)
	var got struct{ Rows, Written, Refused int }
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 1 || got.Rows != 8 || got.Written != 2 || got.Refused != 6 {
		t.Errorf("exit %d, %+v, %v", code, got, err)
	}
	for _, want := range []string{"line 2: refused: SchemaInvalid: subject begins or ends with white space", "line 3: refused: it is not valid JSON",
		"line 4: refused: SchemaInvalid: confidence", "line 5: refused: SchemaInvalid: valid_from must be before valid_until",
		"line 7: refused: SchemaInvalid: valid_from is not a time", "line 8: refused: SchemaInvalid: policy has no such value", "6 of 8 rows were refused"} {
		if !strings.Contains(errs, want) {
			t.Errorf("%q is not in\n%s", want, errs)
		}
	}
	files, err := filepath.Glob(path + ".*.import")
	if err != nil || len(files) != 1 {
		t.Errorf("state files: %v, %v", files, err)
	}
	code, out, errs = r.run("import", path)
	if code != 1 || !strings.Contains(errs, "was imported before") || !strings.Contains(out, `"written": 2`) {
		t.Errorf("a second import: exit %d, %s %s", code, out, errs)
	}
	if got := r.objects("--status", "all"); got != `"7" "1"` && got != `"1" "7"` {
		t.Errorf("the store holds %s", got)
	}
}

func TestImportFromStandardInput(t *testing.T) {
	r := serving(t, "")
	r.in = `{"subject":"a","predicate":"p","object":"1"}`
	if got := r.fails("import", "-"); !strings.Contains(got, "give --format") {
		t.Errorf("said %q", got)
	}
	if got := r.object("import", "-", "--format", "jsonl"); got["written"] != 1.0 {
		t.Errorf("imported %v", got)
	}
	r.in = ""
	if got := r.object("import", "-", "--format", "csv"); got["rows"] != 0.0 {
		t.Errorf("imported %v", got)
	}
	r.in = "subject\tpredicate\tobject\na\tq\t1\n"
	if got := r.object("import", "-", "--format", "tsv", "--typed"); got["written"] != 1.0 {
		t.Errorf("imported %v", got)
	}
	if got := r.objects("--subject", "a", "--predicate", "q"); got != "1" {
		t.Errorf("read %s", got)
	}
}

func TestImportRefusesWhatItCannotDo(t *testing.T) {
	r := serving(t, "")
	path := r.file("rows.jsonl", `{"subject":"a","predicate":"p","object":"1"}`)
	table := r.file("rows.csv", "subject,predicate,object\na,p,1\n")
	triples := r.file("rows.nt", "<http://a/s> <http://a/p> <http://a/o> .\n")
	for want, args := range map[string][]string{
		"needs a --reason":               {path, "--known-at", "k"},
		"needs --known-at":               {path, "--retracted-at", "k"},
		"cannot be told from its name":   {r.file("rows.dat", "")},
		"no such file":                   {r.home + "/none.jsonl"},
		"is a directory":                 {r.home, "--format", "jsonl"},
		"must be NAME=VALUE":             {path, "--map", "x"},
		"holds 1 to 10000 rows":          {path, "--batch", "0"},
		"has no such value":              {path, "--policy", "x"},
		"must be 1 to 64":                {path, "--in-flight", "0"},
		"must be one character":          {path, "--delimiter", "ab"},
		"is UTF-16":                      {r.file("wide.jsonl", "\xff\xfe{\x00")},
		"connection refused":             {path, "--url", "http://127.0.0.1:1"},
		"is not a state file":            {path, "--state", r.file("other", "x\n")},
		"NotFound: no branch: none":      {path, "--branch", "none"},
		"there is no format":             {path, "--format", "xml"},
		"the CSV header (a, b) has no c": {r.file("x.csv", "a,b\n"), "--map", "a=subject", "--map", "b=predicate"},
		// What a flag speaks of is not there, or it speaks of another format.
		`has no column "Object"`:             {table, "--map", "Object=source"},
		`has no column "known"`:              {table, "--known-at", "known", "--reason", "r"},
		`has no column "taken"`:              {table, "--known-at", "subject", "--retracted-at", "taken", "--reason", "r"},
		`two things of "a": "x" and "y"`:     {table, "--map", "a=x", "--map", "a=y"},
		"--delimiter belongs to CSV":         {path, "--delimiter", ";"},
		"--typed belongs to CSV":             {path, "--typed"},
		"--prefix belongs to N-Triples":      {path, "--prefix", "a=http://a/"},
		"--map belongs to JSON Lines":        {triples, "--map", "a=b"},
		"--known-at belongs to JSON Lines":   {triples, "--known-at", "k", "--reason", "r"},
		"names http://a/ twice: a and b":     {triples, "--prefix", "b=http://a/", "--prefix", "a=http://a/"},
		`says two things of "a": "http://a/`: {triples, "--prefix", "a=http://a/", "--prefix", "a=http://b/"},
	} {
		if got := r.fails(append([]string{"import"}, args...)...); !strings.Contains(got, want) {
			t.Errorf("import %s said %q, want %q", strings.Join(args, " "), got, want)
		}
	}
	if got := r.objects("--status", "all"); got != "" {
		t.Errorf("something was written: %s", got)
	}
}

// TestImportOfASecondStoreBeginsAnew: what one store was told is not known to
// another, though file and command are the same.
func TestImportOfASecondStoreBeginsAnew(t *testing.T) {
	first, second := serving(t, ""), serving(t, "")
	path := first.file("rows.jsonl", `{"subject":"a","predicate":"p","object":"1"}`)
	first.node.Advance(time.Second) // two stores begun at one time have one epoch
	for _, r := range []*rig{first, second} {
		r.ok("assert", "x", "y", "z")
		if got := r.object("import", path); got["written"] != 1.0 {
			t.Errorf("imported %v", got)
		}
	}
}

func TestExportIsImportedAgain(t *testing.T) {
	from, to := serving(t, ""), serving(t, "")
	importExamples(from)
	path := filepath.Join(from.home, "facts.jsonl")
	from.ok("export", "--all", "-o", path)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Count(string(text), "\n")
	if stats := from.object("stats")["facts"].(map[string]any); fmt.Sprint(rows) != fmt.Sprint(stats["total"]) {
		t.Errorf("%d rows of %v facts", rows, stats["total"])
	}
	got := to.object("import", path, "--policy", "coexist")
	if got["refused"] != 0.0 || got["written"].(float64)+got["skipped"].(float64) != float64(rows) {
		t.Errorf("imported %v", got)
	}
	for _, args := range []string{
		"--subject Person:mara --predicate title --as-of 2021-02-01", "--subject Product:fjord --predicate price_eur", "--subject Person:ada",
		"--subject Product:fjord --predicate payload_kg --as-of 2021-12-01", "--status candidate", "--subject Company:nordlicht --as-of 2022-01-01",
	} {
		a, b := sorted(from.objects(strings.Fields(args)...)), sorted(to.objects(strings.Fields(args)...))
		if a != b {
			t.Errorf("%s: %s became %s", args, a, b)
		}
	}
	if out := from.ok("export", "--tx", "0"); out != "" {
		t.Errorf("the empty store exported %q", out)
	}
	if got := from.fails("export", "--tx", "99999"); !strings.HasPrefix(got, "SchemaInvalid: tx is above the current tx") {
		t.Errorf("a later tx: said %q", got) // the code comes first, as in every command
	}
	at := fmt.Sprint(from.object("assert", "Person:late", "is", "new")["tx"])
	if out := from.ok("export", "--all", "--after-tx", at); out != "" {
		t.Errorf("after tx %s it exported %q", at, out)
	}
	from.ok("assert", "Person:later", "is", "newer")
	if out := from.ok("export", "--all", "--after-tx", at); strings.Count(out, "\n") != 1 || !strings.Contains(out, "Person:later") {
		t.Errorf("after tx %s it exported %q", at, out)
	}
	if out := to.ok("export", "--subject", "Person:ada"); strings.Count(out, "\n") != 2 {
		t.Errorf("one subject exported %q", out)
	}
}

func sorted(text string) string {
	return strings.Join(sortedKeys(set(strings.Fields(text))), " ")
}

func TestBar(t *testing.T) {
	for want, got := range map[string]string{
		"[==============================          ]  75%  75/100  50/s  1s left": barText(75, 100, 50, time.Second, 100),
		"[                                        ]   0%  0/100":                 barText(0, 100, 0, time.Second, 100),
		"[=====] 100%  5/5  5/s  0s left":                                        barText(5, 5, 5, time.Second, 10),
		"[=====] 100%  0/0":                                                      barText(0, 0, 0, 0, 10),
	} {
		if got != want {
			t.Errorf("drew %q, want %q", got, want)
		}
	}
	r := serving(t, "")
	r.terminal = true
	_, out, errs := r.run("import", r.file("rows.jsonl", `{"subject":"a","predicate":"p","object":"1"}`+"\n"+`{`))
	if !strings.Contains(errs, "\r\x1b[K[===") || !strings.Contains(errs, "left\r\x1b[K") || !strings.Contains(out, "stood already") {
		t.Errorf("a terminal saw %q and %q", errs, out)
	}
}

// TestExportBesideWrites: what is written meanwhile is not in it, and nothing
// is in it twice.
func TestExportBesideWrites(t *testing.T) {
	r := serving(t, "")
	importExamples(r)
	want := r.ok("export", "--all")
	c, err := client.New(r.url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	stats, err := c.Stats(t.Context(), client.Read{})
	if err != nil {
		t.Fatal(err)
	}
	e := &exporter{client: c, query: client.FactQuery{Status: "all", Read: client.Read{Tx: fmt.Sprint(stats.Tx)}}}
	var got strings.Builder
	e.query.Limit = 10
	for {
		page, err := e.page(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Facts) == 0 {
			break
		}
		for i := range page.Facts {
			got.WriteString(string(page.Facts[i].Raw) + "\n")
			e.after = max(e.after, page.Facts[i].Tx)
		}
		assert(t, c, "Person:mara", "title", fmt.Sprint("title ", got.Len())) // touches a row that was or will be read
	}
	if got.String() != want {
		t.Errorf("beside writes it exported\n%s\nwant\n%s", got.String(), want)
	}
}

// TestImportOfPersonalData: rows that are one fact once they are masked are written,
// and told, as such.
func TestImportOfPersonalData(t *testing.T) {
	r := serving(t, "")
	path := r.file("rows.jsonl", `{"subject":"Person:a","predicate":"mail","object":"a@example.com"}
{"subject":"Person:a","predicate":"mail","object":"b@example.com"}
{"subject":"Person:b","predicate":"phone","object":"+44 20 7946 0958","policy":"coexist"}
{"subject":"Person:b","predicate":"phone","object":"(202) 555-0143","policy":"coexist"}
{"subject":"desk of c@example.com","predicate":"floor","object":3,"source":"c@example.com"}
{"subject":"desk of d@example.com","predicate":"floor","object":3,"source":"c@example.com"}
`)
	got := r.object("import", path)
	if got["rows"] != 6.0 || got["written"] != 3.0 || got["duplicates"] != 3.0 {
		t.Errorf("the report: %v", got)
	}
	if all := r.ok("query", "--status", "all"); strings.Contains(all, "example.com") || strings.Contains(all, "555-0143") || strings.Count(all, "[REDACTED]") != 3 {
		t.Errorf("the store holds %s", all)
	}
}

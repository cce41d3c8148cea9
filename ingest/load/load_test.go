package load_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/ingest/load"
)

func read(t *testing.T, kind, text string) *load.Document {
	t.Helper()
	d, err := load.Text(kind, text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func shown(d *load.Document) string {
	var lines []string
	for _, b := range d.Blocks {
		lines = append(lines, b.Path+" | "+strings.ReplaceAll(b.Text, "\n", "⏎"))
	}
	return strings.Join(lines, "\n")
}

func TestMarkdownKeepsItsStructure(t *testing.T) {
	d := read(t, load.Markdown, "\ufeff---\ntitle: \"The plan\"\ndate: 2024-06-01\n---\n# Plan\r\n\r\nOne.\r\ntwo.\r\n\r\n## Later ##\n- a\n- b\n\n```sh\n# no heading\n\nmore\n```\n# Other\nEnd.\n#nothing\n")
	want := "Plan | One.⏎two.\nPlan › Later | - a⏎- b\nPlan › Later | ```sh⏎# no heading⏎⏎more⏎```\nOther | End.⏎#nothing"
	if got := shown(d); got != want || d.Title != "The plan" || d.Written != 1717200000000 {
		t.Errorf("%q\n%s", d.Title, got)
	}
}

func TestHTMLSaysWhatAReaderSees(t *testing.T) {
	d := read(t, load.HTML, `<!doctype html><html><head><title>Acme  &amp; Co</title><meta property="article:published_time" content="2024-06-01T10:00:00Z"><style>p{}</style>
<script>var x = "<p>never</p>"</script></head><body><nav><ul><li>Home<li>About</ul></nav><h1>Who <em>we</em> are</h1><p>We sell
<b>RevOps</b> tools.<br>Since 2019.</p><h2>Team</h2><table><tr><th>Name<th>Role<tr><td>Sarah<td>VP</table><pre>a
  b</pre><noscript>hidden</noscript><p>Unclosed<div>next</div><footer>© 2024</footer><svg><text>icon</text></svg></body></html>`)
	want := "Who we are | We sell RevOps tools.⏎Since 2019.\nWho we are › Team | -  | Name | Role⏎-  | Sarah | VP\nWho we are › Team | a⏎  b\nWho we are › Team | Unclosed\nWho we are › Team | next"
	if got := shown(d); got != want || d.Title != "Acme & Co" || d.Written != 1717236000000 {
		t.Errorf("%q %d\n%s", d.Title, d.Written, got)
	}
}

func TestTablesCalendarsAndCards(t *testing.T) {
	d := read(t, load.CSV, "name;city\n\"Lee; Sarah\";Berlin\n\nBob;\nAnn;Paris;extra\n")
	if got := shown(d); got != "rows of a table | row 2: name = Lee; Sarah; city = Berlin\nrows of a table | row 4: name = Bob\nrows of a table | row 5: name = Ann; city = Paris; extra" {
		t.Errorf("%s", got)
	}
	d = read(t, load.Calendar, "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nSUMMARY:Board mee\r\n ting\\, Q3\r\nDTSTART:20240601T090000Z\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nSUMMARY:Lunch\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
	if got := shown(d); !strings.Contains(got, "SUMMARY:Board meeting, Q3⏎DTSTART:20240601T090000Z") || len(d.Blocks) != 3 {
		t.Errorf("%s", got)
	}
}

// pdfOf writes the smallest PDF that shows a line.
func pdfOf(line string) string {
	stream := "BT /F1 12 Tf 72 720 Td (" + line + ") Tj ET"
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		"<< /Length " + itoa(len(stream)) + " >>\nstream\n" + stream + "\nendstream", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
	}
	var b strings.Builder
	b.WriteString("%PDF-1.4\n")
	var at []int
	for i, o := range objects {
		at = append(at, b.Len())
		b.WriteString(itoa(i+1) + " 0 obj\n" + o + "\nendobj\n")
	}
	start := b.Len()
	b.WriteString("xref\n0 6\n0000000000 65535 f \n")
	for _, n := range at {
		b.WriteString(strings.Repeat("0", 10-len(itoa(n))) + itoa(n) + " 00000 n \n")
	}
	b.WriteString("trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n" + itoa(start) + "\n%%EOF\n")
	return b.String()
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

func TestPDF(t *testing.T) {
	d := read(t, load.PDF, base64.StdEncoding.EncodeToString([]byte(pdfOf("Sarah leads Atlas."))))
	if got := shown(d); !strings.Contains(got, "page 1 | Sarah leads Atlas.") {
		t.Errorf("%q", got)
	}
	whole := pdfOf("Sarah leads Atlas.")
	for _, bad := range []string{"", "no", "%PDF-1.4", whole[:200], strings.Replace(whole, "/Kids [3 0 R]", "/Kids [2 0 R]", 1), strings.Replace(whole, "startxref\n", "startxref\n9", 1)} {
		if _, err := load.Text(load.PDF, base64.StdEncoding.EncodeToString([]byte(bad))); err != nil && fact.CodeOf(err) != fact.SchemaInvalid {
			t.Errorf("%.20q: %v", bad, err)
		}
	}
}

func TestKinds(t *testing.T) {
	for text, want := range map[string]string{"text/HTML; charset=utf-8": load.HTML, "text/markdown": load.Markdown, "application/jsonl": load.JSONL, "text/plain": load.Plain} {
		if got, err := load.KindOf("content_type", text); err != nil || got != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	if _, err := load.KindOf("content_type", "image/png"); fact.CodeOf(err) != fact.SchemaInvalid {
		t.Errorf("a picture: %v", err)
	}
}

// TestChunksHoldTheWholeText cuts texts of every kind: nothing is lost, no chunk is
// too long, no character is broken.
func TestChunksHoldTheWholeText(t *testing.T) {
	for name, text := range map[string]string{
		"paragraphs":  strings.Repeat("A sentence of some words. And another one.\n\n", 900),
		"one line":    strings.Repeat("word ", 9_000),
		"no spaces":   strings.Repeat("x", 20_000),
		"no latin":    strings.Repeat("配備は三月に行われました。", 3_000),
		"emoji":       strings.Repeat("👩‍👩‍👧", 3_000),
		"many titles": strings.Repeat("# A\n\nb\n\n## C\n\nd\n\n", 800),
		"tiny":        "x", "nothing": " \n\n ",
	} {
		d := read(t, load.Markdown, text)
		all := ""
		for i, c := range d.Chunks() {
			if c.N != i+1 || len(c.Text) > load.ChunkBytes || strings.TrimSpace(c.Text) == "" || !strings.ContainsAny(c.Text, "\ufffd") != strings.EqualFold(strings.ToValidUTF8(c.Text, "\ufffd"), c.Text) {
				t.Fatalf("%s: chunk %d of %d bytes is %.60q", name, c.N, len(c.Text), c.Text)
			}
			all += c.Text
		}
		for _, b := range d.Blocks {
			if squeeze(b.Text) != "" && !strings.Contains(squeeze(all), squeeze(b.Text)[:min(len(squeeze(b.Text)), 12)]) {
				t.Fatalf("%s: %.40q is lost", name, b.Text)
			}
		}
		lost := len(squeeze(d.String())) - len(squeeze(all))
		if lost > 0 {
			t.Errorf("%s: %d bytes are lost", name, lost)
		}
	}
}

func squeeze(text string) string { return strings.Join(strings.Fields(text), "") }

func FuzzHTML(f *testing.F) {
	for _, seed := range []string{"<p>a<b>c", "<script><p>", "</svg></p><h1>", "<title>", "<h9>x</h9>", strings.Repeat("<div>", 100), "<pre></pre></pre>", "<!--", "<a href='"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := load.Text(load.HTML, text)
		if err != nil {
			return
		}
		for _, c := range d.Chunks() {
			if len(c.Text) > load.ChunkBytes {
				t.Fatalf("a chunk of %d bytes", len(c.Text))
			}
		}
	})
}

package report

import (
	"fmt"
	"strings"
)

func begin(name string) string { return "<!-- measured: " + name + " -->\n" }
func end(name string) string   { return "<!-- end of " + name + " -->\n" }

// preface opens a document that does not exist yet.
const preface = `# Benchmarks

Written by ` + "`make bench`" + `, which runs abagraph and what it is measured beside in turns on one machine. Absolute rates say as much
about that machine as about the software: servers, clients and, with three nodes, all of them share its cores. **The ratios are
what counts.** ` + "`make bench ONLY=reads`" + ` measures one section again.
`

// Merge puts sections into a document: one that is there already is replaced
// where it stands, a new one goes to the end. All other text stays as it is.
func Merge(document string, sections []Section) (string, error) {
	if strings.TrimSpace(document) == "" {
		document = preface
	}
	for _, s := range sections {
		from, to := begin(s.Name), end(s.Name)
		block := from + "\n" + s.Markdown() + "\n" + to
		head, rest, found := strings.Cut(document, from)
		if !found {
			document = strings.TrimRight(document, "\n") + "\n\n" + block
			continue
		}
		_, tail, found := strings.Cut(rest, to)
		if !found {
			return "", fmt.Errorf("the document has %q but not %q: put the second mark back or remove the first", strings.TrimSpace(from), strings.TrimSpace(to))
		}
		document = head + block + tail
	}
	return document, nil
}

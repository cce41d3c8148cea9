package page

import "strings"

// Link is one [[Target]] or [[Target|text]] of a body.
type Link struct {
	Target string // as it was written
	Text   string // what is shown: the text after the pipe, or the target
}

const (
	opening = "[["
	closing = "]]"
)

// Links returns the links of a body in the order of their first occurrence,
// each target once. A link ends on the line it begins on; one without its end,
// and one without a target, is no link.
func Links(body string) []Link {
	var links []Link
	seen := make(map[string]bool)
	each(body, func(l Link) {
		if !seen[l.Target] {
			seen[l.Target] = true
			links = append(links, l)
		}
	}, func(string) {})
	return links
}

// Plain returns a body with each link replaced by its text.
func Plain(body string) string {
	var b strings.Builder
	b.Grow(len(body))
	each(body, func(l Link) { b.WriteString(l.Text) }, func(text string) { b.WriteString(text) })
	return b.String()
}

// each visits the links of a body and the text between them, in their order.
func each(body string, link func(Link), text func(string)) {
	for line := range strings.Lines(body) {
		inLine(line, link, text)
	}
}

func inLine(line string, link func(Link), text func(string)) {
	for {
		from := strings.Index(line, opening)
		if from < 0 {
			break
		}
		from += len(opening)
		end := strings.Index(line[from:], closing)
		if end < 0 {
			break // nothing else of the line is closed either
		}
		end += from
		// Of several openings the last one is closed.
		if again := strings.LastIndex(line[from-1:end], opening); again >= 0 {
			from += again - 1 + len(opening)
		}
		l, ok := parse(line[from:end])
		if ok {
			text(line[:from-len(opening)])
			link(l)
		} else {
			text(line[:end+len(closing)])
		}
		line = line[end+len(closing):]
	}
	text(line)
}

// parse reads what stands between the brackets.
func parse(inner string) (Link, bool) {
	target, shown, piped := strings.Cut(inner, "|")
	if strings.TrimSpace(target) == "" {
		return Link{}, false
	}
	if !piped || strings.TrimSpace(shown) == "" {
		shown = target
	}
	return Link{Target: target, Text: shown}, true
}

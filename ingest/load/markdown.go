package load

import (
	"strings"

	"abagraph/fact"
)

// markdown cuts a text at its headings and at empty lines outside of fences. Front
// matter is read for a title and a date, and is no text.
func (d *Document) markdown(text string) {
	lines := strings.Split(d.frontMatter(text), "\n")
	var path [6]string
	var block []string
	where, fence := "", ""
	flush := func() {
		d.add(where, strings.Join(block, "\n"))
		block = block[:0]
	}
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			block = append(block, line)
			if strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]) == "" {
				fence = ""
			}
		case strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~"):
			fence = trimmed[:3]
			block = append(block, line)
		case trimmed == "":
			flush()
		default:
			level, heading := headingOf(trimmed)
			if level == 0 {
				block = append(block, line)
				continue
			}
			flush()
			path[level-1] = heading
			clear(path[level:])
			where = join(path[:])
			if d.Title == "" && level == 1 {
				d.Title = heading
			}
		}
	}
	flush()
}

// headingOf reads # Heading; level 0 is none.
func headingOf(line string) (level int, text string) {
	for level < len(line) && line[level] == '#' {
		level++
	}
	if level == 0 || level > 6 || level == len(line) || line[level] != ' ' {
		return 0, ""
	}
	return level, strings.TrimSpace(strings.TrimRight(strings.TrimSpace(line[level:]), "#"))
}

func join(path []string) string {
	var parts []string
	for _, p := range path {
		if p != "" {
			parts = append(parts, short(p, maxHeading))
		}
	}
	return strings.Join(parts, " › ")
}

// frontMatter takes the lines between two --- off the front.
func (d *Document) frontMatter(text string) string {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return text
	}
	head, body, ok := strings.Cut(rest, "\n---\n")
	if !ok || len(head) > 16<<10 {
		return text
	}
	for line := range strings.SplitSeq(head, "\n") {
		name, value, _ := strings.Cut(line, ":")
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "title":
			d.Title = value
		case "date", "published", "created":
			d.written(value)
		}
	}
	return body
}

// written takes a time for the day of writing, unless there is one already. What
// is no time beyond doubt is none.
func (d *Document) written(text string) {
	if d.Written.Given() {
		return
	}
	if len(text) < len("2006-01-02") {
		return
	}
	if t, err := fact.ParseInstant("date", text); err == nil {
		d.Written = t
		return
	}
	if t, err := fact.ParseInstant("date", text[:len("2006-01-02")]); err == nil {
		d.Written = t
	}
}

// plain cuts a text at empty lines.
func (d *Document) plain(text string) {
	for block := range strings.SplitSeq(text, "\n\n") {
		d.add("", block)
	}
}

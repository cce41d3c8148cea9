package packet

import "strings"

// packetStart is how the JSON of a packet begins, in one line.
const packetStart = `{"kind":"context_packet"`

// Without leaves out of a text what a packet has told: the data section of a prompt
// in any style, what stands right above it, and packets as JSON. It says how many
// there were. A transcript that is read again would else tell the memory its own
// words as if they were news (INJ-03).
func Without(text string) (rest string, briefings int) {
	for i := range forms {
		f := &forms[i]
		for from := 0; ; {
			at := lineWith(text, from, f.data[0])
			if at < 0 {
				break
			}
			end := lineWith(text, at, f.data[1])
			if end < 0 {
				break
			}
			start := f.above(text, at)
			text = text[:start] + text[end+len(f.data[1]):]
			from = start
			briefings++
		}
	}
	var kept []string
	if strings.Contains(text, packetStart) {
		for line := range strings.SplitSeq(text, "\n") {
			if strings.Contains(line, packetStart) {
				briefings++
				continue
			}
			kept = append(kept, line)
		}
		text = strings.Join(kept, "\n")
	}
	return text, briefings
}

// lineWith finds a whole line.
func lineWith(text string, from int, line string) int {
	for from < len(text) {
		at := strings.Index(text[from:], line)
		if at < 0 {
			return -1
		}
		at += from
		after := at + len(line)
		if (at == 0 || text[at-1] == '\n') && (after == len(text) || text[after] == '\n' || text[after] == '\r') {
			return at
		}
		from = after
	}
	return -1
}

// above takes the lines right above a data section that are a prompt's own.
func (f *form) above(text string, at int) int {
	for at > 0 {
		start := strings.LastIndexByte(text[:at-1], '\n') + 1
		line := text[start : at-1]
		if line != defaultRole && line != notice && line != briefNotice && !strings.HasPrefix(line, f.task[0]) {
			break
		}
		at = start
	}
	return at
}

package load

import (
	"strings"
	"unicode/utf8"
)

// ChunkBytes is about how long a chunk is.
const ChunkBytes = 6_000

// Chunk is a part of a document that is read in one piece.
type Chunk struct {
	N    int // from 1
	Path string
	Text string
}

// Chunks cuts a document at its blocks. Blocks under other headings share a chunk
// only while it is short; a block that is too long is cut at its lines, then at
// its sentences, then at its words.
func (d *Document) Chunks() []Chunk {
	var list []Chunk
	var text strings.Builder
	path := ""
	flush := func() {
		if strings.TrimSpace(text.String()) != "" {
			list = append(list, Chunk{len(list) + 1, path, text.String()})
		}
		text.Reset()
	}
	for i := range d.Blocks {
		b := &d.Blocks[i]
		for _, piece := range pieces(b.Text, ChunkBytes) {
			other := b.Path != path
			if text.Len()+len(piece)+len(b.Path)+4 > ChunkBytes || other && text.Len() > ChunkBytes/2 {
				flush()
			}
			switch {
			case text.Len() == 0:
				path = b.Path
			case other && b.Path != "":
				text.WriteString("\n\n" + b.Path)
				path = b.Path
			}
			if text.Len() > 0 {
				text.WriteString("\n\n")
			}
			text.WriteString(piece)
		}
	}
	flush()
	return list
}

// pieces cuts a text that is too long, each time at the best seam of its last
// quarter.
func pieces(text string, most int) []string {
	var list []string
	for len(text) > most {
		at := seam(text[:most])
		list = append(list, strings.TrimSpace(text[:at]))
		text = strings.TrimLeft(text[at:], " \n")
	}
	return append(list, text)
}

func seam(text string) int {
	from := len(text) * 3 / 4
	for _, end := range [...]string{"\n", ". ", "。", "; ", ", ", " "} {
		if at := strings.LastIndex(text[from:], end); at >= 0 {
			return from + at + len(end)
		}
	}
	at := len(text)
	for at > 1 && !utf8.RuneStart(text[at-1]) {
		at--
	}
	if at > 1 {
		at-- // the first byte of a character whose end is beyond
	}
	return at
}

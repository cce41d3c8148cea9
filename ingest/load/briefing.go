package load

import "abagraph/memory/packet"

// withoutBriefings leaves out what somebody has pasted into a transcript of what
// the memory told: it would come back as if it were news.
func (d *Document) withoutBriefings(text string) string {
	text, left := packet.Without(text)
	if left > 0 {
		d.Notes = append(d.Notes, "what the memory itself had told was left out of the text")
	}
	return text
}

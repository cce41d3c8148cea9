package fact

// Bounds of what one answer and one write may hold, in bytes of JSON.
const (
	// MaxAnswerBytes bounds the facts of one answer. A list ends early there; a
	// single larger fact or, with tx_gt, tx comes whole.
	MaxAnswerBytes = 32 << 20
	// MaxTxBytes bounds the facts that one write makes or changes: one that
	// would touch more is refused. It is what a single tx may weigh.
	MaxTxBytes = 96 << 20
)

const (
	factOverhead = 640 // field names, ids, times and numbers of a fact's JSON
	shortText    = 256 // below it, escapes are not counted
)

// Weight returns about how many bytes the fact's JSON has: never much less, and
// the same on every node.
func (f *Fact) Weight() int {
	n := factOverhead + textWeight(f.Subject) + textWeight(f.Predicate) + textWeight(f.Object.Text) +
		len(f.Tenant) + len(f.Properties)
	if f.Source != nil {
		n += textWeight(*f.Source)
	}
	return n
}

// textWeight is the length of a text as JSON writes it, within a factor that
// short texts cannot make large.
func textWeight(s string) int {
	n := len(s)
	if n < shortText {
		return n
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c < 0x20 || c == 0x7f:
			n += 5
		case c == '"' || c == '\\':
			n++
		}
	}
	return n
}

package fact

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// ID identifies a fact: a UUID of version 7 (C-2). The zero ID is no fact.
type ID [16]byte

// IsZero reports whether the ID names no fact.
func (id ID) IsZero() bool { return id == ID{} }

// String returns the canonical 36-character form.
func (id ID) String() string {
	var b [36]byte
	return string(id.appendTo(b[:0]))
}

// AppendText appends the canonical form.
func (id ID) AppendText(dst []byte) ([]byte, error) { return id.appendTo(dst), nil }

// MarshalText returns the canonical form.
func (id ID) MarshalText() ([]byte, error) { return id.appendTo(nil), nil }

// UnmarshalText reads the canonical form.
func (id *ID) UnmarshalText(text []byte) error {
	parsed, ok := ParseID(string(text))
	if !ok {
		return Invalid("id", "is not a fact id: "+quote(string(text)))
	}
	*id = parsed
	return nil
}

func (id ID) appendTo(dst []byte) []byte {
	for i, part := range [...][2]int{{0, 4}, {4, 6}, {6, 8}, {8, 10}, {10, 16}} {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, id[part[0]:part[1]])
	}
	return dst
}

// ParseID reads the canonical form, in either case.
func ParseID(text string) (ID, bool) {
	var id ID
	if len(text) != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return ID{}, false
	}
	at := 0
	for i, part := range [...][2]int{{0, 8}, {9, 13}, {14, 18}, {19, 23}, {24, 36}} {
		_ = i
		n, err := hex.Decode(id[at:], []byte(text[part[0]:part[1]]))
		if err != nil {
			return ID{}, false
		}
		at += n
	}
	return id, true
}

// NewID lays out a UUID v7 from a time and ten random bytes. The caller brings
// both, since this package reads neither clock nor randomness.
func NewID(at Instant, random [10]byte) ID {
	var id ID
	ms := uint64(at)
	id[0], id[1], id[2] = byte(ms>>40), byte(ms>>32), byte(ms>>24)
	id[3], id[4], id[5] = byte(ms>>16), byte(ms>>8), byte(ms)
	copy(id[6:], random[:])
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return id
}

// ContinuationID derives the id of a further piece of a statement from the
// piece that was cut, the tx and the number of the piece in that tx (C-2). It
// keeps the time of the parent's id, so that both stay neighbours.
func ContinuationID(parent ID, tx uint64, piece int) ID {
	h := sha256.New()
	h.Write(parent[:])
	var n [16]byte
	binary.BigEndian.PutUint64(n[:8], tx)
	binary.BigEndian.PutUint64(n[8:], uint64(piece))
	h.Write(n[:])
	sum := h.Sum(nil)
	id := parent
	copy(id[6:], sum[:10])
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return id
}

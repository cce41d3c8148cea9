package search

import (
	"bytes"
	"strconv"
	"strings"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

// The properties that tell of which conversation a fact is, and at which turn of it
// it was said.
const (
	sessionProperty = "session"
	turnProperty    = "turn"
)

// noTurn is the turn of what has none.
const noTurn = -1

// spoken is the place of a document in a conversation.
type spoken struct {
	session uint32 // 1 + its number; 0 = it is of none
	turn    int32
}

// spokenBytes is what a place takes, once an index has any.
const spokenBytes = 8

// placeInTalk returns the session that a fact is of, "" where it is of none: the one
// that its properties name, or else its source where that is called a session.
func placeInTalk(f *fact.Fact) (session string, turn int32) {
	turn = noTurn
	if bytes.Contains(f.Properties, []byte(`"`+sessionProperty+`"`)) {
		if v, err := jsonx.Parse(f.Properties); err == nil {
			session, turn = placeIn(v)
		}
	}
	if session == "" && f.Source != nil && namesSession(*f.Source) {
		session = *f.Source
	}
	return session, turn
}

func placeIn(v jsonx.Value) (session string, turn int32) {
	turn = noTurn
	for i := range v.Kids {
		kid := &v.Kids[i]
		switch {
		case kid.Name == sessionProperty && kid.Kind == jsonx.String:
			session = kid.Text
		case kid.Name == turnProperty && kid.Kind == jsonx.Number:
			if n, err := strconv.ParseInt(kid.Raw, 10, 32); err == nil && n >= 0 {
				turn = int32(n)
			}
		}
	}
	return session, turn
}

// namesSession tells whether a source has the word session in it, as
// support-session-789 has.
func namesSession(source string) bool {
	for word := range strings.FieldsFuncSeq(source, func(r rune) bool { return r == '-' || r == '_' || r == '/' || r == ':' || r == '.' || r == ' ' }) {
		if strings.EqualFold(word, sessionProperty) {
			return true
		}
	}
	return false
}

// noteSpoken keeps the place of a document. Places take room only where there are
// any.
func (x *Index) noteSpoken(ord uint32, f *fact.Fact) {
	session, turn := placeInTalk(f)
	if session == "" {
		return
	}
	if x.spoken == nil {
		x.spoken = make([]spoken, len(x.docs), cap(x.docs))
		x.bytes += spokenBytes * int64(len(x.docs))
	}
	n := x.sessions.number([]byte(session))
	x.sessions.lists[n].add(ord, 1, 0)
	x.spoken[ord] = spoken{n + 1, turn}
}

// growSpoken makes room for as many documents as there are.
func (x *Index) growSpoken() {
	for x.spoken != nil && len(x.spoken) < len(x.docs) {
		x.spoken = append(x.spoken, spoken{})
		x.bytes += spokenBytes
	}
}

// place returns the place of a document; none where no document has any.
func (x *Index) place(ord uint32) spoken {
	if x.spoken == nil {
		return spoken{turn: noTurn}
	}
	return x.spoken[ord]
}

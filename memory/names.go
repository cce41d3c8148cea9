package memory

import (
	"unicode/utf8"

	"abagraph/fact"

	"golang.org/x/text/unicode/norm"
)

// Name brings a subject, predicate or entity reference to NFC and refuses what
// C-5 does not allow. The field names it in the error. Writes and filters both
// come through here, so that they agree about what is one name.
func Name(field, name string) (string, error) {
	name = normalise(name)
	if err := fact.CheckName(field, name); err != nil {
		return "", err
	}
	return name, nil
}

// normalise brings a text to NFC. A huge one is left alone: it is refused for
// its length, and need not be copied first.
func normalise(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			if len(s) > 4*fact.MaxNameBytes {
				return s
			}
			return norm.NFC.String(s)
		}
	}
	return s
}

// CheckBranch accepts main, and every name that a branch can have. Whether there
// is such a branch shows where it is read or written.
func CheckBranch(name string) (string, error) {
	if name == fact.MainBranch || fact.CheckBranch("branch", name) == nil {
		return name, nil
	}
	return "", NoBranch(name)
}

// NoBranch is the error of a branch that does not exist.
func NoBranch(name string) *fact.Error {
	return &fact.Error{Code: fact.NotFound, Message: "no branch: " + shorten(name), Field: "branch"}
}

// shorten bounds a text of the caller's that is quoted back.
func shorten(s string) string {
	const most = 128
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

package fact

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// SameGuard holds while just the facts of a subject and predicate hold that a
// reader was shown, each as it was shown (C-34). It lets a write be worked out
// from a read, and be refused where another write came between.
func SameGuard(subject, predicate string, shown []Fact) Guard {
	return Guard{Subject: subject, Predicate: predicate, Kind: GuardSame, Object: TextObject(Fingerprint(shown))}
}

// SameGuardAt is SameGuard for the active facts that hold at an instant, whatever
// holds now.
func SameGuardAt(subject, predicate string, at Instant, shown []Fact) Guard {
	g := SameGuard(subject, predicate, shown)
	g.Object.Text += guardAt + strconv.FormatInt(int64(at), 10)
	return g
}

// guardAt stands between a fingerprint and its instant.
const guardAt = "@"

// Instant returns the valid time that a guard is about: now, for all but those
// that name another one.
func (g *Guard) Instant(now Instant) Instant {
	if g.Kind == GuardSame {
		if _, text, given := strings.Cut(g.Object.Text, guardAt); given {
			if at, err := strconv.ParseInt(text, 10, 64); err == nil {
				return Instant(at)
			}
		}
	}
	return now
}

// Fingerprint names a set of facts, each at the tx that last touched it. Their
// order is of no account.
func Fingerprint(facts []Fact) string {
	names := make([][24]byte, len(facts))
	for i := range facts {
		copy(names[i][:], facts[i].ID[:])
		binary.BigEndian.PutUint64(names[i][16:], facts[i].Tx)
	}
	slices.SortFunc(names, func(a, b [24]byte) int { return slices.Compare(a[:], b[:]) })
	h := sha256.New()
	for i := range names {
		h.Write(names[i][:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Holds reports whether a guard holds where these facts of its subject and
// predicate hold at its instant, and current are their distinct objects (C-34).
func (g *Guard) Holds(facts []Fact, current []Object) bool {
	switch g.Kind {
	case GuardAbsent:
		return len(current) == 0
	case GuardExpect:
		return len(current) == 1 && current[0].Equal(g.Object)
	case GuardSame:
		print, _, _ := strings.Cut(g.Object.Text, guardAt)
		return print == Fingerprint(facts)
	}
	for _, o := range current {
		if o.Equal(g.Object) {
			return true
		}
	}
	return false
}

package packet

import (
	"crypto/sha256"
	"strconv"
	"strings"

	"abagraph/fact"
)

// Bounds of folding.
const (
	maxFolded      = 256      // dropped facts that are folded, the best first
	maxFoldedBytes = 48 << 10 // of their lines
	minFoldRoom    = 24       // tokens; with less there is no use in a digest
	maxFoldRoom    = 512
)

// DerivedPredicate is the predicate of the fact that dropped ones are folded into.
const DerivedPredicate = "summary_of_dropped_facts"

// Digest is what somebody made of the facts that were dropped.
type Digest struct {
	Text  string
	Maker string // who made it: the fact's source
	Tx    uint64
}

// derivedFact is the digest as a fact. It is stored nowhere, so that its id stands
// for what it says, and its times are the newest of those it was made of,
// and its confidence their lowest. It is a
// candidate: nobody has stated it.
func derivedFact(q *Request, dropped []*fact.Fact, text string) fact.Fact {
	d := q.Digest
	f := fact.Fact{
		Subject: "Context:packet", Predicate: DerivedPredicate, Object: fact.TextObject(text), Status: fact.Candidate, Source: &d.Maker, Tx: d.Tx, FirstTx: d.Tx,
		ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, Branch: fact.MainBranch, Confidence: 1,
	}
	if len(q.Seeds) > 0 {
		f.Subject = q.Seeds[0]
	}
	h := sha256.New()
	h.Write([]byte(text))
	for _, one := range dropped {
		h.Write(one.ID[:])
		f.Confidence = min(f.Confidence, one.Confidence)
		f.ValidFrom, f.RecordedAt = max(f.ValidFrom, one.ValidFrom), max(f.RecordedAt, one.RecordedAt)
		f.Tenant, f.Branch = one.Tenant, one.Branch
	}
	f.StatedFrom, f.StatedUntil, f.DeclaredKnownAt = f.ValidFrom, f.ValidUntil, fact.NoInstant
	f.VersionAt, f.VersionKnownAt = f.RecordedAt, f.RecordedAt
	copy(f.ID[:], h.Sum(nil))
	f.ID[6], f.ID[8] = f.ID[6]&0x0f|0x80, f.ID[8]&0x3f|0x80 // a UUID of version 8
	return f
}

// Folded returns the lines of the facts that a packet dropped, for somebody who
// makes a digest of them: quoted and cut as in a prompt, the best first.
func (p *Packet) Folded() []string {
	var lines []string
	size := 0
	for i := range p.Rest {
		c := claim{Candidate: Candidate{Fact: p.Rest[i]}, corroboration: Corroboration{Agree: 1}}
		line := forms[Generic].factLine(&c, false)
		if i == maxFolded || size+len(line) > maxFoldedBytes {
			break
		}
		size += len(line)
		lines = append(lines, line)
	}
	return lines
}

// reserve keeps a quarter of what is left for the digest.
func (a *assembly) reserve() int {
	p := a.prompt
	if !a.q.Fold || p.budget == 0 {
		return 0
	}
	room := min(p.left()/4, maxFoldRoom)
	if room < minFoldRoom {
		return 0
	}
	p.budget -= room
	return room
}

// derive puts the digest of what was dropped into the prompt, cut to its room.
func (a *assembly) derive(room int) error {
	p := a.prompt
	p.budget += room
	if a.q.Digest == nil || p.budget > 0 && room == 0 {
		return nil
	}
	text := strings.TrimSpace(clean(a.q.Digest.Text))
	for size := MaxValueBytes; text != "" && size > 0; {
		short, more := cut(text, size)
		if more {
			short += "…"
		}
		derived := derivedFact(a.q, a.rest(), short)
		c := claim{Candidate: Candidate{Fact: &derived}, corroboration: Corroboration{Agree: 1}}
		line := p.form.factLine(&c, p.brief)
		t, err := p.counter.Tokens(line)
		if err != nil {
			return err
		}
		if a.q.MaxFacts == 0 { // the section of facts is not there yet
			frame, err := p.counter.Tokens(frame(p.form.facts))
			if err != nil {
				return err
			}
			t = t.add(frame)
		}
		if p.fits(t) && (room == 0 || t.most() <= room) {
			p.used, p.derived = p.used.add(t), line
			a.p.Derived = []fact.Fact{derived}
			return nil
		}
		size = min(size-1, min(size, len(text))*room*9/(10*t.most()))
	}
	a.warn(Warning{"compact_model_failed", "there is no room for what compact_model made of the facts that were dropped"})
	return nil
}

// rest lists the facts that were not kept, the best first.
func (a *assembly) rest() []*fact.Fact {
	list := make([]*fact.Fact, 0, max(0, len(a.claims)-len(a.kept)))
	n := 0
	for i := range a.claims {
		if n < len(a.kept) && a.claims[i].Fact.ID == a.kept[n].Fact.ID {
			n++
			continue
		}
		list = append(list, a.claims[i].Fact)
	}
	return list
}

// stepFold tells of the digest.
func (a *assembly) stepFold() {
	if len(a.p.Derived) > 0 {
		a.step("fold: " + strconv.Itoa(min(len(a.p.Rest), maxFolded)) + " of " + plural(len(a.p.Rest), "dropped fact", "dropped facts") + " into one")
	}
}

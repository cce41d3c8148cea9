package fsm

import (
	"bytes"

	"abagraph/fact"

	"github.com/cockroachdb/pebble/v2"
)

// rowPass goes through all rows of a branch that a selector may accept, in the order
// in which they lie. What it need not look at is told by the keys: rows of other
// statuses, and those that do not hold at the instant that is read.
type rowPass struct {
	it     iterator
	prefix int // bytes before the subject
	sel    *selector
	begun  bool
	target []byte // where the next row lies that may be wanted
	passed int    // keys that were passed over
}

// passedPerStep is how many keys that are passed over count as one that is looked at.
const passedPerStep = 16

// newRowPass begins with the subjects after a name.
func newRowPass(r pebble.Reader, s space, sel *selector, after string) (*rowPass, error) {
	prefix := s.prefix(famTimeline)
	lower := prefix
	if after != "" {
		lower = successor(s.subject(after))
	}
	it, err := openIter(r, lower, successor(prefix))
	if err != nil {
		return nil, err
	}
	return &rowPass{it: it, prefix: len(prefix), sel: sel}, nil
}

// next moves to the next row, and calls step for it, and now and then for those that it
// passes over. After the last one, and after an error of the iterator, it answers false.
func (p *rowPass) next(step func() error) (ok bool, err error) {
	if p.begun {
		ok = p.it.Next()
	} else {
		p.begun, ok = true, p.it.First()
	}
	for ; ok && err == nil && !p.wanted(p.it.Key()); p.passed++ {
		if p.passed%passedPerStep == passedPerStep-1 {
			err = step()
		}
		if len(p.target) == 0 {
			ok = p.it.Next()
		} else {
			ok = hop(p.it, p.target)
		}
	}
	if ok && err == nil {
		err = step()
	}
	return ok, err
}

// wanted reports whether a key is that of a row which may be accepted. Where it is
// not, target is the next place that is worth a look, or empty for the next key.
func (p *rowPass) wanted(k []byte) bool {
	p.target = p.target[:0]
	rest, ok := skipString(k[p.prefix:])
	if !ok || len(rest) == 0 {
		return false
	}
	class := rest[0]
	head := len(k) - len(rest) + 1 // of the subject and its class
	switch {
	case class == classMarker:
		return false
	case class >= classStatement:
		p.after(k[:head-1])
		return false
	case !p.sel.statuses.Has(fact.Status(class)):
		p.after(k[:head])
		return false
	case !p.sel.stabs():
		return true
	}
	at := len(k) - rowTail
	if at < head {
		return false
	}
	p.target = window(p.target, k, at, p.sel.at, p.sel.at+1)
	return len(p.target) == 0 && timeAt(k[at+9:]) > p.sel.at
}

// after makes the target the first key after all that begin with a prefix.
func (p *rowPass) after(prefix []byte) {
	p.target = append(p.target, prefix...)
	for i := len(p.target) - 1; i >= 0; i-- {
		if p.target[i]++; p.target[i] != 0 {
			p.target = p.target[:i+1]
			return
		}
	}
}

// hops is how many steps an iterator takes before it looks for a place that is
// farther: a look costs as much as some twenty steps, and most subjects are small.
const hops = 8

// hop moves an iterator forward to the first key from target on.
func hop(it iterator, target []byte) bool {
	for range hops {
		if !it.Next() {
			return false
		}
		if bytes.Compare(it.Key(), target) >= 0 {
			return true
		}
	}
	return it.SeekGE(target)
}

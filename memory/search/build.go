package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"abagraph/fact"
)

// errNotBuilt is told by follow where the index has to be built anew.
var errNotBuilt = errors.New("search: the index is not built")

// Building tells that an index, or its vectors, were not there in time, and how much
// of them is.
type Building struct {
	Percent int
	Vectors bool
	cause   error
}

// Error tells the same in words.
func (b *Building) Error() string {
	return fmt.Sprintf("search: the index is built to %d %%", b.Percent)
}

// Unwrap returns why nobody waited any longer.
func (b *Building) Unwrap() error { return b.cause }

// errBegunAnew is told where the index was made anew while it was searched.
var errBegunAnew = fact.Errorf(fact.Timeout, "the search index was built anew meanwhile: try again")

// errTooLarge is told where an index would outgrow the room for it.
var errTooLarge = fact.Errorf(fact.TooLarge, "the search index of this tenant needs more memory than search_bytes allows (ABAGRAPH_SEARCH_BYTES)")

// build makes the index of a state, from all that the store holds. It reads the
// facts twice: what they are in order, and then what they say.
func (x *Index) build(ctx context.Context, from Source, most int64) error {
	x.turn <- struct{}{}
	defer func() { <-x.turn }()
	at := from.Position()
	if x.started(at) {
		return nil
	}
	y := newIndex(x.scope)
	x.filled.Store(0)
	if err := y.fill(ctx, from, most, &x.filled); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.docs, x.ids, x.lengths, x.sums, x.knowns, x.ranges, x.calm, x.runs, x.past = y.docs, y.ids, y.lengths, y.sums, y.knowns, y.ranges, y.calm, y.runs, y.past
	x.byID, x.terms, x.subjects, x.predicates, x.bytes = y.byID, y.terms, y.subjects, y.predicates, y.bytes
	x.sessions, x.spoken = y.sessions, y.spoken
	x.continues, x.dense, x.noRoom = y.continues, nil, fact.Model{}
	x.denseBytes.Store(0)
	x.counting = counter{}
	x.epoch, x.tx, x.purge, x.lapse, x.built = at.Epoch, at.Tx, at.Purge, at.Expiry, true
	x.mortal = y.mortal
	return nil
}

// origin is a version with the document that it is of.
type origin struct {
	ord uint32
	v   fact.Version
}

// fillStep is after how many facts a filling tells how far it is.
const fillStep = 1_024

// fill makes the documents, and tells in percent how far it is.
func (x *Index) fill(ctx context.Context, from Source, most int64, percent *atomic.Int32) error {
	var places []place
	tooMany := false
	err := from.EachVersion(ctx, x.scope, func(f *fact.Fact) bool {
		places = append(places, place{f.FirstTx, f.ID})
		tooMany = int64(len(places))*docBytes > most
		return !tooMany
	}, func(*fact.Version) bool { return false })
	if err != nil {
		return fmt.Errorf("read the facts: %w", err)
	}
	if tooMany {
		return errTooLarge
	}
	slices.SortFunc(places, place.compare)
	for ord, p := range places {
		x.byID[p.id] = uint32(ord)
	}
	x.grow(len(places))
	var past []origin
	n := 0
	err = from.EachVersion(ctx, x.scope, func(f *fact.Fact) bool {
		if n++; n%fillStep == 0 {
			percent.Store(int32(n * 99 / max(n, len(places))))
		}
		x.put(x.byID[f.ID], f, f.VersionKnownAt)
		tooMany = x.size() > most
		return !tooMany
	}, func(v *fact.Version) bool {
		if ord, there := x.byID[v.ID]; there {
			past = append(past, origin{ord, *v})
		}
		return true
	})
	if err != nil {
		return fmt.Errorf("read what the facts say: %w", err)
	}
	if tooMany {
		return errTooLarge
	}
	x.history(past)
	x.sort()
	x.settle()
	return nil
}

// history puts the replaced versions behind their documents.
func (x *Index) history(past []origin) {
	slices.SortFunc(past, func(a, b origin) int { return cmp.Or(cmp.Compare(a.ord, b.ord), cmp.Compare(a.v.Tx, b.v.Tx)) })
	x.past = make([]pastVersion, len(past))
	for i, p := range past {
		prev := int32(-1)
		if i > 0 && past[i-1].ord == p.ord {
			prev = int32(i - 1)
		} else {
			x.knowns[p.ord] = p.v.KnownAt
		}
		x.past[i] = pastVersion{tx: p.v.Tx, known: p.v.KnownAt, from: p.v.ValidFrom, until: p.v.ValidUntil, prev: prev, status: p.v.Status}
		x.docs[p.ord].prev = int32(i)
	}
	x.bytes += 48 * int64(len(past))
}

// sort brings the lists into the order of documents, after these were put in
// another one.
func (x *Index) sort() {
	var both []uint64
	for _, l := range []*lexicon{&x.terms, &x.subjects, &x.predicates, &x.sessions} {
		for at := range l.lists {
			p := &l.lists[at]
			if slices.IsSorted(p.ords) {
				continue
			}
			if !l.windows {
				slices.Sort(p.ords)
				continue
			}
			both = both[:0]
			for i, ord := range p.ords {
				both = append(both, uint64(ord)<<8|uint64(p.counts[i]))
			}
			slices.Sort(both)
			for i, b := range both {
				p.ords[i], p.counts[i] = uint32(b>>8), uint8(b)
			}
		}
	}
}

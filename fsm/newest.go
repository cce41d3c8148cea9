package fsm

import (
	"bytes"
	"container/heap"
	"errors"

	"abagraph/fact"

	"github.com/cockroachdb/pebble/v2"
)

// maxHeads bounds the lists that newestFirst holds open, one for each predicate
// and status.
const maxHeads = 1 << 16

// newestFirst reads the rows of whatever predicate, newest tx first. It costs
// the page and a look at each predicate; where there are very many of those, it
// reads all rows instead.
func (r *reading) newestFirst() error {
	prefixes, err := r.predicateLists()
	if err != nil {
		return err
	}
	if len(prefixes) > r.v.m.heads {
		return r.everything()
	}
	n, err := newNewest(r.v.snap, r.space, prefixes)
	if err != nil {
		return err
	}
	return errors.Join(r.inOrder(n), n.it.Close())
}

// predicateLists returns the prefixes of the lists by predicate that a read
// looks at; where there are more than it may hold, not all of them.
func (r *reading) predicateLists() ([][]byte, error) {
	var prefixes [][]byte
	statuses := r.sel.statuses
	if r.sel.past {
		statuses = fact.AllStatuses // what it is now says nothing of what it was
	}
	err := eachPredicate(r.v.snap, r.space, "", func(name string) bool {
		for status := fact.Active; status <= fact.Retracted; status++ {
			if statuses.Has(status) {
				prefixes = append(prefixes, append(r.space.byPredicate(name), byte(status)))
			}
		}
		return len(prefixes) <= r.v.m.heads && r.ctx.Err() == nil
	})
	if err == nil {
		err = r.ctx.Err()
	}
	return prefixes, err
}

// newest reads many lists, each of which is ordered, as one: newest tx first,
// then id. One iterator goes from list to list.
type newest struct {
	it    iterator
	heads heads
	begun bool
	key   []byte // what the iterator stands on; nil = unknown
}

// head is the next entry of one list.
type head struct {
	prefix []byte
	tail   [24]byte // tx, inverted, and id
}

type heads []head

func (h heads) Len() int           { return len(h) }
func (h heads) Less(i, j int) bool { return bytes.Compare(h[i].tail[:], h[j].tail[:]) < 0 }
func (h heads) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *heads) Push(x any)        { *h = append(*h, x.(head)) }
func (h *heads) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func newNewest(r pebble.Reader, s space, prefixes [][]byte) (*newest, error) {
	family := s.prefix(famByPred)
	it, err := openIter(r, family, successor(family))
	if err != nil {
		return nil, err
	}
	n := &newest{it: it}
	for _, prefix := range prefixes {
		h := head{prefix: prefix}
		if n.take(&h, it.SeekGE(prefix)) {
			n.heads = append(n.heads, h)
		}
	}
	if err := it.Error(); err != nil {
		return nil, errors.Join(storageError("read an index", err), it.Close())
	}
	heap.Init(&n.heads)
	return n, nil
}

// take makes the entry that the iterator stands on a list's next, if it is of
// that list.
func (n *newest) take(h *head, valid bool) bool {
	n.key = nil
	if !valid {
		return false
	}
	k := n.it.Key()
	if len(k) != len(h.prefix)+len(h.tail) || !bytes.HasPrefix(k, h.prefix) {
		return false
	}
	n.key = k
	copy(h.tail[:], k[len(h.prefix):])
	return true
}

// next moves to the next entry.
func (n *newest) next() (tx uint64, id fact.ID, ok bool, err error) {
	if n.begun && len(n.heads) > 0 {
		if n.advance(&n.heads[0]) {
			heap.Fix(&n.heads, 0)
		} else {
			heap.Pop(&n.heads)
		}
		if err := n.it.Error(); err != nil {
			return 0, id, false, storageError("read an index", err)
		}
	}
	n.begun = true
	if len(n.heads) == 0 {
		return 0, id, false, nil
	}
	tx, id = orderOf(n.heads[0].tail[:])
	return tx, id, true, nil
}

// advance moves a list to its next entry.
func (n *newest) advance(h *head) bool {
	here := len(n.key) == len(h.prefix)+len(h.tail) && bytes.HasPrefix(n.key, h.prefix) && bytes.Equal(n.key[len(h.prefix):], h.tail[:])
	if !here && !n.it.SeekGE(append(bytes.Clone(h.prefix), h.tail[:]...)) {
		n.key = nil
		return false
	}
	return n.take(h, n.it.Next())
}

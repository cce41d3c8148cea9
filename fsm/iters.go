package fsm

import (
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// iterator is one of Pebble's, whose errors tell damage from other trouble.
type iterator struct{ *pebble.Iterator }

// openIter opens an iterator over a range.
func openIter(r pebble.Reader, lower, upper []byte) (iterator, error) {
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return iterator{}, storageError("open an iterator", err)
	}
	return iterator{it}, nil
}

func (i iterator) open() bool { return i.Iterator != nil }

// Error is what ended the iteration before its end.
func (i iterator) Error() error { return readError(i.Iterator.Error()) }

// Close tells the same once more.
func (i iterator) Close() error { return readError(i.Iterator.Close()) }

// ValueAndErr reads a value.
func (i iterator) ValueAndErr() ([]byte, error) {
	v, err := i.Iterator.ValueAndErr()
	return v, readError(err)
}

func readError(err error) error {
	if err == nil {
		return nil
	}
	return storageError("read the store", err)
}

// maxSpare is how many iterators a view keeps for its next reads.
const maxSpare = 4

// spares are iterators over a view's snapshot that are not in use. To move one to
// another range costs a fraction of opening one, and a walk or a packet reads a
// hundred ranges of one view.
type spares struct {
	mu     sync.Mutex
	list   []iterator
	closed bool
}

// over returns an iterator over a range. It must be given back.
func (v *View) over(lower, upper []byte) (iterator, error) {
	v.spare.mu.Lock()
	var it iterator
	if n := len(v.spare.list); n > 0 {
		it = v.spare.list[n-1]
		v.spare.list = v.spare.list[:n-1]
	}
	v.spare.mu.Unlock()
	if it.open() {
		it.SetBounds(lower, upper)
		return it, nil
	}
	return openIter(v.snap, lower, upper)
}

// giveBack keeps an iterator for the next read, or closes it.
func (v *View) giveBack(it iterator) {
	v.spare.mu.Lock()
	keep := !v.spare.closed && it.Error() == nil && len(v.spare.list) < maxSpare
	if keep {
		v.spare.list = append(v.spare.list, it)
	}
	v.spare.mu.Unlock()
	if !keep {
		_ = it.Close() // its error has been told to whoever read with it
	}
}

// closeAll closes what is spare, for good.
func (s *spares) closeAll() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	var first error
	for _, it := range s.list {
		if err := it.Close(); err != nil && first == nil {
			first = err
		}
	}
	s.list = nil
	return first
}

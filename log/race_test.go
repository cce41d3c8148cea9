package log

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/raft"
)

// busy is a log that is appended to, cut short at both ends and read at once, as Raft
// does it: one goroutine appends and cuts the end, one trims the front, others read.
type busy struct {
	t     *testing.T
	s     *Store
	first atomic.Uint64 // no entry before it is asked for
	last  atomic.Uint64 // nor behind it
	done  atomic.Bool
}

// entryOf is an entry whose data says which it is.
func entryOf(r *rand.Rand, index, term uint64) *raft.Log {
	size := 16 + r.IntN(20<<10)
	if r.IntN(200) == 0 {
		size = 200 << 10
	}
	data := binary.BigEndian.AppendUint64(make([]byte, 0, size), index)
	data = binary.BigEndian.AppendUint64(data, term)
	return &raft.Log{Index: index, Term: term, Type: raft.LogCommand, Data: data[:size]}
}

func (b *busy) write(r *rand.Rand, entries uint64) {
	defer b.done.Store(true)
	term := uint64(1)
	for last := uint64(0); last < entries; {
		var logs []*raft.Log
		for range 1 + r.IntN(3) {
			last++
			logs = append(logs, entryOf(r, last, term))
		}
		if err := b.s.StoreLogs(logs); err != nil {
			b.t.Error(err)
			return
		}
		b.last.Store(last)
		if n := uint64(r.IntN(9)); n > 0 && r.IntN(60) == 0 && b.first.Load()+n+10 < last {
			b.last.Store(last - n)
			if err := b.s.DeleteRange(last-n+1, last); err != nil {
				b.t.Error(err)
			}
			last, term = last-n, term+1
		}
	}
}

func (b *busy) trim(r *rand.Rand) {
	for !b.done.Load() {
		first, last := b.first.Load(), b.last.Load()
		if last < first+40 {
			continue
		}
		to := last - 20 - uint64(r.IntN(int(min(last-first-20, 300))))
		if to < first {
			continue
		}
		b.first.Store(to + 1)
		if err := b.s.DeleteRange(first, to); err != nil {
			b.t.Error(err)
		}
	}
}

func (b *busy) read(r *rand.Rand) {
	for !b.done.Load() {
		first, last := b.first.Load(), b.last.Load()
		if last <= first {
			continue
		}
		index := last - min(uint64(r.ExpFloat64()*30), last-first)
		var l raft.Log
		err := b.s.read(index, &l) // past the memory of recent entries
		gone := index < b.first.Load() || index > b.last.Load()
		switch {
		case errors.Is(err, raft.ErrLogNotFound) && (gone || last != b.last.Load()):
		case err != nil:
			b.t.Errorf("entry %d of %d to %d: %v", index, first, last, err)
		case !bytes.HasPrefix(l.Data, binary.BigEndian.AppendUint64(nil, index)):
			b.t.Errorf("entry %d is another one", index)
		}
	}
}

// Whoever reads finds every entry, wherever it is just then, while entries are appended,
// moved and removed at both ends.
func TestEntriesAreFoundWhileTheyMove(t *testing.T) {
	dir := claimed(t, t.TempDir())
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	b := &busy{t: t, s: s}
	b.first.Store(1)
	var all sync.WaitGroup
	all.Go(func() { b.write(rand.New(rand.NewPCG(1, 1)), 1000) })
	all.Go(func() { b.trim(rand.New(rand.NewPCG(1, 2))) })
	for i := range uint64(2) {
		all.Go(func() { b.read(rand.New(rand.NewPCG(2, i))) })
	}
	all.Wait()
	first, _ := s.FirstIndex()
	last, _ := s.LastIndex()
	if first != b.first.Load() || last != b.last.Load() {
		t.Errorf("the log runs from %d to %d, want %d to %d", first, last, b.first.Load(), b.last.Load())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

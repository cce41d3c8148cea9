package log

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"abagraph/log/journal"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
)

// tapped is a raft.db that tells before and after each write to it.
type tapped struct {
	backend
	tap func()
}

func (t *tapped) around(err func() error) error {
	t.tap()
	defer t.tap()
	return err()
}

func (t *tapped) StoreLogs(logs []*raft.Log) error {
	return t.around(func() error { return t.backend.StoreLogs(logs) })
}

func (t *tapped) DeleteRange(lo, hi uint64) error {
	return t.around(func() error { return t.backend.DeleteRange(lo, hi) })
}

func (t *tapped) Set(key, value []byte) error {
	return t.around(func() error { return t.backend.Set(key, value) })
}

// holding is what a log holds.
type holding struct {
	first uint64
	logs  []*raft.Log
}

// cut is what is on the disk when the power fails, and what it may hold.
type cut struct {
	files map[string][]byte
	may   []holding
}

// power is a log whose power may fail at every write. Its entries are moved by the test:
// everything happens in one goroutine.
type power struct {
	world
	front *fronted
	was   holding // before what is being done
	cuts  []cut
	tries int
	full  int // how often a segment had to be waited for
}

func (p *power) now() holding { return holding{p.first, slices.Clone(p.logs)} }

func (p *power) file(name string) []byte {
	content, err := os.ReadFile(filepath.Join(p.dir.path, name))
	p.must(err)
	return content
}

// fails keeps what the disk holds now.
func (p *power) fails(may ...holding) {
	p.cuts = append(p.cuts, cut{map[string][]byte{storeName: p.file(storeName), journalName: p.file(journalName)}, may})
}

// open opens the log; the power may fail meanwhile.
func (p *power) open() {
	p.t.Helper()
	path := filepath.Join(p.dir.path, storeName)
	p.must(checkFile(path))
	inner, err := raftboltdb.New(raftboltdb.Options{Path: path, NoSync: true, MsgpackUseNewTimeFormat: true})
	p.must(err)
	p.was = p.now()
	p.front, err = front(filepath.Join(p.dir.path, journalName), &tapped{inner, func() {
		if _, err := os.Stat(filepath.Join(p.dir.path, journalName)); err == nil && p.r.IntN(3) == 0 {
			p.fails(p.was, p.now())
		}
	}})
	p.must(err)
	close(p.front.stop)
	p.front.stopped.Wait()
	p.must(p.front.journal.Close())
	p.front.journal, err = journal.Open(p.front.path, p.front.serial, false) // the system does not end here
	p.must(err)
	p.front.serial++
	p.s = &Store{path: path, inner: p.front, closing: func() error {
		p.front.stop = make(chan struct{})
		return errors.Join(p.front.close(), inner.Close())
	}}
	p.must(p.s.scan())
}

// move does what the log's goroutine does.
func (p *power) move() {
	if len(p.front.full) > 0 {
		p.must(p.front.move(p.front.full[0].last))
	}
}

// append stores entries; the power may fail while they are written to the journal.
func (p *power) append() {
	if len(p.logs) == 0 {
		p.first += uint64(p.r.IntN(3000)) // behind a snapshot that was installed
	}
	logs := p.some()
	p.was = p.now()
	p.logs = slices.Concat(p.logs, logs)
	if p.r.IntN(5) > 0 {
		p.store(logs)
		return
	}
	before := p.file(journalName)
	p.store(logs)
	torn, all := p.file(journalName), true
	odds := 2 + p.r.IntN(20)
	for at := 0; at < len(torn); at += 512 {
		if !bytes.Equal(before[at:at+512], torn[at:at+512]) && p.r.IntN(odds) == 0 {
			copy(torn[at:at+512], before[at:])
			all = false
		}
	}
	may := p.was
	if all {
		may = p.now()
	}
	p.cuts = append(p.cuts, cut{map[string][]byte{storeName: p.file(storeName), journalName: torn}, []holding{may}})
}

func (p *power) store(logs []*raft.Log) {
	err := p.s.StoreLogs(logs)
	for errors.Is(err, errClosed) { // the journal is full, and nobody else moves
		p.full++
		p.move()
		err = p.s.StoreLogs(logs)
	}
	p.must(err)
}

// end removes entries from an end; tap sees all that lies in between.
func (p *power) end() {
	p.was = p.now()
	if len(p.logs) < 2 {
		return
	}
	n := 1 + p.r.IntN(min(len(p.logs), deleteChunk)) // at once
	lo, hi := p.first, p.first+uint64(n)-1
	if p.r.IntN(2) == 0 {
		p.logs, p.first = p.logs[n:], hi+1
	} else {
		lo, hi = p.next()-uint64(n), p.next()-1
		p.logs = slices.Clone(p.logs[:len(p.logs)-n])
		p.term++
	}
	p.must(p.s.DeleteRange(lo, hi))
}

// back looks at what each cut has left, and goes on with one of them, or with none.
func (p *power) back() {
	on := p.r.IntN(16 * (len(p.cuts) + 1))
	for i, c := range p.cuts {
		p.tries++
		path := p.t.TempDir()
		for _, name := range slices.Sorted(maps.Keys(c.files)) {
			p.must(os.WriteFile(filepath.Join(path, name), c.files[name], 0o600))
		}
		found := p.found(path, c.may)
		if i == on {
			p.must(p.s.Close())
			p.must(p.dir.Close())
			p.dir, p.first, p.logs, p.term = claimed(p.t, path), found.first, found.logs, p.term+1
			p.open()
			p.check(p.s)
			continue
		}
		p.must(os.RemoveAll(path))
	}
	p.cuts = p.cuts[len(p.cuts):]
}

// found says what a directory holds of what it may hold.
func (p *power) found(path string, may []holding) holding {
	p.t.Helper()
	s, err := Look(path)
	p.must(err)
	defer s.Close()
	last, err := s.LastIndex()
	p.must(err)
	first, err := s.FirstIndex()
	p.must(err)
	for _, h := range may {
		empty := len(h.logs) == 0
		if empty && last == 0 || !empty && first == h.first && last == h.first+uint64(len(h.logs))-1 {
			(&world{t: p.t, first: h.first, logs: h.logs}).check(s)
			return h
		}
	}
	p.t.Fatalf("the log runs from %d to %d, and may hold %d entries from %d on", first, last, len(may[0].logs), may[0].first)
	return holding{}
}

// The power fails at any write to either file, in the middle of a start too, again and
// again: what was stored is there, what was removed is not, and what was being done is
// done or not. With ABAGRAPH_SEED a dozen more histories are tried, from that one on.
func TestThePowerFailsAtAnyWrite(t *testing.T) {
	tries, full := 0, 0
	for _, seed := range seeds(t, 40) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			p := &power{world: *newWorld(t, seed)}
			p.small, p.large = 31<<10, 600
			p.must(p.s.Close())
			p.open()
			for step := range 700 {
				switch n := p.r.IntN(200); {
				case n < 196:
					p.append()
				case n < 198:
					p.end()
				default:
					p.was = p.now()
					p.move()
				}
				if step%10 == 0 {
					p.check(p.s)
					p.back()
				}
			}
			p.must(p.s.Close())
			tries, full = tries+p.tries, full+p.full
		})
	}
	if tries < 100 || full == 0 {
		t.Fatalf("the power failed %d times, and the journal was full %d times", tries, full)
	}
}

// seeds are those given, or the dozen from ABAGRAPH_SEED on.
func seeds(t *testing.T, some ...uint64) []uint64 {
	t.Helper()
	text := os.Getenv("ABAGRAPH_SEED")
	if text == "" {
		return some
	}
	from, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		t.Fatalf("ABAGRAPH_SEED: %v", err)
	}
	var more []uint64
	for i := range uint64(12) {
		more = append(more, from+i)
	}
	return more
}

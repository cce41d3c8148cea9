package log

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"abagraph/log/journal"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
)

// world is a log and what it must hold.
type world struct {
	t     *testing.T
	r     *rand.Rand
	dir   *Dir
	s     *Store
	first uint64
	logs  []*raft.Log
	term  uint64
	small int // how long most entries are at most
	large int // one of how many is large
}

func claimed(t *testing.T, path string) *Dir {
	t.Helper()
	dir, err := Claim(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return dir
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, r: rand.New(rand.NewPCG(seed, 7)), dir: claimed(t, t.TempDir()), first: 1, term: 1, small: 40 << 10, large: 30}
	w.open()
	return w
}

func (w *world) open() {
	w.t.Helper()
	var err error
	if w.s, err = Open(w.dir); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) next() uint64 { return w.first + uint64(len(w.logs)) }

// some are a few entries; most are small, as one write's is, some as a large import's.
func (w *world) some() []*raft.Log {
	var logs []*raft.Log
	for range 1 + w.r.IntN(4) {
		size := w.r.IntN(w.small)
		if w.r.IntN(w.large) == 0 {
			size = 100<<10 + w.r.IntN(3<<20)
		}
		data := bytes.Repeat([]byte(fmt.Sprintf("%d/%d ", w.next()+uint64(len(logs)), w.term)), size/8+1)
		logs = append(logs, &raft.Log{Index: w.next() + uint64(len(logs)), Term: w.term, Type: raft.LogCommand, Data: data})
	}
	return logs
}

// store appends a few entries.
func (w *world) store() {
	logs := w.some()
	w.must(w.s.StoreLogs(logs))
	w.logs = append(w.logs, logs...)
}

// drop removes entries from one end, as a snapshot or a new leader has it done.
func (w *world) drop() {
	if len(w.logs) < 2 {
		return
	}
	n := 1 + w.r.IntN(len(w.logs))
	if w.r.IntN(2) == 0 {
		w.must(w.s.DeleteRange(w.first, w.first+uint64(n)-1))
		w.logs, w.first = w.logs[n:], w.first+uint64(n)
		return
	}
	w.must(w.s.DeleteRange(w.next()-uint64(n), w.next()-1))
	w.logs = w.logs[:len(w.logs)-n]
	w.term++
	w.must(w.s.SetUint64([]byte("CurrentTerm"), w.term))
}

// check compares a log with what it must hold.
func (w *world) check(s *Store) {
	w.t.Helper()
	first, _ := s.FirstIndex()
	last, _ := s.LastIndex()
	if len(w.logs) == 0 {
		if first != 0 || last != 0 {
			w.t.Fatalf("the log runs from %d to %d, want none", first, last)
		}
		return
	}
	if first != w.first || last != w.next()-1 {
		w.t.Fatalf("the log runs from %d to %d, want %d to %d", first, last, w.first, w.next()-1)
	}
	for _, want := range w.logs {
		var l raft.Log
		w.must(s.GetLog(want.Index, &l))
		if l.Term != want.Term || !bytes.Equal(l.Data, want.Data) {
			w.t.Fatalf("entry %d is another one", want.Index)
		}
	}
	var l raft.Log
	for _, index := range []uint64{w.first - 1, w.next()} {
		if err := s.GetLog(index, &l); !errors.Is(err, raft.ErrLogNotFound) {
			w.t.Fatalf("entry %d: %v", index, err)
		}
	}
}

// killed copies the files as a process that is killed now leaves them.
func (w *world) killed() string {
	w.t.Helper()
	f := w.s.inner.(*fronted)
	f.moving.Lock() // what a kill within a transaction leaves is bbolt's own matter
	defer f.moving.Unlock()
	to := w.t.TempDir()
	for _, name := range []string{storeName, journalName} {
		content, err := os.ReadFile(filepath.Join(w.dir.path, name))
		w.must(err)
		w.must(os.WriteFile(filepath.Join(to, name), content, 0o600))
	}
	return to
}

// Whatever is done to the log, and whenever the process is killed or ends: what was
// stored is there, what was removed is not, and the last entry is the last.
func TestTheLogIsWholeWheneverItIsKilled(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := newWorld(t, seed)
			for step := range 120 {
				switch n := w.r.IntN(20); {
				case n < 15:
					w.store()
				case n < 17:
					w.drop()
				case n < 18:
					w.must(w.s.Close())
					w.open()
				}
				if step%5 == 0 {
					w.check(w.s)
				}
				if step%12 == 0 {
					w.restart()
				}
			}
			w.must(w.s.Close())
		})
	}
}

// restart goes on with what a kill has left.
func (w *world) restart() {
	w.t.Helper()
	path := w.killed()
	w.must(w.s.Close())
	looked, err := Look(path)
	w.must(err)
	w.check(looked)
	w.must(looked.Close())
	w.dir = claimed(w.t, path)
	w.open()
	w.check(w.s)
	if term, err := w.s.GetUint64([]byte("CurrentTerm")); w.term > 1 && (err != nil || term != w.term) {
		w.t.Fatalf("the term is %d, %v, want %d", term, err, w.term)
	}
}

// A node that ended in order has its whole log in raft.db, so that an earlier version
// can go on with it.
func TestAClosedLogIsInOneFile(t *testing.T) {
	w := newWorld(t, 1)
	for range 10 {
		w.store()
	}
	w.must(w.s.Close())
	w.must(os.Remove(filepath.Join(w.dir.path, journalName)))
	s, err := Look(w.dir.path)
	var d *Damage
	if !errors.As(err, &d) || d.Path != filepath.Join(w.dir.path, journalName) {
		t.Fatalf("a journal that is missing: %v", err)
	}
	_, err = journal.Create(filepath.Join(w.dir.path, journalName))
	w.must(err)
	s, err = Look(w.dir.path)
	w.must(err)
	w.check(s)
	w.must(s.Close())
}

// A log and a journal that do not belong together are refused.
func TestAJournalOfAnotherLog(t *testing.T) {
	w := newWorld(t, 2)
	w.must(w.s.StoreLogs([]*raft.Log{{Index: 1, Term: 1, Data: []byte("a")}}))
	path := w.killed()
	w.must(w.s.Close())
	w.must(os.Remove(filepath.Join(path, storeName)))
	var d *Damage
	if _, err := Open(claimed(t, path)); !errors.As(err, &d) {
		t.Fatalf("opened: %v", err)
	}
}

// refusing is a raft.db whose disk is full.
type refusing struct{ backend }

var errNoRoom = errors.New("no space left on device")

func (refusing) StoreLogs([]*raft.Log) error { return errNoRoom }

// Where entries cannot be moved, no more are taken: the log does not wait for ever, and
// what was taken is there when it is opened again.
func TestNoMoreIsTakenThanCanBeMoved(t *testing.T) {
	w := newWorld(t, 3)
	f := w.s.inner.(*fronted)
	w.must(w.s.StoreLogs([]*raft.Log{{Index: 1, Term: 1, Data: []byte("a")}}))
	w.logs = append(w.logs, &raft.Log{Index: 1, Term: 1, Data: []byte("a")})
	f.moving.Lock()
	f.backend = refusing{f.backend}
	f.moving.Unlock()
	for {
		l := &raft.Log{Index: w.next(), Term: 1, Type: raft.LogCommand, Data: make([]byte, 50<<10)}
		if err := w.s.StoreLogs([]*raft.Log{l}); err != nil {
			if !errors.Is(err, errNoRoom) {
				t.Fatal(err)
			}
			break
		}
		if w.logs = append(w.logs, l); len(w.logs) > 200 {
			t.Fatal("the journal takes entries without end")
		}
	}
	if err := w.s.Close(); !errors.Is(err, errNoRoom) { // raft.db is not the whole log
		t.Fatal(err)
	}
	w.open()
	w.check(w.s)
	w.must(w.s.Close())
}

// Who appends while the log is closed is told so, and does not wait for a goroutine that
// has ended.
func TestNobodyWaitsForAClosedLog(t *testing.T) {
	w := newWorld(t, 4)
	f := w.s.inner.(*fronted)
	close(f.stop)
	f.stopped.Wait()
	for i := uint64(1); ; i++ {
		err := w.s.StoreLog(&raft.Log{Index: i, Term: 1, Type: raft.LogCommand, Data: make([]byte, 50<<10)})
		if errors.Is(err, errClosed) {
			break
		}
		w.must(err)
	}
	f.stop = make(chan struct{})
	w.must(w.s.Close())
}

// A node is killed, goes on with an earlier build, which knows no journal, and comes back:
// what the journal holds is not put behind what took its place.
func TestAnEarlierBuildInBetween(t *testing.T) {
	w := newWorld(t, 5)
	var logs []*raft.Log
	for i := range uint64(3) {
		logs = append(logs, &raft.Log{Index: i + 1, Term: 1, Type: raft.LogCommand, Data: []byte("now")})
	}
	w.must(w.s.StoreLogs(logs))
	w.logs = logs
	for name, in := range map[string]struct {
		between *raft.Log
		refused bool
	}{
		"another entry":  {&raft.Log{Index: 1, Term: 2, Type: raft.LogCommand, Data: []byte("then")}, true},
		"the same entry": {logs[0], false},
	} {
		path := w.killed()
		earlier, err := raftboltdb.NewBoltStore(filepath.Join(path, storeName))
		w.must(err)
		w.must(errors.Join(earlier.StoreLog(seal(in.between)), earlier.Close()))
		s, err := Open(claimed(t, path))
		var d *Damage
		if in.refused {
			if !errors.As(err, &d) || d.Index != 1 {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		w.must(err)
		w.check(s)
		w.must(s.Close())
	}
	w.must(w.s.Close())
}

// A journal of a later release is refused by name, and stays as it is.
func TestAJournalOfALaterRelease(t *testing.T) {
	w := newWorld(t, 6)
	w.must(w.s.Set([]byte(journalMark), []byte{journalVersion + 1}))
	w.must(w.s.Close())
	before, err := os.ReadFile(filepath.Join(w.dir.path, journalName))
	w.must(err)
	_, err = Open(w.dir)
	if err == nil || !strings.Contains(err.Error(), "of a later release") {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(filepath.Join(w.dir.path, journalName)); err != nil || !bytes.Equal(before, after) {
		t.Fatal("it was changed: ", err)
	}
}

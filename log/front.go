package log

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"

	"abagraph/internal/planted"
	"abagraph/log/journal"

	"github.com/hashicorp/raft"
)

// directBytes is from how many bytes on entries are written to raft.db at once: two
// syncs are then cheaper than writing all of it twice.
const directBytes = 128 << 10

// fronted is raft.db with a journal in front of it. New entries are on the disk once
// they are in the journal, with one sync; a goroutine of its own moves them to raft.db,
// a segment of the journal at a time. Entries that are in the journal only are kept in
// memory too, which the size of the journal bounds.
type fronted struct {
	backend                  // raft.db
	path    string           // of the journal
	journal *journal.Journal // nil = only read

	writing sync.Mutex // held by whoever appends or removes entries
	record  []byte     // what is appended next
	moving  sync.Mutex // held by whoever moves entries to raft.db

	mu     sync.RWMutex
	tail   []*raft.Log // entries, without a gap, that raft.db may lack
	last   uint64      // the log's last index
	serial uint32      // of the segment that is being filled
	full   []full      // segments to be moved, from the oldest on
	err    error       // the first failure: what the disk holds is not known

	wake, freed chan struct{}
	stop        chan struct{}
	stopped     sync.WaitGroup
}

// full is a segment of the journal that no more is written to.
type full struct {
	serial uint32
	last   uint64 // index of the last entry in it
}

var errClosed = errors.New("the log is closed")

// journalMark is the stable value that says that there is a journal, and the version of
// its format.
const (
	journalMark    = "Journal"
	journalVersion = 1
)

// front puts the journal in front of raft.db. What an earlier process has left in it is
// moved first.
func front(path string, db backend) (*fronted, error) {
	f, err := lookFront(path, db)
	if err != nil {
		return nil, err
	}
	if f.serial == 0 { // there is none
		if f.serial, err = journal.Create(path); err != nil {
			return nil, err
		}
	}
	if err := db.Set([]byte(journalMark), sealValue([]byte(journalMark), []byte{journalVersion})); err != nil {
		return nil, fmt.Errorf("write the log: %w", err)
	}
	if err := f.move(f.last); err != nil {
		return nil, err
	}
	if f.journal, err = journal.Open(path, f.serial, planted.Bug != planted.SkipSync); err != nil {
		return nil, err
	}
	f.serial++
	f.wake, f.freed, f.stop = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{})
	f.stopped.Go(f.run)
	return f, nil
}

// lookFront reads what raft.db and the journal hold together, and writes nothing.
func lookFront(path string, db backend) (*fronted, error) {
	f := &fronted{backend: db, path: path}
	var err error
	if f.last, err = db.LastIndex(); err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	marked, err := isMarked(path, db)
	if err != nil {
		return nil, err
	}
	records, serial, err := journal.Read(path)
	var damage *journal.Damage
	switch {
	case errors.As(err, &damage):
		return nil, &Damage{Path: path, What: damage.Where()}
	case errors.Is(err, fs.ErrNotExist) && !marked:
		return f, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Damage{Path: path, What: "it was removed"}
	case err != nil:
		return nil, err
	case len(records) > 0 && !marked:
		return nil, &Damage{Path: path, What: fmt.Sprintf("it belongs to another %s than the one beside it", storeName)}
	}
	f.serial = serial
	for _, record := range records {
		if err := f.take(record); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// isMarked reports whether raft.db knows of a journal.
func isMarked(path string, db backend) (bool, error) {
	key := []byte(journalMark)
	sealed, err := db.Get(key)
	switch {
	case err != nil && err.Error() == errNotFound.Error():
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read the log: %w", err)
	}
	value, err := unsealValue(filepath.Join(filepath.Dir(path), storeName), key, sealed)
	if err != nil {
		return false, err
	}
	if len(value) != 1 || value[0] != journalVersion {
		return false, fmt.Errorf("the journal %s has format version %d, of a later release: this program knows version %d only", path, value, journalVersion)
	}
	return true, nil
}

// take puts the entries of a record that raft.db lacks into the tail.
func (f *fronted) take(record []byte) error {
	for len(record) > 0 {
		l, rest, ok := cutEntry(record)
		record = rest
		switch {
		case !ok:
			return &Damage{Path: f.path, What: "a record holds no entries"}
		case f.last > 0 && l.Index > f.last+1:
			return &Damage{Path: f.path, Index: f.last + 1, What: "it is missing"}
		case l.Index > f.last:
			f.tail, f.last = append(f.tail, l), l.Index
		case f.contradicts(l):
			return &Damage{Path: f.path, Index: l.Index, What: fmt.Sprintf("%s has another one: it was written since by a build that knows no journal, or is another log's", storeName)}
		}
	}
	return nil
}

// contradicts reports whether the log has another entry in an entry's place.
func (f *fronted) contradicts(l *raft.Log) bool {
	var kept raft.Log
	if err := f.GetLog(l.Index, &kept); err != nil {
		return false // it was removed since, or scan tells what is wrong with it
	}
	return kept.Term != l.Term || !bytes.Equal(kept.Extensions, l.Extensions)
}

// FirstIndex returns the first index, or 0 if there is no entry.
func (f *fronted) FirstIndex() (uint64, error) {
	var front uint64
	f.mu.RLock()
	if len(f.tail) > 0 {
		front = f.tail[0].Index
	}
	f.mu.RUnlock()
	first, err := f.backend.FirstIndex()
	if err == nil && first == 0 {
		first = front
	}
	return first, err
}

// LastIndex returns the last index, or 0 if there is no entry.
func (f *fronted) LastIndex() (uint64, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.last, nil
}

// GetLog reads an entry.
func (f *fronted) GetLog(index uint64, l *raft.Log) error {
	f.mu.RLock()
	if len(f.tail) > 0 && index >= f.tail[0].Index {
		defer f.mu.RUnlock()
		if index > f.last {
			return raft.ErrLogNotFound
		}
		*l = *f.tail[index-f.tail[0].Index]
		return nil
	}
	f.mu.RUnlock()
	return f.backend.GetLog(index, l)
}

// StoreLogs writes entries: to the journal if they follow the last one, as nearly all do.
func (f *fronted) StoreLogs(logs []*raft.Log) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	if err := f.failed(); err != nil {
		return err
	}
	if f.large(logs) || !f.follow(logs) {
		return f.direct(logs)
	}
	f.record = f.record[:0]
	for _, l := range logs {
		f.record = appendEntry(f.record, l)
	}
	serial, err := f.journal.Append(f.record)
	for errors.Is(err, journal.ErrFull) {
		select {
		case <-f.freed:
		case <-f.stop: // nobody moves what is in the way
			return errClosed
		}
		if err = f.failed(); err == nil {
			serial, err = f.journal.Append(f.record)
		}
	}
	if err != nil {
		return f.fail(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if serial != f.serial {
		f.full = append(f.full, full{f.serial, f.last})
		f.serial = serial
		signal(f.wake)
	}
	f.tail = append(f.tail, logs...)
	f.last = logs[len(logs)-1].Index
	return nil
}

func (f *fronted) large(logs []*raft.Log) bool {
	size := 0
	for _, l := range logs {
		size += entryHead + len(l.Extensions) + len(l.Data)
	}
	return size >= directBytes
}

// follow reports whether the entries follow the last one, or begin the log.
func (f *fronted) follow(logs []*raft.Log) bool {
	last, _ := f.LastIndex()
	next := last + 1
	if last == 0 {
		next = logs[0].Index
	}
	for i, l := range logs {
		if l.Index != next+uint64(i) {
			return false
		}
	}
	return true
}

// direct writes entries to raft.db, behind those that it lacks. The journal needs no
// mark of it: what raft.db has is not taken from there.
func (f *fronted) direct(logs []*raft.Log) error {
	if !f.follow(logs) {
		if err := f.reset(); err != nil {
			return err
		}
	}
	f.moving.Lock()
	defer f.moving.Unlock()
	f.mu.RLock()
	all := slices.Concat(f.tail, logs)
	f.mu.RUnlock()
	return f.moved(all)
}

// DeleteRange removes entries, which lie at one end of the log.
func (f *fronted) DeleteRange(lo, hi uint64) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	if err := f.failed(); err != nil {
		return err
	}
	// The last entry of raft.db tells what of the journal is there already. Where it goes,
	// nothing of the journal may count any more.
	end, err := f.backend.LastIndex()
	if err != nil {
		return err
	}
	if hi < end {
		return f.backend.DeleteRange(lo, hi)
	}
	if err := f.reset(); err != nil {
		return err
	}
	if err := f.backend.DeleteRange(lo, hi); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last, err = f.backend.LastIndex()
	return err
}

// reset moves all entries, and makes those of the journal count no more.
func (f *fronted) reset() error {
	last, err := f.LastIndex()
	if err != nil {
		return err
	}
	if err := f.move(last); err != nil {
		return err
	}
	serial, err := f.journal.Reset()
	if err != nil {
		return f.fail(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.serial, f.full = serial, nil
	return nil
}

// run moves full segments to raft.db until the log is closed.
func (f *fronted) run() {
	for {
		select {
		case <-f.wake:
		case <-f.stop:
			return
		}
		for {
			f.mu.RLock()
			some := len(f.full) > 0
			var last uint64
			if some {
				last = f.full[0].last
			}
			f.mu.RUnlock()
			if !some || f.move(last) != nil {
				break
			}
		}
	}
}

// move writes the entries up to an index to raft.db that are in the journal only.
func (f *fronted) move(last uint64) error {
	f.moving.Lock()
	defer f.moving.Unlock()
	f.mu.RLock()
	n := 0
	for n < len(f.tail) && f.tail[n].Index <= last {
		n++
	}
	entries := f.tail[:n:n]
	f.mu.RUnlock()
	return f.moved(entries)
}

// moved writes entries to raft.db, and lets go of them and of the segments that held
// nothing else.
func (f *fronted) moved(entries []*raft.Log) error {
	if err := f.failed(); err != nil {
		return err
	}
	if len(entries) > 0 {
		if err := f.backend.StoreLogs(entries); err != nil {
			return f.fail(err)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(entries) > 0 {
		f.release(entries[len(entries)-1].Index)
	}
	for len(f.full) > 0 && (len(f.tail) == 0 || f.full[0].last < f.tail[0].Index) {
		f.journal.Free(f.full[0].serial)
		f.full = f.full[1:]
		signal(f.freed)
	}
	return nil
}

// release takes the entries up to an index out of the tail.
func (f *fronted) release(last uint64) {
	n := 0
	for n < len(f.tail) && f.tail[n].Index <= last {
		n++
	}
	clear(f.tail[:n])
	f.tail = f.tail[n:]
	f.last = max(f.last, last)
}

// failed returns the first failure.
func (f *fronted) failed() error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.err
}

// fail keeps the first failure: what comes after it is refused.
func (f *fronted) fail(err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
	signal(f.freed)
	return err
}

// signal wakes whoever waits, now or next.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// close moves all that is left, so that raft.db is the whole log, and ends.
func (f *fronted) close() error {
	if f.journal == nil {
		return nil
	}
	close(f.stop)
	f.stopped.Wait()
	f.writing.Lock()
	defer f.writing.Unlock()
	if err := f.failed(); err != nil { // of which nobody may have been told
		return errors.Join(err, f.journal.Close())
	}
	return errors.Join(f.reset(), f.journal.Close())
}

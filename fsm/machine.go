package fsm

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	"abagraph/fact"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options configure a Machine.
type Options struct {
	// Dir is where the indexes lie; "" keeps everything in memory.
	Dir string
	// Logger receives Pebble's own messages; nil discards them.
	Logger *slog.Logger
	// CacheBytes bounds the block cache; 0 = 256 MiB.
	CacheBytes int64
	// MemTableBytes bounds one memtable; 0 = 32 MiB.
	MemTableBytes uint64
	// Fatal is called with one line when the store cannot go on, as on a full
	// disk, from whatever goroutine met it; it must not return. nil panics.
	Fatal func(message string)
	// ReadOnly opens a store that no node runs on to look at it: nothing in Dir is
	// changed, and Apply fails.
	ReadOnly bool
	// Tune may change the Pebble options last; tests use it to give the same
	// history other weather.
	Tune func(*pebble.Options)
}

// Machine is the state machine of one node. Apply is called by one goroutine at
// a time; everything else is safe for concurrent use.
type Machine struct {
	options Options
	fs      vfs.FS
	dir     string
	cache   *pebble.Cache

	// mu guards db, state and the hot timelines. Apply holds it only while it
	// publishes what it has committed; readers wait for a commit only where somebody
	// was told of it (see told.go).
	mu sync.RWMutex
	// commits is odd while a batch is committed but not published: a snapshot
	// taken then may be newer than state.
	commits atomic.Uint64
	db      *pebble.DB
	state   state
	closed  bool
	told    uint64 // see telling
	halted  bool
	changed chan struct{} // closed and replaced whenever state moves

	hot  *hotLines
	kept kept
	used ledger // what the last call leaves to the next one
	// entryBytes is maxEntryBytes, heads maxHeads; tests lower them, and shortList
	// and maxMisses.
	entryBytes, heads, shortList, misses int

	// gate keeps new views out while a restore waits for the open ones. It is
	// taken before mu.
	gate     sync.RWMutex
	views    sync.WaitGroup
	pictures pictures

	cleaner cleaner

	policies atomic.Uint64 // changes to facts of policies

	health atomic.Pointer[health] // of the store that is open
}

// ErrClosed is returned by a machine that was closed.
var ErrClosed = fact.Errorf(fact.Closed, "the store is closed")

const (
	defaultCacheBytes    = 256 << 20
	defaultMemTableBytes = 64 << 20
)

// Open opens the state machine's store, or makes an empty one.
func Open(options Options) (*Machine, error) {
	m := &Machine{options: options, fs: vfs.Default, dir: options.Dir, changed: make(chan struct{}), entryBytes: maxEntryBytes, heads: maxHeads, shortList: shortList, misses: maxMisses}
	if options.Dir == "" {
		m.fs, m.dir = vfs.NewMem(), "store"
	}
	size := options.CacheBytes
	if size == 0 {
		size = defaultCacheBytes
	}
	m.cache = pebble.NewCache(size)
	m.hot = newHotLines(size / 4)
	var err error
	if !options.ReadOnly {
		err = recoverSwap(m.fs, m.dir)
	}
	if err == nil {
		err = m.open()
	}
	if err != nil {
		m.cache.Unref()
		return nil, err
	}
	return m, nil
}

func (m *Machine) open() error {
	named, err := checkFormat(m.fs, m.dir)
	if err != nil {
		return err
	}
	h := m.newHealth()
	db, err := pebble.Open(m.dir, m.pebbleOptions(h))
	if err != nil {
		return storageError("open the index store in "+m.dir, err)
	}
	st, err := loadState(db)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	clean, err := cleanedTo(db)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	if !named && !m.options.ReadOnly {
		if err := nameFormat(m.fs, m.dir); err != nil {
			return errors.Join(err, db.Close())
		}
	}
	m.db, m.state, m.kept = db, st, kept{}
	m.health.Store(h)
	if clean < st.Purge && !m.options.ReadOnly {
		m.cleaner.start(db, st.Purge)
	}
	return nil
}

func (m *Machine) newHealth() *health {
	return &health{to: m.options.Logger, stopper: m.options.Fatal}
}

func (m *Machine) pebbleOptions(h *health) *pebble.Options {
	o := &pebble.Options{
		FS:                          m.fs,
		Cache:                       m.cache,
		FormatMajorVersion:          pebble.FormatNewest,
		MemTableSize:                m.options.MemTableBytes,
		MemTableStopWritesThreshold: 4,
		L0CompactionThreshold:       8,
		L0StopWritesThreshold:       24,
		LBaseMaxBytes:               64 << 20,
		MaxOpenFiles:                1000,
		Logger:                      h,
		EventListener:               h.listener(),
	}
	if o.MemTableSize == 0 {
		o.MemTableSize = defaultMemTableBytes
	}
	if m.options.Dir == "" {
		o.MemTableSize = min(o.MemTableSize, 16<<20)
	}
	addBloomFilters(o)
	m.options.readOnly(o)
	if m.options.Tune != nil {
		m.options.Tune(o)
	}
	o.FS = watchedFS{o.FS, m.options.Fatal}
	return o
}

// Damage tells of the first table of the store that was found not to be what was
// written, since it was opened or restored; "" = none.
func (m *Machine) Damage() string {
	if what := m.health.Load().damage.Load(); what != nil {
		return *what
	}
	return ""
}

// InMemory reports whether the store is lost with the process.
func (m *Machine) InMemory() bool { return m.options.Dir == "" }

// Position tells where the machine stands.
func (m *Machine) Position() fact.Position {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.state.position()
}

// RegistryVersion returns the tx of the last change to the tenants and keys that
// was applied here.
func (m *Machine) RegistryVersion() uint64 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.state.Registry
}

// PolicyVersion is a number that changes with every change to the facts of any
// tenant's policy that was applied here.
func (m *Machine) PolicyVersion() uint64 { return m.policies.Load() }

// Metrics returns Pebble's own figures.
func (m *Machine) Metrics() (*pebble.Metrics, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.closed {
		return nil, ErrClosed
	}
	return m.db.Metrics(), nil
}

// Close flushes and closes the store once every view of it is closed.
func (m *Machine) Close() error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil
	}
	m.closed = true
	m.announce()
	m.mu.Unlock()
	m.views.Wait()
	m.cleaner.stop()
	err := m.pictures.leave()
	if !m.options.ReadOnly {
		err = errors.Join(err, m.db.Flush())
	}
	err = errors.Join(err, m.db.Close())
	m.cache.Unref()
	if err != nil {
		return fmt.Errorf("close the index store: %w", err)
	}
	return nil
}

// announce wakes everyone who waits for the state to move. Callers hold mu.
func (m *Machine) announce() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// get reads one key; nil, nil when it is not there. The bytes are a copy.
func get(r pebble.Reader, key []byte) ([]byte, error) {
	v, closer, err := r.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, storageError("read a key", err)
	}
	return copyAndClose(v, closer)
}

func copyAndClose(v []byte, closer io.Closer) ([]byte, error) {
	b := append(make([]byte, 0, len(v)), v...)
	if err := closer.Close(); err != nil {
		return nil, storageError("read a key", err)
	}
	return b, nil
}

// storageError says what was being done when the store failed, and tells damage
// from other trouble.
func storageError(doing string, err error) error {
	if pebble.IsCorruptionError(err) {
		return fact.Errorf(fact.StorageCorruption, "%s: the store is damaged: %s", doing, firstLine(err))
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// firstLine leaves out what Pebble's errors carry for its own tools.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// has reports whether a key is there.
func has(r pebble.Reader, key []byte) (bool, error) {
	_, closer, err := r.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, storageError("look for a key", err)
	}
	return true, closer.Close()
}

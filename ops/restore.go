package ops

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"abagraph/fact"
	"abagraph/fsm"
	rlog "abagraph/log"
	"abagraph/replication"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// stagingName is where a restore builds, inside the data directory, so that what
// is finished moves in by renames.
const stagingName = "restore.tmp"

// Restore is one restore to make. No node may run in the data directory.
type Restore struct {
	File string
	Data string
	// NodeID names the restored node. "" = the name in the directory that is
	// replaced, or else a new one.
	NodeID string
	// Replace sets aside what the directory holds. Without it the directory must
	// be empty, or not there.
	Replace bool
	// Progress is told how many bytes have been read, of both passes; nil = nobody.
	Progress func(done, total int64)
	Fatal    Fatal

	// For tests; nil = the system's.
	now    func() time.Time
	rename func(from, to string) error
}

// RestoreReport tells what a restore did.
type RestoreReport struct {
	Data     string       `json:"data"`
	NodeID   string       `json:"node_id"`
	Epoch    string       `json:"epoch"` // the new one (C-35)
	Manifest fsm.Manifest `json:"manifest"`
	// SetAside is where the replaced data lies now, or "".
	SetAside string   `json:"set_aside,omitempty"`
	Warnings []string `json:"warnings"`
	Seconds  float64  `json:"seconds"`
}

// Run restores. The file is read and checked to its end before anything in the
// directory is touched; then the new state is built beside the old one, and put in
// its place last. A crash in between leaves a directory that no node starts in, and
// the same restore can be run again.
func (r *Restore) Run(ctx context.Context) (*RestoreReport, error) {
	if r.now == nil {
		r.now = time.Now
	}
	if r.rename == nil {
		r.rename = os.Rename
	}
	start := time.Now()
	file, size, err := openFile(r.File)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if _, err := fsm.CheckBackup(r.reader(ctx, file, 0, size)); err != nil {
		return nil, orEnded(ctx, err)
	}
	place, err := r.claim()
	if err != nil {
		return nil, err
	}
	defer place.lock.Close()
	report, err := r.inPlace(ctx, place, file, size)
	if _, gone := os.Stat(place.root); gone == nil {
		err = errors.Join(err, handBack(place.root))
	}
	if err != nil {
		return nil, err
	}
	report.Seconds = time.Since(start).Seconds()
	return report, nil
}

// inPlace builds the new data beside what is there and moves it in.
func (r *Restore) inPlace(ctx context.Context, place *place, file *os.File, size int64) (*RestoreReport, error) {
	report, err := r.build(ctx, place, file, size)
	if err == nil {
		err = ctx.Err() // the last moment to turn back
	}
	if err != nil {
		return nil, errors.Join(orEnded(ctx, err), place.abandon())
	}
	return report, place.swap(report)
}

func openFile(path string) (*os.File, int64, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("open the backup: %w", err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", path)
	}
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

// orEnded prefers the reason that a context ended for to what it led to.
func orEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// reader reads the file from its beginning, as one of two passes.
func (r *Restore) reader(ctx context.Context, file *os.File, pass, size int64) io.Reader {
	return &paced{ctx: ctx, from: io.NewSectionReader(file, 0, size), done: pass * size, total: 2 * size, tell: r.Progress}
}

// paced is a reader that ends with a context and tells how far it is.
type paced struct {
	ctx         context.Context
	from        io.Reader
	done, total int64
	tell        func(done, total int64)
}

func (p *paced) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := p.from.Read(b)
	p.done += int64(n)
	if p.tell != nil && n > 0 {
		p.tell(p.done, p.total)
	}
	return n, err
}

// build makes a whole data directory inside the staging directory.
func (r *Restore) build(ctx context.Context, place *place, file *os.File, size int64) (_ *RestoreReport, err error) {
	if err := os.RemoveAll(place.staging()); err != nil {
		return nil, fmt.Errorf("make room for the restore: %w", err)
	}
	dir, err := rlog.Claim(place.staging())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	manifest, err := fsm.ReadBackup(vfs.Default, r.reader(ctx, file, 1, size), dir.State())
	if err != nil {
		return nil, err
	}
	report := &RestoreReport{Data: r.Data, NodeID: r.NodeID, Manifest: *manifest, Warnings: []string{}}
	if report.NodeID == "" {
		report.NodeID = place.nodeID
	}
	if report.NodeID == "" {
		report.NodeID = "node-" + strings.ToLower(rand.Text()[:8])
	}
	if report.Epoch, err = newEpoch(); err != nil {
		return nil, err
	}
	if err := found(ctx, dir, report, r.Fatal); err != nil {
		return nil, err
	}
	report.Warnings = append(report.Warnings, place.lost(ctx, manifest)...)
	if ahead := manifest.RecordedAt - fact.Instant(r.now().UnixMilli()); ahead > 60_000 {
		report.Warnings = append(report.Warnings, fmt.Sprintf("the newest record time is %v ahead of this machine's clock: new writes take that time until the clock has come there (C-23)",
			(time.Duration(ahead)*time.Millisecond).Round(time.Second)))
	}
	return report, nil
}

// found opens the unpacked state, holds it to its manifest, begins the new epoch and
// makes the directory that of a node alone.
func found(ctx context.Context, dir *rlog.Dir, report *RestoreReport, fatal Fatal) (err error) {
	machine, err := fsm.Open(fsm.Options{Dir: dir.State(), CacheBytes: 32 << 20, Fatal: fatal})
	if err != nil {
		return fmt.Errorf("open the state in the backup: %w", err)
	}
	defer func() { err = errors.Join(err, machine.Close()) }()
	if err := holds(ctx, machine, &report.Manifest); err != nil {
		return err
	}
	if err := machine.StartEpoch(report.Epoch); err != nil {
		return err
	}
	return replication.Seed(dir, machine, report.NodeID)
}

// holds compares a state with what its manifest says of it.
func holds(ctx context.Context, machine *fsm.Machine, want *fsm.Manifest) error {
	view, err := machine.View()
	if err != nil {
		return err
	}
	defer view.Close()
	got, err := view.Manifest(ctx)
	if err != nil {
		return err
	}
	at := view.Position()
	if got.Tx != want.Tx || got.Epoch != want.Epoch || got.Index != want.Index || hex.EncodeToString(at.Digest[:]) != want.Digest || got.Counts != want.Counts {
		return fact.Errorf(fact.SchemaInvalid, "not a usable backup: its manifest tells of tx %d of epoch %s, and its state is another", want.Tx, want.Epoch)
	}
	return nil
}

func newEpoch() (string, error) {
	var seed [16]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return "", fmt.Errorf("begin an epoch: %w", err)
	}
	return fsm.EpochName(seed[:]), nil
}

// place is the data directory that a restore fills.
type place struct {
	root   string
	made   bool // the directory was not there before
	lock   *rlog.Dir
	rename func(from, to string) error
	nodeID string   // of the node whose data is replaced, or ""
	old    []string // names to be set aside
	aside  string   // the name of the directory that takes them
}

func (p *place) staging() string { return filepath.Join(p.root, stagingName) }

package fsm

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"abagraph/fact"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// A backup is an archive with a description before it: a magic line, the length
// of the manifest (4 bytes), the manifest as JSON, the SHA-256 of all of that, and
// the archive, which ends with a checksum of its own.
const (
	backupLine   = "abagraph backup "
	backupFormat = 1
	backupMagic  = backupLine + "1\n"
	maxManifest  = 64 << 10
)

// Manifest describes a backup: what state it is of, and what it takes to read it.
type Manifest struct {
	// Format, StoreFormat and IndexFormat are the versions of the backup, of the
	// store's records and of Pebble's files.
	Format      int    `json:"format"`
	StoreFormat int    `json:"store_format"`
	IndexFormat uint64 `json:"index_format"`
	// Version is the program that wrote it, Node whose state it is.
	Version string `json:"version"`
	Node    string `json:"node_id"`
	// CreatedAt is the node's clock, RecordedAt the log's, in Unix milliseconds.
	CreatedAt  fact.Instant `json:"created_at"`
	RecordedAt fact.Instant `json:"recorded_at"`
	// Epoch, Tx and Digest name the state, Index and Term the log entry that it
	// has applied last.
	Epoch  string `json:"epoch"`
	Tx     uint64 `json:"tx"`
	Digest string `json:"digest"` // hexadecimal
	Index  uint64 `json:"index"`
	Term   uint64 `json:"term"`
	// LastPurge is the tx of the newest purge that has left it (0 = none),
	// LastKeys that of the newest change to tenants and keys.
	LastPurge uint64 `json:"last_purge"`
	LastKeys  uint64 `json:"last_keys"`
	Counts    Counts `json:"counts"`
	// ArchiveBytes is the length of what follows the manifest.
	ArchiveBytes int64 `json:"archive_bytes"`
}

// Counts are the figures of a whole store, of the main branches of all tenants.
type Counts struct {
	Active     uint64 `json:"active"`
	Candidate  uint64 `json:"candidate"`
	Superseded uint64 `json:"superseded"`
	Retracted  uint64 `json:"retracted"`
	Tenants    uint64 `json:"tenants"` // that hold data
}

// Manifest describes the view's state. What a view does not know is left open:
// the program, the node, the time and the archive's length.
func (v *View) Manifest(ctx context.Context) (Manifest, error) {
	p := v.Position()
	m := Manifest{
		Format: backupFormat, StoreFormat: storeFormat, IndexFormat: uint64(v.m.db.FormatMajorVersion()),
		RecordedAt: p.RecordedAt, Epoch: p.Epoch, Tx: p.Tx, Digest: hex.EncodeToString(p.Digest[:]), Index: p.Index, Term: p.Term,
		LastPurge: v.state.Purge, LastKeys: v.state.Registry,
	}
	stats, err := v.Stats(ctx, fact.Scope{All: true, Branch: fact.MainBranch})
	if err != nil {
		return m, fmt.Errorf("count what is backed up: %w", err)
	}
	tenants, err := dataTenants(v.snap)
	if err != nil {
		return m, fmt.Errorf("count what is backed up: %w", err)
	}
	m.Counts = Counts{
		Active: stats.Active, Candidate: stats.Candidate, Superseded: stats.Superseded, Retracted: stats.Retracted,
		Tenants: uint64(len(tenants)),
	}
	return m, nil
}

// head returns everything that stands before the archive.
func (m *Manifest) head() ([]byte, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode a manifest: %w", err)
	}
	b := append([]byte(backupMagic), binary.BigEndian.AppendUint32(nil, uint32(len(text)))...)
	b = append(b, text...)
	sum := sha256.Sum256(b)
	return append(b, sum[:]...), nil
}

// Size returns the length in bytes of the whole backup.
func (m *Manifest) Size() (int64, error) {
	head, err := m.head()
	return int64(len(head)) + m.ArchiveBytes, err
}

// WriteBackup writes the backup of a checkpoint directory that a manifest
// describes.
func WriteBackup(fs vfs.FS, dir string, m *Manifest, to io.Writer) error {
	head, err := m.head()
	if err != nil {
		return err
	}
	if _, err := to.Write(head); err != nil {
		return fmt.Errorf("write a backup: %w", err)
	}
	return WriteArchive(fs, dir, to)
}

// errBackup makes the error of a file that is no backup that can be used.
func errBackup(format string, args ...any) error {
	return fact.Errorf(fact.SchemaInvalid, "not a usable backup: "+format, args...)
}

// CheckBackup reads a backup to its end and returns its manifest if every byte of
// it is what was written and this program can read it.
func CheckBackup(from io.Reader) (*Manifest, error) { return readBackup(from, nil, "") }

// ReadBackup unpacks a backup into a directory that must not exist yet, and
// removes it again if CheckBackup would refuse the backup.
func ReadBackup(fs vfs.FS, from io.Reader, dir string) (*Manifest, error) {
	return readBackup(from, fs, dir)
}

func readBackup(from io.Reader, fs vfs.FS, dir string) (*Manifest, error) {
	r := bufio.NewReaderSize(from, 256<<10)
	m, err := readManifest(r)
	if err != nil {
		return nil, err
	}
	archive := &counted{from: r}
	if fs == nil {
		err = CheckArchive(archive)
	} else {
		err = ReadArchive(fs, archive, dir)
	}
	if err == nil && archive.n != m.ArchiveBytes {
		err = errBackup("its manifest tells of %d bytes, and %d follow", m.ArchiveBytes, archive.n)
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// counted counts what is read.
type counted struct {
	from io.Reader
	n    int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	c.n += int64(n)
	return n, err
}

func readManifest(r *bufio.Reader) (*Manifest, error) {
	if err := readMagic(r); err != nil {
		return nil, err
	}
	sum := sha256.New()
	sum.Write([]byte(backupMagic))
	in := io.TeeReader(r, sum)
	var length [4]byte
	if _, err := io.ReadFull(in, length[:]); err != nil {
		return nil, errBackup("it is cut short")
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > maxManifest {
		return nil, errBackup("its manifest is damaged")
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(in, text); err != nil {
		return nil, errBackup("it is cut short")
	}
	want, got := sum.Sum(nil), make([]byte, sha256.Size)
	if _, err := io.ReadFull(r, got); err != nil {
		return nil, errBackup("it is cut short")
	}
	if !bytes.Equal(want, got) {
		return nil, errBackup("the checksum of its manifest does not match: it is damaged")
	}
	m := new(Manifest)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, errBackup("its manifest cannot be read: %v", err)
	}
	return m, m.known()
}

// known refuses what a later release has written.
func (m *Manifest) known() error {
	if checkKnown(m.StoreFormat) != nil {
		return errBackup("its store has format %d, written by version %s; this program knows formats %d to %d only", m.StoreFormat, m.Version, oldestFormat, storeFormat)
	}
	if newest := uint64(pebble.FormatNewest); m.IndexFormat > newest {
		return errBackup("its index files have format %d, written by version %s; this program knows none after %d", m.IndexFormat, m.Version, newest)
	}
	return nil
}

// readMagic reads the first line, and tells what a file is instead where that is
// easy to see.
func readMagic(r *bufio.Reader) error {
	head, err := r.Peek(len(backupMagic))
	if err != nil && len(head) == 0 {
		return errBackup("it is empty")
	}
	text := string(head)
	switch {
	case text == backupMagic:
		_, err := r.Discard(len(head))
		return err
	case strings.HasPrefix(backupMagic, text):
		return errBackup("it is cut short")
	case strings.HasPrefix(text, backupLine):
		version, _, _ := strings.Cut(text[len(backupLine):], "\n")
		if n, err := strconv.Atoi(version); err == nil && n > backupFormat {
			return errBackup("it has backup format %d, of a later release; this program knows format %d only", n, backupFormat)
		}
	case strings.HasPrefix(text, "PK"):
		return errBackup("it is a zip archive of something else")
	case strings.HasPrefix(text, "{"), strings.HasPrefix(text, "["):
		return errBackup("it looks like JSON: what `abagraph export` wrote is read by `abagraph import`")
	}
	return errBackup("it does not begin as one")
}

// FileName names a backup's file after its state and time.
func (m *Manifest) FileName() string {
	return fmt.Sprintf("abagraph-%s-tx%d-%s.backup", m.Epoch, m.Tx, m.CreatedAt.Time().UTC().Format("20060102T150405.000Z"))
}

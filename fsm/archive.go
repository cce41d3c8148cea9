package fsm

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"abagraph/fact"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// An archive is a checkpoint directory as one stream: a magic line, then each
// file as name length, name, size and bytes, then a name of length 0 and the
// SHA-256 of everything before it. Nothing of it counts until the sum was seen.
const archiveMagic = "abagraph archive 1\n"

// Bounds of what an archive may claim.
const (
	maxArchiveName  = 255
	maxArchiveFiles = 1_000_000
)

func archiveFiles(fs vfs.FS, dir string) ([]string, error) {
	names, err := fs.List(dir)
	if err != nil {
		return nil, fmt.Errorf("list a checkpoint: %w", err)
	}
	slices.Sort(names)
	return names, nil
}

// ArchiveSize returns the length in bytes of what WriteArchive will write.
func ArchiveSize(fs vfs.FS, dir string) (int64, error) {
	names, err := archiveFiles(fs, dir)
	if err != nil {
		return 0, err
	}
	size := int64(len(archiveMagic)) + 2 + sha256.Size
	for _, name := range names {
		info, err := fs.Stat(filepath.Join(dir, name))
		if err != nil {
			return 0, fmt.Errorf("look at a checkpoint's file: %w", err)
		}
		size += 2 + int64(len(name)) + 8 + info.Size()
	}
	return size, nil
}

// WriteArchive writes a checkpoint directory as one checksummed stream.
func WriteArchive(fs vfs.FS, dir string, to io.Writer) error {
	names, err := archiveFiles(fs, dir)
	if err != nil {
		return err
	}
	w := &summedWriter{to: bufio.NewWriterSize(to, 256<<10), sum: sha256.New()}
	w.write([]byte(archiveMagic))
	for _, name := range names {
		if err := w.file(fs, dir, name); err != nil {
			return err
		}
	}
	w.write([]byte{0, 0})
	sum := w.sum.Sum(nil)
	w.write(sum)
	if w.err != nil {
		return fmt.Errorf("write an archive: %w", w.err)
	}
	if err := w.to.Flush(); err != nil {
		return fmt.Errorf("write an archive: %w", err)
	}
	return nil
}

type summedWriter struct {
	to  *bufio.Writer
	sum hash.Hash
	err error
}

func (w *summedWriter) write(b []byte) {
	if w.err == nil {
		w.sum.Write(b)
		_, w.err = w.to.Write(b)
	}
}

// Write makes a summedWriter an io.Writer for copies.
func (w *summedWriter) Write(b []byte) (int, error) {
	w.write(b)
	return len(b), w.err
}

func (w *summedWriter) file(fs vfs.FS, dir, name string) error {
	f, err := fs.Open(filepath.Join(dir, name))
	if err != nil {
		return fmt.Errorf("open a checkpoint's file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("look at a checkpoint's file: %w", err)
	}
	w.write(binary.BigEndian.AppendUint16(nil, uint16(len(name))))
	w.write([]byte(name))
	w.write(binary.BigEndian.AppendUint64(nil, uint64(info.Size())))
	n, err := io.Copy(w, io.LimitReader(f, info.Size()))
	if err != nil {
		return fmt.Errorf("write an archive: %w", err)
	}
	if n != info.Size() {
		return fmt.Errorf("write an archive: %s became shorter while it was read", name)
	}
	return nil
}

// errArchive makes the error of an archive that cannot be used.
func errArchive(format string, args ...any) error {
	return fact.Errorf(fact.SchemaInvalid, "not a usable archive: "+format, args...)
}

// ReadArchive unpacks an archive into a directory that must not exist yet, and
// removes it again if the archive is cut short, foreign or damaged.
func ReadArchive(fs vfs.FS, from io.Reader, dir string) error {
	if _, err := fs.Stat(dir); err == nil {
		return fmt.Errorf("unpack an archive: %s exists already", dir)
	}
	if err := fs.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("unpack an archive: %w", err)
	}
	err := (&unpacker{fs: fs, from: bufio.NewReaderSize(from, 256<<10), sum: sha256.New(), dir: dir}).run()
	if err != nil {
		return errors.Join(err, fs.RemoveAll(dir))
	}
	return nil
}

// CheckArchive reads an archive to its end and keeps nothing of it.
func CheckArchive(from io.Reader) error {
	return (&unpacker{from: bufio.NewReaderSize(from, 256<<10), sum: sha256.New()}).run()
}

type unpacker struct {
	fs   vfs.FS // nil keeps nothing
	from *bufio.Reader
	sum  hash.Hash
	dir  string
}

func (u *unpacker) take(n int) ([]byte, error) {
	b := make([]byte, n)
	if _, err := io.ReadFull(u.from, b); err != nil {
		return nil, errArchive("it is cut short")
	}
	u.sum.Write(b)
	return b, nil
}

func (u *unpacker) run() error {
	magic, err := u.take(len(archiveMagic))
	if err != nil {
		return err
	}
	if !bytes.Equal(magic, []byte(archiveMagic)) {
		return errArchive("it does not begin as one of this release does")
	}
	for files := 0; ; files++ {
		more, err := u.file()
		if err != nil {
			return err
		}
		if !more {
			return u.end()
		}
		if files > maxArchiveFiles {
			return errArchive("it holds too many files")
		}
	}
}

func (u *unpacker) end() error {
	want := u.sum.Sum(nil)
	got := make([]byte, sha256.Size)
	if _, err := io.ReadFull(u.from, got); err != nil {
		return errArchive("it is cut short")
	}
	if !bytes.Equal(want, got) {
		return errArchive("its checksum does not match: it is damaged")
	}
	if _, err := u.from.ReadByte(); err != io.EOF {
		return errArchive("something follows its end")
	}
	if u.fs == nil {
		return nil
	}
	d, err := u.fs.OpenDir(u.dir)
	if err != nil {
		return fmt.Errorf("unpack an archive: %w", err)
	}
	return errors.Join(d.Sync(), d.Close())
}

func (u *unpacker) file() (more bool, err error) {
	head, err := u.take(2)
	if err != nil {
		return false, err
	}
	n := int(binary.BigEndian.Uint16(head))
	if n == 0 {
		return false, nil
	}
	if n > maxArchiveName {
		return false, errArchive("a name in it is too long")
	}
	name, err := u.take(n)
	if err != nil {
		return false, err
	}
	if strings.ContainsAny(string(name), "/\\\x00") || string(name) == "." || string(name) == ".." {
		return false, errArchive("a name in it leads outside")
	}
	size, err := u.take(8)
	if err != nil {
		return false, err
	}
	return true, u.content(string(name), int64(binary.BigEndian.Uint64(size)))
}

func (u *unpacker) content(name string, size int64) error {
	if size < 0 {
		return errArchive("a size in it is impossible")
	}
	if u.fs == nil {
		if n, err := io.Copy(u.sum, io.LimitReader(u.from, size)); err != nil || n != size {
			return errArchive("it is cut short")
		}
		return nil
	}
	f, err := u.fs.Create(filepath.Join(u.dir, name), vfs.WriteCategoryUnspecified)
	if err != nil {
		return fmt.Errorf("unpack an archive: %w", err)
	}
	// The sum comes first: a file may change the buffer that it is given.
	n, err := io.Copy(io.MultiWriter(u.sum, f), io.LimitReader(u.from, size))
	switch {
	case err != nil:
		err = fmt.Errorf("unpack an archive: %w", err)
	case n != size:
		err = errArchive("it is cut short")
	default:
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

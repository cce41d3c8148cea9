package imports

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
)

// Source is the bytes of a file that can be read again anywhere.
type Source struct {
	Name string
	file *os.File
	size int64
	temp bool
}

// OpenFile opens a file to import.
func OpenFile(path string) (*Source, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the file to import: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the file to import: %w", err), file.Close())
	}
	if !info.Mode().IsRegular() {
		defer file.Close()
		if info.IsDir() {
			return nil, fmt.Errorf("%s is a directory, not a file to import", path)
		}
		return Spool(path, file)
	}
	return &Source{Name: path, file: file, size: info.Size()}, nil
}

// Spool copies a stream into a temporary file, since an import reads its rows
// twice. Close removes the file.
func Spool(name string, r io.Reader) (*Source, error) {
	file, err := os.CreateTemp("", "abagraph-import-*")
	if err != nil {
		return nil, fmt.Errorf("make a temporary file for the input: %w", err)
	}
	s := &Source{Name: name, file: file, temp: true}
	if s.size, err = io.Copy(file, r); err != nil {
		return nil, errors.Join(fmt.Errorf("copy the input to a temporary file: %w", err), s.Close())
	}
	return s, nil
}

// Close closes the file and removes it if it is a temporary copy.
func (s *Source) Close() error {
	err := s.file.Close()
	if s.temp {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	return err
}

// digest is the SHA-256 of the content.
func (s *Source) digest() ([]byte, error) {
	hash := sha256.New()
	if _, err := io.Copy(hash, io.NewSectionReader(s.file, 0, s.size)); err != nil {
		return nil, fmt.Errorf("read %s: %w", s.Name, err)
	}
	return hash.Sum(nil), nil
}

// begin looks at the first bytes: it refuses what is no UTF-8 text, and returns
// where the text begins, after a byte-order mark.
func (s *Source) begin() (int64, error) {
	head := make([]byte, 512)
	n, err := s.file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("read %s: %w", s.Name, err)
	}
	head = head[:n]
	switch {
	case bytes.HasPrefix(head, []byte{0xef, 0xbb, 0xbf}):
		return 3, nil
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}), n > 1 && (head[0] == 0) != (head[1] == 0):
		return 0, fmt.Errorf("%s is UTF-16 or UTF-32, not UTF-8: convert it first, as with iconv -f UTF-16 -t UTF-8", s.Name)
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return 0, fmt.Errorf("%s is packed by gzip: unpack it first, as with gunzip -c %s | abagraph import -", s.Name, s.Name)
	case bytes.IndexByte(head, 0) >= 0:
		return 0, fmt.Errorf("%s is not a text file: it holds zero bytes", s.Name)
	}
	return 0, nil
}

// read returns the bytes of one record.
func (s *Source) read(at record) ([]byte, error) {
	raw := make([]byte, at.size)
	if _, err := s.file.ReadAt(raw, at.offset); err != nil {
		return nil, fmt.Errorf("read line %d of %s again: %w", at.line, s.Name, err)
	}
	return raw, nil
}

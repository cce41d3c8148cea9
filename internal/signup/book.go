// Package signup keeps who has asked to be told of a server, or to be given a key: a name
// in a list for its operator, and nothing more. Entries are no facts: they are in no log,
// no tenant, no backup and on no other node, so that they can be deleted for good.
package signup

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Max is how many entries a book holds.
const Max = 2_000

// ErrFull is the error of a book that holds Max entries.
var ErrFull = errors.New("the list is full")

// Entry is one who has asked.
type Entry struct {
	Email   string `json:"email"`
	Name    string `json:"name,omitempty"`
	Company string `json:"company,omitempty"`
	Message string `json:"message,omitempty"`
	// At is when, in Unix milliseconds.
	At int64 `json:"at"`
}

// Book is the list of one node. It is safe for concurrent use.
type Book struct {
	mu    sync.Mutex
	path  string // "" = in memory
	now   func() time.Time
	list  []Entry
	known map[string]bool // by address, in lower case
}

// Open reads the list of a file, which need not be there yet; "" keeps it in memory. A
// line that a crash has cut is passed over.
func Open(path string, now func() time.Time) (*Book, error) {
	b := &Book{path: path, now: now, known: map[string]bool{}}
	if path == "" {
		return b, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // whoever claims the directory says what it is instead
		return b, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the list of signups: %w", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e Entry
		if json.Unmarshal(lines.Bytes(), &e) == nil && e.Email != "" && !b.known[key(e.Email)] {
			b.list, b.known[key(e.Email)] = append(b.list, e), true
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the list of signups: %w", err)
	}
	return b, nil
}

func key(email string) string { return strings.ToLower(email) }

// Add puts an entry at the end, on disk before it returns. An address that is there
// already stays as it is.
func (b *Book) Add(e Entry) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known[key(e.Email)] {
		return nil
	}
	if len(b.list) >= Max {
		return ErrFull
	}
	e.At = b.now().UnixMilli()
	list := append(b.list, e)
	if err := b.save(list); err != nil {
		return err
	}
	b.list, b.known[key(e.Email)] = list, true
	return nil
}

// List returns the entries, the oldest first.
func (b *Book) List() []Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]Entry(nil), b.list...)
}

// Remove deletes the entry of an address, and tells whether there was one.
func (b *Book) Remove(email string) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.known[key(email)] {
		return false, nil
	}
	list := make([]Entry, 0, len(b.list))
	for _, e := range b.list {
		if key(e.Email) != key(email) {
			list = append(list, e)
		}
	}
	if err := b.save(list); err != nil {
		return false, err
	}
	delete(b.known, key(email))
	b.list = list
	return true, nil
}

// save writes the whole list anew beside the old one, and puts it in its place: it is
// short, and what was removed is in no file afterwards.
func (b *Book) save(list []Entry) (err error) {
	if b.path == "" {
		return nil
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	for i := range list {
		if err := e.Encode(&list[i]); err != nil {
			return fmt.Errorf("write the list of signups: %w", err)
		}
	}
	f, err := os.CreateTemp(filepath.Dir(b.path), filepath.Base(b.path)+".*")
	if err != nil {
		return fmt.Errorf("write the list of signups: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write the list of signups: %w", err), os.Remove(f.Name()))
		}
	}()
	if _, err = f.Write(text.Bytes()); err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), b.path)
}

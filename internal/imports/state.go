package imports

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-json-experiment/json"
)

// state is the file that remembers what was answered. It is JSON Lines: a
// header, one line for each batch in the order of answers, and a last line when
// the import is done. A line that a crash has cut off is dropped: its batch is
// sent again under the same key.
type state struct {
	path string
	file *os.File // nil = nothing is remembered
	head header
	done map[int]*tally
	over bool
}

// header names the import that a state file belongs to.
type header struct {
	Version int    `json:"version"`
	Import  string `json:"import"`
	Epoch   string `json:"epoch"` // of the store
	Run     string `json:"run"`   // other than "" for an import that is done anew
	File    string `json:"file"`
}

type stateLine struct {
	Batch *int   `json:"batch,omitempty"`
	Tally *tally `json:"tally,omitempty"`
	Done  bool   `json:"done,omitempty"`
}

const stateVersion = 1

// openState opens or makes a state file; "" remembers nothing.
func openState(path string, head header) (*state, error) {
	s := &state{path: path, head: head, done: map[int]*tally{}}
	if path == "" {
		return s, nil
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the state file (give another one by --state FILE, or --no-state): %w", err)
	}
	s.file = file
	if err := s.load(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return s, nil
}

func (s *state) load() error {
	r := bufio.NewReader(s.file)
	end := int64(0)
	for number := 0; ; number++ {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break // what is left has no end: a crash cut it off
		}
		if err != nil {
			return fmt.Errorf("read the state file %s: %w", s.path, err)
		}
		if number == 0 {
			err = s.loadHeader(line)
		} else {
			err = s.loadLine(line)
		}
		if err != nil {
			return err
		}
		end += int64(len(line))
	}
	if err := s.file.Truncate(end); err != nil {
		return fmt.Errorf("mend the state file %s: %w", s.path, err)
	}
	if _, err := s.file.Seek(end, io.SeekStart); err != nil {
		return fmt.Errorf("open the state file %s: %w", s.path, err)
	}
	if end > 0 {
		return nil
	}
	return s.write(s.head)
}

func (s *state) loadHeader(line []byte) error {
	var head header
	if err := json.Unmarshal(line, &head); err != nil || head.Version != stateVersion {
		return fmt.Errorf("%s is not a state file of an import: give another one by --state FILE", s.path)
	}
	if head.Import != s.head.Import || head.Epoch != s.head.Epoch {
		return fmt.Errorf("the state file %s belongs to another import (file, options or store): give another one by --state FILE", s.path)
	}
	s.head = head
	return nil
}

func (s *state) loadLine(line []byte) error {
	var one stateLine
	if err := json.Unmarshal(line, &one); err != nil {
		return fmt.Errorf("the state file %s is damaged: %w", s.path, err)
	}
	if one.Done {
		s.over = true
	}
	if one.Batch != nil && one.Tally != nil {
		s.done[*one.Batch] = one.Tally
	}
	return nil
}

// finished remembers a batch.
func (s *state) finished(batch int, t *tally) error {
	return s.write(stateLine{Batch: &batch, Tally: t})
}

// close remembers that the import is done, if it is, and closes the file.
func (s *state) close(done bool) error {
	if s.file == nil {
		return nil
	}
	var err error
	if done && !s.over {
		err = s.write(stateLine{Done: true})
	}
	return errors.Join(err, s.file.Sync(), s.file.Close())
}

func (s *state) write(v any) error {
	if s.file == nil {
		return nil
	}
	line, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("write the state file: %w", err)
	}
	if _, err := s.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write the state file: %w", err)
	}
	return nil
}

package imports_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"abagraph/client"
	"abagraph/fact"
	"abagraph/internal/imports"
)

// store is a server as an import sees it: it judges names and dates, keeps the
// answer to each key, and lets a test lose answers.
type store struct {
	mu      sync.Mutex
	answers map[string]*client.Transacted
	facts   map[string]bool // id → retracted
	asserts []client.Assert
	story   []string // every write in order
	calls   int
	tx      uint64
	// fail, where set, is asked before (sent) and after (written) each call.
	fail func(call int, written bool) error
}

func newStore() *store {
	return &store{answers: map[string]*client.Transacted{}, facts: map[string]bool{}}
}

func (s *store) Transact(ctx context.Context, t *client.Transact, w client.Write) (*client.Transacted, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.calls++
	call := s.calls
	if s.fail != nil {
		if err := s.fail(call, false); err != nil {
			return nil, err
		}
	}
	body, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	key := w.IdempotencyKey + " " + string(body)
	answer, known := s.answers[key]
	if !known {
		if answer, err = s.write(t); err == nil {
			s.answers[key] = answer
		}
	}
	if s.fail != nil {
		if lost := s.fail(call, true); lost != nil {
			return nil, lost
		}
	}
	return answer, err
}

func (s *store) write(t *client.Transact) (*client.Transacted, error) {
	for i, a := range t.Asserts {
		if err := fact.CheckName(fmt.Sprintf("asserts[%d].subject", i), a.Subject); err != nil {
			return nil, &client.Error{Status: 400, Code: fact.SchemaInvalid, Message: err.Error()}
		}
		if a.ValidUntil != "" && a.ValidUntil <= a.ValidFrom {
			return nil, &client.Error{Status: 400, Code: fact.SchemaInvalid, Message: fmt.Sprintf("asserts[%d].valid_until must be later than valid_from", i)}
		}
	}
	for _, r := range t.Retracts {
		if _, known := s.facts[r.ID]; !known {
			return nil, &client.Error{Status: 404, Code: fact.NotFound, Message: "no fact: " + r.ID}
		}
	}
	s.tx++
	answer := &client.Transacted{Tx: s.tx}
	for _, r := range t.Retracts {
		s.facts[r.ID] = true
		answer.Retracted = append(answer.Retracted, r.ID)
		s.story = append(s.story, "retract "+r.ID+"@"+r.DeclaredKnownAt)
	}
	for _, a := range t.Asserts {
		id := fmt.Sprintf("%s/%s/%s#%d", a.Subject, a.Predicate, a.Object.Text, len(s.asserts))
		s.facts[id], s.asserts = false, append(s.asserts, a)
		answer.Facts = append(answer.Facts, client.Fact{ID: id, Tx: s.tx, Predicate: a.Predicate})
		s.story = append(s.story, "assert "+id+"@"+a.DeclaredKnownAt)
	}
	return answer, nil
}

// file writes a file to import and opens it.
func file(t *testing.T, name, text string) *imports.Source {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := imports.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// run imports a source into a store and returns the report and what was
// refused, a line each.
func run(t *testing.T, s *store, source *imports.Source, o imports.Options, c imports.Config) (imports.Report, []string, error) {
	t.Helper()
	var notes []string
	note := func(r imports.Refusal) {
		kind := "row"
		if r.Retraction {
			kind = "retraction"
		}
		notes = append(notes, fmt.Sprintf("%s %d: %s", kind, r.Line, r.Reason))
	}
	if o.Batch == 0 {
		o.Batch = imports.DefaultBatch
	}
	plan, err := imports.Make(context.Background(), source, o, note, func(int64, int64) {})
	if err != nil {
		return imports.Report{}, notes, err
	}
	c.Writer, c.Note, c.Progress = s, note, func(int, int) {}
	report, err := plan.Run(context.Background(), c)
	return report, notes, err
}

func must(t *testing.T, report imports.Report, notes []string, err error) (imports.Report, []string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if !report.Complete() {
		t.Errorf("the counts do not add up: %+v", report)
	}
	return report, notes
}

var errLost = errors.New("the connection is lost")

func contains(list []string, part string) bool {
	for _, one := range list {
		if strings.Contains(one, part) {
			return true
		}
	}
	return false
}

// replaceID puts an import's id where a seed says IMPORT.
func replaceID(text, id string) string { return strings.ReplaceAll(text, "IMPORT", id) }

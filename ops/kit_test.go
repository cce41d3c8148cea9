package ops_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/log/entry"
)

// store is a state machine that a test writes into without a node.
type store struct {
	t     *testing.T
	m     *fsm.Machine
	index uint64
	clock fact.Instant
	ids   byte
}

// newStore opens an empty store in a directory whose log's clock stands at an instant.
func newStore(t *testing.T, dir string, clock fact.Instant) *store {
	t.Helper()
	m, err := fsm.Open(fsm.Options{Dir: dir, CacheBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	s := &store{t: t, m: m, clock: clock}
	s.entry(entry.EncodeTick(clock))
	return s
}

func (s *store) entry(data []byte) fsm.Applied {
	s.t.Helper()
	s.index++
	got, err := s.m.Apply([]fsm.Committed{{Index: s.index, Term: 3, Data: data}})
	if err != nil {
		s.t.Fatal(err)
	}
	return got[0]
}

func (s *store) request(r *fact.Request) *fact.Result {
	s.t.Helper()
	s.clock++
	got := s.entry(entry.EncodeBatch(entry.Batch{ProposedAt: s.clock, Requests: [][]byte{entry.EncodeRequest(r)}}))
	if err := got.Results[0].Err; err != nil {
		s.t.Fatal(err)
	}
	return got.Results[0]
}

// assert writes one fact of a tenant.
func (s *store) assert(tenant, subject, object string) {
	s.t.Helper()
	s.ids++
	id := fact.ID{0: 1, 6: 0x70, 8: 0x80, 15: s.ids}
	s.request(&fact.Request{Tenant: tenant, Branch: fact.MainBranch, Threshold: fact.DefaultThreshold, Write: &fact.Write{Asserts: []fact.Assert{{
		ID: id, Subject: subject, Predicate: "likes", Object: fact.TextObject(object), Confidence: 1,
		ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, KnownAt: fact.NoInstant,
	}}}})
}

// backup returns the bytes of a backup of the store as it stands.
func (s *store) backup() []byte {
	s.t.Helper()
	view, err := s.m.View()
	if err != nil {
		s.t.Fatal(err)
	}
	defer view.Close()
	m, err := view.Manifest(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	dir := filepath.Join(s.t.TempDir(), "checkpoint")
	if err := s.m.Checkpoint(dir); err != nil {
		s.t.Fatal(err)
	}
	m.Version, m.Node, m.CreatedAt = "test", "n1", s.clock
	if m.ArchiveBytes, err = fsm.ArchiveSize(s.m.FS(), dir); err != nil {
		s.t.Fatal(err)
	}
	var b bytes.Buffer
	if err := fsm.WriteBackup(s.m.FS(), dir, &m, &b); err != nil {
		s.t.Fatal(err)
	}
	return b.Bytes()
}

func (s *store) close() {
	s.t.Helper()
	if err := s.m.Close(); err != nil {
		s.t.Fatal(err)
	}
}

// fixed is the clock of stores whose time does not matter.
const fixed fact.Instant = 1_700_000_000_000

// filled is a closed store of two tenants, and its backup.
func filled(t *testing.T, dir string) []byte {
	t.Helper()
	s := newStore(t, dir, fixed)
	defer s.close()
	for i := range 20 {
		s.assert("a", fmt.Sprintf("Person:%d", i), "tea")
		s.assert("b", fmt.Sprintf("Person:%d", i), "coffee")
	}
	return s.backup()
}

// file writes a file of a test's.
func file(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "some.backup")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// tree reads everything below a directory.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		all[path] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

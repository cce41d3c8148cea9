package entry_test

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"abagraph/fact"
	"abagraph/internal/model"
	"abagraph/log/entry"
)

// TestRequestsAndResultsRoundTrip sends random histories and what they were
// answered through their bytes.
func TestRequestsAndResultsRoundTrip(t *testing.T) {
	r := model.NewRandomForks(1)
	for range 500 {
		s := r.Step()
		if s.Request == nil {
			continue
		}
		q, err := entry.DecodeRequest(entry.EncodeRequest(s.Request))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(q, s.Request) {
			t.Fatalf("request came back as\n%+v, not\n%+v", q, s.Request)
		}
		a, err := entry.DecodeResult(entry.EncodeResult(r.Answer))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(a, r.Answer) {
			t.Fatalf("result came back as\n%+v, not\n%+v", a, r.Answer)
		}
	}
}

// golden are entries of every kind, fixed for ever: a release that writes other
// bytes must use another format version, and still read these.
func golden() map[string][]byte {
	source := "hr-system"
	known := fact.Instant(1_600_000_000_000)
	id := fact.NewID(1_700_000_000_000, [10]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	number, err := fact.NumberObject("object", "9007199254740993")
	if err != nil {
		panic(err)
	}
	write := entry.EncodeRequest(&fact.Request{
		Tenant: "acme", Branch: fact.MainBranch, Actor: "key-1", Threshold: 0.75,
		Idem: &fact.Idempotency{Key: "k", Method: "POST", Path: "/api/transact", Hash: [32]byte{9}},
		Write: &fact.Write{
			Guards:   []fact.Guard{{Subject: "Person:a", Predicate: "works_at", Kind: fact.GuardExpect, Object: fact.TextObject("Org:x")}},
			Retracts: []fact.Retract{{ID: id, KnownAt: fact.NoInstant}},
			Asserts: []fact.Assert{{
				ID: id, Subject: "Person:a", Predicate: "age", Object: number, ValidFrom: -1, ValidUntil: fact.Forever,
				Confidence: 0.9, Source: &source, Properties: []byte(`{"why":"x"}`), Policy: fact.Coexist, Transient: true, KnownAt: known,
			}},
			Backfill: &fact.Backfill{KnownAt: fact.NoInstant, Reason: "import"},
		},
	})
	purge := entry.EncodeRequest(&fact.Request{Tenant: "acme", Branch: fact.MainBranch, Purge: &fact.Purge{Prefix: "Contact:"}})
	tenant := entry.EncodeRequest(&fact.Request{Registry: &fact.TenantChange{
		Op: fact.TenantCreate, ID: "acme", Name: "Acme", Quota: 5,
		Key: &fact.Key{ID: "k1", Name: "first", Role: fact.RoleWrite, Hash: [32]byte{7}, Tenant: "acme", CreatedAt: 1, RevokedAt: fact.NoInstant},
	}})
	embedded := entry.EncodeRequest(&fact.Request{
		Tenant: "acme", Branch: fact.MainBranch, Threshold: 0.75,
		Write: &fact.Write{Model: fact.Model{Name: "hash", Dim: 2}, Asserts: []fact.Assert{
			{ID: id, Subject: "Person:a", Predicate: "age", Object: number, ValidFrom: -1, ValidUntil: fact.Forever, Confidence: 1, KnownAt: known},
			{ID: id, Subject: "Person:b", Predicate: "age", Object: number, ValidFrom: -1, ValidUntil: fact.Forever, Confidence: 1, KnownAt: known,
				Vector: []float32{0.6, -0.8}},
		}},
	})
	vectors := entry.EncodeRequest(&fact.Request{Tenant: "acme", Branch: fact.MainBranch, Actor: "embeddings", Vectors: &fact.Vectors{
		Model: fact.Model{Name: "hash", Dim: 2}, Rows: []fact.VectorRow{{ID: id, Vector: []float32{0, 1}}},
	}})
	fork := entry.EncodeRequest(&fact.Request{Tenant: "acme", Branch: fact.MainBranch, Actor: "key-1", Branching: &fact.BranchChange{
		Op: fact.BranchCreate, Name: "feature-q3", Parent: fact.MainBranch, AsOf: 1_700_000_000_000,
	}})
	promote := entry.EncodeRequest(&fact.Request{Tenant: "acme", Branch: fact.MainBranch, Actor: "key-1", Branching: &fact.BranchChange{
		Op: fact.BranchPromote, Name: "feature-q3", AsOf: fact.NoInstant, DryRun: true,
	}})
	return map[string][]byte{
		"branches": entry.EncodeBatch(entry.Batch{ProposedAt: 1_700_000_000_006, Requests: [][]byte{fork, promote}}),
		"vectors":  entry.EncodeBatch(entry.Batch{ProposedAt: 1_700_000_000_005, Requests: [][]byte{embedded, vectors}}),
		"batch":    entry.EncodeBatch(entry.Batch{ProposedAt: 1_700_000_000_001, Requests: [][]byte{write, purge, tenant}}),
		"tick":     entry.EncodeTick(1_700_000_000_002),
		"sweep":    entry.EncodeSweep(1_700_000_000_003),
		"check":    entry.EncodeCheck(1_700_000_000_004, 42, [32]byte{1, 2, 3}),
	}
}

// TestGoldenBytes holds every kind of entry to the bytes of the release that
// introduced it.
func TestGoldenBytes(t *testing.T) {
	for name, b := range golden() {
		file := filepath.Join("testdata", "v1", name+".hex")
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(b) + "\n"; got != string(want) {
			t.Errorf("%s: the bytes of format version 1 have changed", file)
		}
		e, err := entry.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range e.Requests {
			if _, err := entry.DecodeRequest(q); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestVectorsRoundTrip sends vectors through their bytes; what does not fit its
// model is left out, so that every node can read the entry.
func TestVectorsRoundTrip(t *testing.T) {
	m := fact.Model{Name: "hash", Dim: 2}
	assert := func(v []float32) fact.Assert {
		return fact.Assert{Subject: "a", Predicate: "b", ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, KnownAt: fact.NoInstant, Vector: v}
	}
	sent := &fact.Request{Branch: fact.MainBranch, Write: &fact.Write{Model: m, Asserts: []fact.Assert{
		assert([]float32{1, 0}), assert(nil), assert([]float32{1, 2, 3}), assert([]float32{0, 1}), assert([]float32{}),
	}}}
	got, err := entry.DecodeRequest(entry.EncodeRequest(sent))
	if err != nil {
		t.Fatal(err)
	}
	sent.Write.Asserts[2].Vector, sent.Write.Asserts[4].Vector = nil, nil
	if !reflect.DeepEqual(got, sent) {
		t.Fatalf("came back as\n%+v, not\n%+v", got.Write, sent.Write)
	}
	set := &fact.Request{Branch: fact.MainBranch, Vectors: &fact.Vectors{Model: m, Rows: []fact.VectorRow{
		{ID: fact.ID{1}, Vector: []float32{1, 0}}, {ID: fact.ID{2}, Vector: []float32{1}},
	}}}
	if got, err = entry.DecodeRequest(entry.EncodeRequest(set)); err != nil {
		t.Fatal(err)
	}
	set.Vectors.Rows = set.Vectors.Rows[:1]
	if !reflect.DeepEqual(got, set) {
		t.Fatalf("came back as\n%+v, not\n%+v", got.Vectors, set.Vectors)
	}
}

// TestBadVectorsAreRefused: a part of a write that is not known, vectors that
// come twice, and those of asserts that are not there.
func TestBadVectorsAreRefused(t *testing.T) {
	plain := entry.EncodeRequest(&fact.Request{Write: &fact.Write{Asserts: []fact.Assert{{Subject: "a", Predicate: "b"}}}})
	vectors := "\x01\x01m\x01\x01\x00\x00\x00\x80\x3f"
	for name, after := range map[string]string{
		"an unknown part":     "\x63",
		"vectors twice":       vectors + vectors,
		"an assert too far":   "\x01\x01m\x01\x01\x01\x00\x00\x80\x3f",
		"cut short":           vectors[:len(vectors)-1],
		"no dimension":        "\x01\x01m\x00\x00",
		"a dimension too big": "\x01\x01m\xff\xff\xff\xff\x0f\x00",
		"no model":            "\x01\x00\x01\x00",
	} {
		if _, err := entry.DecodeRequest(append(append([]byte(nil), plain...), after...)); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if _, err := entry.DecodeRequest(append(append([]byte(nil), plain...), vectors...)); err != nil {
		t.Errorf("good vectors were refused: %v", err)
	}
}

// TestUnknownEntriesAreRefused: a version or a kind from the future is an error
// that says so, never skipped.
func TestUnknownEntriesAreRefused(t *testing.T) {
	tick := entry.EncodeTick(1)
	for at, what := range map[int]string{0: "version", 1: "kind"} {
		b := append([]byte(nil), tick...)
		b[at] = 99
		if _, err := entry.Decode(b); err == nil {
			t.Errorf("an entry of an unknown %s was accepted", what)
		}
	}
}

// FuzzDecode feeds arbitrary bytes to every decoder: they answer an error, never
// a panic, and what they accept encodes to something that decodes again.
func FuzzDecode(f *testing.F) {
	for _, b := range golden() {
		f.Add(b)
		if e, err := entry.Decode(b); err == nil {
			for _, q := range e.Requests {
				f.Add(q)
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = entry.Decode(b)
		_, _ = entry.DecodeFact(b)
		_, _ = entry.DecodeError(b)
		_, _ = entry.DecodeKey(b)
		_, _ = entry.DecodeTenant(b)
		_, _ = entry.DecodeBranch(b)
		if s, err := entry.DecodeResult(b); err == nil {
			if _, err := entry.DecodeResult(entry.EncodeResult(s)); err != nil {
				t.Fatalf("a result that was read cannot be written and read again: %v", err)
			}
		}
		if q, err := entry.DecodeRequest(b); err == nil {
			if _, err := entry.DecodeRequest(entry.EncodeRequest(q)); err != nil {
				t.Fatalf("a request that was read cannot be written and read again: %v", err)
			}
		}
	})
}

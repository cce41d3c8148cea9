package fsm_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"testing"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/internal/model"
)

// document is a blob of two pieces with the fact that refers to it.
type document struct {
	text  []byte
	hash  [32]byte
	write fact.Write
}

func newDocument(t *testing.T, seed byte) *document {
	t.Helper()
	d := &document{text: bytes.Repeat([]byte{seed, seed + 1, seed + 2}, fact.MaxBlobPart/2)}
	d.hash = sha256.Sum256(d.text)
	object, err := fact.BlobObject("object", hex.EncodeToString(d.hash[:]), int64(len(d.text)))
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range slices.Collect(slices.Chunk(d.text, fact.MaxBlobPart)) {
		d.write.Blobs = append(d.write.Blobs, fact.BlobPart{Hash: d.hash, Part: uint32(i), Data: part})
	}
	d.write.Asserts = []fact.Assert{{
		ID: fact.ID{seed}, Subject: fact.DocumentOf(d.hash), Predicate: "content", Object: object, ValidFrom: fact.NoInstant, ValidUntil: fact.Forever,
		Confidence: 1, KnownAt: fact.NoInstant,
	}}
	return d
}

// kept returns what a tenant has of the document.
func (d *document) kept(t *testing.T, m *fsm.Machine, tenant string) string {
	t.Helper()
	view, err := m.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	var got []byte
	for part := uint32(0); ; part++ {
		b, err := view.BlobPart(t.Context(), fact.Scope{Tenant: tenant, Branch: fact.MainBranch}, d.hash, part)
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			break
		}
		got = append(got, b...)
	}
	switch {
	case len(got) == 0:
		return "nothing"
	case bytes.Equal(got, d.text):
		return "all"
	}
	return "something else"
}

// TestBlobs writes documents of two tenants, repeats one, refuses one, purges and
// writes again; step by step, and all in one call of Apply.
func TestBlobs(t *testing.T) {
	n, once := newNode(t, fsm.Options{}), newNode(t, fsm.Options{})
	a, b, c := newDocument(t, 1), newDocument(t, 7), newDocument(t, 11)
	at := fact.Instant(1_700_000_000_000)
	step := func(tenant string, r fact.Request) *fact.Result {
		at++
		r.Tenant, r.Branch = tenant, fact.MainBranch
		s := model.Step{ProposedAt: at, Request: &r}
		once.put(bytesOf(s))
		return n.step(s)
	}
	step("ta", fact.Request{Write: &a.write})
	if again := step("ta", fact.Request{Write: &fact.Write{Blobs: a.write.Blobs}}); again.Wrote {
		t.Error("the same pieces took a tx")
	}
	step("tb", fact.Request{Write: &a.write})
	alone := step("ta", fact.Request{Write: &fact.Write{Blobs: b.write.Blobs}})
	if !alone.Wrote {
		t.Error("pieces without a fact took no tx")
	}
	step("ta", fact.Request{Write: &b.write})
	refused := c.write
	refused.Guards = []fact.Guard{{Subject: "x", Predicate: "y", Kind: fact.GuardExpect, Object: fact.TextObject("z")}}
	step("ta", fact.Request{Write: &refused})
	step("ta", fact.Request{Purge: &fact.Purge{Subject: fact.DocumentOf(a.hash)}})
	step("ta", fact.Request{Write: &b.write})
	step("tb", fact.Request{Purge: &fact.Purge{Prefix: "Document:"}})
	step("tb", fact.Request{Write: &b.write})
	// Another subject that refers to a text takes nothing along when it is purged.
	other := b.write.Asserts[0]
	other.ID, other.Subject = fact.ID{99}, "Person:p"
	step("tb", fact.Request{Write: &fact.Write{Asserts: []fact.Assert{other}}})
	step("tb", fact.Request{Purge: &fact.Purge{Subject: "Person:p"}})
	once.apply()
	for name, node := range map[string]*node{"step by step": n, "in one call": once} {
		for _, want := range []struct {
			d      *document
			tenant string
			kept   string
		}{{a, "ta", "nothing"}, {a, "tb", "nothing"}, {b, "ta", "all"}, {b, "tb", "all"}, {c, "ta", "nothing"}, {a, "", "nothing"}} {
			if got := want.d.kept(t, node.m, want.tenant); got != want.kept {
				t.Errorf("%s: %s of %s keeps %s, not %s", name, want.d.write.Asserts[0].Subject, want.tenant, got, want.kept)
			}
		}
		view, err := node.m.View()
		if err != nil {
			t.Fatal(err)
		}
		checked, err := view.Verify(t.Context(), nil)
		view.Close()
		if err != nil || len(checked.Problems) > 0 || checked.Unchecked > 0 {
			t.Errorf("%s: %v, %+v", name, err, checked)
		}
	}
	if n.m.Position() != once.m.Position() {
		t.Errorf("step by step the store is at %+v, in one call at %+v", n.m.Position(), once.m.Position())
	}
}

package memory_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/internal/embed"
	"abagraph/internal/onenode"
	"abagraph/memory"
)

// slowVectors is a view of which the vectors are read when they may be.
type slowVectors struct {
	memory.View
	may <-chan struct{}
}

func (v *slowVectors) EachVector(ctx context.Context, scope fact.Scope, m fact.Model, after uint64, visit func(fact.ID, uint64, []float32) bool) error {
	select {
	case <-v.may:
		return v.View.EachVector(ctx, scope, m, after, visit)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestWordsFindBeforeTheVectorsAreRead: searches and packets of the present do not wait
// for the reading of all vectors: they go by words, say so, and are as ever afterwards.
func TestWordsFindBeforeTheVectorsAreRead(t *testing.T) {
	n := onenode.Start(t)
	from, err := embed.New(embed.Options{Provider: embed.Hash, Dim: 16})
	if err != nil {
		t.Fatal(err)
	}
	may := make(chan struct{})
	s, err := memory.New(memory.Options{Engine: n, Embedder: from, View: func(ctx context.Context) (memory.View, error) {
		v, err := n.View(ctx)
		return &slowVectors{v, may}, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	c := resolve(t, s, "")
	write := batch(1, 40)
	for i := range write.Asserts {
		write.Asserts[i].ID = fact.NewID(n.Now()+fact.Instant(i), [10]byte{1})
	}
	write.Asserts[7].Object = fact.TextObject("a quarterly roadmap")
	embedOffice(t, from, write)
	if got, err := n.Propose(t.Context(), &fact.Request{Tenant: memory.DefaultTenant, Branch: fact.MainBranch, Threshold: fact.DefaultThreshold, Write: write}); err != nil || got.Err != nil {
		t.Fatal(got, err)
	}
	ask := func() ([]string, *memory.SearchAnswer) {
		t.Helper()
		answer, meta, err := s.Search(t.Context(), c, &memory.SearchQuery{Read: memory.NewRead(), Question: "quarterly roadmap"}, nil)
		if err != nil || len(answer.Hits) == 0 || answer.Hits[0].Fact.ID != write.Asserts[7].ID {
			t.Fatalf("the search finds %+v, %v", answer, err)
		}
		q := memory.NewContextQuery()
		q.Goal = "quarterly roadmap"
		p, _, err := s.Context(t.Context(), c, q, nil)
		if err != nil || len(p.Facts) == 0 || p.Facts[0].ID != write.Asserts[7].ID {
			t.Fatalf("the packet is %+v, %v", p, err)
		}
		for _, w := range p.Warnings {
			if w.Code == "search" && !slices.Contains(meta.Warnings, w.Message) {
				t.Errorf("the packet warns of %q, and the search does not", w.Message)
			}
		}
		return meta.Warnings, answer
	}
	const early = "words alone were searched for, because the vectors of the search index are being read (0 % so far)"
	if warnings, answer := ask(); !slices.Equal(warnings, []string{early}) || answer.Mode != memory.LexicalSearch || answer.Vectors != nil {
		t.Errorf("meanwhile the search warns %q and goes by %s, vectors %+v", warnings, answer.Mode, answer.Vectors)
	}
	close(may)
	warnings, answer := ask()
	if slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, "being read") }) || answer.Mode != memory.HybridSearch || answer.Vectors == nil {
		t.Errorf("afterwards it warns %q and goes by %s, vectors %+v", warnings, answer.Mode, answer.Vectors)
	}
}

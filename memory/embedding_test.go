package memory_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/internal/embed"
	"abagraph/internal/onenode"
	"abagraph/memory"
)

// provider is an embedder whose faults a test decides.
type provider struct {
	memory.Embedder
	mu    sync.Mutex
	fault func(texts []string) ([][]float32, error) // nil = none
	calls int
	texts int
}

func newProvider(t *testing.T, dim int) *provider {
	t.Helper()
	p, err := embed.New(embed.Options{Provider: embed.Hash, Dim: dim})
	if err != nil {
		t.Fatal(err)
	}
	return &provider{Embedder: p}
}

func (p *provider) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	p.mu.Lock()
	fault := p.fault
	p.calls++
	p.texts += len(texts)
	p.mu.Unlock()
	if fault != nil {
		return fault(texts)
	}
	return p.Embedder.Embed(ctx, texts)
}

func (p *provider) set(fault func([]string) ([][]float32, error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = fault
}

func (p *provider) down([]string) ([][]float32, error) { return nil, errors.New("it is down") }

func batch(from, n int) *fact.Write {
	w := &fact.Write{}
	for i := from; i < from+n; i++ {
		w.Asserts = append(w.Asserts, fact.Assert{
			Subject: fmt.Sprintf("Person:p%d", i), Predicate: "likes", Object: fact.TextObject(fmt.Sprintf("thing %d", i)),
			ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, Confidence: 1, KnownAt: fact.NoInstant,
		})
	}
	return w
}

// embedWorld is a service with a provider on a node of its own.
type embedWorld struct {
	*testing.T
	node    *onenode.Node
	service *memory.Service
	warned  []string
}

func (w *embedWorld) with(p memory.Embedder) *embedWorld {
	w.service = w.node.Service(w.T, memory.Options{Embedder: p, EmbedTimeout: 100 * time.Millisecond, Embedding: "hash"})
	return w
}

func (w *embedWorld) caller(tenant string) memory.Caller {
	return memory.Caller{Operator: true, Tenant: tenant, Role: fact.RoleAdmin}
}

// write commits a batch and returns what the answer warns of.
func (w *embedWorld) write(tenant string, batch *fact.Write) string {
	w.Helper()
	w.warned = nil
	o := memory.WriteOptions{Warn: func(text string) { w.warned = append(w.warned, text) }}
	res, err := w.service.Transact(context.Background(), w.caller(tenant), o, batch, nil)
	if err != nil || !res.Wrote || len(res.Asserts) != len(batch.Asserts) {
		w.Fatalf("the write was answered %+v, %v", res, err)
	}
	return strings.Join(w.warned, "; ")
}

func (w *embedWorld) state(tenant string) *memory.Embeddings {
	w.Helper()
	e, _, err := w.service.Embeddings(context.Background(), w.caller(tenant), memory.NewRead(), nil)
	if err != nil {
		w.Fatal(err)
	}
	return e
}

func (w *embedWorld) wants(tenant string, facts, missing uint64) {
	w.Helper()
	if e := w.state(tenant); e.Count != (fact.VectorCount{Facts: facts, Missing: missing}) {
		w.Fatalf("tenant %q counts %+v; %d facts and %d missing are right", tenant, e.Count, facts, missing)
	}
}

// pass runs the job until it waits for new facts.
func (w *embedWorld) pass() {
	w.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	if err := w.service.RunEmbedding(w.caller("")); err != nil {
		w.Fatal(err)
	}
	go func() { defer close(done); w.service.KeepEmbedded(ctx) }()
	for w.state("").Job.Running {
		time.Sleep(time.Millisecond)
	}
	cancel()
	<-done
}

// TestSRC02NoWriteIsLost is SRC-02's write side: whatever the provider does, the
// facts are stored, the answer says that they have no vector, and the job gives
// them one when the provider works again.
func TestSRC02NoWriteIsLost(t *testing.T) {
	p := newProvider(t, 8)
	w := (&embedWorld{T: t, node: onenode.Start(t)}).with(p)
	block := make(chan struct{})
	defer close(block)
	good := func(texts []string) [][]float32 {
		list, _ := p.Embedder.Embed(context.Background(), texts)
		return list
	}
	written := uint64(0)
	for i, c := range []struct {
		name    string
		fault   func([]string) ([][]float32, error)
		missing uint64
		says    string
	}{
		{"works", nil, 0, ""},
		{"down", p.down, 3, "3 of 3 facts are stored without a vector, because it is down"},
		{"too few", func(texts []string) ([][]float32, error) { return good(texts)[:1], errors.New("it is short") }, 2, "2 of 3 facts"},
		{"none and no error", func([]string) ([][]float32, error) { return nil, nil }, 3, "3 of 3 facts"},
		{"not a number", func(texts []string) ([][]float32, error) {
			list := good(texts)
			list[0][0], list[1] = float32(math.NaN()), make([]float32, 8)
			return list, nil
		}, 2, "2 of 3 facts are stored without a vector, because the embedding provider answered no usable vector"},
		{"wrong dimension", func(texts []string) ([][]float32, error) {
			return [][]float32{{1}, {1}, {1}}, errors.New("it is wrong")
		}, 3, "it is wrong"},
	} {
		p.set(c.fault)
		before := w.state("ta").Count.Missing
		said := w.write("ta", batch(10*i, 3))
		written += 3
		if c.says == "" && said != "" || !strings.Contains(said, c.says) {
			t.Errorf("%s: the answer warns %q", c.name, said)
		}
		w.wants("ta", written, before+c.missing)
	}
	p.set(p.down)
	missing := w.state("ta").Count.Missing
	w.pass()
	if e := w.state("ta"); e.Job.LastError != "it is down" || e.Job.LastErrorAt == 0 || e.Count.Missing != missing {
		t.Fatalf("after a pass without a provider: %+v", e)
	}
	p.set(nil)
	w.pass()
	w.wants("ta", written, 0)
	w.wants("tb", 0, 0)
}

// TestSlowProviderDelaysAWriteByItsLimit: the context that the provider is given
// ends, and the write goes on.
func TestSlowProviderDelaysAWriteByItsLimit(t *testing.T) {
	w := &embedWorld{T: t, node: onenode.Start(t)}
	w.with(slow{newProvider(t, 8)})
	if said := w.write("ta", batch(0, 1)); !strings.Contains(said, context.DeadlineExceeded.Error()) {
		t.Fatalf("the answer warns %q", said)
	}
	w.wants("ta", 1, 1)
}

// TestSlowProviderLeavesTimeForTheWrite: also one that may take longer than a write
// does not use up the write's own time.
func TestSlowProviderLeavesTimeForTheWrite(t *testing.T) {
	w := &embedWorld{T: t, node: onenode.Start(t)}
	w.service = w.node.Service(t, memory.Options{Embedder: slow{newProvider(t, 8)}, EmbedTimeout: time.Hour, Timeout: 400 * time.Millisecond})
	if said := w.write("ta", batch(0, 1)); !strings.Contains(said, context.DeadlineExceeded.Error()) {
		t.Fatalf("the answer warns %q", said)
	}
	w.wants("ta", 1, 1)
}

type slow struct{ *provider }

func (slow) Embed(ctx context.Context, _ []string) ([][]float32, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestSRC02ModelsBesideOneAnother is SRC-02's change of the model: each has its
// own vectors, none is lost, and going back finds those that were there.
func TestSRC02ModelsBesideOneAnother(t *testing.T) {
	w := &embedWorld{T: t, node: onenode.Start(t)}
	first, second := newProvider(t, 64), newProvider(t, 128)
	w.with(first).write("ta", batch(0, 100))
	w.wants("ta", 100, 0)
	w.with(second).write("ta", batch(100, 10))
	w.wants("ta", 110, 100)
	w.with(nil)
	if said := w.write("ta", batch(110, 1)); said != "" || w.state("ta").Enabled {
		t.Fatalf("without a provider the answer warns %q", said)
	}
	if err := w.service.RunEmbedding(w.caller("")); fact.CodeOf(err) != fact.Conflict {
		t.Fatalf("running without a provider: %v", err)
	}
	w.with(first)
	w.wants("ta", 111, 11)
	w.pass()
	w.wants("ta", 111, 0)
	w.with(second)
	w.wants("ta", 111, 101)
	w.pass()
	w.wants("ta", 111, 0)
	w.with(first).wants("ta", 111, 0)
	if first.texts != 100+11 || second.texts != 10+101 {
		t.Fatalf("the providers embedded %d and %d texts", first.texts, second.texts)
	}
}

// TestJobGoesOnWhereItWas: a pass that is cut short keeps what it has stored, and
// the next one, of another service as after a restart, does only the rest.
func TestJobGoesOnWhereItWas(t *testing.T) {
	w := (&embedWorld{T: t, node: onenode.Start(t)}).with(nil)
	for i := range 6 {
		w.write([]string{"ta", "tb"}[i%2], batch(100*i, 100))
	}
	p := newProvider(t, 8)
	p.set(func(texts []string) ([][]float32, error) {
		if p.calls > 2 {
			return nil, errors.New("it is down")
		}
		return p.Embedder.Embed(context.Background(), texts)
	})
	w.with(p).pass()
	done := w.state("").Job.Embedded
	if done == 0 || done >= 600 {
		t.Fatalf("the first pass embedded %d facts", done)
	}
	w.wants("", 600, 600-done)
	p = newProvider(t, 8)
	w.with(p).pass()
	w.wants("", 600, 0)
	if p.texts != int(600-done) {
		t.Fatalf("the second pass embedded %d facts, and %d had none", p.texts, 600-done)
	}
	tx := w.state("").Job.Through
	if now := w.node.Position().Tx; tx > now || tx < 6 {
		t.Fatalf("the job is at tx %d of %d", tx, now)
	}
}

// badTexts makes no vector of some texts, and says that it is their fault.
type badTexts struct{}

func (badTexts) Error() string { return "some texts have no vector" }
func (badTexts) OfText() bool  { return true }

// TestJobPassesOverTextsWithoutAVector: they hold up none of the others.
func TestJobPassesOverTextsWithoutAVector(t *testing.T) {
	w := (&embedWorld{T: t, node: onenode.Start(t)}).with(nil)
	w.write("ta", batch(0, 10))
	p := newProvider(t, 8)
	p.set(func(texts []string) ([][]float32, error) {
		list, _ := p.Embedder.Embed(context.Background(), texts)
		for i := range list {
			if strings.HasPrefix(texts[i], "Person:p3 ") {
				list[i] = nil
			}
		}
		return list, badTexts{}
	})
	w.with(p).pass()
	w.wants("ta", 10, 1)
	if j := w.state("").Job; j.Unusable != 1 || j.LastError != "" || j.Through == 0 {
		t.Fatalf("the job is %+v", j)
	}
	w.write("ta", batch(20, 1))
	p.set(nil)
	w.pass()
	w.wants("ta", 11, 0)
}

func TestOnlyTheOperatorRunsTheJob(t *testing.T) {
	w := (&embedWorld{T: t, node: onenode.Start(t)}).with(newProvider(t, 8))
	if err := w.service.RunEmbedding(memory.Caller{Tenant: "ta", Role: fact.RoleAdmin}); fact.CodeOf(err) != fact.Forbidden {
		t.Fatalf("a tenant's key got %v", err)
	}
}

// TestEmbedText: what a vector stands for, cut between two characters.
func TestEmbedText(t *testing.T) {
	source := "hr"
	for want, got := range map[string]string{
		"Person:a works at Org:x (hr)": memory.EmbedText("Person:a", "works_at", fact.TextObject("Org:x"), &source),
		"Person:a age 42":              memory.EmbedText("Person:a", "age", fact.Object{Kind: fact.Number, Text: "42"}, nil),
		"Person:a is member true":      memory.EmbedText("Person:a", "is_member", fact.BoolObject(true), nil),
		"Person:a knows":               memory.EmbedText("Person:a", "knows", fact.Object{}, nil),
	} {
		if got != want {
			t.Errorf("the text is %q, not %q", got, want)
		}
	}
	long := memory.EmbedText("a", "b", fact.TextObject(strings.Repeat("é", memory.MaxEmbedText)), nil)
	if len(long) > memory.MaxEmbedText || len(long) < memory.MaxEmbedText-1 || !strings.HasSuffix(long, "é") {
		t.Errorf("a long text is cut to %d bytes, and ends in %q", len(long), long[len(long)-2:])
	}
}

// TestJobEmbedsBranchesToo: what was written on a branch, and what it inherited
// before its parent got a vector, is embedded in the branch's own keeping.
func TestJobEmbedsBranchesToo(t *testing.T) {
	w := (&embedWorld{T: t, node: onenode.Start(t)}).with(nil)
	w.write("ta", batch(0, 3))
	if _, err := w.service.CreateBranch(t.Context(), w.caller("ta"), memory.WriteOptions{}, memory.NewBranch{Name: "draft", AsOf: fact.NoInstant}, nil); err != nil {
		t.Fatal(err)
	}
	o := memory.WriteOptions{Branch: "draft"}
	if _, err := w.service.Transact(t.Context(), w.caller("ta"), o, batch(10, 2), nil); err != nil {
		t.Fatal(err)
	}
	w.with(newProvider(t, 8)).pass()
	w.wants("ta", 3, 0)
	q := &memory.SearchQuery{Read: memory.NewRead(), Question: "Person:p11 likes thing 11", Mode: memory.VectorSearch}
	q.Branch = "draft"
	got, _, err := w.service.Search(t.Context(), w.caller("ta"), q, nil)
	if err != nil || got.Vectors == nil || got.Vectors.Candidates != 5 || got.Vectors.Missing != 0 || got.Hits[0].Fact.Subject != "Person:p11" {
		t.Fatalf("a search of the branch answers %+v, %v", got, err)
	}
}

// narrow is an engine that takes no write with vectors.
type narrow struct{ *onenode.Node }

func (n narrow) Propose(ctx context.Context, r *fact.Request) (*fact.Result, error) {
	if r.Write != nil && r.Write.Model.Given() {
		return nil, fact.Errorf(fact.TooLarge, "too large")
	}
	return n.Node.Propose(ctx, r)
}

// TestSRC02NoWriteIsTooLargeForItsVectors: what would fit into the log without its
// vectors is written without them.
func TestSRC02NoWriteIsTooLargeForItsVectors(t *testing.T) {
	w := &embedWorld{T: t, node: onenode.Start(t)}
	var err error
	w.service, err = memory.New(memory.Options{Engine: narrow{w.node}, View: w.node.View, Embedder: newProvider(t, 8)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.service.Close)
	if said := w.write("ta", batch(0, 2)); !strings.Contains(said, "too large with them") {
		t.Fatalf("the answer warns %q", said)
	}
	w.wants("ta", 2, 2)
}

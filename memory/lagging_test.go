package memory_test

import (
	"context"
	"testing"

	"abagraph/fact"
	"abagraph/internal/onenode"
	"abagraph/memory"
)

// lagging is a node that shows what it has, and catches up when it is asked for a
// basis; with a refusal it cannot.
type lagging struct {
	*onenode.Node
	behind  *onenode.Node // nil = it has caught up
	refusal error
}

func (l *lagging) Basis(ctx context.Context, level fact.Level, minTx uint64) (fact.Basis, error) {
	if l.refusal != nil {
		return fact.Basis{}, l.refusal
	}
	l.behind = nil
	return l.Node.Basis(ctx, level, minTx)
}

func (l *lagging) view(ctx context.Context) (memory.View, error) {
	if l.behind != nil {
		return l.behind.View(ctx)
	}
	return l.Node.View(ctx)
}

// TestKeyThatANodeHasNotHeardOf: a node that lags or is still joining lets in whoever
// another node would, and where it cannot ask says so: a 404 would be a lie.
func TestKeyThatANodeHasNotHeardOf(t *testing.T) {
	n := onenode.Start(t)
	ahead := n.Service(t, memory.Options{AdminKey: "root"})
	admin := resolve(t, ahead, "root")
	_, secret, err := ahead.CreateTenant(t.Context(), admin, memory.WriteOptions{}, memory.NewTenant{ID: "a", Role: fact.RoleWrite}, nil)
	if err != nil {
		t.Fatal(err)
	}
	l := &lagging{Node: n, behind: onenode.Start(t), refusal: fact.Errorf(fact.NoLeader, "nobody leads")}
	s, err := memory.New(memory.Options{
		Engine: l, View: l.view, AdminKey: "root", Leads: func() bool { return false }, RegistryVersion: func() uint64 { return 1 },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if _, err := s.Resolve(t.Context(), secret); fact.CodeOf(err) != fact.NoLeader {
		t.Errorf("without a leader a key that is not known here is answered %v", err)
	}
	l.refusal = nil
	if c := resolve(t, s, secret); c.Tenant != "a" {
		t.Errorf("the key is one of %+v", c)
	}
	if _, err := s.Resolve(t.Context(), "aba_wrong"); err != error(memory.Denied()) {
		t.Errorf("a key that nobody knows is answered %v", err)
	}
}

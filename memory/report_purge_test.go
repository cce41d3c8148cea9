package memory_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/internal/onenode"
	"abagraph/memory"
)

// purgingView has something erased as soon as facts have been read from it.
type purgingView struct {
	memory.View
	erase func()
}

func (v purgingView) EachSubject(ctx context.Context, q *fact.SubjectQuery, visit func(*fact.SubjectFacts) (bool, error)) error {
	err := v.View.EachSubject(ctx, q, visit)
	v.erase()
	return err
}

// TestTEN06ReportsMadeDuringAPurge: an edition that was being made while a subject was
// purged is made anew, so that nothing of it is kept.
func TestTEN06ReportsMadeDuringAPurge(t *testing.T) {
	node := onenode.Start(t)
	door := node.Service(t, memory.Options{})
	operator, err := door.Resolve(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	c, err := operator.In("acme")
	if err != nil {
		t.Fatal(err)
	}
	w := &fact.Write{Asserts: []fact.Assert{{
		Subject: "Person:berta", Predicate: "diagnosis", Object: fact.TextObject("canary"), Confidence: 1, ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, KnownAt: fact.NoInstant,
	}}}
	if _, err := door.Transact(t.Context(), c, memory.WriteOptions{}, w, nil); err != nil {
		t.Fatal(err)
	}
	v, err := jsonx.Parse([]byte(`{"name":"r"}`))
	if err != nil {
		t.Fatal(err)
	}
	declared, err := memory.ParseReport(v)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := door.SetReport(t.Context(), c, memory.WriteOptions{}, declared, nil); err != nil {
		t.Fatal(err)
	}
	erase := sync.OnceFunc(func() {
		if _, err := door.Purge(t.Context(), c, memory.WriteOptions{}, memory.PurgeTarget{Subject: "Person:berta"}, nil); err != nil {
			t.Error(err)
		}
	})
	other, err := memory.New(memory.Options{Engine: node, Leads: func() bool { return true }, View: func(ctx context.Context) (memory.View, error) {
		view, err := node.View(ctx)
		return purgingView{view, erase}, err
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, _, err := other.RunReport(t.Context(), c, memory.WriteOptions{}, "r", nil); err != nil {
		t.Fatal(err)
	}
	_, edition, _, err := door.Edition(t.Context(), c, memory.NewRead(), "r", nil)
	if err != nil || edition == nil || strings.Contains(string(edition), "berta") {
		t.Errorf("the edition is %s, %v", edition, err)
	}
}

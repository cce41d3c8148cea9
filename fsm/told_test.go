package fsm_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/log/entry"
)

// policyFact is a write that changes who may do what.
func policyFact(n byte) []byte {
	return entry.EncodeBatch(entry.Batch{ProposedAt: 500, Requests: [][]byte{entry.EncodeRequest(&fact.Request{
		Tenant: "acme", Branch: fact.MainBranch, Threshold: fact.DefaultThreshold,
		Write: &fact.Write{Asserts: []fact.Assert{{
			ID: fact.NewID(600, [10]byte{n}), Subject: fact.PolicyCurrent, Predicate: fact.PolicyVersion, Object: fact.TextObject("2"),
			ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, Confidence: 1, KnownAt: fact.NoInstant,
		}}},
	})}})
}

func newTenant() []byte {
	return entry.EncodeBatch(entry.Batch{ProposedAt: 500, Requests: [][]byte{entry.EncodeRequest(&fact.Request{
		Tenant: "acme", Branch: fact.MainBranch, Registry: &fact.TenantChange{Op: fact.TenantCreate, ID: "acme"},
	})}})
}

// TestWhatWasToldIsSeen: between the answer to a write and its place in the store, a
// view waits, and Told says up to where a read has to.
func TestWhatWasToldIsSeen(t *testing.T) {
	m, err := fsm.Open(fsm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	told, gate, written := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := m.ApplyTelling([]fsm.Committed{{Index: 1, Term: 1, Data: page(1, "text")}}, func(entries []fsm.Committed, done []fsm.Applied) {
			if len(entries) != 1 || len(done) != 1 || len(done[0].Results) != 1 || done[0].Results[0].Err != nil {
				t.Errorf("told %+v", done)
			}
			close(told)
			<-gate
		})
		written <- err
	}()
	<-told
	if at := m.Position(); at.Index != 0 || m.Told() != 1 {
		t.Errorf("told up to %d, and at %+v", m.Told(), at)
	}
	seen := make(chan fact.Position, 1)
	go func() {
		v, err := m.View()
		if err != nil {
			t.Error(err)
			seen <- fact.Position{}
			return
		}
		defer v.Close()
		seen <- v.Position()
	}()
	select {
	case at := <-seen:
		t.Errorf("a view was opened at %+v before it was written", at)
	case <-time.After(20 * time.Millisecond):
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.ViewWithin(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("who waits no longer is told %v", err)
	}
	close(gate)
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	if at := <-seen; at.Index != 1 {
		t.Errorf("the view is at %+v", at)
	}
}

// TestRightsAreToldWhenTheyAreInForce: requests look them up without a wait.
func TestRightsAreToldWhenTheyAreInForce(t *testing.T) {
	for what, data := range map[string][]byte{"a policy": policyFact(1), "a tenant": newTenant()} {
		m, err := fsm.Open(fsm.Options{})
		if err != nil {
			t.Fatal(err)
		}
		out, err := m.ApplyTelling([]fsm.Committed{{Index: 1, Term: 1, Data: data}}, func([]fsm.Committed, []fsm.Applied) {
			t.Errorf("%s was told before it was written", what)
		})
		if err != nil || out[0].Results[0].Err != nil {
			t.Errorf("%s: %v, %+v", what, err, out)
		}
		m.Close()
	}
}

// TestToldAndNotWrittenIsNotRead: a store that could not be written lacks what somebody
// was told, and so answers nothing.
func TestToldAndNotWrittenIsNotRead(t *testing.T) {
	dir := t.TempDir()
	m, err := fsm.Open(fsm.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Apply([]fsm.Committed{{Index: 1, Term: 1, Data: page(1, "text")}}); err != nil {
		t.Fatal(err)
	}
	m.Close()
	if m, err = fsm.Open(fsm.Options{Dir: dir, ReadOnly: true}); err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	told := 0
	_, err = m.ApplyTelling([]fsm.Committed{{Index: 2, Term: 1, Data: page(2, "text")}}, func([]fsm.Committed, []fsm.Applied) { told++ })
	if err == nil || told != 1 {
		t.Fatalf("told %d times, then %v", told, err)
	}
	if v, err := m.View(); fact.CodeOf(err) != fact.Closed {
		t.Errorf("the view says %v", err)
		if err == nil {
			v.Close()
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := m.WaitIndex(ctx, m.Told()); fact.CodeOf(err) != fact.Closed {
		t.Errorf("the wait for what was told says %v", err)
	}
	if got := fmt.Sprint(m.Position().Index, m.Told()); got != "1 2" {
		t.Errorf("at and told: %s", got)
	}
}

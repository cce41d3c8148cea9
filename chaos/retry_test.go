package chaos_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"abagraph/chaos"
	"abagraph/client"
	"abagraph/fact"
)

// number is a number object.
func number(t *testing.T, text string) fact.Object {
	t.Helper()
	o, err := fact.NumberObject("object", text)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// counterBatch is the case's compare-and-swap: from one value to another.
func counterBatch(t *testing.T, from, to string) *client.Transact {
	t.Helper()
	expect := number(t, from)
	return &client.Transact{
		Compares: []client.Compare{{Subject: "Counter:c", Predicate: "count", Expect: &expect}},
		Asserts:  []client.Assert{{Subject: "Counter:c", Predicate: "count", Object: number(t, to)}},
	}
}

// TestWRT_01_RetryAfterALostAnswer commits a compare-and-swap whose answer is
// lost, kills the leader, and sends it again elsewhere, later, and after a
// restart of everything. Each time the first outcome must be answered.
func TestWRT_01_RetryAfterALostAnswer(t *testing.T) {
	w := open(t, chaos.Options{Nodes: 3})
	leader := w.leader()
	seven := client.Assert{Subject: "Counter:c", Predicate: "count", Object: number(t, "7")}
	w.must("write the first value", w.until(w.Nodes, func(ctx context.Context, c *client.Client) error {
		_, err := c.Assert(ctx, seven, client.Write{IdempotencyKey: "seven"})
		return err
	}))

	cas := func(ctx context.Context, c *client.Client) (*client.Answer, error) {
		return send(ctx, c, counterBatch(t, "7", "8"), "seven-to-eight", "")
	}
	// The request goes in, the answer does not come out.
	w.Network.Set(leader.Name, chaos.Street, chaos.Silent)
	lost := make(chan error, 1)
	go func() {
		_, err := cas(w.ctx, w.client(leader))
		lost <- err
	}()
	others := w.Others(leader)
	w.awaitCount(others[0], "8")
	w.must("kill the leader", leader.Kill())
	w.Network.Set(leader.Name, chaos.Street, chaos.Refused)
	if err := <-lost; err == nil {
		t.Fatal("the answer that was to be lost arrived")
	}
	w.Network.Heal()

	var first *client.Answer
	resend := func(what string, nodes ...*chaos.Node) {
		t.Helper()
		var got *client.Answer
		w.must(what, w.until(nodes, func(ctx context.Context, c *client.Client) (err error) {
			got, err = cas(ctx, c)
			return err
		}))
		if first == nil {
			first = got
		}
		if got.Status != first.Status || got.Tx != first.Tx || string(got.Body) != string(first.Body) {
			t.Errorf("%s: %d at tx %d: %s\nand before: %d at tx %d: %s", what, got.Status, got.Tx, got.Body, first.Status, first.Tx, first.Body)
		}
	}
	resend("send it again to another node", others[0])
	resend("send it again to the third", others[1])
	w.must("start the old leader", leader.Start(w.ctx))
	resend("send it again to the old leader", leader)
	for _, n := range w.Nodes {
		w.must("kill every node", n.Kill())
	}
	for _, n := range w.Nodes {
		w.must("start every node", n.Start(w.ctx))
	}
	for _, n := range w.Nodes {
		resend("send it again after a restart of everything", n)
	}
	w.otherUsesOfTheKey(t)
	w.oneCount(first)
}

// otherUsesOfTheKey sends the key with another body, and for another tenant.
func (w *world) otherUsesOfTheKey(t *testing.T) {
	t.Helper()
	err := w.until(w.Nodes, func(ctx context.Context, c *client.Client) error {
		_, err := send(ctx, c, counterBatch(t, "7", "9"), "seven-to-eight", "")
		return err
	})
	if client.StatusOf(err) != http.StatusConflict || client.CodeOf(err) != fact.Conflict {
		t.Errorf("the key with another body: %v, want 409 Conflict", err)
	}
	err = w.until(w.Nodes, func(ctx context.Context, c *client.Client) error {
		_, err := send(ctx, c, counterBatch(t, "7", "8"), "seven-to-eight", "another")
		return err
	})
	if client.CodeOf(err) != fact.CompareFailed {
		t.Errorf("the key in another tenant, where there is no counter: %v, want CompareFailed", err)
	}
}

// oneCount wants the swap in the history once, as it was answered.
func (w *world) oneCount(answer *client.Answer) {
	w.t.Helper()
	var told client.Transacted
	w.must("read the answer", json.Unmarshal(answer.Body, &told))
	fence := w.fence("end", "")
	states, err := w.Compare(w.ctx, fence.Tx, map[string]uint64{"": fence.Tx})
	w.must("compare the nodes", err)
	eights := 0
	for _, e := range states[""].Events {
		if e.Fact.Object.Equal(number(w.t, "8")) && e.Op == "assert" {
			eights++
			if e.Tx != told.Tx || e.Fact.ID != told.Facts[0].ID {
				w.t.Errorf("the history has %s at tx %d, the answer %s at tx %d", e.Fact.ID, e.Tx, told.Facts[0].ID, told.Tx)
			}
		}
	}
	if eights != 1 || fence.Tx != 3 {
		w.t.Errorf("the swap is in the history %d times, and the fence at tx %d; want once, and 3", eights, fence.Tx)
	}
}

// send sends a batch and returns the answer as it came.
func send(ctx context.Context, c *client.Client, batch *client.Transact, key, tenant string) (*client.Answer, error) {
	body, err := json.Marshal(batch)
	if err != nil {
		return nil, err
	}
	call := client.Call{Method: http.MethodPost, Path: "/api/transact", Body: body, IdempotencyKey: key}
	if tenant != "" {
		call.Query = url.Values{"tenant": {tenant}}
	}
	return c.Do(ctx, call)
}

// awaitCount waits until a node shows a value of the counter.
func (w *world) awaitCount(n *chaos.Node, want string) {
	w.t.Helper()
	c := w.client(n)
	for {
		got, err := c.Facts(w.ctx, client.FactQuery{Subject: "Counter:c", Predicate: "count"})
		if err == nil && len(got.Facts) == 1 && got.Facts[0].Object.Equal(number(w.t, want)) {
			return
		}
		if w.ctx.Err() != nil {
			w.t.Fatalf("%s never showed the count %s: %v", n.Name, want, err)
		}
	}
}

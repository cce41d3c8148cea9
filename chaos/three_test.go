package chaos_test

import (
	"context"
	"fmt"
	"testing"

	"abagraph/chaos"
	"abagraph/client"
)

// TestThreeProcesses writes through every node of a cluster and reads each write
// everywhere at once, kills the leader in the middle of it, and has it come
// back. Nothing that was acknowledged may be lost, nothing written twice, every
// node has the same in the end, and a stream that was followed on each node,
// over the kill too, has told every change once.
func TestThreeProcesses(t *testing.T) {
	w := open(t, chaos.Options{Nodes: 3})
	var ledger chaos.Ledger
	var tails []*chaos.Tail
	for _, n := range w.Nodes {
		tail, err := n.Follow(w.ctx, "")
		w.must("follow a stream", err)
		tails = append(tails, tail)
	}
	load := chaos.Load{Nodes: w.Nodes, Workers: 4, Ledger: &ledger, Name: "first", Acknowledged: w.readEverywhere()}
	finish := load.Start(w.ctx)
	w.must("write", load.Await(w.ctx, scale(t, 60)))
	w.must("end the load", finish())

	for round := range scale(t, 2) {
		load := chaos.Load{Nodes: w.Nodes, Workers: 6, Ledger: &ledger, Name: fmt.Sprintf("round%d", round)}
		finish := load.Start(w.ctx)
		w.must("write", load.Await(w.ctx, 40))
		leader := w.leader()
		w.must("kill the leader", leader.Kill())
		w.must("write without it", load.Await(w.ctx, load.Done()+40))
		w.must("start it again", leader.Start(w.ctx))
		w.must("write with it again", load.Await(w.ctx, load.Done()+40))
		w.must("end the load", finish())
	}

	fence := w.fence("end", "")
	ledger.Add(fence)
	states, err := w.Compare(w.ctx, fence.Tx, map[string]uint64{"": fence.Tx})
	w.must("compare the nodes", err)
	if err := ledger.Judge(states[""].Events); err != nil {
		t.Errorf("the history breaks what was promised:\n%v", err)
	}
	w.judgeTails(tails, states[""], fence.Tx)
	all, done := ledger.Len()
	t.Logf("%d writes, %d acknowledged, last tx %d", all, done, fence.Tx)
}

// readEverywhere reads what was just acknowledged on every node, by the default,
// linearizable read. It is for quiet times: every node must answer.
func (w *world) readEverywhere() func(context.Context, chaos.Write) error {
	var clients []*client.Client
	for _, n := range w.Nodes {
		clients = append(clients, w.client(n, client.WithRetry(5, 0)))
	}
	return func(ctx context.Context, write chaos.Write) error {
		for i, c := range clients {
			for part, object := range write.Objects {
				got, err := c.Facts(ctx, client.FactQuery{Object: object})
				if err != nil {
					return fmt.Errorf("read it on %s: %w", w.Nodes[i].Name, err)
				}
				if len(got.Facts) != 1 || got.Facts[0].ID != write.IDs[part] || got.Meta.Tx < write.Tx {
					return fmt.Errorf("%s, read at tx %d, does not have %s of tx %d: %v", w.Nodes[i].Name, got.Meta.Tx, object, write.Tx, got.Facts)
				}
			}
		}
		return nil
	}
}

// judgeTails holds what was followed to the history as it is told afterwards.
func (w *world) judgeTails(tails []*chaos.Tail, history *chaos.State, tx uint64) {
	w.t.Helper()
	events := &chaos.State{Node: history.Node, Parts: history.Parts[len(history.Parts)-1:]}
	broken := 0
	for _, tail := range tails {
		followed, err := tail.Await(w.ctx, tx)
		if err != nil {
			w.t.Errorf("follow a stream to its end: %v", err)
			continue
		}
		if err := chaos.Same(events, followed); err != nil {
			w.t.Errorf("a followed stream differs from the replay: %v", err)
		}
		broken += tail.Interruptions()
		if err := tail.Close(); err != nil {
			w.t.Error(err)
		}
	}
	if broken == 0 {
		w.t.Error("no stream was interrupted, though nodes were killed")
	}
}

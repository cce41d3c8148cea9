package chaos_test

import (
	"fmt"
	"testing"

	"abagraph/chaos"
)

// TestSTO_01_KillsLoseNothing kills a single node in the middle of writes and
// starts it again, over and over, under one load that goes on all the while.
// Every acknowledged write must be there afterwards, and each only once.
func TestSTO_01_KillsLoseNothing(t *testing.T) {
	w := open(t, chaos.Options{Nodes: 1})
	node := w.Nodes[0]
	var ledger chaos.Ledger
	load := chaos.Load{Nodes: w.Nodes, Workers: 8, Ledger: &ledger, Name: "kill"}
	finish := load.Start(w.ctx)
	for round := range scale(t, 20) {
		w.must(fmt.Sprintf("write in round %d", round), load.Await(w.ctx, load.Done()+15))
		w.must("kill the node", node.Kill())
		w.must("start it again", node.Start(w.ctx))
	}
	w.must("write after the last start", load.Await(w.ctx, load.Done()+15))
	w.must("end the load", finish())
	fence := w.fence("end", "")
	ledger.Add(fence)
	before, err := node.Look(w.ctx, "", fence.Tx, fence.Tx)
	w.must("read the history", err)
	if err := ledger.Judge(before.Events); err != nil {
		t.Errorf("the history breaks what was promised:\n%v", err)
	}
	w.must("kill the node once more", node.Kill())
	w.must("start it again", node.Start(w.ctx))
	after, err := node.Look(w.ctx, "", fence.Tx, fence.Tx)
	w.must("read the history again", err)
	if err := chaos.Same(before, after); err != nil {
		t.Errorf("the answers changed over a kill: %v", err)
	}
	all, done := ledger.Len()
	t.Logf("%d writes, %d acknowledged", all, done)
}

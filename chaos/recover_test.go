package chaos_test

import (
	"testing"

	"abagraph/chaos"
)

// TestRecoverAfterTheMajorityIsLost: two of three nodes are lost among writes. The
// third refuses to serve alone, is recovered on purpose, and has every write that was
// acknowledged, since it was the one to acknowledge them; the two join it anew with
// empty disks. One of them that comes back with its old data is kept out.
func TestRecoverAfterTheMajorityIsLost(t *testing.T) {
	w := open(t, chaos.Options{Nodes: 3})
	var ledger chaos.Ledger
	load := chaos.Load{Nodes: w.Nodes, Workers: 4, Ledger: &ledger, Name: "load"}
	finish := load.Start(w.ctx)
	w.must("write", load.Await(w.ctx, scale(t, 60)))
	w.must("end the load", finish())
	fence := w.fence("before", "")
	ledger.Add(fence)
	_, err := w.SameDigest(w.ctx, fence.Tx)
	w.must("compare the nodes", err)
	survivor, lost := w.Nodes[0], w.Nodes[1:]
	for _, n := range w.Nodes {
		w.must("stop a node", n.Kill())
	}
	var plan struct{ Epoch string }
	w.command(&plan, "ops", "recover", "--data", survivor.Data(), "--confirm", "recover n1 alone")
	w.must("start the survivor", survivor.Start(w.ctx))
	w.must("serve alone", survivor.Ready(w.ctx))
	status, err := survivor.Status(w.ctx)
	w.must("ask the survivor", err)
	if status.Tx != fence.Tx || status.Epoch != plan.Epoch || len(status.Members) != 1 {
		t.Errorf("the survivor stands at %+v", status)
	}
	w.must("start one with its old data", lost[0].Start(w.ctx))
	meanwhile := w.fenceThrough("meanwhile", survivor)
	ledger.Add(meanwhile)
	if old, err := lost[0].Status(w.ctx); err != nil || old.LeaderID != nil || old.Tx >= meanwhile.Tx {
		t.Errorf("the old member stands at %+v, %v", old, err)
	}
	if status, err := survivor.Status(w.ctx); err != nil || len(status.Members) != 1 {
		t.Errorf("beside the old member the survivor stands at %+v, %v", status, err)
	}
	for _, n := range lost {
		w.must("stop it", n.Kill())
		w.must("empty it", n.Wipe())
		w.must("join it anew", n.Start(w.ctx))
		w.must("give it its vote", w.Voter(w.ctx, n))
	}
	after := w.fence("after", "")
	ledger.Add(after)
	states, err := w.Compare(w.ctx, after.Tx, map[string]uint64{"": after.Tx})
	w.must("compare the nodes", err)
	if err := ledger.Judge(states[""].Events); err != nil {
		t.Errorf("the recovered cluster breaks what was promised:\n%v", err)
	}
}

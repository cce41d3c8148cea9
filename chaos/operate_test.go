package chaos_test

import (
	"testing"

	"abagraph/chaos"
)

// TestOperatedUnderLoad: leadership handed over, snapshots taken, votes taken and given
// back, a member removed and joined anew, a backup each time, all by the commands and
// among writes. Nothing that was acknowledged is lost, nothing written twice, and every
// node has the same in the end.
func TestOperatedUnderLoad(t *testing.T) {
	w := open(t, chaos.Options{Nodes: 3, Args: []string{"--snapshot-bytes", "65536", "--trailing-bytes", "65536"}})
	var ledger chaos.Ledger
	load := chaos.Load{Nodes: w.Nodes, Workers: 6, Ledger: &ledger, Name: "load"}
	finish := load.Start(w.ctx)
	var said map[string]any
	run := func(n *chaos.Node, args ...string) {
		t.Helper()
		w.must("write", load.Await(w.ctx, load.Done()+20))
		w.command(&said, append(args, "--url", n.URL)...)
	}
	for range scale(t, 1) {
		run(w.Nodes[0], "ops", "transfer", "n2")
		run(w.Nodes[2], "ops", "snapshot")
		run(w.Nodes[0], "ops", "peers", "demote", "n3")
		run(w.Nodes[1], "ops", "verify")
		run(w.Nodes[1], "ops", "backup", t.TempDir())
		run(w.Nodes[2], "ops", "peers", "promote", "n3")
		run(w.Nodes[0], "ops", "transfer")
		run(w.leader(), "ops", "transfer", "n1")
		w.must("stop a member", w.Nodes[2].Kill())
		run(w.Nodes[1], "ops", "peers", "remove", "n3")
		w.must("empty it", w.Nodes[2].Wipe())
		w.must("join it anew", w.Nodes[2].Start(w.ctx))
		w.must("give it its vote", w.Voter(w.ctx, w.Nodes[2]))
		run(w.Nodes[2], "ops", "backup", t.TempDir(), "--check")
	}
	w.must("write on", load.Await(w.ctx, load.Done()+20))
	w.must("end the load", finish())
	fence := w.fence("end", "")
	ledger.Add(fence)
	states, err := w.Compare(w.ctx, fence.Tx, map[string]uint64{"": fence.Tx})
	w.must("compare the nodes", err)
	if err := ledger.Judge(states[""].Events); err != nil {
		t.Errorf("the history breaks what was promised:\n%v", err)
	}
	w.command(&said, "ops", "doctor", "--url", w.Nodes[1].URL)
	if said["healthy"] != true {
		t.Errorf("the doctor says %v", said)
	}
}

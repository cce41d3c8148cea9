package chaos_test

import (
	"fmt"
	"testing"
	"time"

	"abagraph/chaos"
	"abagraph/client"
)

// TestCLU_02_FrozenLeader stops the leader's process where it is, has the others
// go on, sends it reads, and lets it go on. It wakes up believing that it leads,
// with the reads before it and perhaps old answers of its peers in its buffers:
// still it may answer them only with what the others have written since, or not
// at all.
func TestCLU_02_FrozenLeader(t *testing.T) {
	w := open(t, chaos.Options{Nodes: 3})
	var ledger chaos.Ledger
	const reads = 8
	for round := range scale(t, 2) {
		first := w.lamp(chaos.Write{Key: fmt.Sprintf("first-%d", round), Objects: []string{fmt.Sprintf("first-%d", round)}}, w.Nodes...)
		leader := w.leader()
		w.must("freeze the leader", leader.Freeze())
		others := w.Others(leader)
		second := w.lamp(chaos.Write{Key: fmt.Sprintf("second-%d", round), Objects: []string{fmt.Sprintf("second-%d", round)}}, others...)
		ledger.Add(first)
		ledger.Add(second)

		answers := make(chan error, reads)
		for i := range reads {
			c := w.client(leader, client.WithTimeout(time.Minute))
			go func() {
				got, err := c.Facts(w.ctx, client.FactQuery{Subject: "Lamp:l", Limit: 1 + i})
				if err == nil && (len(got.Facts) != 1 || got.Facts[0].Object.Text != second.Objects[0] || got.Meta.Tx < second.Tx) {
					answers <- fmt.Errorf("at tx %d it shows %v, and tx %d had made it %s", got.Meta.Tx, got.Facts, second.Tx, second.Objects[0])
					return
				}
				if status := client.StatusOf(err); err != nil && status != 503 && status != 504 {
					answers <- fmt.Errorf("a read was answered: %w", err)
					return
				}
				answers <- nil
			}()
		}
		<-time.After(50 * time.Millisecond) // the reads are likely to lie before it then
		w.must("thaw the leader", leader.Thaw())
		for range reads {
			if err := <-answers; err != nil {
				t.Errorf("round %d, the leader that was frozen: %v", round, err)
			}
		}
		w.must("all are ready", w.Ready(w.ctx))
	}
	fence := w.fence("end", "")
	ledger.Add(fence)
	states, err := w.Compare(w.ctx, fence.Tx, map[string]uint64{"": fence.Tx})
	w.must("compare the nodes", err)
	if err := ledger.Judge(states[""].Events); err != nil {
		t.Errorf("the history breaks what was promised:\n%v", err)
	}
}

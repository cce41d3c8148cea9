package replication

import (
	"context"
	"strings"
	"testing"
	"time"

	"abagraph/fact"
)

// TestCallersThatLeave: one whose write is in an entry does not know what became of it, one
// whose write waits in the queue has written nothing, and a node that stops answers both.
func TestCallersThatLeave(t *testing.T) {
	for name, leave := range map[string]func(*member, context.CancelFunc){
		"the callers leave": func(_ *member, cancel context.CancelFunc) { cancel() },
		"the node stops":    func(m *member, _ context.CancelFunc) { m.stopServing() },
	} {
		t.Run(name, func(t *testing.T) {
			gate := &gatedMachine{}
			c := newCluster(t, func(o *Options) { o.Bind, o.dial, o.LagTime = "", nil, time.Hour })
			c.wrap = func(m StateMachine) StateMachine { gate.StateMachine = m; return gate }
			m := c.start("n1", c.disk("n1"), "")
			m.mustWrite(t, write("Lamp:l", 1))
			eventually(t, "nothing in flight", func() bool { return m.proposer.flight.Load() == nil })
			release := gate.hold(t)
			ctx, cancel := context.WithCancel(soon(t))
			defer cancel()
			propose := func(subject string) <-chan error {
				told := make(chan error, 1)
				go func() {
					_, err := m.Propose(ctx, write(subject, 2))
					told <- err
				}()
				return told
			}
			inFlight := propose("Lamp:l")
			eventually(t, "an entry in flight", func() bool { return m.proposer.flight.Load() != nil })
			queued := propose("Lamp:queued")
			eventually(t, "a write in the queue", func() bool { return m.proposer.queue.len() == 1 })
			leave(m, cancel)
			if err := <-queued; err == nil || !strings.Contains(err.Error(), "nothing was written") && fact.CodeOf(err) != fact.Closed {
				t.Errorf("in the queue: %v", err)
			}
			if name == "the node stops" {
				release() // it waits for what is in flight
				if err := <-inFlight; err != nil {
					t.Errorf("in flight: %v", err)
				}
				return
			}
			if err := <-inFlight; fact.CodeOf(err) != fact.Timeout || !strings.Contains(err.Error(), "not known") {
				t.Errorf("in flight: %v", err)
			}
			release()
			eventually(t, "what was in flight", func() bool { return m.mustRead(t, "Lamp:l") == "2" })
			if got := m.mustRead(t, "Lamp:queued"); got != "" {
				t.Errorf("what was in the queue was written: %q", got)
			}
		})
	}
}

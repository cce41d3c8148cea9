package chaos_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"abagraph/chaos"
	"abagraph/client"
	"abagraph/fact"
)

// TestCLU_02_CutOffLeader cuts the leader off from the other nodes, but not from
// its clients, in the middle of writes. From the moment that the others have a
// leader of their own, the old one may show nothing as current, nor take a
// write; what it shows of the past says how old it is. After the cut is healed
// every acknowledged write is there, and every other one wholly or not at all.
func TestCLU_02_CutOffLeader(t *testing.T) {
	for _, mode := range []struct {
		name string
		mode chaos.Mode
	}{{"silent", chaos.Silent}, {"refused", chaos.Refused}} {
		t.Run(mode.name, func(t *testing.T) { cutOff(t, mode.mode) })
	}
}

func cutOff(t *testing.T, mode chaos.Mode) {
	w := open(t, chaos.Options{Nodes: 3})
	var ledger chaos.Ledger
	lamp := func(word string) chaos.Write {
		return chaos.Write{Key: "lamp-" + word, Objects: []string{word}}
	}
	off := w.lamp(lamp("off"), w.Nodes...)
	ledger.Add(off)
	load := chaos.Load{Nodes: w.Nodes, Workers: 3, Ledger: &ledger, Name: "load"}
	finish := load.Start(w.ctx)
	w.must("write", load.Await(w.ctx, 20))

	old := w.leader()
	w.Isolate(old, mode)
	stranded := w.strand(old)
	next := w.leader(w.Others(old)...)
	on := w.lamp(lamp("on"), next)
	ledger.Add(on)
	w.must("write through the majority", load.Await(w.ctx, load.Done()+20))

	w.oldLeaderRefuses(old)
	w.oldLeaderMarksWhatItShows(old, on)
	w.Network.Heal()
	for _, write := range stranded() {
		ledger.Add(write)
	}
	w.must("write after healing", load.Await(w.ctx, load.Done()+20))
	w.must("end the load", finish())

	fence := w.fence("end", "")
	ledger.Add(fence)
	states, err := w.Compare(w.ctx, fence.Tx, map[string]uint64{"": fence.Tx})
	w.must("compare the nodes", err)
	if err := ledger.Judge(states[""].Events); err != nil {
		t.Errorf("the history breaks what was promised:\n%v", err)
	}
}

// lamp writes a state of the lamp through some nodes, whatever it takes.
func (w *world) lamp(write chaos.Write, nodes ...*chaos.Node) chaos.Write {
	w.t.Helper()
	a := client.Assert{Subject: "Lamp:l", Predicate: "is", Object: fact.TextObject(write.Objects[0])}
	w.must("write the lamp", w.until(nodes, func(ctx context.Context, c *client.Client) error {
		got, err := c.Assert(ctx, a, client.Write{IdempotencyKey: write.Key})
		if err == nil {
			write.Done, write.Tx, write.IDs = true, got.Tx, []string{got.Fact.ID}
		}
		return err
	}))
	return write
}

// strand sends writes to a node that was just cut off, and perhaps does not know
// it: plain ones, and a compare-and-swap that would succeed if it still led. The
// returned function waits for what became of them.
func (w *world) strand(n *chaos.Node) func() []chaos.Write {
	w.t.Helper()
	const count = 6
	writes, errs := make([]chaos.Write, count), make([]error, count)
	c := w.client(n, client.WithTimeout(time.Minute))
	var wg sync.WaitGroup
	for i := range writes {
		wg.Add(1)
		go func() {
			defer wg.Done()
			writes[i], errs[i] = strandOne(w.ctx, c, i)
		}()
	}
	return func() []chaos.Write {
		wg.Wait()
		for i, write := range writes {
			w.t.Logf("%s: %v", write.Key, errs[i])
		}
		return writes
	}
}

func strandOne(ctx context.Context, c *client.Client, i int) (chaos.Write, error) {
	word := fmt.Sprintf("stranded-%d", i)
	write := chaos.Write{Key: word, Objects: []string{word}}
	batch := &client.Transact{Asserts: []client.Assert{{Subject: "Stranded:" + word, Predicate: "is", Object: fact.TextObject(word)}}}
	if i%2 == 1 {
		expect := fact.TextObject("off")
		batch.Compares = []client.Compare{{Subject: "Lamp:l", Predicate: "is", Expect: &expect}}
	}
	var got *client.Transacted
	var err error
	if got, err = c.Transact(ctx, batch, client.Write{IdempotencyKey: word}); err == nil {
		write.Done, write.Tx, write.IDs = true, got.Tx, []string{got.Facts[0].ID}
		return write, nil
	}
	// An error other than a time-out means: not applied (C-32).
	status := client.StatusOf(err)
	write.Refused = status != 0 && status != http.StatusGatewayTimeout
	return write, err
}

// oldLeaderRefuses wants every read and write that is not told to take what
// there is answered with 503: others lead already.
func (w *world) oldLeaderRefuses(old *chaos.Node) {
	w.t.Helper()
	c := w.client(old, client.WithTimeout(time.Minute))
	off := fact.TextObject("off")
	late := func(word, key string) error {
		_, err := c.Transact(w.ctx, &client.Transact{
			Compares: []client.Compare{{Subject: "Lamp:l", Predicate: "is", Expect: &off}},
			Asserts:  []client.Assert{{Subject: "Lamp:l", Predicate: "is", Object: fact.TextObject(word)}},
		}, client.Write{IdempotencyKey: key})
		return err
	}
	calls := map[string]func() error{
		"a read": func() error {
			_, err := c.Facts(w.ctx, client.FactQuery{Subject: "Lamp:l"})
			return err
		},
		"a read that asks for the strongest": func() error {
			_, err := c.Stats(w.ctx, client.Read{Consistency: "linearizable"})
			return err
		},
		"a compare-and-swap":           func() error { return late("late-1", "") },
		"a compare-and-swap, with key": func() error { return late("late-2", "late") },
	}
	var wg sync.WaitGroup
	for what, call := range calls {
		wg.Add(1)
		go func() {
			defer wg.Done()
			w.noLeader(what, call())
		}()
	}
	wg.Wait()
}

func (w *world) noLeader(what string, err error) {
	w.t.Helper()
	var e *client.Error
	if !errors.As(err, &e) || e.Status != http.StatusServiceUnavailable || e.Code != fact.NoLeader || e.RetryAfter == 0 {
		w.t.Errorf("%s on the cut-off leader: %v, want 503 NoLeader with Retry-After", what, err)
	}
}

// oldLeaderMarksWhatItShows reads what the cut-off node has: it must say at which
// tx, which is before what the others wrote since.
func (w *world) oldLeaderMarksWhatItShows(old *chaos.Node, on chaos.Write) {
	w.t.Helper()
	got, err := w.client(old).Facts(w.ctx, client.FactQuery{Subject: "Lamp:l", Read: client.Read{Consistency: "stale"}})
	w.must("read what the cut-off leader has", err)
	if got.Meta.Tx == 0 || got.Meta.Tx >= on.Tx {
		w.t.Errorf("a stale read says it is of tx %d, and the others are past %d", got.Meta.Tx, on.Tx)
	}
	if len(got.Facts) != 1 || got.Facts[0].Object.Text != "off" {
		w.t.Errorf("a stale read shows %v", got.Facts)
	}
}

package chaos_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"abagraph/chaos"
	"abagraph/client"
	"abagraph/fact"
)

const racers = 50

// TestWRT_03_FiftyClientsRace has fifty clients on three nodes compare and swap
// one value at once, round after round: one wins, and each of the others is told
// by whom it was beaten. A race is ordinary: no node may warn of it.
func TestWRT_03_FiftyClientsRace(t *testing.T) {
	w := open(t, chaos.Options{Nodes: 3})
	clients := make([]*client.Client, racers)
	for i := range clients {
		clients[i] = w.client(w.Nodes[i%len(w.Nodes)])
	}
	owner := "none"
	w.must("write the first owner", w.until(w.Nodes, func(ctx context.Context, c *client.Client) error {
		_, err := c.Assert(ctx, ownership(owner), client.Write{IdempotencyKey: "first"})
		return err
	}))
	quietBefore, warnings := w.elections(), w.warnings()
	rounds := scale(t, 8)
	retries := 0
	for round := range rounds {
		winner, retried := w.race(clients, round, owner)
		owner, retries = winner, retries+retried
		if t.Failed() {
			return
		}
	}
	if now := w.warnings(); now != warnings {
		t.Errorf("a race made nodes warn:\n%s", now)
	}
	// On a machine that is busy a leader may lose its place in the middle of a
	// round; only then may a call have no outcome at first.
	if retries != 0 && w.elections() == quietBefore {
		t.Errorf("%d calls had no outcome at first, though the leader was the same all the while", retries)
	}
	w.oneOwner(owner, rounds)
}

func ownership(owner string) client.Assert {
	return client.Assert{Subject: "Job:j1", Predicate: "owner", Object: fact.TextObject(owner)}
}

// race runs one round and returns the winner, and how many calls had to be sent
// again because the cluster could not say.
func (w *world) race(clients []*client.Client, round int, owner string) (winner string, retries int) {
	w.t.Helper()
	expect := fact.TextObject(owner)
	errs, tries := make([]error, len(clients)), make([]int, len(clients))
	var wg sync.WaitGroup
	begin := make(chan struct{})
	name := func(i int) string { return fmt.Sprintf("client-%d-%d", round, i) }
	for i, c := range clients {
		wg.Add(1)
		go func() {
			defer wg.Done()
			batch := &client.Transact{
				Compares: []client.Compare{{Subject: "Job:j1", Predicate: "owner", Expect: &expect}},
				Asserts:  []client.Assert{ownership(name(i))},
			}
			<-begin
			errs[i] = chaos.Until(w.ctx, []*client.Client{c}, 0, func(ctx context.Context, c *client.Client) error {
				tries[i]++
				_, err := c.Transact(ctx, batch, client.Write{IdempotencyKey: name(i)})
				return err
			})
		}()
	}
	close(begin)
	wg.Wait()
	for i, err := range errs {
		retries += tries[i] - 1
		if err != nil {
			continue
		}
		if winner != "" {
			w.t.Errorf("round %d: both %s and %s won", round, winner, name(i))
		}
		winner = name(i)
	}
	if winner == "" {
		w.t.Errorf("round %d: nobody won: %v", round, errs[0])
	}
	for i, err := range errs {
		if err != nil {
			w.judgeLoser(round, name(i), winner, err)
		}
	}
	return winner, retries
}

// judgeLoser wants a plain 409 that shows the winner.
func (w *world) judgeLoser(round int, loser, winner string, err error) {
	w.t.Helper()
	var e *client.Error
	if !errors.As(err, &e) || e.Status != 409 || e.Code != fact.CompareFailed {
		w.t.Errorf("round %d: %s was answered %v, want 409 CompareFailed", round, loser, err)
		return
	}
	var failures []struct {
		Current []string `json:"current"`
	}
	if err := json.Unmarshal(e.Failures, &failures); err != nil || len(failures) != 1 || len(failures[0].Current) != 1 || failures[0].Current[0] != winner {
		w.t.Errorf("round %d: %s was shown %s, and %s had won", round, loser, e.Failures, winner)
	}
}

// oneOwner wants one owner now, on every node, and one for each round before.
func (w *world) oneOwner(owner string, rounds int) {
	w.t.Helper()
	for _, n := range w.Nodes {
		c := w.client(n, client.WithRetry(20, 0))
		list, err := c.Facts(w.ctx, client.FactQuery{Subject: "Job:j1", Predicate: "owner"})
		w.must("read the owner", err)
		if len(list.Facts) != 1 || list.Facts[0].Object.Text != owner {
			w.t.Errorf("%s says the owners are %v, want %s alone", n.Name, list.Facts, owner)
			continue
		}
		h, err := c.History(w.ctx, list.Facts[0].ID, client.Read{})
		w.must("read its history", err)
		if len(h.Timeline) != rounds+1 {
			w.t.Errorf("%s knows %d owners, want %d", n.Name, len(h.Timeline), rounds+1)
		}
	}
}

// elections is how often any node became the leader.
func (w *world) elections() (count float64) {
	w.t.Helper()
	for _, n := range w.Nodes {
		m, err := n.Metrics(w.ctx)
		w.must("read the metrics", err)
		count += m["abagraph_raft_leaderships_total"]
	}
	return count
}

// warnings are the lines above info that all nodes have written, those of Raft
// apart, which tell of a busy machine.
func (w *world) warnings() string {
	w.t.Helper()
	var b strings.Builder
	for _, n := range w.Nodes {
		text, err := n.Log(true)
		w.must("read a node's output", err)
		for line := range strings.Lines(text) {
			loud := strings.Contains(line, `"level":"warn"`) || strings.Contains(line, `"level":"error"`)
			if loud && !strings.Contains(line, `"event":"abagraph.raft"`) {
				b.WriteString(n.Name + ": " + line)
			}
		}
	}
	return b.String()
}

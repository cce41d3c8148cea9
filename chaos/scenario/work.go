package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	"abagraph/chaos"
	"abagraph/client"
	"abagraph/fact"
)

// work begins the whole workload.
func (r *run) work() {
	r.employ("registers", 4, 40*time.Millisecond, (*worker).register)
	r.employ("registers", 2, 60*time.Millisecond, (*worker).recall)
	r.employ("times", 2, 60*time.Millisecond, (*worker).timeline)
	r.employ("branches", 1, 100*time.Millisecond, (*worker).branch)
	r.employ("purges", 1, 200*time.Millisecond, (*worker).purge)
	r.employ("spy", 1, 100*time.Millisecond, (*worker).spy)
	r.load()
	r.weather()
}

// load writes what the ledger keeps: single facts and batches under keys, a part of
// them sent once only, a part repeated.
func (r *run) load() {
	load := &chaos.Load{
		Nodes: r.Nodes, Workers: 4, Ledger: &r.ledger, Name: "load", Tenant: "ledger",
		Pace: 60 * time.Millisecond, Once: 0.3, Repeat: 0.2,
		Around: func(what string, n *chaos.Node, call func() error) error { return r.call(what, n.Name, call) },
	}
	finish := load.Start(r.ctx)
	r.workers.Go(func() {
		select {
		case <-r.stop:
		case <-r.ctx.Done():
		}
		if err := finish(); errors.Is(err, chaos.ErrTwice) {
			r.violated("idempotency", err)
		} else if err != nil && r.ctx.Err() == nil {
			r.violate("writes", "a write had no good end: %v", err)
		}
	})
}

// weather writes everything else that there is, a few dozen writes at a time.
func (r *run) weather() {
	r.workers.Go(func() {
		for round := uint64(0); !r.stopping(); round++ {
			w := chaos.Weather{Nodes: r.Nodes, Tenants: []string{"weather-a", "weather-b"}, Seed: r.Seed + round<<32, Workers: 1, Writes: 20}
			if _, err := w.Run(r.ctx); err != nil && r.ctx.Err() == nil {
				r.violate("writes", "the weather: %v", err)
				return
			}
			r.wait(300 * time.Millisecond)
		}
	})
}

// branch makes a branch, writes on it, and promotes it, whole, or discards it.
func (w *worker) branch() {
	name := fmt.Sprintf("b%d-%d", w.number, w.since())
	write := chaos.Write{Key: name}
	err := w.until("branch", w.someNode(), func(ctx context.Context, c *client.Client) error {
		_, err := c.CreateBranch(ctx, client.NewBranch{Name: name}, client.Write{IdempotencyKey: name})
		return err
	})
	if err != nil {
		w.branchFailed("make", err)
		return
	}
	for i := range 1 + w.rng.IntN(3) {
		object := fmt.Sprintf("%s-%d", name, i)
		write.Objects = append(write.Objects, object)
		a := client.Assert{Subject: fmt.Sprintf("Plan:%d", i), Predicate: "says", Object: fact.TextObject(object), Policy: "coexist"}
		if err := w.until("assert", w.someNode(), func(ctx context.Context, c *client.Client) error {
			_, err := c.Assert(ctx, a, client.Write{Branch: name, IdempotencyKey: object})
			return err
		}); err != nil {
			w.branchFailed("write on", err)
			return
		}
	}
	w.see(name, write.Objects)
	if w.rng.IntN(3) == 0 {
		write.Refused = true // what was discarded is never on main
		if err := w.until("discard", w.someNode(), func(ctx context.Context, c *client.Client) error {
			_, err := c.DiscardBranch(ctx, name, client.Write{IdempotencyKey: name})
			return err
		}); err != nil {
			w.branchFailed("discard", err)
		}
	} else if err := w.until("promote", w.someNode(), func(ctx context.Context, c *client.Client) error {
		got, err := c.PromoteBranch(ctx, name, false, client.Write{IdempotencyKey: name})
		if err == nil {
			write.Done, write.Tx = true, got.Tx
		}
		return err
	}); err != nil {
		w.branchFailed("promote", err)
	}
	w.branchLedger.Add(write)
}

// see reads what was written on the branch: it is all there, and none of it on main.
func (w *worker) see(name string, objects []string) {
	for _, branch := range []string{name, ""} {
		seen := 0
		err := w.until("read", w.someNode(), func(ctx context.Context, c *client.Client) error {
			list, err := c.Facts(ctx, client.FactQuery{Predicate: "says", Limit: 10_000, Read: client.Read{Branch: branch}})
			if err != nil {
				return err
			}
			seen = 0
			for _, f := range list.Facts {
				for _, object := range objects {
					if f.Object.Text == object {
						seen++
					}
				}
			}
			return nil
		})
		want := len(objects)
		if branch == "" {
			want = 0
		}
		w.check("branches", 1)
		if err == nil && seen != want {
			w.violate("branches", "of %d facts of the branch %s %d are seen on %q", len(objects), name, seen, branch)
		}
	}
}

func (w *worker) branchFailed(what string, err error) {
	if w.ctx.Err() == nil {
		w.violate("branches", "to %s a branch: %v", what, err)
	}
}

// spy looks at everything that a tenant without facts can: nothing of the others'.
func (w *worker) spy() {
	node := w.someNode()
	c := w.clients[node]
	tell := func(what string, count int, err error) {
		if status := client.StatusOf(err); err != nil && status != 0 && status < 500 && status != 429 {
			w.violate("tenants", "%s of a tenant on %s: %v", what, w.Nodes[node].Name, err)
		}
		w.check("tenants", 1)
		if err == nil && count > 0 {
			w.violate("tenants", "%s of a tenant that has none shows %d on %s", what, count, w.Nodes[node].Name)
		}
	}
	read := client.Read{}
	if w.rng.IntN(2) == 0 {
		read.Consistency = "stale"
	}
	_ = w.call("spy", w.Nodes[node].Name, func() error {
		list, err := c.Facts(w.ctx, client.FactQuery{Status: "all", Read: read})
		if list != nil {
			tell("the facts", len(list.Facts), err)
			return err
		}
		tell("the facts", 0, err)
		return err
	})
	_ = w.call("spy", w.Nodes[node].Name, func() error {
		found, err := c.Search(w.ctx, client.SearchQuery{Question: "Reg Line Plan Secret Counter", Read: read})
		if found != nil {
			tell("a search", len(found.Hits), err)
			return err
		}
		tell("a search", 0, err)
		return err
	})
}

// purges are the texts that were purged.
type purges struct{ gone []string }

// purge writes a secret twice, purges it, and wants it gone, at every tx.
func (w *worker) purge() {
	canary := fmt.Sprintf("canary-%d-", w.since())
	subject := "Secret:" + canary
	before := uint64(0)
	for i := range 2 {
		key := fmt.Sprint(canary, i)
		if err := w.until("assert", w.someNode(), func(ctx context.Context, c *client.Client) error {
			got, err := c.Assert(ctx, client.Assert{Subject: subject, Predicate: "is", Object: fact.TextObject(key)}, client.Write{IdempotencyKey: key})
			if err == nil {
				before = got.Tx
			}
			return err
		}); err != nil {
			return
		}
	}
	admin, err := w.run.worker("", w.number)
	if err != nil {
		return
	}
	defer admin.close()
	if err := admin.until("purge", w.someNode(), func(ctx context.Context, c *client.Client) error {
		_, err := c.Purge(ctx, client.PurgeTarget{Subject: subject, Tenant: "purges"})
		return err
	}); err != nil {
		return
	}
	w.mu.Lock()
	w.purges.gone = append(w.purges.gone, canary)
	w.mu.Unlock()
	for _, tx := range []string{"", fmt.Sprint(before)} {
		node := w.someNode()
		_ = w.once("read", node, func(ctx context.Context, c *client.Client) error {
			list, err := c.Facts(ctx, client.FactQuery{Subject: subject, Status: "all", Read: client.Read{Tx: tx}})
			w.check("purges", 1)
			if err == nil && len(list.Facts) > 0 {
				w.violate("purges", "%s was purged, and %s still tells %d facts of it, at tx %q", subject, w.Nodes[node].Name, len(list.Facts), tx)
			}
			return err
		})
	}
}

package scenario

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"abagraph/chaos"
	"abagraph/client"
	"abagraph/fact"
)

// judge holds what is there to what was answered. Nothing is written any more.
func (r *run) judge() {
	tx, last, err := r.still()
	if err != nil {
		r.violate("recovery", "the cluster did not come to rest: %v", err)
		return
	}
	states, err := r.Compare(r.ctx, tx, last)
	if err != nil {
		r.violate("nodes equal", "%v", err)
	}
	if states == nil {
		return
	}
	events := func(tenant string) []client.Event { return states[tenant].Events }
	for tenant := range states {
		r.check("nodes equal", len(states[tenant].Events))
	}
	all, done := r.ledger.Len()
	r.check("writes", all)
	r.check("writes acknowledged", done)
	r.violated("writes", r.ledger.Judge(events("ledger")))
	r.violated("branches", r.branchLedger.Judge(events("branches")))
	r.judgeRegisters(events("registers"))
	r.judgeTimes(events("times"))
	r.judgePast(events("registers"), events("times"))
	r.judgeTails(states, last)
	r.judgePurges(states["purges"])
	r.judgeTenants(states)
	for _, alarm := range r.Alarms() {
		// A read that meets damage, or a disk without power, says so.
		node, _, _ := strings.Cut(alarm, ":")
		if r.harmed[node] && (strings.Contains(alarm, string(fact.StorageCorruption)) || strings.Contains(alarm, "input/output error")) {
			continue
		}
		r.violate("alarms", "in the output of a node: %s", alarm)
	}
	r.judgePrograms()
	r.judgeFiles()
}

// judgePrograms: an upgrade has come to its end on every node.
func (r *run) judgePrograms() {
	for _, n := range r.Nodes {
		if n.Program() != r.Binary {
			r.violate("harness", "%s still runs the former program", n.Name)
		}
		r.check("programs", 1)
	}
}

// still waits until nothing changes any more, not even by a sweep, and writes one fact
// for each tenant, whose txs it returns, and the last of them.
func (r *run) still() (tx uint64, last map[string]uint64, err error) {
	if err := r.quiet(); err != nil {
		return 0, nil, err
	}
	last = make(map[string]uint64)
	for i, tenant := range tenants {
		w, err := r.worker(tenant, 1000+i)
		if err != nil {
			return 0, nil, err
		}
		fence := chaos.Write{Key: "fence-" + tenant, Objects: []string{"fence-" + tenant}}
		err = w.until("fence", 0, func(ctx context.Context, c *client.Client) error {
			got, err := c.Assert(ctx, client.Assert{Subject: "Fence:" + tenant, Predicate: "stands", Object: fact.TextObject(fence.Key)}, client.Write{IdempotencyKey: fence.Key})
			if err == nil {
				fence.Done, fence.Tx = true, got.Tx
				last[tenant], tx = got.Tx, got.Tx
			}
			return err
		})
		w.close()
		if err != nil {
			return 0, nil, fmt.Errorf("write a last fact of %s: %w", tenant, err)
		}
		switch tenant {
		case "ledger":
			r.ledger.Add(fence)
		case "branches":
			r.branchLedger.Add(fence)
		}
	}
	return tx, last, nil
}

// quiet waits until no tx was made for some sweeps.
func (r *run) quiet() error {
	const sweeps = 2500 * time.Millisecond
	ctx, cancel := context.WithTimeout(r.ctx, time.Minute)
	defer cancel()
	before, since := uint64(0), time.Now()
	for {
		n, err := r.Leader(ctx)
		if err != nil {
			return err
		}
		status, err := n.Status(ctx)
		if err != nil {
			return err
		}
		if status.Tx != before {
			before, since = status.Tx, time.Now()
		}
		if time.Since(since) > sweeps {
			return nil
		}
		r.wait(50 * time.Millisecond)
		if ctx.Err() != nil {
			return fmt.Errorf("txs are made without an end: %w", ctx.Err())
		}
	}
}

// judgeTails: whoever followed a stream through all of it was told what one is told
// who reads it now from the beginning: without a gap, a repeat or another order.
func (r *run) judgeTails(states map[string]*chaos.State, last map[string]uint64) {
	ctx, cancel := context.WithTimeout(r.ctx, back)
	defer cancel()
	for tenant, tails := range r.tails {
		want := &chaos.State{Node: "the replay", Parts: []chaos.Part{states[tenant].Parts[len(states[tenant].Parts)-1]}}
		for _, tail := range tails {
			got, err := tail.Await(ctx, last[tenant])
			if err != nil {
				r.violate("streams", "%v", err)
				continue
			}
			r.check("streams", len(got.Events))
			if err := chaos.Same(want, got); err != nil {
				r.violate("streams", "of %s: %v", tenant, err)
			}
			if err := tail.Close(); err != nil {
				r.violate("streams", "%v", err)
			}
		}
	}
}

// judgePurges: nothing that was purged is told, by any node.
func (r *run) judgePurges(state *chaos.State) {
	for _, part := range state.Parts {
		for _, line := range part.Lines {
			for _, canary := range r.purges.gone {
				if bytes.Contains(line, []byte(canary)) {
					r.violate("purges", "%s was purged and is told in %s: %.300s", canary, part.Name, line)
				}
			}
		}
	}
}

// judgeTenants: what a tenant is told is its own.
func (r *run) judgeTenants(states map[string]*chaos.State) {
	for tenant, state := range states {
		for _, e := range state.Events {
			r.check("tenants", 1)
			if e.Fact.Tenant != tenant {
				r.violate("tenants", "the stream of %s tells a fact of %s", tenant, e.Fact.Tenant)
			}
		}
	}
}

// judgeFiles has the program itself look through the files of each node, once it has
// stopped in order.
func (r *run) judgeFiles() {
	for _, n := range r.Nodes {
		ctx, cancel := context.WithTimeout(r.ctx, back)
		err := n.Stop(ctx)
		cancel()
		if err != nil {
			r.violate("nodes", "%s: %v", n.Name, err)
			continue
		}
		r.check("files", 1)
		r.violated("secrets", r.findKeys(n))
		if err := n.Verify(r.ctx); err != nil {
			r.violate("files", "%v", err)
		}
	}
}

// findKeys looks for keys, which are kept as hashes only, in the output and the files
// of a node.
func (r *run) findKeys(n *chaos.Node) error {
	keys := map[string]string{"the administrator": adminKey}
	maps.Copy(keys, r.keys)
	files := []string{n.LogFile()}
	err := filepath.WalkDir(n.Data(), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	for _, file := range files {
		raw, unread := os.ReadFile(file)
		err = errors.Join(err, unread)
		for who, key := range keys {
			if bytes.Contains(raw, []byte(key)) {
				err = errors.Join(err, fmt.Errorf("the key of %s is in %s", who, file))
			}
		}
	}
	r.check("secrets", len(files))
	return err
}

// String is every violation, a line each.
func (r *Report) String() string {
	var b strings.Builder
	for _, v := range r.Violations {
		fmt.Fprintf(&b, "%s: %s\n", v.Judge, v.What)
	}
	return b.String()
}

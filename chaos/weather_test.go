package chaos_test

import (
	"testing"
	"time"

	"abagraph/chaos"
	"abagraph/client"
	"abagraph/fact"
)

// TestCLU_01_NodesStayEqual writes everything that there is to write through
// three nodes, one of which loses its disk in the middle and is built anew from
// a snapshot of another. When all is quiet the nodes must have the same facts,
// events and figures byte for byte, and give the same answers to random reads;
// and again after a second one was built anew and the third replayed its log.
func TestCLU_01_NodesStayEqual(t *testing.T) {
	w := open(t, chaos.Options{Nodes: 3, Args: []string{"--ttl-interval-secs", "1", "--snapshot-bytes", "65536", "--trailing-bytes", "65536"}})
	s := seed(t)
	begin := time.Now().UnixMilli()
	tenants := []string{"default", "other"}
	half := func(part uint64) *chaos.Seen {
		weather := chaos.Weather{Nodes: w.Nodes, Tenants: tenants, Seed: s + part, Workers: 4, Writes: scale(t, 60)}
		seen, err := weather.Run(w.ctx)
		w.must("write", err)
		t.Logf("%d writes, %d of them refused: %v", seen.Written, seen.Refused, seen.Statuses)
		if seen.Refused*2 > seen.Written {
			t.Errorf("most writes were refused: %v", seen.Statuses)
		}
		return seen
	}
	first := half(0)
	rebuilt := make(chan error, 1)
	go func() { rebuilt <- w.rebuild(w.Nodes[2]) }()
	second := half(1)
	w.must("build n3 anew", <-rebuilt)
	w.quiet(tenants)

	last := map[string]uint64{}
	for _, tenant := range tenants {
		last[tenant] = w.fence("end-"+tenant, tenant).Tx
	}
	tx := last["other"]
	questions := &chaos.Questions{
		Seed: s, Count: scale(t, 150), Tenants: tenants, IDs: append(first.IDs, second.IDs...),
		Tx: tx, From: begin, Until: time.Now().UnixMilli(),
	}
	before, err := w.Compare(w.ctx, tx, last)
	w.must("compare the nodes", err)
	answers := w.askAll(questions)
	w.restored(w.Nodes[2])

	w.must("build n2 anew", w.rebuild(w.Nodes[1]))
	w.must("kill n1", w.Nodes[0].Kill())
	w.must("start n1", w.Nodes[0].Start(w.ctx))
	w.must("all are ready", w.Ready(w.ctx))
	after, err := w.Compare(w.ctx, tx, last)
	w.must("compare the nodes again", err)
	for _, tenant := range tenants {
		if err := chaos.Same(before[tenant], after[tenant]); err != nil {
			t.Errorf("tenant %s changed over restarts: %v", tenant, err)
		}
	}
	w.sameAnswers("before the restarts", answers, "after them", w.askAll(questions))
	w.restored(w.Nodes[1])
}

// rebuild kills a node, takes its disk away, and waits until it has a vote again.
func (w *world) rebuild(n *chaos.Node) error {
	if err := n.Kill(); err != nil {
		return err
	}
	if err := n.Wipe(); err != nil {
		return err
	}
	if err := n.Start(w.ctx); err != nil {
		return err
	}
	if err := w.Voter(w.ctx, n); err != nil {
		return err
	}
	return n.Ready(w.ctx)
}

// restored wants a node to have been built from a snapshot, not from the log
// alone: else the scenario has not tried what it is for.
func (w *world) restored(n *chaos.Node) {
	w.t.Helper()
	m, err := n.Metrics(w.ctx)
	w.must("read the metrics", err)
	if m["abagraph_raft_restore_seconds_count"] == 0 {
		w.t.Errorf("%s was built anew without a snapshot", n.Name)
	}
}

// quiet waits until the sweep has nothing more to do: no fact is due to expire
// or to be closed.
func (w *world) quiet(tenants []string) {
	w.t.Helper()
	c := w.client(w.Nodes[0], client.WithRetry(20, 0))
	for _, tenant := range tenants {
		for w.due(c, tenant) > 0 {
			select {
			case <-w.ctx.Done():
				w.t.Fatalf("%d facts of %s are due and were not swept", w.due(c, tenant), tenant)
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
}

func (w *world) due(c *client.Client, tenant string) (due int) {
	w.t.Helper()
	list, err := c.Facts(w.ctx, client.FactQuery{Status: "active,candidate", Limit: fact.MaxLimit, Read: client.Read{Tenant: tenant}})
	w.must("list what may be due", err)
	for _, f := range list.Facts {
		// An hour is later than anything here that is to end soon, and 2190 is
		// later than that. What merely ends by its own statement stays active.
		soon := f.ValidUntil < fact.Instant(time.Now().Add(time.Hour).UnixMilli())
		if soon && (f.Transient || f.Status == "active" && f.SupersededBy != "" && f.ValidUntil > f.RecordedAt) {
			due++
		}
	}
	return due
}

// askAll has every node answer, and returns the answers, which must be the same.
func (w *world) askAll(q *chaos.Questions) []chaos.Question {
	w.t.Helper()
	var first []chaos.Question
	for _, n := range w.Nodes {
		got, err := q.Ask(w.ctx, n)
		w.must("ask", err)
		if first == nil {
			first = got
			continue
		}
		w.sameAnswers(w.Nodes[0].Name, first, n.Name, got)
	}
	return first
}

func (w *world) sameAnswers(nameA string, a []chaos.Question, nameB string, b []chaos.Question) {
	w.t.Helper()
	found, differ := 0, 0
	for i := range a {
		if a[i].Status == 200 && len(a[i].Body) > 2 {
			found++
		}
		if a[i].String() != b[i].String() {
			if differ++; differ <= 3 {
				w.t.Errorf("%s and %s differ:\n%s\n%s", nameA, nameB, a[i], b[i])
			}
		}
	}
	if found*4 < len(a) {
		w.t.Errorf("only %d of %d questions found anything", found, len(a))
	}
}

package chaos_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"abagraph/chaos"
	"abagraph/client"
	"abagraph/fact"
)

// TestTEN_06_ErasedFromEveryDisk: what was purged is told by no node from then on, a node
// that was down meanwhile included; and once each has taken two more snapshots, started
// anew and been compacted, no file of any has it.
func TestTEN_06_ErasedFromEveryDisk(t *testing.T) {
	w := open(t, chaos.Options{Nodes: 3, Binary: plainBinary, Args: []string{"--snapshot-bytes", "65536", "--trailing-bytes", "65536"}})
	canary := rand.Text()
	subject := "Person:" + canary
	before := w.canaries(subject, canary)
	w.fence("told", "")
	down := w.Nodes[2]
	w.must("let a node fall down", down.Kill())
	if w.inFiles(down, canary) == "" {
		t.Fatal("nothing is in the files before the purge either: the search for it finds nothing")
	}
	w.must("purge", w.until(w.Nodes[:2], func(ctx context.Context, c *client.Client) error {
		_, err := c.Purge(ctx, client.PurgeTarget{Subject: subject})
		return err
	}))
	w.fillLog("while it is down")
	w.must("start it", down.Start(w.ctx))
	w.must("have it ready", down.Ready(w.ctx))
	fence := w.fence("up", "")
	for _, n := range w.Nodes {
		w.erased(n, canary, fence.Tx, before)
	}
	w.fillLog("once more")
	var said map[string]any
	for _, n := range w.Nodes {
		for range 2 { // Pebble's list of files names subjects until the second start
			w.must("stop it in order", n.Stop(w.ctx))
			w.must("start it", n.Start(w.ctx))
			w.must("have it ready", n.Ready(w.ctx))
		}
	}
	w.fillLog("and again")
	for _, n := range w.Nodes {
		w.must("stop it in order", n.Stop(w.ctx))
		w.command(&said, "ops", "compact", n.Data())
		if file := w.inFiles(n, canary); file != "" {
			t.Errorf("%s has it still, in %s", n.Name, file)
		}
	}
}

// TestTEN_06_ErasedByTheRunbook: one node after the other is stopped, compacted and started
// anew, among writes, and then no file of any has what was purged.
func TestTEN_06_ErasedByTheRunbook(t *testing.T) {
	w := open(t, chaos.Options{Nodes: 3, Binary: plainBinary})
	canary := rand.Text()
	subject := "Person:" + canary
	before := w.canaries(subject, canary)
	var ledger chaos.Ledger
	load := chaos.Load{Nodes: w.Nodes, Workers: 2, Ledger: &ledger, Name: "load"}
	finish := load.Start(w.ctx)
	w.must("purge", w.until(w.Nodes, func(ctx context.Context, c *client.Client) error {
		_, err := c.Purge(ctx, client.PurgeTarget{Subject: subject})
		return err
	}))
	w.fence("purged", "")
	var said map[string]any
	for _, n := range w.Nodes {
		w.must("stop it in order", n.Stop(w.ctx))
		w.command(&said, "ops", "compact", n.Data(), "--trim-all")
		w.must("start it", n.Start(w.ctx))
		w.must("have it ready", n.Ready(w.ctx))
		w.must("write on", load.Await(w.ctx, load.Done()+20))
	}
	w.must("end the load", finish())
	fence := w.fence("end", "")
	for _, n := range w.Nodes {
		w.erased(n, canary, fence.Tx, before)
		if file := w.inFiles(n, canary); file != "" {
			t.Errorf("%s has it still, in %s", n.Name, file)
		}
	}
	_, err := w.Compare(w.ctx, fence.Tx, map[string]uint64{"": fence.Tx})
	w.must("compare the nodes", err)
}

// canaries writes a text wherever there is room for one, and returns the tx of the last.
func (w *world) canaries(subject, canary string) (tx uint64) {
	w.t.Helper()
	c := w.client(w.Nodes[0])
	told := func(a client.Assert, to client.Write) string {
		a.Subject, a.Predicate = subject, "says"
		got, err := c.Assert(w.ctx, a, to)
		w.must("tell it", err)
		tx = got.Tx
		return got.Fact.ID
	}
	told(client.Assert{Object: fact.TextObject(canary + " first")}, client.Write{})
	told(client.Assert{Object: fact.TextObject(canary + " second"), Source: &canary}, client.Write{IdempotencyKey: "a-key"})
	id := told(client.Assert{Object: fact.TextObject(canary), Policy: "coexist", Properties: []byte(`{"note":"` + canary + `"}`)}, client.Write{})
	_, err := c.Retract(w.ctx, id, client.Write{})
	w.must("retract it", err)
	_, err = c.CreateBranch(w.ctx, client.NewBranch{Name: "plan"}, client.Write{})
	w.must("make a branch", err)
	told(client.Assert{Object: fact.TextObject(canary + " on a branch")}, client.Write{Branch: "plan"})
	return tx
}

// fillLog writes so much that what lies in the log is trimmed, and has every node that
// runs take two snapshots meanwhile.
func (w *world) fillLog(name string) {
	w.t.Helper()
	for round := range 2 {
		for i := range 24 {
			w.must("write on", w.until(w.Nodes[:2], func(ctx context.Context, c *client.Client) error {
				_, err := c.Assert(ctx, client.Assert{Subject: "Page:" + name, Predicate: "text", Object: fact.TextObject(fmt.Sprint(round, i, strings.Repeat("more ", 2000)))}, client.Write{})
				return err
			}))
		}
		for _, n := range w.Nodes {
			if n.Running() {
				_, err := w.client(n, client.WithRetry(10, 0)).Snapshot(w.ctx)
				w.must("take a snapshot of "+n.Name, err)
			}
		}
	}
}

// erased looks for a text in all that a node tells, now and at a tx before.
func (w *world) erased(n *chaos.Node, canary string, last, before uint64) {
	w.t.Helper()
	state, err := n.Look(w.ctx, "", last, last)
	w.must("look at "+n.Name, err)
	for _, part := range state.Parts {
		for _, line := range part.Lines {
			if bytes.Contains(line, []byte(canary)) {
				w.t.Errorf("%s tells it in %s: %s", n.Name, part.Name, line)
			}
		}
	}
	c := w.client(n)
	for _, branch := range []string{"", "plan"} {
		for _, tx := range []string{"", fmt.Sprint(before)} {
			list, err := c.Facts(w.ctx, client.FactQuery{Subject: "Person:" + canary, Status: "all", Read: client.Read{Branch: branch, Tx: tx}})
			w.must("read", err)
			if len(list.Facts) > 0 {
				w.t.Errorf("%s tells %d facts of it on %q at tx %q", n.Name, len(list.Facts), branch, tx)
			}
		}
	}
	found, err := c.Search(w.ctx, client.SearchQuery{Question: canary})
	w.must("search", err)
	for _, hit := range found.Hits { // parts of a random text may be words of other facts
		told, err := json.Marshal(hit)
		w.must("read a hit", err)
		if bytes.Contains(told, []byte(canary)) {
			w.t.Errorf("a search on %s finds it: %s", n.Name, told)
		}
	}
}

// inFiles names a file of a node that holds a text, or "".
func (w *world) inFiles(n *chaos.Node, text string) (found string) {
	w.t.Helper()
	w.must("look through the files of "+n.Name, filepath.WalkDir(n.Data(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || found != "" {
			return err
		}
		raw, err := os.ReadFile(path)
		if bytes.Contains(raw, []byte(text)) {
			found = path
		}
		return err
	}))
	return found
}

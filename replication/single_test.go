package replication

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/fsm"
	rlog "abagraph/log"

	"github.com/hashicorp/raft"
)

func aloneOptions(c *cluster) { c.tune = func(o *Options) { o.Bind, o.dial = "", nil } }

func TestSingleNodeInMemory(t *testing.T) {
	c := newCluster(t, nil)
	aloneOptions(c)
	m := c.start("n1", "", "")
	first := m.mustWrite(t, write("Lamp:l", 1))
	second := m.mustWrite(t, write("Lamp:l", 2))
	if first.Tx != 1 || second.Tx != 2 || second.RecordedAt < first.RecordedAt {
		t.Fatalf("tx %d at %d, then %d at %d", first.Tx, first.RecordedAt, second.Tx, second.RecordedAt)
	}
	if v := m.mustRead(t, "Lamp:l"); v != "2" {
		t.Fatalf("read %q, want 2", v)
	}
	if err := m.Snapshot(); err != nil {
		t.Fatalf("snapshot in memory: %v", err)
	}
	if s := m.Status(); s.State != "Leader" || s.Tx != 2 || len(s.Peers) != 1 || s.SnapshotIndex == 0 {
		t.Fatalf("status %+v", s)
	}
}

func TestRestartKeepsEverything(t *testing.T) {
	for _, snapshot := range []bool{false, true} {
		t.Run(fmt.Sprintf("snapshot %v", snapshot), func(t *testing.T) {
			c := newCluster(t, nil)
			m := c.start("n1", c.disk("n1"), "")
			for i := range 20 {
				m.mustWrite(t, write(fmt.Sprintf("Lamp:%d", i), i))
				if snapshot && i == 10 {
					if err := m.Snapshot(); err != nil {
						t.Fatal(err)
					}
				}
			}
			before := m.Position()
			m.crash(t)
			m = c.start("n1", m.path, "")
			if v := m.mustRead(t, "Lamp:19"); v != "19" {
				t.Fatalf("read %q after a restart, want 19", v)
			}
			if after := m.Position(); after.Tx != before.Tx || after.Digest != before.Digest {
				t.Fatalf("position %+v before, %+v after", before, after)
			}
		})
	}
}

// A state that lies below the newest snapshot cannot be brought forward by the
// log alone, which has been trimmed: it is restored from the snapshot.
func TestLostStateIsRestoredFromTheSnapshot(t *testing.T) {
	c := newCluster(t, func(o *Options) { o.TrailingBytes = 1 })
	m := c.start("n1", c.disk("n1"), "")
	for i := range 40 {
		m.mustWrite(t, write("Lamp:l", i))
	}
	if err := m.Snapshot(); err != nil {
		t.Fatal(err)
	}
	m.mustWrite(t, write("Lamp:l", 99))
	before := m.Position()
	state := m.dir.State()
	m.stop(t)
	if err := os.RemoveAll(state); err != nil {
		t.Fatal(err)
	}
	m = c.start("n1", m.path, "")
	if v := m.mustRead(t, "Lamp:l"); v != "99" {
		t.Fatalf("read %q, want 99", v)
	}
	if after := m.Position(); after.Digest != before.Digest {
		t.Fatal("the digest changed")
	}
}

// Counted, not timed: with N clients waiting, at least N/3 requests go into one
// write of the log.
func TestGroupCommit(t *testing.T) {
	c := newCluster(t, nil)
	aloneOptions(c)
	m := c.start("n1", c.disk("n1"), "")
	m.mustWrite(t, write("Warm:up", 1))
	const clients, each = 64, 30
	before := m.store.Stats()
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			for i := range each {
				if _, err := m.Propose(context.Background(), write(fmt.Sprintf("Client:%d", client), i)); err != nil {
					t.Errorf("write: %v", err)
				}
			}
		})
	}
	wg.Wait()
	calls := m.store.Stats().Calls - before.Calls
	if perCall := float64(clients*each) / float64(calls); perCall < clients/3 {
		t.Fatalf("%.1f requests a write of the log, want at least %d", perCall, clients/3)
	}
}

// gatedMachine applies nothing while its gate is held.
type gatedMachine struct {
	StateMachine
	gate sync.Mutex
}

func (g *gatedMachine) ApplyTelling(entries []fsm.Committed, tell fsm.Teller) ([]fsm.Applied, error) {
	g.gate.Lock()
	defer g.gate.Unlock()
	return g.StateMachine.ApplyTelling(entries, tell)
}

func TestQueueBoundIsRateLimited(t *testing.T) {
	const queue = 4
	c := newCluster(t, func(o *Options) { o.Bind, o.dial, o.QueueLength = "", nil, queue })
	gated := &gatedMachine{}
	c.wrap = func(m StateMachine) StateMachine { gated.StateMachine = m; return gated }
	m := c.start("n1", "", "")
	m.mustWrite(t, write("Warm:up", 1))
	gated.gate.Lock()
	release := sync.OnceFunc(gated.gate.Unlock)
	defer release()
	var wg sync.WaitGroup
	begin := func(i int) {
		wg.Go(func() {
			if _, err := m.Propose(soon(t), write("Lamp:l", i)); err != nil {
				t.Errorf("a write that had a place: %v", err)
			}
		})
	}
	warm := m.Position().Index
	begin(0)
	eventually(t, "an entry in flight", func() bool { // of a write: an entry of Raft's own may come beside it
		for i := warm + 1; i <= m.raft.LastIndex(); i++ {
			var l raft.Log
			if m.store.GetLog(i, &l) == nil && l.Type == raft.LogCommand {
				return true
			}
		}
		return false
	})
	for i := range queue * 3 / 4 { // the rest is for other tenants
		begin(10 + i)
		eventually(t, "a write in the queue", func() bool { return m.proposer.queue.len() == i+1 })
	}
	if _, err := m.Propose(soon(t), write("Lamp:l", 20)); fact.CodeOf(err) != fact.RateLimited {
		t.Errorf("got %v, want RateLimited", err)
	}
	release()
	wg.Wait()
	m.mustWrite(t, write("Lamp:l", 99))
}

func TestSTO01FlippedLogByteStopsTheStart(t *testing.T) {
	c := newCluster(t, nil)
	m := c.start("n1", c.disk("n1"), "")
	for i := range 50 {
		m.mustWrite(t, write("Marked:subject", i))
	}
	m.stop(t)
	file := filepath.Join(m.path, "raft.db")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// Pages that are no longer in use hold old copies: all are changed.
	content = bytes.ReplaceAll(content, []byte("Marked:subject"), []byte("Marked;subject"))
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = c.tryStart("n1", m.path, "")
	if err == nil || !strings.Contains(err.Error(), "damaged") || strings.Contains(err.Error(), "\n") {
		t.Fatalf("got %v, want one line about damage", err)
	}
}

func TestMissingPartsAreRefused(t *testing.T) {
	cases := map[string]struct{ remove, want string }{
		"log":      {"raft.db", "its log was removed"},
		"identity": {"node.json", "no node.json that says whose"},
	}
	for name, k := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, nil)
			m := c.start("n1", c.disk("n1"), "")
			m.mustWrite(t, write("Lamp:l", 1))
			m.stop(t)
			if err := os.Remove(filepath.Join(m.path, k.remove)); err != nil {
				t.Fatal(err)
			}
			if _, err := c.tryStart("n1", m.path, ""); err == nil || !strings.Contains(err.Error(), k.want) {
				t.Fatalf("got %v, want %q", err, k.want)
			}
		})
	}
}

func TestDirectoryInUseAndOfAnotherNode(t *testing.T) {
	c := newCluster(t, nil)
	m := c.start("n1", c.disk("n1"), "")
	if _, err := rlog.Claim(m.path); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Fatalf("got %v", err)
	}
	m.stop(t)
	if _, err := c.tryStart("n2", m.path, ""); err == nil || !strings.Contains(err.Error(), "belongs to the node n1") {
		t.Fatalf("got %v", err)
	}
}

func TestOptionsAreRefusedInOneLine(t *testing.T) {
	cases := map[string]struct {
		tune func(*Options)
		want string
	}{
		"bind beyond loopback without a secret": {func(o *Options) { o.Secret, o.Bind = "", "0.0.0.0:0" }, "refusing to listen on 0.0.0.0:0 without a cluster secret or TLS files"},
		"advertise beyond loopback":             {func(o *Options) { o.Secret, o.Advertise = "", "10.0.0.1:7" }, "refusing to be reached at 10.0.0.1:7"},
		"join beyond loopback":                  {func(o *Options) { o.Secret, o.Join = "", "10.0.0.1:7" }, "refusing to join 10.0.0.1:7"},
		"bind everywhere without advertise":     {func(o *Options) { o.Bind = "0.0.0.0:0" }, "advertise"},
		"short secret":                          {func(o *Options) { o.Secret = "short" }, "fewer than 16 characters"},
		"bad id":                                {func(o *Options) { o.NodeID = "n 1" }, "node id"},
		"bad address":                           {func(o *Options) { o.Bind = "nonsense" }, "HOST:PORT"},
		"a TLS file of three":                   {func(o *Options) { o.Secret, o.TLS = "", &TLSFiles{Cert: "a"} }, "needs all of --peer-tls-cert, --peer-tls-key and --peer-tls-ca"},
		"no authority":                          {func(o *Options) { o.Secret, o.TLS = "", &TLSFiles{Cert: "a", Key: "b"} }, "needs all of --peer-tls-cert"},
		"missing TLS file":                      {func(o *Options) { o.Secret, o.TLS = "", &TLSFiles{"a", "b", "c"} }, "read the peer certificate"},
	}
	for name, k := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, k.tune)
			_, err := c.tryStart("n1", "", "")
			if err == nil || !strings.Contains(err.Error(), k.want) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("got %v, want one line with %q", err, k.want)
			}
		})
	}
}

// A state machine that cannot apply stops the node: it says so, and nothing is
// answered any more.
func TestApplyFailureStopsTheNode(t *testing.T) {
	c := newCluster(t, nil)
	aloneOptions(c)
	m := c.start("n1", "", "")
	m.mustWrite(t, write("Lamp:l", 1))
	_, err := m.applyEntry([]byte("no entry at all"))
	if err == nil {
		t.Fatal("nonsense was applied")
	}
	<-m.Failed()
	if m.Err() == nil || m.Status().State != "Stopped" || m.Status().Problem == "" {
		t.Fatalf("err %v, status %+v", m.Err(), m.Status())
	}
	if _, err := m.Propose(soon(t), write("Lamp:l", 2)); fact.CodeOf(err) != fact.Closed {
		t.Fatalf("write: got %v, want Closed", err)
	}
	for _, level := range []fact.Level{fact.Linearizable, fact.Stale} {
		if _, err := m.Basis(soon(t), level, 0); fact.CodeOf(err) != fact.Closed {
			t.Fatalf("read: got %v, want Closed", err)
		}
	}
}

func TestClosedNodeSaysSo(t *testing.T) {
	c := newCluster(t, nil)
	aloneOptions(c)
	m := c.start("n1", "", "")
	m.mustWrite(t, write("Lamp:l", 1))
	if err := m.Node.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Propose(soon(t), write("Lamp:l", 2)); fact.CodeOf(err) != fact.Closed {
		t.Fatalf("got %v, want Closed", err)
	}
	if _, err := m.Basis(soon(t), fact.Linearizable, 0); fact.CodeOf(err) != fact.Closed {
		t.Fatalf("got %v, want Closed", err)
	}
}

// C-26: a read that waited in vain for a tx says which, and where the node is.
func TestMinTxThatNeverComes(t *testing.T) {
	m := newCluster(t, nil).start("n1", "", "")
	m.mustWrite(t, write("Lamp:l", 1))
	for _, level := range []fact.Level{fact.Linearizable, fact.Stale} {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		_, err := m.Basis(ctx, level, 999)
		cancel()
		if fact.CodeOf(err) != fact.Timeout || !strings.Contains(err.Error(), "tx 999 has not been applied") || !strings.Contains(err.Error(), "at tx 1;") {
			t.Errorf("got %v", err)
		}
	}
}

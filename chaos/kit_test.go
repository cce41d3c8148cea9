package chaos_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"abagraph/chaos"
	"abagraph/client"
	"abagraph/fact"
)

// The program, built once: with the race detector, which every scenario runs, and
// plain, for what would take too long with it.
var binary, plainBinary string

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "abagraph-chaos-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if binary, err = chaos.Build(ctx, dir, true); err != nil {
		return 1, err
	}
	if plainBinary, err = chaos.Build(ctx, dir, false, chaos.TagClocks); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// patience bounds a whole scenario, so that one that hangs ends with the logs
// of its nodes. It is no measure of the product.
const patience = 3 * time.Minute

// scale multiplies the lengths of all scenarios: CHAOS_SCALE=10 for a soak.
func scale(t *testing.T, n int) int {
	t.Helper()
	text := os.Getenv("CHAOS_SCALE")
	if text == "" {
		return n
	}
	factor, err := strconv.Atoi(text)
	if err != nil || factor < 1 {
		t.Fatalf("CHAOS_SCALE=%q is not a whole number from 1 on", text)
	}
	return n * factor
}

// seed is CHAOS_SEED, or a new one, which is told.
func seed(t *testing.T) uint64 {
	t.Helper()
	s := uint64(time.Now().UnixNano())
	if text := os.Getenv("CHAOS_SEED"); text != "" {
		var err error
		if s, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("CHAOS_SEED=%q is not a whole number", text)
		}
	}
	t.Logf("CHAOS_SEED=%d", s)
	return s
}

// world is a running cluster and the test that it is for.
type world struct {
	*chaos.Cluster
	t   *testing.T
	ctx context.Context
}

// open starts a cluster that ends with the test. Its nodes' output is told where
// the test has failed, and may in no case hold an alarm.
func open(t *testing.T, options chaos.Options) *world {
	t.Helper()
	limit := patience * time.Duration(scale(t, 1))
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	options.Dir = t.TempDir()
	if options.Binary == "" {
		options.Binary = binary
	}
	c, err := chaos.Open(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("ending the nodes: %v", err)
		}
		for _, alarm := range c.Alarms() {
			t.Errorf("in the output of a node: %s", alarm)
		}
		if t.Failed() {
			t.Logf("the nodes wrote\n%s", c.Logs(80))
		}
	})
	return &world{c, t, ctx}
}

// must fails the test on an error.
func (w *world) must(what string, err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
}

// leader is the node that leads now, among all or some.
func (w *world) leader(among ...*chaos.Node) *chaos.Node {
	w.t.Helper()
	n, err := w.Leader(w.ctx, among...)
	w.must("find the leader", err)
	return n
}

// client makes a client that ends with the test.
func (w *world) client(n *chaos.Node, options ...client.Option) *client.Client {
	w.t.Helper()
	c, err := n.Client(options...)
	w.must("make a client", err)
	w.t.Cleanup(c.Close)
	return c
}

// until has one of the nodes make a call, whatever it takes.
func (w *world) until(nodes []*chaos.Node, send func(context.Context, *client.Client) error) error {
	w.t.Helper()
	clients, closing, err := chaos.Clients(nodes)
	w.must("make clients", err)
	defer closing()
	return chaos.Until(w.ctx, clients, 0, send)
}

// fence writes one fact through any node and returns it: whatever has its tx has
// all that was acknowledged before.
func (w *world) fence(name, tenant string) chaos.Write {
	w.t.Helper()
	return w.fenceOf(name, tenant, w.Nodes)
}

// fenceThrough writes one through one node.
func (w *world) fenceThrough(name string, n *chaos.Node) chaos.Write {
	w.t.Helper()
	return w.fenceOf(name, "", []*chaos.Node{n})
}

func (w *world) fenceOf(name, tenant string, nodes []*chaos.Node) chaos.Write {
	w.t.Helper()
	write := chaos.Write{Key: "fence-" + name, Objects: []string{"fence-" + name}}
	a := client.Assert{Subject: "Fence:" + name, Predicate: "stands", Object: fact.TextObject(write.Key)}
	w.must("write a fence", w.until(nodes, func(ctx context.Context, c *client.Client) error {
		got, err := c.Assert(ctx, a, client.Write{IdempotencyKey: write.Key, Tenant: tenant})
		if err == nil {
			write.Done, write.Tx, write.IDs = true, got.Tx, []string{got.Fact.ID}
		}
		return err
	}))
	return write
}

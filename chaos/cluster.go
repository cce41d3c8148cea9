package chaos

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"

	"abagraph/client"
)

// Options say what a cluster is made of.
type Options struct {
	// Binary is the program, as Build makes it.
	Binary string
	// Dir takes the data and the output of the nodes.
	Dir string
	// Nodes is how many there are; a single one has no peer port.
	Nodes int
	// Args are further arguments of every `serve`, and Env further variables.
	Args, Env []string
	// AdminKey turns auth on; the clients of this package then send it.
	AdminKey string
	// DiskBytes gives each node a disk of its own, of that size, that can lose
	// power, be slow and be full (see Disk); 0 = a folder of Dir.
	DiskBytes int64
}

// Cluster is some nodes and the network around them.
type Cluster struct {
	Nodes   []*Node
	Network *Network

	options Options
	// starting is held while a process begins and while it is looked up who
	// has dialled.
	starting sync.Mutex
	owners   map[int]string // node by process
}

// Open starts a cluster and waits until every node is a ready voter of it.
func Open(ctx context.Context, options Options) (*Cluster, error) {
	c := &Cluster{Network: newNetwork(), options: options, owners: make(map[int]string)}
	for i := range options.Nodes {
		n, err := c.newNode(fmt.Sprintf("n%d", i+1))
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		c.Nodes = append(c.Nodes, n)
	}
	for _, n := range c.Nodes {
		if err := c.begin(ctx, n); err != nil {
			return nil, errors.Join(err, errors.New(c.Logs(40)), c.Close())
		}
	}
	return c, nil
}

func (c *Cluster) begin(ctx context.Context, n *Node) error {
	if err := n.Start(ctx); err != nil {
		return err
	}
	if n != c.Nodes[0] {
		if err := c.Voter(ctx, n); err != nil {
			return err
		}
	}
	return n.Ready(ctx)
}

// Close kills every node. The files stay.
func (c *Cluster) Close() error {
	var errs []error
	for _, n := range c.Nodes {
		errs = append(errs, n.close())
	}
	return errors.Join(errs...)
}

// whoDialled names the node that made a connection to a peer port.
func (c *Cluster) whoDialled(conn net.Conn) (string, error) {
	c.starting.Lock()
	defer c.starting.Unlock()
	pid, err := diallerOf(conn, slices.Collect(maps.Keys(c.owners)))
	return c.owners[pid], err
}

// Voter waits until a node that was just started has a vote: until it is a
// member again in its own eyes, and after that a voter in its leader's, who still
// lists a node that lost its data until it comes back.
func (c *Cluster) Voter(ctx context.Context, n *Node) error {
	err := n.await(ctx, "is a member", func(ctx context.Context) bool {
		got, err := n.Status(ctx)
		return err == nil && got.State != "Joining"
	})
	if err != nil {
		return err
	}
	return n.await(ctx, "has a vote", func(ctx context.Context) bool {
		leader, _ := c.leaderNow(ctx, c.Nodes)
		return leader != nil && slices.ContainsFunc(leader.Members, func(m client.Member) bool { return m.ID == n.Name && m.Voter })
	})
}

// Others are all nodes but some.
func (c *Cluster) Others(but ...*Node) []*Node {
	var others []*Node
	for _, n := range c.Nodes {
		if !slices.Contains(but, n) {
			others = append(others, n)
		}
	}
	return others
}

// Isolate cuts a node off from all others, but not from the street.
func (c *Cluster) Isolate(n *Node, mode Mode) {
	var names []string
	for _, other := range c.Others(n) {
		names = append(names, other.Name)
	}
	c.Network.Cut(mode, n.Name, names...)
}

// Leader waits until one of some nodes (all where none is named) leads and can
// answer, and returns it: of several that think so, the one of the latest term.
func (c *Cluster) Leader(ctx context.Context, among ...*Node) (*Node, error) {
	if len(among) == 0 {
		among = c.Nodes
	}
	for {
		if _, n := c.leaderNow(ctx, among); n != nil {
			if _, err := n.direct.Ready(ctx); err == nil {
				return n, nil
			}
		}
		if !rest(ctx, pause) {
			return nil, fmt.Errorf("no node leads: %w", ctx.Err())
		}
	}
}

func (c *Cluster) leaderNow(ctx context.Context, among []*Node) (status *client.Cluster, leader *Node) {
	for _, n := range among {
		if !n.Running() {
			continue
		}
		got, err := n.Status(ctx)
		if err == nil && got.State == "Leader" && (status == nil || got.Term > status.Term) {
			status, leader = got, n
		}
	}
	return status, leader
}

// SameDigest waits until every node has come to a tx, and compares the digests
// that they name for it. Nothing may be written meanwhile.
func (c *Cluster) SameDigest(ctx context.Context, tx uint64) (digest string, err error) {
	for _, n := range c.Nodes {
		var got *client.Cluster
		err := n.await(ctx, fmt.Sprintf("has come to tx %d", tx), func(ctx context.Context) bool {
			got, err = n.Status(ctx)
			return err == nil && got.Tx >= tx
		})
		switch {
		case err != nil:
			return "", err
		case got.Tx != tx:
			return "", fmt.Errorf("%s is at tx %d, and nothing was to be written after tx %d", n.Name, got.Tx, tx)
		case digest == "":
			digest = got.Digest
		case got.Digest != digest:
			return "", fmt.Errorf("at tx %d %s has the digest %s, and %s %s", tx, c.Nodes[0].Name, digest, n.Name, got.Digest)
		}
	}
	return digest, nil
}

// Ready waits until every node that runs can answer linearizable reads.
func (c *Cluster) Ready(ctx context.Context) error {
	for _, n := range c.Nodes {
		if n.Running() {
			if err := n.Ready(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// Logs are the last lines of each node's output.
func (c *Cluster) Logs(lines int) string {
	var b strings.Builder
	for _, n := range c.Nodes {
		text, err := n.Log(true)
		if err != nil {
			text = err.Error()
		}
		fmt.Fprintf(&b, "=== %s\n%s\n", n.Name, tail(text, lines))
	}
	return b.String()
}

// Alarms are the lines of all nodes' output that no run may have: data races,
// panics, and what the server itself calls an error.
func (c *Cluster) Alarms() []string {
	var alarms []string
	for _, n := range c.Nodes {
		text, err := n.Log(true)
		if err != nil {
			continue
		}
		for line := range strings.Lines(text) {
			if alarming(line) {
				alarms = append(alarms, n.Name+": "+strings.TrimSpace(line))
			}
		}
	}
	return alarms
}

func alarming(line string) bool {
	for _, word := range []string{"DATA RACE", "panic:", "fatal error:", `"event":"abagraph.server.panic"`, `"event":"abagraph.server.error"`} {
		if strings.Contains(line, word) {
			return true
		}
	}
	return false
}

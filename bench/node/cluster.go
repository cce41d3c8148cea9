package node

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"abagraph/bench/proc"
	"abagraph/bench/rest"
)

// startTime is how long a node may take until it is ready.
const startTime = 90 * time.Second

// Cluster is one node or three.
type Cluster struct {
	program string
	dir     string
	env     []string
	members []*member
}

// member is one node with its settings, which a restart uses again.
type member struct {
	name    string
	dir     string // its data
	address string
	env     []string
	process *proc.Process
}

// Start runs a fresh cluster with its data under dir, and returns once every
// node is ready. The variables env go to every node.
func Start(ctx context.Context, program, dir string, nodes int, env ...string) (*Cluster, error) {
	ports, err := proc.FreePorts(2 * nodes)
	if err != nil {
		return nil, err
	}
	c := &Cluster{program: program, dir: dir, env: env}
	for i := range nodes {
		m := &member{
			name:    fmt.Sprintf("abagraph-%d", i+1),
			address: "127.0.0.1:" + strconv.Itoa(ports[2*i]),
		}
		m.dir = filepath.Join(dir, m.name)
		peers := "127.0.0.1:" + strconv.Itoa(ports[2*i+1])
		m.env = []string{"ABAGRAPH_BIND=" + m.address, "ABAGRAPH_DATA=" + m.dir, "ABAGRAPH_NODE_ID=" + m.name, "ABAGRAPH_PEER_BIND=" + peers}
		if i > 0 {
			m.env = append(m.env, "ABAGRAPH_JOIN=127.0.0.1:"+strconv.Itoa(ports[1]))
		}
		c.members = append(c.members, m)
		if err := c.run(ctx, m); err != nil {
			c.Stop()
			return nil, err
		}
	}
	return c, nil
}

// run starts one node and waits until it is ready.
func (c *Cluster) run(ctx context.Context, m *member) error {
	process, err := proc.Start(m.name, c.dir, append(m.env[:len(m.env):len(m.env)], c.env...), c.program, "serve")
	if err != nil {
		return err
	}
	m.process = process
	return process.Await(ctx, startTime, func() error { return ready(m.address) })
}

// ready asks a node whether it can answer.
func ready(address string) error {
	conn, err := rest.Dial(address)
	if err != nil {
		return err
	}
	defer conn.Close()
	status, body, err := conn.Do("GET", "/api/ready", nil)
	if err != nil {
		return err
	}
	if status != 200 {
		return fmt.Errorf("GET /api/ready answers %d: %.200s", status, body)
	}
	return nil
}

// Leader returns the address of the node that leads.
func (c *Cluster) Leader(ctx context.Context) (string, error) {
	for range 200 {
		for _, m := range c.members {
			figures, err := Scrape(m.address)
			if err == nil && figures.Leads() {
				return m.address, nil
			}
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return "", errors.New("no node says that it leads")
}

// Addresses are the nodes' HTTP addresses, in the order they were started.
func (c *Cluster) Addresses() []string {
	var list []string
	for _, m := range c.members {
		list = append(list, m.address)
	}
	return list
}

// Processes are the nodes' processes.
func (c *Cluster) Processes() []*proc.Process {
	var list []*proc.Process
	for _, m := range c.members {
		if m.process != nil {
			list = append(list, m.process)
		}
	}
	return list
}

// Data is the data folder of the first node.
func (c *Cluster) Data() string { return c.members[0].dir }

// KillAndStart ends the first node as kill -9 does, starts it again, and returns
// how long it took from the start of the process until it was ready.
func (c *Cluster) KillAndStart(ctx context.Context) (time.Duration, error) {
	m := c.members[0]
	m.process.Kill()
	begin := time.Now()
	if err := c.run(ctx, m); err != nil {
		return 0, fmt.Errorf("starting after a kill: %w", err)
	}
	return time.Since(begin), nil
}

// Stop ends all nodes, the first one last.
func (c *Cluster) Stop() {
	for i := len(c.members) - 1; i >= 0; i-- {
		if p := c.members[i].process; p != nil {
			p.Stop()
		}
	}
}

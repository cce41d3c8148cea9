package node

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"
)

// Kill ends the node at an address as kill -9 does.
func (c *Cluster) Kill(address string) error {
	m, err := c.at(address)
	if err != nil {
		return err
	}
	m.process.Kill()
	return nil
}

// Restart starts the node at an address again, and returns how long it took until it
// was ready: with all that the others had committed when it was asked.
func (c *Cluster) Restart(ctx context.Context, address string) (time.Duration, error) {
	m, err := c.at(address)
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	if err := c.run(ctx, m); err != nil {
		return 0, fmt.Errorf("starting again: %w", err)
	}
	return time.Since(begin), nil
}

// Empty removes the data of the node at an address, which must not run. The first
// node has nobody to join and keeps its data.
func (c *Cluster) Empty(address string) error {
	m, err := c.at(address)
	if err != nil {
		return err
	}
	if m == c.members[0] {
		return fmt.Errorf("the node at %s has founded the cluster: it cannot join", address)
	}
	if err := os.RemoveAll(m.dir); err != nil {
		return fmt.Errorf("emptying a node: %w", err)
	}
	return nil
}

func (c *Cluster) at(address string) (*member, error) {
	i := slices.IndexFunc(c.members, func(m *member) bool { return m.address == address })
	if i < 0 {
		return nil, fmt.Errorf("there is no node at %s", address)
	}
	return c.members[i], nil
}

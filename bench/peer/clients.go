package peer

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Shared is over how many connections many clients have etcd at its best: of 1, 4 and
// 16 this served most on two cores. One is a bottleneck; each more costs system calls,
// which the requests on one connection share.
const Shared = 4

// Clients are clients of etcd's leader, each on a connection of its own.
type Clients struct {
	all   []*clientv3.Client
	dealt int
}

// Dial opens as many connections to the leader.
func (e *Etcd) Dial(connections int) (*Clients, error) {
	c := &Clients{}
	for range connections {
		client, err := open([]string{e.leader})
		if err != nil {
			c.Close()
			return nil, err
		}
		c.all = append(c.all, client)
	}
	return c, nil
}

// next deals the connections out in turns.
func (c *Clients) next() *clientv3.Client {
	c.dealt++
	return c.all[c.dealt%len(c.all)]
}

// Put returns an operation that writes one value, and waits until a majority
// has it on disk. Put and Get are not safe for concurrent use; the operations
// that they return are.
func (c *Clients) Put(key func() string, value func() string) func(context.Context) (int, error) {
	client := c.next()
	return func(ctx context.Context) (int, error) {
		if _, err := client.Put(ctx, key(), value()); err != nil {
			return 0, fmt.Errorf("etcd put: %w", err)
		}
		return 1, nil
	}
}

// Get returns an operation that reads one value linearizably.
func (c *Clients) Get(key func() string) func(context.Context) (int, error) {
	client := c.next()
	return func(ctx context.Context) (int, error) {
		answer, err := client.Get(ctx, key())
		if err != nil {
			return 0, fmt.Errorf("etcd get: %w", err)
		}
		if len(answer.Kvs) != 1 {
			return 0, fmt.Errorf("etcd get: %d values of a key that has one", len(answer.Kvs))
		}
		return 1, nil
	}
}

// Close closes the connections.
func (c *Clients) Close() {
	for _, client := range c.all {
		_ = client.Close() // nothing is under way, or its servers end
	}
}

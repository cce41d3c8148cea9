package main

import (
	"context"

	"abagraph/memory"
)

// operations is the node as its operator handles it.
type operations struct{ node *node }

func (o operations) Backup(ctx context.Context) (memory.Backup, error) {
	b, err := o.node.raft.Backup(ctx, version)
	if err != nil {
		return nil, err
	}
	return b, nil
}

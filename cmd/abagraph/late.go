package main

import (
	"context"

	"abagraph/fact"
)

// late is the engine that memory speaks to. It stands before the node's Raft
// does; until the server serves, nobody calls it.
type late struct{ node *node }

func (l late) Propose(ctx context.Context, r *fact.Request) (*fact.Result, error) {
	return l.node.raft.Propose(ctx, r)
}

func (l late) Basis(ctx context.Context, level fact.Level, minTx uint64) (fact.Basis, error) {
	return l.node.raft.Basis(ctx, level, minTx)
}

func (l late) WaitTx(ctx context.Context, tx uint64) error { return l.node.raft.WaitTx(ctx, tx) }

func (l late) Position() fact.Position { return l.node.machine.Position() }

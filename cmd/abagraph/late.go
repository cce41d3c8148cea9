package main

import (
	"context"

	"abagraph/fact"
	"abagraph/memory"
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

// Cluster leaves out the addresses that replication knows.
func (l late) Cluster() memory.Cluster {
	at := l.node.machine.Position() // first: it is never ahead of what is committed
	status := l.node.raft.Status()
	c := memory.Cluster{
		NodeID: status.ID, State: status.State, LeaderID: status.LeaderID, Term: status.Term,
		CommitIndex: status.CommitIndex, AppliedIndex: status.CommitIndex - min(status.Lag, status.CommitIndex), At: at,
	}
	for _, p := range status.Peers {
		c.Members = append(c.Members, memory.Member{
			ID: p.ID, Voter: p.Voter, Leader: p.Leader, Known: p.Reachable, Tx: p.Tx, Lag: p.Lag,
		})
	}
	return c
}

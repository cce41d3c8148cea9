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

func (o operations) Nodes(ctx context.Context) (memory.NodesReport, error) {
	status, members := o.node.raft.Report(ctx)
	all := memory.NodesReport{
		NodeID: status.ID, ClusterID: status.Cluster, LeaderID: status.LeaderID, Term: status.Term, CommitIndex: status.CommitIndex,
	}
	for _, m := range members {
		all.Members = append(all.Members, memory.NodeReport{
			ID: m.ID, Address: m.Address, Voter: m.Voter, Reader: m.Reader, Leader: m.Leader, Answers: m.Reachable,
			AppliedIndex: m.AppliedIndex, Lag: m.Lag, Tx: m.Tx, Epoch: m.Epoch, Digest: m.Digest, SnapshotIndex: m.SnapshotIndex,
			LogBytes: m.LogBytes, DataBytes: m.Disk.Used, FreeBytes: m.Disk.Free, DiskBytes: m.Disk.Size, Problem: m.Problem,
		})
	}
	return all, nil
}

func (o operations) Snapshot(context.Context) (uint64, error) { return o.node.raft.TakeSnapshot() }

func (o operations) Remove(ctx context.Context, id string) error { return o.node.raft.Remove(ctx, id) }

func (o operations) SetVoter(ctx context.Context, id string, voter bool) error {
	return o.node.raft.SetVoter(ctx, id, voter)
}

func (o operations) Transfer(ctx context.Context, id string) error {
	return o.node.raft.Transfer(ctx, id)
}

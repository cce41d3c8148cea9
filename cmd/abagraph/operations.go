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
		NodeID: status.ID, ClusterID: status.Cluster, LeaderID: status.LeaderID, Term: status.Term, CommitIndex: status.CommitIndex, Problem: status.Problem,
	}
	for _, m := range members {
		all.Members = append(all.Members, memory.NodeReport{
			ID: m.ID, Address: m.Address, Voter: m.Voter, Reader: m.Reader, Leader: m.Leader, Answers: m.Reachable,
			Term: m.Term, AppliedIndex: m.AppliedIndex, Lag: m.Lag, Tx: m.Tx, Epoch: m.Epoch, Digest: m.Digest, SnapshotIndex: m.SnapshotIndex,
			LogBytes: m.LogBytes, DataBytes: m.Disk.Used, FreeBytes: m.Disk.Free, DiskBytes: m.Disk.Size, Problem: m.Problem,
		})
	}
	return all, nil
}

func (o operations) Snapshot(context.Context) (uint64, error) { return o.node.raft.TakeSnapshot() }

// VerifyStore checks the node's store as it stands now, while the node goes on.
func (o operations) VerifyStore(ctx context.Context) (memory.StoreCheck, error) {
	view, err := o.node.machine.ViewWithin(ctx)
	if err != nil {
		return memory.StoreCheck{}, err
	}
	defer view.Close()
	v, err := view.Verify(ctx, nil)
	if err != nil {
		return memory.StoreCheck{}, err
	}
	return memory.StoreCheck{
		Tx: v.Tx, Epoch: v.Epoch, Digest: v.Digest, Keys: v.Keys, Facts: v.Facts, Versions: v.Versions, Events: v.Events,
		Outcomes: v.Outcomes, Tenants: v.Tenants, Unchecked: v.Unchecked, Untold: v.Untold, Problems: v.Problems,
	}, nil
}

func (o operations) Remove(ctx context.Context, id string) error { return o.node.raft.Remove(ctx, id) }

func (o operations) SetVoter(ctx context.Context, id string, voter bool) error {
	return o.node.raft.SetVoter(ctx, id, voter)
}

func (o operations) Transfer(ctx context.Context, id string) error {
	return o.node.raft.Transfer(ctx, id)
}

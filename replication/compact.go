package replication

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"
)

// compactEvery is how often the log is measured.
const compactEvery = 500 * time.Millisecond

// minTrailing is how many entries stay in the log at least when it is trimmed.
const minTrailing = 16

// watchLog takes a snapshot whenever enough bytes or entries lie behind the last
// one. Raft itself counts entries only, and an entry may hold one small write or
// a megabyte of them.
func (n *Node) watchLog(ctx context.Context) {
	ticker := time.NewTicker(compactEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		bytes, entries := n.store.After(n.snapshotIndex())
		if bytes < n.options.SnapshotBytes && entries < n.options.SnapshotEntries {
			continue
		}
		if err := n.Snapshot(); err != nil {
			n.logger.Warn("abagraph.snapshot.error", "error", err)
			pause(ctx, 10*compactEvery)
		}
	}
}

// Snapshot takes a snapshot now and trims the log. Where nothing has been applied
// since the last one it does nothing. What was purged before is not in it (C-56).
func (n *Node) Snapshot() error {
	if err := n.machine.Cleaned(n.ctx); err != nil {
		return fmt.Errorf("wait for what was purged to leave the files: %w", err)
	}
	start := time.Now()
	reload := n.raft.ReloadableConfig()
	reload.TrailingLogs = max(minTrailing, n.store.Within(n.options.TrailingBytes))
	if err := n.raft.ReloadConfig(reload); err != nil {
		return fmt.Errorf("set how much of the log is kept: %w", err)
	}
	// Apply waits for the checkpoint: it is quick where little is left to flush.
	if err := n.machine.Flush(); err != nil {
		return err
	}
	err := n.raft.Snapshot().Error()
	if errors.Is(err, raft.ErrNothingNewToSnapshot) {
		return nil
	}
	if err != nil {
		return err
	}
	n.metrics.snapshotTime.Observe(time.Since(start).Seconds())
	return nil
}

func (n *Node) snapshotIndex() uint64 {
	newest, _ := n.snaps.newest()
	return newest.Raft.Index
}

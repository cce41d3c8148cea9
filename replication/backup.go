package replication

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"abagraph/fact"
	"abagraph/fsm"
)

// Backup is a checkpoint of everything that a node had applied at one moment. It
// must be closed, which removes it.
type Backup struct {
	Manifest fsm.Manifest
	node     *Node
	dir      string
	size     int64
	once     sync.Once
}

// Backup takes a checkpoint of what this node has applied, without what was purged
// before (C-56). Writes wait while the checkpoint is taken, which is the making of
// hard links, and at no other time. Version is the program's own. One backup of a
// node is under way at a time; another is RateLimited.
func (n *Node) Backup(ctx context.Context, version string) (*Backup, error) {
	if err := n.serving(); err != nil {
		return nil, err
	}
	if n.machine.Position().Index == 0 {
		return nil, fact.Errorf(fact.NoLeader, "this node has nothing yet: it has still to join its cluster")
	}
	if err := n.backupTurn(ctx); err != nil {
		return nil, err
	}
	b := &Backup{node: n, dir: n.machine.FS().PathJoin(n.snaps.root, "backup"+unfinished)}
	if err := b.take(ctx, version); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// backupPatience is how long a backup waits for the one before it, which may only
// have its checkpoint to remove.
const backupPatience = time.Second

func (n *Node) backupTurn(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, backupPatience)
	defer cancel()
	select {
	case n.backing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fact.Errorf(fact.RateLimited, "another backup of this node is under way")
	}
}

func (b *Backup) take(ctx context.Context, version string) error {
	n, fs := b.node, b.node.machine.FS()
	if err := n.machine.Cleaned(ctx); err != nil {
		return fmt.Errorf("wait for what was purged to leave the files: %w", err)
	}
	if err := fs.RemoveAll(b.dir); err != nil {
		return fmt.Errorf("make room for a backup: %w", err)
	}
	// Apply waits for the checkpoint: it is quick where little is left to flush.
	if err := n.machine.Flush(); err != nil {
		return err
	}
	view, err := n.adapter.checkpoint(b.dir)
	if err != nil {
		return fmt.Errorf("take a backup: %w", err)
	}
	defer view.Close()
	if b.Manifest, err = view.Manifest(ctx); err != nil {
		return err
	}
	b.Manifest.Version, b.Manifest.Node, b.Manifest.CreatedAt = version, n.options.NodeID, n.options.Clock()
	if b.Manifest.ArchiveBytes, err = fsm.ArchiveSize(fs, b.dir); err != nil {
		return err
	}
	b.size, err = b.Manifest.Size()
	return err
}

// checkpoint writes exactly the applied state into a directory, and opens a view of
// that state. Nothing is applied meanwhile.
func (a *adapter) checkpoint(dir string) (*fsm.View, error) {
	a.applying.Lock()
	defer a.applying.Unlock()
	view, err := a.machine.View()
	if err != nil {
		return nil, err
	}
	if err := a.machine.Checkpoint(dir); err != nil {
		view.Close()
		return nil, err
	}
	return view, nil
}

// Size is how many bytes WriteTo writes.
func (b *Backup) Size() int64 { return b.size }

// Position is the state that the backup is of.
func (b *Backup) Position() fact.Position {
	return fact.Position{Index: b.Manifest.Index, Term: b.Manifest.Term, Tx: b.Manifest.Tx, RecordedAt: b.Manifest.RecordedAt, Epoch: b.Manifest.Epoch}
}

// Write writes the backup, once; a node that shuts down ends it.
func (b *Backup) Write(ctx context.Context, to io.Writer) error {
	return fsm.WriteBackup(b.node.machine.FS(), b.dir, &b.Manifest, &stoppable{ctx, b.node.stopped, to})
}

// stoppable is a writer that ends with a context or a node.
type stoppable struct {
	ctx     context.Context
	stopped <-chan struct{}
	to      io.Writer
}

func (s *stoppable) Write(p []byte) (int, error) {
	select {
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	case <-s.stopped:
		return 0, fact.Errorf(fact.Closed, "the node is shutting down")
	default:
		return s.to.Write(p)
	}
}

// Close removes the checkpoint.
func (b *Backup) Close() error {
	var err error
	b.once.Do(func() {
		err = b.node.machine.FS().RemoveAll(b.dir)
		<-b.node.backing
	})
	if err != nil {
		return fmt.Errorf("remove a backup's checkpoint: %w", err)
	}
	return nil
}

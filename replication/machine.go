package replication

import (
	"context"

	"abagraph/fact"
	"abagraph/fsm"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// StateMachine is what the node applies the log to. *fsm.Machine is one. ApplyTelling,
// Checkpoint and RestoreDir are called by one goroutine at a time; the caller of
// Open closes it, after the node.
type StateMachine interface {
	// ApplyTelling applies entries in order and skips those it has. It may tell their
	// outcomes before it has written their effects. An error means that this node must
	// stop.
	ApplyTelling(entries []fsm.Committed, tell fsm.Teller) ([]fsm.Applied, error)
	Position() fact.Position
	// Told is the last index of which an outcome was told: it can be ahead of Position.
	Told() uint64
	WaitIndex(ctx context.Context, index uint64) error
	WaitTx(ctx context.Context, tx uint64) error
	DigestAt(tx uint64) ([32]byte, error)
	SweepDue(now fact.Instant) (bool, error)
	// Checkpoint writes the applied state into a new directory of FS, durable
	// when it returns; RestoreDir replaces the state by one, whole or not at
	// all.
	Checkpoint(dir string) error
	// Flush writes to disk what can be written before a Checkpoint, beside Apply.
	Flush() error
	// Cleaned waits until what was purged has left the machine's files (C-56).
	Cleaned(ctx context.Context) error
	RestoreDir(dir string) error
	// View opens a view of the applied state, to describe a backup.
	View() (*fsm.View, error)
	// Damage tells what of the state was found not to be what was written; "" = none.
	Damage() string
	FS() vfs.FS
	InMemory() bool
}

var _ StateMachine = (*fsm.Machine)(nil)

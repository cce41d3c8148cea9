package memory

import (
	"context"
	"errors"
	"io"
	"time"

	"abagraph/fact"
)

// Backup is a copy of the whole store at one tx, every tenant in it, ready to be
// written out once. It must be closed.
type Backup interface {
	Position() fact.Position
	Size() int64 // bytes that Write writes
	Write(ctx context.Context, to io.Writer) error
	Close() error
}

// backupWait bounds the wait for a backup to begin: what was purged has to leave
// the files first.
const backupWait = 2 * time.Minute

// Backup makes a backup of this node's store: of everything that was acknowledged
// before the call or, at the stale level, of what this node has. An operator may.
func (s *Service) Backup(ctx context.Context, c Caller, r Read) (Backup, Meta, error) {
	operations, err := s.operate(c)
	if err != nil {
		return nil, Meta{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, backupWait)
	defer cancel()
	basis, err := s.await(ctx, r, 0, nil)
	if err != nil {
		return nil, Meta{}, err
	}
	b, err := operations.Backup(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fact.Errorf(fact.Timeout, "the backup could not begin in time: what was purged is still leaving the files; try again later")
	}
	if err != nil {
		return nil, Meta{}, err
	}
	at := b.Position()
	return b, Meta{Tx: at.Tx, Now: max(basis.Now, at.RecordedAt), Epoch: at.Epoch}, nil
}

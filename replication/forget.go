package replication

import (
	"errors"
	"fmt"
	"log/slog"

	rlog "abagraph/log"

	"github.com/hashicorp/raft"
)

// Forget makes the state of a node that does not run its only snapshot, and removes from
// its log whatever that holds: what was purged is in both until then. The log goes on
// from there; a member that lags behind it is sent the snapshot. A crash leaves the
// directory as it was, or as it is to be.
func Forget(dir *rlog.Dir, machine StateMachine) (err error) {
	id, err := loadIdentity(dir)
	if err != nil {
		return err
	}
	if id == nil || id.stage != stageMember {
		return fmt.Errorf("the data directory %s is no member's", dir.Path())
	}
	store, err := rlog.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	snaps, err := openSnapshots(machine.FS(), dir.Snapshots(), slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if err := belong(store, snaps, machine); err != nil {
		return err
	}
	index, term, servers, err := standing(store, snaps, machine)
	if err != nil || index == 0 {
		return err
	}
	if err := snaps.adoptState(machine, index, term, servers); err != nil {
		return err
	}
	snaps.keep(1)
	first, err := store.FirstIndex()
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	if first == 0 || first > index {
		return nil
	}
	return store.DeleteRange(first, index)
}

// standing is the last entry that is in a state, and the members as of then: the newest
// snapshot's, or later ones of the log. 0 = nothing was ever applied.
func standing(store *rlog.Store, snaps *snapshots, machine StateMachine) (index, term uint64, servers raft.Configuration, err error) {
	newest, _ := snaps.newest()
	index, term, servers = newest.Raft.Index, newest.Raft.Term, newest.Raft.Configuration
	at := machine.Position()
	if at.Index <= index {
		return index, term, servers, nil
	}
	err = store.Each(index+1, func(l *raft.Log) error {
		if l.Type == raft.LogConfiguration && l.Index <= at.Index {
			servers = raft.DecodeConfiguration(l.Data)
		}
		return nil
	})
	return at.Index, at.Term, servers, err
}

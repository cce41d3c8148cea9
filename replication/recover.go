package replication

import (
	"errors"
	"fmt"
	"log/slog"

	"abagraph/fsm"
	rlog "abagraph/log"

	"github.com/hashicorp/raft"
)

// Survivor is a machine that Recover works on: it also begins an epoch.
type Survivor interface {
	StateMachine
	StartEpoch(epoch string) error
}

// Recovered tells what a recovery found.
type Recovered struct {
	NodeID  string
	Lost    []KeptServer // the members that are no more
	Applied uint64       // entries of the log that were applied for it
	Tx      uint64
	Epoch   string
}

// Recover makes a member that has lost its majority a node alone, with all that its
// log and state hold: in a new cluster, which no old member finds its way into, and
// in a new epoch, since the others may have acknowledged writes that it never got.
// No node may run in the directory. A crash leaves a directory that can be recovered
// again, and in which no node leads before.
func Recover(dir *rlog.Dir, machine Survivor, epoch string) (_ *Recovered, err error) {
	id, err := loadIdentity(dir)
	if err != nil {
		return nil, err
	}
	if id == nil || id.stage != stageMember {
		return nil, fmt.Errorf("the data directory %s is no member's", dir.Path())
	}
	store, err := rlog.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	snaps, err := openSnapshots(machine.FS(), dir.Snapshots(), slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	if err := belong(store, snaps, machine); err != nil {
		return nil, err
	}
	r := &recovery{id: id, dir: dir, store: store, snaps: snaps, machine: machine}
	if err := r.apply(); err != nil {
		return nil, err
	}
	return r.alone(epoch)
}

// belong refuses a log, snapshots and a state that leave a hole between them.
func belong(store *rlog.Store, snaps *snapshots, machine StateMachine) error {
	newest, _ := snaps.newest()
	if err := store.Settle(newest.Raft.Index); err != nil {
		return err
	}
	at := machine.Position()
	need := newest.Applied
	if need == 0 {
		need = newest.Raft.Index
	}
	if at.Index < need {
		return fmt.Errorf("the state is at entry %d, below the newest snapshot at entry %d: start the node once, so that it is restored, and stop it again", at.Index, need)
	}
	last, err := store.LastIndex()
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	if last = max(last, newest.Raft.Index); at.Index > last {
		return fmt.Errorf("the log ends at entry %d, but the state has applied entry %d: a part of the log is missing", last, at.Index)
	}
	return nil
}

// recovery is one under way.
type recovery struct {
	id      *identity
	dir     *rlog.Dir
	store   *rlog.Store
	snaps   *snapshots
	machine Survivor

	members []KeptServer // as the log tells last
	index   uint64       // the last entry, of whatever kind
	term    uint64
	applied uint64
}

// apply applies every entry that the log holds beyond the state. Those that no
// majority had are among them: who wrote them was told that their outcome is not
// known.
func (r *recovery) apply() error {
	if newest, ok := r.snaps.newest(); ok {
		r.index, r.term = newest.Raft.Index, newest.Raft.Term
		r.members = serversOf(newest.Raft.Configuration)
	}
	var batch []fsm.Committed
	size := 0
	flush := func() error {
		_, err := r.machine.ApplyTelling(batch, nil)
		batch, size = nil, 0
		return err
	}
	from := r.machine.Position().Index
	err := r.store.Each(0, func(l *raft.Log) error {
		if servers, ok := ServersIn(l); ok && l.Index > r.snaps.newestIndex() {
			r.members = servers
		}
		if l.Index > r.index {
			r.index, r.term = l.Index, l.Term
		}
		if l.Type != raft.LogCommand || l.Index <= from {
			return nil
		}
		batch = append(batch, fsm.Committed{Index: l.Index, Term: l.Term, Data: l.Data})
		r.applied++
		if size += len(l.Data); size < maxApplyBytes {
			return nil
		}
		return flush()
	})
	if err != nil {
		return fmt.Errorf("apply the rest of the log: %w", err)
	}
	if len(batch) > 0 {
		if err := flush(); err != nil {
			return fmt.Errorf("apply the rest of the log: %w", err)
		}
	}
	return nil
}

// alone writes the new epoch, the new cluster's id, and a snapshot that names this
// node alone, in this order: until the last one is there, the node counts on the
// majority that it has lost.
func (r *recovery) alone(epoch string) (*Recovered, error) {
	if err := r.machine.StartEpoch(epoch); err != nil {
		return nil, err
	}
	cluster, err := newClusterID()
	if err != nil {
		return nil, err
	}
	if err := saveIdentity(r.dir, identity{node: r.id.node, cluster: cluster, stage: stageMember}); err != nil {
		return nil, err
	}
	if err := r.snaps.adoptState(r.machine, r.index, r.term, only(r.id.node)); err != nil {
		return nil, err
	}
	first, err := r.store.FirstIndex()
	if err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	if first > 0 {
		if err := r.store.DeleteRange(first, r.index); err != nil {
			return nil, err
		}
	}
	done := &Recovered{NodeID: r.id.node, Applied: r.applied, Tx: r.machine.Position().Tx, Epoch: epoch}
	for _, m := range r.members {
		if m.ID != r.id.node {
			done.Lost = append(done.Lost, m)
		}
	}
	return done, nil
}

// only is the configuration of a node alone. Its address is set right when it leads.
func only(nodeID string) raft.Configuration {
	return raft.Configuration{Servers: []raft.Server{{ID: raft.ServerID(nodeID), Address: raft.ServerAddress(nodeID)}}}
}

func (s *snapshots) newestIndex() uint64 {
	newest, _ := s.newest()
	return newest.Raft.Index
}

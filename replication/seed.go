package replication

import (
	"errors"
	"fmt"
	"log/slog"

	rlog "abagraph/log"

	"github.com/hashicorp/raft"
)

// Seed makes a data directory that holds a state and nothing else that of a node
// which is alone in a new cluster: the state becomes its newest snapshot, so that
// nodes that join later are sent all of it. What has an identity, a log or a
// snapshot already is refused. No node may run in the directory.
func Seed(dir *rlog.Dir, machine StateMachine, nodeID string) (err error) {
	if !validNodeID(nodeID) {
		return fmt.Errorf("the node id %q is not 1 to 64 letters, digits, dots, dashes and underscores", nodeID)
	}
	at := machine.Position()
	if at.Index == 0 {
		return errors.New("the state is empty: a node makes one of its own")
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
	has, err := raft.HasExistingState(store, store, snaps)
	if err != nil {
		return fmt.Errorf("look for data of an earlier run: %w", err)
	}
	id, err := loadIdentity(dir)
	switch {
	case err != nil:
		return err
	case has || id != nil:
		return fmt.Errorf("the data directory %s is a node's already", dir.Path())
	}
	if err := snaps.adoptState(machine, at.Index, at.Term, only(nodeID)); err != nil {
		return err
	}
	// Terms go on from that of the state: entries of the new cluster are newer
	// than the snapshot in every sense.
	if err := store.SetUint64([]byte("CurrentTerm"), at.Term); err != nil {
		return err
	}
	cluster, err := newClusterID()
	if err != nil {
		return err
	}
	return saveIdentity(dir, identity{node: nodeID, cluster: cluster, stage: stageMember})
}

// adoptState makes a snapshot, at an entry of Raft's log, of a machine that no node
// runs on.
func (s *snapshots) adoptState(machine StateMachine, index, term uint64, servers raft.Configuration) error {
	sink, err := s.Create(raft.SnapshotVersionMax, index, term, servers, index, nil)
	if err != nil {
		return err
	}
	own := sink.(*snapSink)
	checkpoint := s.fs.PathJoin(s.root, "seed"+unfinished)
	err = machine.Checkpoint(checkpoint)
	if err == nil {
		err = own.adopt(checkpoint, machine.Position().Index)
	}
	if err != nil {
		return errors.Join(err, own.Cancel(), s.fs.RemoveAll(checkpoint))
	}
	return own.Close()
}

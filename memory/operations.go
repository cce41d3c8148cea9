package memory

import (
	"context"

	"abagraph/fact"
)

// Operations is what an operator does to a node and its cluster, beyond facts. Its
// errors are those of Engine, and Conflict where a change would do harm.
type Operations interface {
	// Backup takes a copy of this node's store.
	Backup(ctx context.Context) (Backup, error)
	// Nodes asks every member how it stands.
	Nodes(ctx context.Context) (NodesReport, error)
	// Snapshot has this node take a snapshot and trim its log, and returns the
	// log entry of the newest one.
	Snapshot(ctx context.Context) (index uint64, err error)
	// VerifyStore checks this node's store to its last key.
	VerifyStore(ctx context.Context) (StoreCheck, error)
	// Remove takes a member out of the cluster.
	Remove(ctx context.Context, id string) error
	// SetVoter gives a member its vote or takes it.
	SetVoter(ctx context.Context, id string, voter bool) error
	// Transfer hands the leadership to a member; "" = any voter.
	Transfer(ctx context.Context, id string) error
}

// NodesReport is a cluster as an operator sees it, addresses included.
type NodesReport struct {
	NodeID      string // who answers
	ClusterID   string
	LeaderID    string // "" while none is known
	Term        uint64
	CommitIndex uint64
	Problem     string       // of the node that answers, be it a member or not
	Members     []NodeReport // in the order of ids
}

// NodeReport is one member. What it tells of itself is 0 or "" where it did not answer;
// Problem then is why it refuses to.
type NodeReport struct {
	ID            string
	Address       string // of its peer port; "" for a node without one
	Voter         bool
	Reader        bool // an operator has taken its vote
	Leader        bool
	Answers       bool
	Term          uint64
	AppliedIndex  uint64
	Lag           uint64 // entries behind the farthest member
	Tx            uint64
	Epoch         string
	Digest        string // of the state at Tx, in hexadecimal
	SnapshotIndex uint64
	LogBytes      uint64
	DataBytes     uint64 // of the data directory
	FreeBytes     uint64 // on its disk
	DiskBytes     uint64 // size of its disk
	Problem       string
}

// operate returns the operations for a caller who may ask for them.
func (s *Service) operate(c Caller) (Operations, error) {
	if err := c.RequireOperator(); err != nil {
		return nil, err
	}
	if s.operations == nil {
		return nil, fact.Errorf(fact.NotFound, "this server offers no operations")
	}
	return s.operations, nil
}

// Nodes asks every member how it stands. An operator may; it needs no leader.
func (s *Service) Nodes(ctx context.Context, c Caller) (NodesReport, error) {
	o, err := s.operate(c)
	if err != nil {
		return NodesReport{}, err
	}
	return o.Nodes(ctx)
}

// Snapshot has this node take a snapshot. An operator may.
func (s *Service) Snapshot(ctx context.Context, c Caller) (uint64, error) {
	o, err := s.operate(c)
	if err != nil {
		return 0, err
	}
	return o.Snapshot(ctx)
}

// RemoveMember takes a member out of the cluster. An operator may.
func (s *Service) RemoveMember(ctx context.Context, c Caller, id string) error {
	o, err := s.operate(c)
	if err != nil {
		return err
	}
	return o.Remove(ctx, id)
}

// SetVoter gives a member its vote or takes it. An operator may.
func (s *Service) SetVoter(ctx context.Context, c Caller, id string, voter bool) error {
	o, err := s.operate(c)
	if err != nil {
		return err
	}
	return o.SetVoter(ctx, id, voter)
}

// Transfer hands the leadership over. An operator may.
func (s *Service) Transfer(ctx context.Context, c Caller, id string) error {
	o, err := s.operate(c)
	if err != nil {
		return err
	}
	return o.Transfer(ctx, id)
}

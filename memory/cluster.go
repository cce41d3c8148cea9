package memory

import (
	"context"

	"abagraph/fact"
)

// Cluster is how this node sees itself and the other members. It holds no
// address and no secret: any caller may be shown it.
type Cluster struct {
	NodeID string
	// State is Leader, Follower, Candidate, Joining, Removed or Stopped.
	State    string
	LeaderID string // "" while none is known
	Term     uint64
	// CommitIndex is the last log entry that this node knows to be committed,
	// AppliedIndex the last one it has dealt with, and At where its state
	// stands; not every entry changes that.
	CommitIndex  uint64
	AppliedIndex uint64
	At           fact.Position
	Members      []Member // this node included, in the order of ids
}

// Member is one member of the cluster, as this node knows it.
type Member struct {
	ID     string
	Voter  bool
	Leader bool
	// Known tells that the member answered within the last two seconds, with
	// its Tx and its Lag: how many entries it is behind the farthest member.
	Known bool
	Tx    uint64
	Lag   uint64
}

// Cluster reports on this node and its cluster without asking anyone; false
// where nothing is known of a cluster.
func (s *Service) Cluster() (Cluster, bool) {
	if s.cluster == nil {
		return Cluster{}, false
	}
	return s.cluster(), true
}

// Ready reports an error while this node cannot answer a linearizable read. It
// is a NoLeader that says why, and names nobody; or that it is set otherwise than the
// leader, so that what it writes would be written otherwise.
func (s *Service) Ready(ctx context.Context) error {
	if _, err := s.engine.Basis(ctx, fact.Linearizable, 0); err != nil {
		return fact.Errorf(fact.NoLeader, "this node cannot answer reads now: %s", s.unready(err))
	}
	if why := s.unlike(); why != "" {
		return fact.Errorf(fact.NoLeader, "this node should take no requests: %s", why)
	}
	return nil
}

func (s *Service) unready(err error) string {
	c, known := s.Cluster()
	switch {
	case !known:
		return "no leader confirms that it is up to date"
	case c.State == "Stopped":
		return "it has stopped"
	case c.State == "Joining":
		return "it has still to join its cluster"
	case c.State == "Removed":
		return "it was removed from its cluster, and joins again only with an empty data directory"
	case c.LeaderID == "":
		return "it knows of no leader"
	case fact.CodeOf(err) == fact.Timeout:
		return "it has not caught up with its leader"
	}
	return "the leader does not confirm in time that it is up to date"
}

package client

import (
	"context"
	"net/http"
)

// Observability is what a node tells of its own working since it started.
type Observability struct {
	Meta        `json:"-"`
	UptimeMs    int64   `json:"uptime_ms"`
	TotalEvents uint64  `json:"total_events"`
	Errors      uint64  `json:"errors"`
	ErrorRate   float64 `json:"error_rate"`
	Events24h   uint64  `json:"events_24h"`
	FreshnessMs *int64  `json:"freshness_ms"`
	ByEvent     []struct {
		Event string `json:"event"`
		Count uint64 `json:"count"`
	} `json:"by_event"`
	Cluster *Cluster `json:"cluster"` // nil where the node knows of none
}

// Cluster is how a node sees itself and the other members.
type Cluster struct {
	NodeID       string   `json:"node_id"`
	State        string   `json:"state"`     // Leader, Follower, Candidate, Joining or Stopped
	LeaderID     *string  `json:"leader_id"` // nil while none is known
	Term         uint64   `json:"term"`
	CommitIndex  uint64   `json:"commit_index"`
	AppliedIndex uint64   `json:"applied_index"`
	Tx           uint64   `json:"tx"`
	Digest       string   `json:"digest"` // of the state at Tx, in hexadecimal
	Epoch        string   `json:"epoch"`
	Members      []Member `json:"members"`
}

// Member is one member of a cluster. What it tells of itself is up to two
// seconds old, and nil where it did not answer.
type Member struct {
	ID        string  `json:"id"`
	Voter     bool    `json:"voter"`
	Leader    bool    `json:"leader"`
	Reachable bool    `json:"reachable"`
	Tx        *uint64 `json:"tx"`
	Lag       *uint64 `json:"lag"` // entries behind the farthest member
}

// Observability asks the node how it fares: GET /api/observability. It asks no
// other node, so that it is answered without a leader, too.
func (c *Client) Observability(ctx context.Context) (*Observability, error) {
	var o Observability
	meta, err := c.into(ctx, Call{Method: http.MethodGet, Path: "/api/observability"}, &o)
	if err != nil {
		return nil, err
	}
	o.Meta = meta
	return &o, nil
}

package client

import (
	"context"
	"net/http"
	"net/url"
)

// Nodes is a cluster as an operator sees it.
type Nodes struct {
	Meta        `json:"-"`
	NodeID      string       `json:"node_id"` // who answered
	ClusterID   string       `json:"cluster_id"`
	LeaderID    *string      `json:"leader_id"` // nil while none is known
	Term        uint64       `json:"term"`
	CommitIndex uint64       `json:"commit_index"`
	Problem     *string      `json:"problem"` // of the node that answered, be it a member or not
	Members     []NodeStatus `json:"members"` // in the order of ids
}

// NodeStatus is one member. What it tells of itself is nil where it did not answer.
type NodeStatus struct {
	ID            string  `json:"id"`
	Address       *string `json:"address"` // of its peer port
	Voter         bool    `json:"voter"`
	Reader        bool    `json:"reader"` // an operator has taken its vote
	Leader        bool    `json:"leader"`
	Answers       bool    `json:"answers"`
	Term          *uint64 `json:"term"`
	AppliedIndex  *uint64 `json:"applied_index"`
	Lag           *uint64 `json:"lag"` // entries behind the farthest member
	Tx            *uint64 `json:"tx"`
	SnapshotIndex *uint64 `json:"snapshot_index"`
	LogBytes      *uint64 `json:"log_bytes"`
	DataBytes     *uint64 `json:"data_bytes"` // of the data directory; 0 in memory
	FreeBytes     *uint64 `json:"free_bytes"` // on its disk
	DiskBytes     *uint64 `json:"disk_bytes"`
	Epoch         *string `json:"epoch"`
	Digest        *string `json:"digest"` // of the state at Tx, in hexadecimal
	Problem       *string `json:"problem"`
}

// Nodes asks every member how it stands: GET /api/admin/nodes. It needs no leader.
func (c *Client) Nodes(ctx context.Context) (*Nodes, error) {
	var n Nodes
	meta, err := c.into(ctx, Call{Method: http.MethodGet, Path: "/api/admin/nodes"}, &n)
	if err != nil {
		return nil, err
	}
	n.Meta = meta
	return &n, nil
}

// Snapshot has this node take a snapshot and trim its log: POST
// /api/admin/snapshot. It returns the log entry of the newest one.
func (c *Client) Snapshot(ctx context.Context) (uint64, error) {
	var answer struct {
		Index uint64 `json:"snapshot_index"`
	}
	_, err := c.into(ctx, Call{Method: http.MethodPost, Path: "/api/admin/snapshot"}, &answer)
	return answer.Index, err
}

// RemovePeer takes a member out of the cluster: DELETE /api/admin/peers/:id.
func (c *Client) RemovePeer(ctx context.Context, id string) error {
	_, err := c.Do(ctx, Call{Method: http.MethodDelete, Path: "/api/admin/peers/" + url.PathEscape(id)})
	return err
}

// SetVoter gives a member its vote or takes it: POST /api/admin/peers/:id.
func (c *Client) SetVoter(ctx context.Context, id string, voter bool) error {
	return c.post(ctx, "/api/admin/peers/"+url.PathEscape(id), map[string]bool{"voter": voter}, &struct{}{})
}

// Transfer hands the leadership to a member, "" = any voter: POST
// /api/admin/transfer. It returns who leads then.
func (c *Client) Transfer(ctx context.Context, to string) (string, error) {
	var answer struct {
		NodeID string `json:"node_id"`
	}
	body := map[string]string{}
	if to != "" {
		body["to"] = to
	}
	err := c.post(ctx, "/api/admin/transfer", body, &answer)
	return answer.NodeID, err
}

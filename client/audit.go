package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"abagraph/fact"
)

// AuditQuery selects a part of the audit trail. From and To are times in any
// spelling of C-1. Without After the newest come first.
type AuditQuery struct {
	After, Before uint64 // txs, exclusive
	Forward       bool   // the oldest first; set by itself where After is given
	From, To      string
	Actor, Action string
	Limit         int // 0 = the server's default of 200
}

// Values returns the query parameters.
func (q AuditQuery) Values() url.Values {
	v := url.Values{}
	if q.After > 0 || q.Forward {
		v.Set("tx_gt", strconv.FormatUint(q.After, 10))
	}
	if q.Before > 0 {
		v.Set("tx_lt", strconv.FormatUint(q.Before, 10))
	}
	set(v, "from", q.From)
	set(v, "to", q.To)
	set(v, "actor", q.Actor)
	set(v, "action", q.Action)
	setInt(v, "limit", q.Limit)
	return v
}

// AuditRecord is one tx: who did what. Counts are nil where they are not the
// caller's to see; Hash is "" for all but the operator.
type AuditRecord struct {
	Tx              uint64        `json:"tx"`
	RecordedAt      fact.Instant  `json:"recorded_at"`
	Actor           *string       `json:"actor"`
	Action          string        `json:"action"`
	Target          *string       `json:"target"`
	Tenant          *string       `json:"tenant"`
	AllTenants      bool          `json:"all_tenants"`
	Branch          *string       `json:"branch"`
	Asserted        *uint64       `json:"asserted"`
	Superseded      *uint64       `json:"superseded"`
	Retracted       *uint64       `json:"retracted"`
	Expired         *uint64       `json:"expired"`
	Reason          *string       `json:"reason"`
	DeclaredKnownAt *fact.Instant `json:"declared_known_at"`
	Digest          string        `json:"digest"`
	Hash            string        `json:"hash"`
}

// AuditAnswer is a page of the trail. Next is the tx to go on from, as After or
// Before; nil = that was all.
type AuditAnswer struct {
	Meta    `json:"-"`
	Records []AuditRecord `json:"records"`
	Next    *uint64       `json:"next"`
}

// Audit reads the audit trail: GET /api/audit.
func (c *Client) Audit(ctx context.Context, q AuditQuery) (*AuditAnswer, error) {
	var answer AuditAnswer
	meta, err := c.into(ctx, Call{Method: http.MethodGet, Path: "/api/audit", Query: q.Values()}, &answer)
	if err != nil {
		return nil, err
	}
	answer.Meta = meta
	return &answer, nil
}

package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
)

// Lease is the last lease of a resource. Of a released one only Resource, Status
// and ReleasedAt are set.
type Lease struct {
	Meta       `json:"-"`
	Resource   string  `json:"resource"`
	Status     string  `json:"status"` // held, stale or released
	Holder     *string `json:"holder"`
	Token      *uint64 `json:"token"` // greater than that of every lease before
	AcquiredAt *int64  `json:"acquired_at"`
	ExpiresAt  *int64  `json:"expires_at"`
	ReleasedAt *int64  `json:"released_at"`
	FactID     string  `json:"fact_id"`
	Renewed    bool    `json:"renewed"`
	Tx         uint64  `json:"tx"`
}

// LeaseChange asks for a lease, for more time or for its end.
type LeaseChange struct {
	Resource string `json:"resource"`
	Holder   string `json:"holder"`
	TTLSecs  int64  `json:"ttl_secs,omitempty"` // 0 = the server's default of 300
	Token    uint64 `json:"token,omitempty"`    // 0 = whichever the holder has
}

// LeasesPath is where leases are acquired and listed.
const LeasesPath = "/api/leases"

// LeasePath is the path of a resource's lease.
func LeasePath(resource string) string { return LeasesPath + "/" + url.PathEscape(resource) }

// AcquireLease takes a resource, or renews the holder's lease: POST /api/leases. A
// resource that another holds is an *Error with code Conflict.
func (c *Client) AcquireLease(ctx context.Context, l LeaseChange, w Write) (*Lease, error) {
	return c.changeLease(ctx, LeasesPath, l, w)
}

// RenewLease gives a lease more time: POST /api/leases/:resource/renew.
func (c *Client) RenewLease(ctx context.Context, l LeaseChange, w Write) (*Lease, error) {
	return c.changeLease(ctx, LeasePath(l.Resource)+"/renew", l, w)
}

// ReleaseLease ends a lease: POST /api/leases/:resource/release.
func (c *Client) ReleaseLease(ctx context.Context, l LeaseChange, w Write) (*Lease, error) {
	return c.changeLease(ctx, LeasePath(l.Resource)+"/release", l, w)
}

func (c *Client) changeLease(ctx context.Context, path string, l LeaseChange, w Write) (*Lease, error) {
	body, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("write the lease: %w", err)
	}
	var done Lease
	meta, err := c.into(ctx, w.call(http.MethodPost, path, body), &done)
	if err != nil {
		return nil, err
	}
	done.Meta = meta
	return &done, nil
}

package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// StoreCheck is a node's store, checked to its last key.
type StoreCheck struct {
	Sound     bool     `json:"sound"`
	Tx        uint64   `json:"tx"`
	Epoch     string   `json:"epoch"`
	Digest    string   `json:"digest"`
	Keys      uint64   `json:"keys"`
	Facts     uint64   `json:"facts"`
	Versions  uint64   `json:"versions"`
	Events    uint64   `json:"events"`
	Outcomes  uint64   `json:"outcomes"`
	Tenants   uint64   `json:"tenants"`
	Unchecked uint64   `json:"unchecked"` // keys of families that have no check but that they can be read
	Untold    uint64   `json:"untold"`    // problems beyond the first ones
	Problems  []string `json:"problems"`
}

// VerifyStore has this node check its store while it serves: POST
// /api/admin/verify. It takes the admin key, and as long as the store is large: it is
// bounded by ctx alone.
func (c *Client) VerifyStore(ctx context.Context) (*StoreCheck, error) {
	request, err := c.request(ctx, Call{Method: http.MethodPost, Path: "/api/admin/verify"})
	if err != nil {
		return nil, err
	}
	response, err := c.transport.Do(request)
	if err != nil {
		return nil, fmt.Errorf("call the server: %w", err)
	}
	defer response.Body.Close()
	body, err := readBounded(response.Body, maxErrorBody)
	if err != nil {
		return nil, fmt.Errorf("read the answer to POST /api/admin/verify: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, newError(response.StatusCode, response.Header, body)
	}
	var seen StoreCheck
	if err := json.Unmarshal(body, &seen); err != nil {
		return nil, fmt.Errorf("read the answer to POST /api/admin/verify: %w", err)
	}
	return &seen, nil
}

package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// BackupStream is a backup on its way. Body must be closed; it ends with
// io.ErrUnexpectedEOF where the server did not send all Size bytes.
type BackupStream struct {
	Meta
	Size int64
	Body io.ReadCloser
}

// Backup asks this node for a copy of its whole store: GET /api/admin/backup. It
// holds everything that was acknowledged before the call; a stale one holds what
// the node has, also where no majority is up. It takes the admin key. The stream is
// bounded by ctx alone.
func (c *Client) Backup(ctx context.Context, stale bool) (*BackupStream, error) {
	query := make(url.Values)
	if stale {
		query.Set("consistency", "stale")
	}
	request, err := c.request(ctx, Call{Method: http.MethodGet, Path: "/api/admin/backup", Query: query})
	if err != nil {
		return nil, err
	}
	response, err := c.transport.Do(request)
	if err != nil {
		return nil, fmt.Errorf("call the server: %w", err)
	}
	if response.StatusCode == http.StatusOK && response.ContentLength > 0 {
		return &BackupStream{Meta: newMeta(response.StatusCode, response.Header), Size: response.ContentLength, Body: response.Body}, nil
	}
	defer response.Body.Close()
	body, err := readBounded(response.Body, maxErrorBody)
	if err != nil {
		return nil, fmt.Errorf("read the answer to GET /api/admin/backup: %w", err)
	}
	return nil, newError(response.StatusCode, response.Header, body)
}

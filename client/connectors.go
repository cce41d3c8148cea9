package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// Connector is a named source with its mapping.
type Connector struct {
	Meta          `json:"-"`
	Name          string          `json:"name"`
	Kind          string          `json:"kind"` // webhook or poll
	Label         string          `json:"label"`
	URL           *string         `json:"url"`
	Subject       string          `json:"subject"`
	Mapping       json.RawMessage `json:"mapping"`
	MaxConfidence float64         `json:"max_confidence"`
	Ingested      int             `json:"ingested"`
	Recent        []Fact          `json:"recent"`
	State         ConnectorState  `json:"state"`
	Existed       bool            `json:"existed"`
	Hints         []string        `json:"warnings"`
}

// ConnectorState is how the pulls of a connector stand.
type ConnectorState struct {
	Cursor  *string `json:"cursor"`
	Problem *string `json:"problem"`
	Since   *int64  `json:"since"`
}

// Delivered says what became of a delivery or a pull.
type Delivered struct {
	Meta       `json:"-"`
	Connector  string            `json:"connector"`
	Asserted   int               `json:"asserted"`
	Held       int               `json:"held"`
	Superseded int               `json:"superseded"`
	Facts      int               `json:"facts"`
	Duplicates int               `json:"duplicates"`
	Records    int               `json:"records"`
	Skipped    int               `json:"skipped"`
	Ignored    int               `json:"ignored"`
	PIIMasked  int               `json:"pii_masked"`
	Batches    int               `json:"batches"`
	Problems   []DeliveryProblem `json:"problems"`
	Tx         uint64            `json:"tx"`
	Hints      []string          `json:"warnings"`
}

// DeliveryProblem says why a record was not written.
type DeliveryProblem struct {
	Line   int64   `json:"line"`
	Reason string  `json:"reason"`
	Field  *string `json:"field"`
}

// ConnectorsPath is where connectors are registered and listed.
const ConnectorsPath = "/api/connectors"

// ConnectorPath is the path of a connector.
func ConnectorPath(name string) string { return ConnectorsPath + "/" + url.PathEscape(name) }

// RegisterConnector registers a connector from its JSON: POST /api/connectors.
func (c *Client) RegisterConnector(ctx context.Context, config json.RawMessage, w Write) (*Connector, error) {
	var k Connector
	meta, err := c.into(ctx, w.call(http.MethodPost, ConnectorsPath, config), &k)
	if err != nil {
		return nil, err
	}
	k.Meta = meta
	return &k, nil
}

// Deliver sends records to a connector, streamed: POST /api/connectors/:name/events.
// The type is that of the records, such as application/x-ndjson. It is sent once.
func (c *Client) Deliver(ctx context.Context, name, mediaType string, records io.Reader, w Write) (*Delivered, error) {
	answer, err := c.Upload(ctx, w.call(http.MethodPost, ConnectorPath(name)+"/events", nil), mediaType, records)
	if err != nil {
		return nil, err
	}
	var d Delivered
	if err := json.Unmarshal(answer.Body, &d); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	d.Meta = answer.Meta
	return &d, nil
}

// Upload sends a call whose body is read as it is sent, however long it is and takes.
// It is sent once, since the body cannot be read again.
func (c *Client) Upload(ctx context.Context, call Call, mediaType string, body io.Reader) (*Answer, error) {
	request, err := c.request(ctx, call)
	if err != nil {
		return nil, err
	}
	request.Body, request.ContentLength, request.GetBody = io.NopCloser(body), -1, nil
	request.Header.Set("Content-Type", mediaType)
	return c.send(request, call)
}

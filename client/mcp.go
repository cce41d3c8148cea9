package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// MCPMessage is one JSON-RPC message for the server's POST /mcp.
type MCPMessage struct {
	Body []byte
	// Header is what the protocol wants beside the message, such as
	// Mcp-Protocol-Version.
	Header map[string]string
}

// MCP sends a message and hands every message that comes back to each: the
// answer, and before it the progress that the message asked for. A refusal that
// is a JSON-RPC error itself is handed on; any other is an *Error. The message
// is sent again, under the same Idempotency-Key, while the error may pass and
// nothing has come back.
func (c *Client) MCP(ctx context.Context, m MCPMessage, each func([]byte) error) error {
	call := Call{Method: http.MethodPost, Path: "/mcp", Query: url.Values{}, Body: m.Body, IdempotencyKey: NewIdempotencyKey()}
	wait := c.wait
	for attempt := 1; ; attempt++ {
		came := false
		err := c.converse(ctx, call, m.Header, func(body []byte) error {
			came = true
			return each(body)
		})
		if err == nil || came || attempt >= c.attempts || !mayPass(err) || ctx.Err() != nil {
			return err
		}
		if pause(ctx, max(jitter(wait), askedWait(err))) != nil {
			return err
		}
		wait = min(2*wait, maxWait)
	}
}

// converse sends a message once.
func (c *Client) converse(ctx context.Context, call Call, header map[string]string, each func([]byte) error) error {
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	request, err := c.request(ctx, call)
	if err != nil {
		return err
	}
	request.URL.RawQuery = "" // the message names the tenant itself
	request.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range header {
		request.Header.Set(name, value)
	}
	response, err := c.transport.Do(request)
	if err != nil {
		return fmt.Errorf("call the server: %w", err)
	}
	defer response.Body.Close()
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		return c.hear(response.Body, each)
	}
	body, err := readBounded(response.Body, c.maxAnswer)
	if err != nil {
		return fmt.Errorf("read the answer to POST /mcp: %w", err)
	}
	switch {
	case isRPC(body):
		return each(body)
	case response.StatusCode < 200 || response.StatusCode > 299:
		return newError(response.StatusCode, response.Header, body)
	}
	return nil
}

// hear reads the messages of a stream up to its end.
func (c *Client) hear(body io.Reader, each func([]byte) error) error {
	reader := &frameReader{r: bufio.NewReaderSize(body, 64<<10), most: c.maxAnswer, heard: func() {}}
	for {
		got, err := reader.next()
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the answer to POST /mcp: %w", err)
		}
		if len(got.data) == 0 {
			continue
		}
		if err := each(got.data); err != nil {
			return err
		}
	}
}

func isRPC(body []byte) bool {
	var message struct {
		Version string `json:"jsonrpc"`
	}
	return json.Unmarshal(bytes.TrimSpace(body), &message) == nil && message.Version != ""
}

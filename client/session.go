package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
)

// Session tells whom a key speaks for.
type Session struct {
	Scope  string `json:"scope"` // admin or tenant
	Tenant string `json:"tenant"`
	// Cookie is the session cookie that a browser would keep.
	Cookie *http.Cookie `json:"-"`
}

// Login exchanges a key for a session cookie: POST /api/session. The cookie is
// returned, not kept: the Client goes on with its own key.
func (c *Client) Login(ctx context.Context, key string) (*Session, error) {
	body, err := marshal(map[string]string{"key": key})
	if err != nil {
		return nil, fmt.Errorf("write the login: %w", err)
	}
	request, err := c.request(ctx, Call{Method: http.MethodPost, Path: "/api/session", Body: body, Query: url.Values{}})
	if err != nil {
		return nil, err
	}
	request.Header.Del("Authorization")
	response, err := c.transport.Do(request)
	if err != nil {
		return nil, fmt.Errorf("call the server: %w", err)
	}
	defer response.Body.Close()
	answer, err := readBounded(response.Body, c.maxAnswer)
	if err != nil {
		return nil, fmt.Errorf("read the answer to POST /api/session: %w", err)
	}
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusCreated {
		return nil, newError(response.StatusCode, response.Header, answer)
	}
	var session Session
	if err := json.Unmarshal(answer, &session); err != nil {
		return nil, fmt.Errorf("read the answer to POST /api/session: %w", err)
	}
	for _, cookie := range response.Cookies() {
		if cookie.Name == "abagraph_session" {
			session.Cookie = cookie
		}
	}
	return &session, nil
}

// Logout ends the session of a browser: DELETE /api/session.
func (c *Client) Logout(ctx context.Context) error {
	_, err := c.Do(ctx, Call{Method: http.MethodDelete, Path: "/api/session"})
	return err
}

package http

import (
	"net/http"
	"net/url"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// logIn is POST /api/session: it turns a key into a session cookie.
func (s *Server) logIn(c *call) error {
	if err := c.query.done(); err != nil {
		return err
	}
	body, err := c.readJSON()
	if err != nil {
		return err
	}
	f := jsonx.Open(body, "")
	key := f.Required("key")
	if err := f.Done(); err != nil {
		return err
	}
	if key == "" {
		key = noKey
	}
	caller, err := s.config.Memory.Resolve(c.r.Context(), key)
	if err == nil {
		var ok bool
		if caller, ok = on(c.r.Host, s.config.BaseDomain, caller); !ok {
			err = denied()
		}
	}
	if err != nil {
		return c.turnAway(err)
	}
	c.caller = caller
	c.stand()
	c.setCookie(url.QueryEscape(key), sessionSeconds)
	c.trace.Name("log_in", "resolve the key")
	return c.finish(http.StatusOK, append(appendScope(c.begin(), &c.caller), '}'))
}

func appendScope(b []byte, caller *memory.Caller) []byte {
	if caller.Operator {
		return append(b, `{"scope":"admin"`...)
	}
	b = append(b, `{"scope":"tenant","tenant":`...)
	return jsonx.AppendString(b, caller.Tenant)
}

// setCookie sets the session cookie. It is for HTTPS only, except where the
// server is spoken to on this machine.
func (c *call) setCookie(value string, seconds int) {
	http.SetCookie(c.w, &http.Cookie{
		Name: cookieName, Value: value, Path: "/", MaxAge: seconds, HttpOnly: true,
		Secure: !isLoopback(hostOf(c.r.Host)), SameSite: http.SameSiteLaxMode,
	})
}

// logOut is DELETE /api/session.
func (s *Server) logOut(c *call) error {
	if err := c.query.done(); err != nil {
		return err
	}
	c.setCookie("", -1)
	c.trace.Name("log_out", "clear the cookie")
	return c.finish(http.StatusOK, append(c.begin(), `{"ok":true}`...))
}

// session is GET /api/session: who the caller is.
func (s *Server) session(c *call) error {
	if err := c.query.done(); err != nil {
		return err
	}
	c.stand()
	c.trace.Name("session", "resolve the key")
	b := appendScope(c.begin(), &c.caller)
	role := c.caller.Role
	if c.caller.Operator {
		role = fact.RoleAdmin
	}
	b = jsonx.AppendString(append(b, `,"role":`...), role.String())
	b = jsonx.AppendBool(append(b, `,"auth_enabled":`...), s.config.Memory.AuthEnabled())
	return c.finish(http.StatusOK, append(b, '}'))
}

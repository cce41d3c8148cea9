package http

import (
	"net/http"
	"net/url"
	"strings"

	"abagraph/fact"
	"abagraph/memory"
)

// cookieName names the session cookie, which carries the key itself.
const cookieName = "abagraph_session"

// sessionSeconds is how long a browser keeps the cookie: 30 days.
const sessionSeconds = 2_592_000

// authenticate finds the caller from the Authorization header or, where there
// is none, the session cookie (C-41, C-42).
func (c *call) authenticate() error {
	secret, cookie := c.credential()
	caller, err := c.server.config.Memory.Resolve(c.r.Context(), secret)
	if err != nil {
		return err
	}
	caller, ok := on(c.r.Host, c.server.config.BaseDomain, caller)
	if !ok {
		return denied()
	}
	if cookie && unsafe(c.r.Method) {
		if err := c.sameSite(); err != nil {
			return err
		}
	}
	c.caller, c.known = caller, true
	return nil
}

// on returns a caller as it comes in by a host; ok is false where it may not. A tenant's
// key comes in by its own subdomain, or by a host that names no tenant. An operator comes
// in by each, and on a subdomain means its tenant, as long as tenant= names no other.
func on(host, base string, caller memory.Caller) (_ memory.Caller, ok bool) {
	tenant, ok := tenantOfHost(host, base)
	switch {
	case !ok || tenant == "":
		return caller, ok
	case caller.Operator:
		caller, err := caller.In(tenant)
		return caller, err == nil
	}
	return caller, strings.EqualFold(tenant, caller.Tenant)
}

// credential returns the key that a request carries, or "". An Authorization
// header that holds no bearer key counts as a wrong key, never as none: the
// cookie does not stand in for it.
func (c *call) credential() (secret string, cookie bool) {
	if values := c.r.Header["Authorization"]; len(values) > 0 {
		if len(values) > 1 {
			return noKey, false
		}
		return bearer(values[0]), false
	}
	if len(c.r.Header["Cookie"]) == 0 {
		return "", false
	}
	found, err := c.r.Cookie(cookieName)
	if err != nil || found.Value == "" {
		return "", false
	}
	secret, err = url.QueryUnescape(found.Value)
	if err != nil {
		return noKey, true
	}
	return secret, true
}

// noKey is a credential that matches no key.
const noKey = "\x00"

func bearer(header string) string {
	scheme, secret, _ := strings.Cut(header, " ")
	secret = strings.TrimSpace(secret)
	if !strings.EqualFold(scheme, "Bearer") || secret == "" {
		return noKey
	}
	return secret
}

func (c *call) hasCredential() bool {
	secret, _ := c.credential()
	return secret != ""
}

func unsafe(method string) bool {
	return method != http.MethodGet && method != http.MethodHead && method != http.MethodOptions
}

// sameSite refuses a write by cookie that does not say that it comes from the
// server's own pages, or from those that the operator allowed: a browser sends
// cookies by itself (C-42). guard has already refused a foreign Origin.
func (c *call) sameSite() error {
	if _, given := c.origin(); given {
		return nil
	}
	return fact.Errorf(fact.Forbidden, "a write with the session cookie needs the Origin header of the same site; clients send Authorization instead")
}

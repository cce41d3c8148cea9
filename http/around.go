package http

import (
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"
	"time"

	"abagraph/fact"
	"abagraph/memory"

	"github.com/labstack/echo/v4"
)

// around makes an Echo handler of a route: it measures, recovers from panics,
// guards the door, and answers errors. Nothing it does returns an error to
// Echo.
func (s *Server) around(rt *route) echo.HandlerFunc {
	return func(ec echo.Context) error {
		c := s.acquire(ec, rt)
		if c.conn != nil && !c.conn.begin() {
			s.release(c)
			return nil // nobody is there to be answered, and nothing was done
		}
		start := time.Now()
		if s.config.Tracer != nil {
			c.follow(s.config.Tracer)
		}
		if c.r.ContentLength != 0 {
			c.setReadDeadline(start.Add(unreadTime))
		}
		finished := false
		defer func() {
			if !finished {
				c.recovered(recover())
			}
			rt.measure.observe(c.status, time.Since(start))
			if c.span.Kept() {
				c.followed()
			}
			s.release(c)
		}()
		if err := c.run(); err != nil {
			c.fail(err)
		}
		finished = true
		return nil
	}
}

// recovered answers a panic and tells the operator where it was, without the
// values that were on their way.
func (c *call) recovered(cause any) {
	if cause == nil {
		return // the goroutine is ending: there is nothing to save
	}
	if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(cause)
	}
	what := fmt.Sprintf("%T", cause)
	if err, ok := cause.(runtime.Error); ok {
		what = err.Error()
	}
	c.server.config.Logger.Error("abagraph.server.panic", "path", c.route.template, "panic", what, "stack", string(debug.Stack()))
	c.fail(&fact.Error{Code: fact.Io, Message: "internal error"})
}

// run takes a request through the door to its handler.
func (c *call) run() error {
	answered, err := c.guard()
	if answered || err != nil {
		return err
	}
	if c.route.tells() {
		c.w.Header()["Link"] = discoveryLinks
	}
	if c.route.access != public {
		if err := c.authenticate(); err != nil {
			return c.turnAway(err)
		}
	}
	if err := c.passOver(); err != nil {
		return err
	}
	return c.prepare()
}

// turnAway answers a caller without a valid key: with a challenge where clients
// look for one, and elsewhere as if there were nothing (C-42).
func (c *call) turnAway(err error) error {
	if fact.CodeOf(err) != fact.NotFound {
		return err
	}
	c.server.config.Logger.Warn("abagraph.auth.denied", "path", c.route.template)
	if c.route.access == discovery && !c.hasCredential() {
		c.w.Header().Set("WWW-Authenticate", `Bearer realm="abagraph"`)
		return &fact.Error{Code: fact.Unauthorized, Message: "a key is needed: send Authorization: Bearer <key>"}
	}
	delete(c.w.Header(), "Link") // a missing route has none
	return err
}

// prepare reads what every route takes, and calls the handler.
func (c *call) prepare() error {
	if c.route.template == unmatched {
		return c.route.handle(c)
	}
	if err := c.query.parse(c.r.URL.RawQuery); err != nil {
		return err
	}
	if explain, ok := c.query.flag("explain"); ok && explain {
		c.trace = memory.NewTrace()
	}
	if tenant, ok := c.query.text("tenant"); ok && c.route.access != public {
		var err error
		if c.caller, err = c.caller.In(tenant); err != nil {
			return err
		}
	}
	if c.route.access != public {
		if err := c.server.config.Memory.Admit(c.caller); err != nil {
			return err
		}
	}
	c.input = memory.NewInput(c.caller)
	return c.route.handle(c)
}

package http

import (
	"context"
	"net/http"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// leaseChange is what the door does to a lease.
type leaseChange func(context.Context, memory.Caller, memory.WriteOptions, *memory.LeaseChange, *memory.Trace) (*memory.Lease, *fact.Result, error)

// acquireLease is POST /api/leases.
func (s *Server) acquireLease(c *call) error { return c.changeLease("", s.config.Memory.Acquire) }

// renewLease is POST /api/leases/:resource/renew.
func (s *Server) renewLease(c *call) error {
	return c.changeLease(c.param("resource"), s.config.Memory.Renew)
}

// releaseLease is POST /api/leases/:resource/release.
func (s *Server) releaseLease(c *call) error {
	return c.changeLease(c.param("resource"), s.config.Memory.Release)
}

func (c *call) changeLease(resource string, change leaseChange) error {
	if err := c.caller.Require(fact.RoleWrite); err != nil {
		return err
	}
	body, err := c.readJSON()
	if err != nil {
		return err
	}
	l, err := c.input.Lease(body, resource)
	if err != nil {
		return err
	}
	o, err := c.writeOptions()
	if err != nil {
		return err
	}
	done, result, err := change(c.r.Context(), c.caller, o, l, c.trace)
	if result != nil {
		c.wrote(result)
	}
	if err != nil {
		return err
	}
	status := http.StatusOK
	if resource == "" && !done.Renewed {
		status = http.StatusCreated
	}
	b := appendLease(append(c.begin(), '{'), done)
	b = jsonx.AppendBool(append(b, `,"renewed":`...), done.Renewed)
	b = strconv.AppendUint(append(b, `,"tx":`...), result.Tx, 10)
	return c.finish(status, append(c.warnField(b), '}'))
}

// appendLease appends the fields of a lease.
func appendLease(b []byte, l *memory.Lease) []byte {
	b = jsonx.AppendString(append(b, `"resource":`...), l.Resource)
	b = jsonx.AppendString(append(b, `,"status":`...), l.Status.String())
	if l.Status == memory.LeaseReleased {
		b = append(b, `,"holder":null,"token":null,"acquired_at":null,"expires_at":null,"released_at":`...)
		b = jsonx.AppendInstant(b, l.Until)
	} else {
		b = jsonx.AppendString(append(b, `,"holder":`...), l.Holder)
		b = strconv.AppendUint(append(b, `,"token":`...), l.Token, 10)
		b = jsonx.AppendInstant(append(b, `,"acquired_at":`...), l.Acquired)
		b = jsonx.AppendInstant(append(b, `,"expires_at":`...), l.Until)
		b = append(b, `,"released_at":null`...)
	}
	return jsonx.AppendID(append(b, `,"fact_id":`...), l.Fact)
}

// getLease is GET /api/leases/:resource.
func (s *Server) getLease(c *call) error {
	read := c.onlyMain(c.travel(), ofLeases)
	if err := c.query.done(); err != nil {
		return err
	}
	l, meta, err := s.config.Memory.Leased(c.r.Context(), c.caller, read, c.param("resource"), c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	return c.finish(http.StatusOK, append(appendLease(append(c.begin(), '{'), l), '}'))
}

// listLeases is GET /api/leases.
func (s *Server) listLeases(c *call) error {
	q := &memory.LeaseList{Read: c.onlyMain(c.travel(), ofLeases), Limit: c.query.limit()}
	q.After, _ = c.query.text("after")
	if text, ok := c.query.text("status"); ok {
		status, err := memory.ParseLeaseStatus("status", text)
		if err != nil {
			c.query.fail(err)
		}
		q.Status, q.Given = status, true
	}
	if err := c.query.done(); err != nil {
		return err
	}
	list, more, meta, err := s.config.Memory.Leases(c.r.Context(), c.caller, q, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	b := append(c.begin(), `{"leases":[`...)
	for i := range list {
		b = append(appendLease(append(comma(b, i), '{'), &list[i]), '}')
	}
	if len(list) > 0 {
		c.next(more, list[len(list)-1].Resource)
	}
	return c.finish(http.StatusOK, append(b, `]}`...))
}

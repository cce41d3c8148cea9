package http

import (
	"errors"
	"net/http"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// approved returns the options of a write without a body that may need the other
// admin key. Who approves says who it is anew: a cookie does not.
func (c *call) approved() (memory.WriteOptions, error) {
	return c.withApproval(c.bare)
}

// withApproval returns the options of a write that may need a second key.
func (c *call) withApproval(options func() (memory.WriteOptions, error)) (memory.WriteOptions, error) {
	approval, given := c.query.text("approval")
	o, err := options()
	if err != nil {
		return o, err
	}
	if given && approval == "" {
		return o, fact.Invalid("approval", "must not be empty")
	}
	if _, cookie := c.credential(); cookie && given {
		return o, fact.Errorf(fact.Forbidden, "an approval needs the key itself, in the Authorization header")
	}
	o.Approval = approval
	return o, nil
}

// waits answers a request that waits for somebody else: 202, with what to
// send.
func (c *call) waits(err error) error {
	var p *memory.PendingApproval
	if !errors.As(err, &p) {
		return err
	}
	c.stand()
	b := jsonx.AppendString(append(c.begin(), `{"status":"pending","message":`...), p.Error())
	return c.finish(http.StatusAccepted, append(appendApproval(append(b, `,"approval":`...), p), '}'))
}

func appendApproval(b []byte, p *memory.PendingApproval) []byte {
	b = jsonx.AppendString(append(b, `{"id":`...), p.ID)
	b = jsonx.AppendString(append(b, `,"action":`...), p.Action)
	b = jsonx.AppendString(append(b, `,"by":`...), p.By)
	return append(jsonx.AppendInstant(append(b, `,"expires_at":`...), p.ExpiresAt), '}')
}

// listApprovals is GET /api/admin/approvals.
func (s *Server) listApprovals(c *call) error {
	if err := c.query.done(); err != nil {
		return err
	}
	list, err := s.config.Memory.Approvals(c.r.Context(), c.caller)
	if err != nil {
		return err
	}
	c.stand()
	c.trace.Name("list_approvals", "registry")
	b := append(c.begin(), `{"approvals":[`...)
	for i := range list {
		b = appendApproval(comma(b, i), &list[i])
	}
	return c.finish(http.StatusOK, append(b, `]}`...))
}

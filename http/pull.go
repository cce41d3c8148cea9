package http

import (
	"net/http"
	"strconv"
	"time"

	"abagraph/fact"
	"abagraph/ingest/connect"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// pull is POST /api/connectors/:name/pull.
func (s *Server) pull(c *call) error {
	if err := c.caller.Require(fact.RoleWrite); err != nil {
		return err
	}
	if err := c.emptyBody(); err != nil {
		return err
	}
	branch := c.branch()
	if err := c.query.done(); err != nil {
		return err
	}
	if d, ok := c.w.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = d.SetWriteDeadline(time.Now().Add(connect.PullTimeout + writeTimeout)) // a connection without deadlines has none
	}
	started := time.Now()
	k, done, err := s.connectors.Pull(c.r.Context(), c.caller, memory.WriteOptions{Branch: branch, Warn: c.input.Warn}, c.param("name"), c.trace)
	meta := memory.Meta{Tx: s.config.Memory.Position().Tx, Now: fact.NoInstant, Epoch: s.config.Memory.Position().Epoch}
	if done != nil {
		meta.Tx = max(meta.Tx, done.Tx)
		s.tellIngest(c, k, &done.Receipt, started)
	}
	c.meta(&meta)
	if err != nil {
		return err
	}
	c.explainDelivery("pull", "claim → pages → mapping → mask → asserts, in batches → cursor", &done.Receipt)
	c.warnDelivered(&done.Receipt)
	b := appendDelivered(c.begin(), k, &done.Receipt)
	b = strconv.AppendInt(append(b, `,"pages":`...), int64(done.Pages), 10)
	b = jsonx.AppendBool(append(b, `,"unchanged":`...), done.Unchanged)
	b = appendText(append(b, `,"cursor":`...), done.Cursor)
	b = strconv.AppendUint(append(b, `,"tx":`...), meta.Tx, 10)
	return c.finish(http.StatusOK, append(c.warnField(b), '}'))
}

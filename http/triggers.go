package http

import (
	"net/http"
	"strconv"
	"time"

	"abagraph/fact"
	"abagraph/ingest/connect"
	"abagraph/ingest/trigger"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// declareTrigger is POST /api/triggers.
func (s *Server) declareTrigger(c *call) error { return s.saveTrigger(c, false) }

// replaceTrigger is PUT /api/triggers/:name.
func (s *Server) replaceTrigger(c *call) error { return s.saveTrigger(c, true) }

func (s *Server) saveTrigger(c *call, replace bool) error {
	body, err := c.settings()
	if err != nil {
		return err
	}
	t, err := trigger.Read(body)
	if err != nil {
		return err
	}
	if err := c.named(t.Name); err != nil {
		return err
	}
	o, err := c.onMain()
	if err != nil {
		return err
	}
	done, result, err := s.triggers.Declare(c.r.Context(), c.caller, o, t, replace, c.trace)
	c.wroteOr(result)
	if err != nil {
		return err
	}
	if done.Differs {
		c.input.Warn("a trigger of this name is declared with other settings, and was left as it is: PUT /api/triggers/" + done.Trigger.Name + " replaces them")
	}
	b := appendTrigger(c.begin(), done.Trigger)
	b = jsonx.AppendBool(append(b, `,"existed":`...), done.Existed)
	return c.finish(http.StatusOK, append(c.warnField(b), '}'))
}

// wroteOr sets the headers of a write, or of an answer that needed none.
func (c *call) wroteOr(result *fact.Result) {
	if result != nil {
		c.wrote(result)
		return
	}
	c.stand()
}

// appendTrigger appends a trigger without the closing brace.
func appendTrigger(b []byte, t *trigger.Trigger) []byte {
	return jsonx.AppendString(append(t.AppendShown(b), `,"kind":`...), t.Kind())
}

// appendTriggerRow appends a trigger with its last run and its next one.
func appendTriggerRow(b []byte, r *trigger.Row) []byte {
	b = append(appendTrigger(b, r.Trigger), `,"next":`...)
	b = appendGiven(b, r.Next)
	b = append(r.State.Append(append(b, `,"last":`...)), `,"since":`...)
	return append(appendGiven(b, r.State.Since), `}}`...)
}

// appendGiven appends a time, or null for none.
func appendGiven(b []byte, t fact.Instant) []byte {
	if !t.Given() {
		return append(b, "null"...)
	}
	return jsonx.AppendInstant(b, t)
}

// listTriggers is GET /api/triggers.
func (s *Server) listTriggers(c *call) error {
	read := c.onlyMain(c.read(), ofConnectors)
	if err := c.query.done(); err != nil {
		return err
	}
	rows, meta, err := s.triggers.List(c.r.Context(), c.caller, read, c.trace)
	if err != nil {
		return err
	}
	c.meta(&meta)
	b := append(c.begin(), `{"triggers":[`...)
	for i := range rows {
		b = appendTriggerRow(comma(b, i), rows[i])
	}
	return c.finish(http.StatusOK, append(b, `]}`...))
}

// getTrigger is GET /api/triggers/:name.
func (s *Server) getTrigger(c *call) error {
	read := c.onlyMain(c.read(), ofConnectors)
	if err := c.query.done(); err != nil {
		return err
	}
	row, meta, err := s.triggers.Show(c.r.Context(), c.caller, read, c.param("name"), c.trace)
	if err != nil {
		return err
	}
	c.meta(&meta)
	return c.finish(http.StatusOK, appendTriggerRow(c.begin(), row))
}

// deleteTrigger is DELETE /api/triggers/:name.
func (s *Server) deleteTrigger(c *call) error {
	o, err := c.bareOnMain()
	if err != nil {
		return err
	}
	t, result, err := s.triggers.Delete(c.r.Context(), c.caller, o, c.param("name"), c.trace)
	if err := c.judged(result, err); err != nil {
		return err
	}
	return c.deleted(t.Name, result.Tx)
}

// pauseTrigger is POST /api/triggers/:name/pause.
func (s *Server) pauseTrigger(c *call) error { return s.setPaused(c, true) }

// resumeTrigger is POST /api/triggers/:name/resume.
func (s *Server) resumeTrigger(c *call) error { return s.setPaused(c, false) }

func (s *Server) setPaused(c *call, paused bool) error {
	o, err := c.bareOnMain()
	if err != nil {
		return err
	}
	t, result, err := s.triggers.Pause(c.r.Context(), c.caller, o, c.param("name"), paused, c.trace)
	c.wroteOr(result)
	if err != nil {
		return err
	}
	return c.finish(http.StatusOK, append(appendTrigger(c.begin(), t), '}'))
}

// runTrigger is POST /api/triggers/:name/run.
func (s *Server) runTrigger(c *call) error {
	if err := c.caller.Require(fact.RoleWrite); err != nil {
		return err
	}
	if err := c.emptyBody(); err != nil {
		return err
	}
	if err := c.query.done(); err != nil {
		return err
	}
	if d, ok := c.w.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = d.SetWriteDeadline(time.Now().Add(connect.PullTimeout + writeTimeout)) // a connection without deadlines has none
	}
	t, done, err := s.triggers.Run(c.r.Context(), c.caller, c.param("name"), c.trace)
	meta := memory.Meta{Tx: s.config.Memory.Position().Tx, Now: fact.NoInstant, Epoch: s.config.Memory.Position().Epoch}
	c.meta(&meta)
	if err != nil {
		return err
	}
	c.explainDelivery("run_trigger", "claim → pages → mapping → mask → asserts, in batches → cursor", &done.Receipt)
	c.warnDelivered(&done.Receipt)
	b := jsonx.AppendString(append(c.begin(), `{"trigger":`...), t.Name)
	b = jsonx.AppendString(append(b, `,"connector":`...), t.Connector)
	b = appendDelivery(b, &done.Receipt)
	b = jsonx.AppendBool(append(b, `,"unchanged":`...), done.Unchanged)
	b = strconv.AppendUint(append(b, `,"tx":`...), meta.Tx, 10)
	return c.finish(http.StatusOK, append(c.warnField(b), '}'))
}

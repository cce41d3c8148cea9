package http

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// setAlert is POST /api/alerts.
func (s *Server) setAlert(c *call) error {
	if err := c.caller.Require(fact.RoleAdmin); err != nil {
		return err
	}
	body, err := c.readOwn()
	if err != nil {
		return err
	}
	a, err := memory.ParseAlert(body)
	if err != nil {
		return err
	}
	o, err := c.writeOptions()
	if err != nil {
		return err
	}
	alert, result, err := s.config.Memory.SetAlert(c.r.Context(), c.caller, o, a, c.trace)
	if err := c.judged(result, err); err != nil {
		return err
	}
	b := appendAlert(c.begin(), alert)
	return c.finish(made(result), append(c.warnField(b[:len(b)-1]), '}'))
}

func appendAlert(b []byte, a *memory.Alert) []byte {
	b = jsonx.AppendString(append(b, `{"name":`...), a.Name)
	b = jsonx.AppendString(append(b, `,"kind":`...), a.Kind)
	b = strconv.AppendFloat(append(b, `,"threshold":`...), a.Threshold, 'f', -1, 64)
	if b = append(b, `,"window_secs":`...); a.Kind == "drift" || a.Kind == "cost" {
		b = strconv.AppendInt(b, a.Window, 10)
	} else {
		b = append(b, "null"...)
	}
	b = appendKnown(append(b, `,"predicate":`...), a.Predicate)
	b = appendKnown(append(b, `,"source":`...), a.Source)
	b = appendKnown(append(b, `,"webhook":`...), a.Webhook)
	b = appendKnown(append(b, `,"secret":`...), a.Secret)
	b = jsonx.AppendInstant(append(b, `,"created_at":`...), a.CreatedAt)
	b = appendCount(b, "tx", a.Tx)
	b = appendKnown(append(b, `,"state":`...), a.State)
	if b = append(b, `,"value":`...); math.IsNaN(a.Value) {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendFloat(b, a.Value, 'f', -1, 64)
	}
	if b = append(b, `,"since":`...); a.State == "" {
		b = append(b, "null"...)
	} else {
		b = jsonx.AppendInstant(b, a.Since)
	}
	return append(jsonx.AppendBool(append(b, `,"told":`...), a.Told), '}')
}

// listAlerts is GET /api/alerts.
func (s *Server) listAlerts(c *call) error {
	read := c.travel()
	kind, byKind := c.query.text("kind")
	state, byState := c.query.text("state")
	if byKind && !slices.Contains(memory.AlertKinds, kind) {
		c.query.fail(fact.Invalid("kind", "must be one of "+strings.Join(memory.AlertKinds, ", ")))
	}
	if byState && state != memory.AlertOK && state != memory.AlertFiring {
		c.query.fail(fact.Invalid("state", "must be ok or firing"))
	}
	if err := c.query.done(); err != nil {
		return err
	}
	list, meta, err := s.config.Memory.Alerts(c.r.Context(), c.caller, read, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	b, n := append(c.begin(), `{"alerts":[`...), 0
	for i := range list {
		if byKind && list[i].Kind != kind || byState && list[i].State != state {
			continue
		}
		b = appendAlert(comma(b, n), &list[i])
		n++
	}
	return c.finish(http.StatusOK, append(c.warnField(append(b, ']')), '}'))
}

// getAlert is GET /api/alerts/:name.
func (s *Server) getAlert(c *call) error {
	read := c.travel()
	if err := c.query.done(); err != nil {
		return err
	}
	a, meta, err := s.config.Memory.Alert(c.r.Context(), c.caller, read, c.param("name"), c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	return c.finish(http.StatusOK, appendAlert(c.begin(), a))
}

// deleteAlert is DELETE /api/alerts/:name.
func (s *Server) deleteAlert(c *call) error {
	o, err := c.bare()
	if err != nil {
		return err
	}
	name := c.param("name")
	result, err := s.config.Memory.DeleteAlert(c.r.Context(), c.caller, o, name, c.trace)
	if err := c.judged(result, err); err != nil {
		return err
	}
	return c.ended(name)
}

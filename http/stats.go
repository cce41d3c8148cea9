package http

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"abagraph/internal/events"
	"abagraph/internal/jsonx"
)

// readyTimeout bounds how long /api/ready waits for the cluster.
const readyTimeout = 2 * time.Second

// health is GET /api/health. It touches no storage: a process that answers is
// alive.
func (s *Server) health(c *call) error {
	if err := c.query.done(); err != nil {
		return err
	}
	c.trace.Name("health", "static: touches no storage")
	return c.finish(http.StatusOK, append(c.begin(), `{"ok":true}`...))
}

// ready is GET /api/ready: whether this node can answer a linearizable read.
func (s *Server) ready(c *call) error {
	if err := c.query.done(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), readyTimeout)
	defer cancel()
	if err := s.config.Memory.Ready(ctx); err != nil {
		return err
	}
	c.trace.Name("ready", "read index")
	c.trace.Step("basis", "linearizable")
	return c.finish(http.StatusOK, append(c.begin(), `{"ok":true}`...))
}

// stats is GET /api/stats.
func (s *Server) stats(c *call) error {
	read := c.read()
	if err := c.query.done(); err != nil {
		return err
	}
	st, meta, err := s.config.Memory.Stats(c.r.Context(), c.caller, read, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	b := append(c.begin(), `{"facts":{`...)
	for _, part := range [...]struct {
		name  string
		count uint64
	}{{"active", st.Active}, {"superseded", st.Superseded}, {"retracted", st.Retracted}, {"candidate", st.Candidate}} {
		b = append(jsonx.AppendString(b, part.name), ':')
		b = append(strconv.AppendUint(b, part.count, 10), ',')
	}
	b = append(b, `"total":`...)
	b = strconv.AppendUint(b, st.Total(), 10)
	b = append(b, `},"entities":`...)
	b = strconv.AppendUint(b, st.Entities, 10)
	b = append(b, `,"predicates":`...)
	b = strconv.AppendUint(b, st.Predicates, 10)
	b = append(b, `,"tenants":`...)
	b = strconv.AppendUint(b, st.Tenants, 10)
	b = append(b, `,"tenant":`...)
	b = jsonx.AppendString(b, c.tenantName())
	b = append(b, `,"tx":`...)
	b = strconv.AppendUint(b, meta.Tx, 10)
	b = append(b, `,"version":`...)
	b = jsonx.AppendString(b, s.config.Version)
	return c.finish(http.StatusOK, append(b, '}'))
}

// tenantName is the tenant that answers are about, or admin for all of them.
func (c *call) tenantName() string {
	if c.caller.Tenant == "" {
		return "admin"
	}
	return c.caller.Tenant
}

// windowText is the documents' own.
const windowText = "recent operational window since process start (not a durable TSDB)"

// observability is GET /api/observability.
func (s *Server) observability(c *call) error {
	if err := c.query.done(); err != nil {
		return err
	}
	c.stand()
	snapshot := s.config.Window.Snapshot()
	c.trace.Name("observability", "read the window")
	c.trace.Int("total_events", int(snapshot.Total))
	b := append(appendWindow(c.begin(), &snapshot), `,"cluster":`...)
	if cluster, known := s.config.Memory.Cluster(); known {
		b = appendCluster(b, &cluster)
	} else {
		b = append(b, "null"...)
	}
	return c.finish(http.StatusOK, append(b, '}'))
}

// appendWindow appends the window as an object that is left open.
func appendWindow(b []byte, w *events.Snapshot) []byte {
	b = append(b, `{"window":"`+windowText+`","uptime_ms":`...)
	b = strconv.AppendInt(b, w.Uptime.Milliseconds(), 10)
	b = append(b, `,"total_events":`...)
	b = strconv.AppendUint(b, w.Total, 10)
	b = append(b, `,"errors":`...)
	b = strconv.AppendUint(b, w.Errors, 10)
	b = append(b, `,"error_rate":`...)
	b = jsonx.AppendFloat(b, float64(w.Errors)/float64(max(w.Total, 1)))
	b = append(b, `,"events_24h":`...)
	b = strconv.AppendUint(b, w.Last24h, 10)
	b = append(b, `,"freshness_ms":`...)
	if w.Total == 0 {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendInt(b, w.Freshness.Milliseconds(), 10)
	}
	b = append(b, `,"by_event":[`...)
	for i, e := range w.ByEvent {
		b = jsonx.AppendString(append(comma(b, i), `{"event":`...), e.Event)
		b = append(strconv.AppendUint(append(b, `,"count":`...), e.Count, 10), '}')
	}
	b = append(b, `],"recent":[`...)
	for i, e := range w.Recent {
		b = jsonx.AppendString(append(comma(b, i), `{"event":`...), e.Event)
		b = jsonx.AppendString(append(b, `,"level":`...), e.Level)
		b = append(strconv.AppendInt(append(b, `,"age_ms":`...), e.Age.Milliseconds(), 10), '}')
	}
	return append(b, ']')
}

func comma(b []byte, i int) []byte {
	if i > 0 {
		return append(b, ',')
	}
	return b
}

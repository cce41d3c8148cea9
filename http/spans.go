package http

import "abagraph/internal/span"

// follow begins the span of a request. What is asked again and again by machines that
// watch the node has none.
func (c *call) follow(t span.Tracer) {
	switch c.route.template {
	case metricsPath, "/api/health", "/api/ready":
		return
	}
	method := c.r.Method
	if c.route.template == unmatched { // whatever a stranger calls its method is no name
		method = "other"
	}
	r := t.Begin(method+" "+c.route.template, c.r.Header.Get("Traceparent"))
	if r == nil {
		return
	}
	r.Text("http.request.method", method)
	r.Text("http.route", c.route.template)
	ctx := span.With(c.r.Context(), r)
	c.span = span.Of(ctx)
	c.r = c.r.WithContext(ctx)
}

// followed ends it.
func (c *call) followed() {
	c.span.Int("http.response.status_code", int64(c.status))
	c.span.End()
}

package http

import (
	"net/http"

	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// setSecret is POST /api/secrets: it keeps where a secret is kept, never the secret.
func (s *Server) setSecret(c *call) error {
	if err := c.caller.RequireOperator(); err != nil {
		return err
	}
	body, err := c.readOwn()
	if err != nil {
		return err
	}
	f := jsonx.Open(body, "")
	name, reference := f.Required("name"), ""
	f.Refuse("value", "is never taken: give a reference, such as env:STRIPE_SECRET, to where the value is kept")
	reference = f.Required("reference")
	if err := f.Done(); err != nil {
		return err
	}
	o, err := c.writeOptions()
	if err != nil {
		return err
	}
	ref, result, err := s.config.Memory.SetSecret(c.r.Context(), c.caller, o, name, reference, c.trace)
	if err := c.judged(result, err); err != nil {
		return err
	}
	return c.finish(made(result), appendSecretRef(c.begin(), ref))
}

// appendSecretRef appends a reference; where it leads is for the operator.
func appendSecretRef(b []byte, r *memory.SecretRef) []byte {
	b = jsonx.AppendString(append(b, `{"name":`...), r.Name)
	b = appendKnown(append(b, `,"tenant":`...), r.Tenant)
	b = appendKnown(append(b, `,"reference":`...), r.Reference)
	b = jsonx.AppendInstant(append(b, `,"created_at":`...), r.CreatedAt)
	b = appendCount(b, "tx", r.Tx)
	return append(b, '}')
}

// listSecrets is GET /api/secrets.
func (s *Server) listSecrets(c *call) error {
	read := c.read()
	if err := c.query.done(); err != nil {
		return err
	}
	list, meta, err := s.config.Memory.Secrets(c.r.Context(), c.caller, read, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	b := append(c.begin(), `{"secrets":[`...)
	for i := range list {
		b = appendSecretRef(comma(b, i), &list[i])
	}
	return c.finish(http.StatusOK, append(b, `]}`...))
}

// getSecret is GET /api/secrets/:name.
func (s *Server) getSecret(c *call) error {
	read := c.read()
	if err := c.query.done(); err != nil {
		return err
	}
	ref, meta, err := s.config.Memory.SecretRef(c.r.Context(), c.caller, read, c.param("name"), c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	return c.finish(http.StatusOK, appendSecretRef(c.begin(), ref))
}

// deleteSecret is DELETE /api/secrets/:name.
func (s *Server) deleteSecret(c *call) error {
	o, err := c.bare()
	if err != nil {
		return err
	}
	name := c.param("name")
	result, err := s.config.Memory.DeleteSecret(c.r.Context(), c.caller, o, name, c.trace)
	if err := c.judged(result, err); err != nil {
		return err
	}
	return c.ended(name)
}

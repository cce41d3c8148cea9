package http

import (
	"math"
	"net/http"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// createTenant is POST /api/tenants.
func (s *Server) createTenant(c *call) error {
	if err := c.caller.RequireOperator(); err != nil {
		return err
	}
	body, err := c.readJSON()
	if err != nil {
		return err
	}
	f := jsonx.Open(body, "")
	t := memory.NewTenant{ID: f.Required("id")}
	t.Name, _ = f.Text("name")
	t.Quota, _ = f.Integer("quota_facts", 0, math.MaxInt64)
	t.Role = role(f)
	if err := f.Done(); err != nil {
		return err
	}
	o, err := c.writeOptions()
	if err != nil {
		return err
	}
	result, secret, err := s.config.Memory.CreateTenant(c.r.Context(), c.caller, o, t, c.trace)
	if result != nil {
		c.wrote(result)
	}
	if err != nil {
		return err
	}
	s.config.Logger.Info("abagraph.tenant.create", "tenant", t.ID)
	b := appendTenant(append(c.begin(), '{'), result.Tenant)
	b = appendSecret(b, secret)
	if result.Key != nil {
		b = jsonx.AppendString(append(b, `,"key_id":`...), result.Key.ID)
		b = jsonx.AppendString(append(b, `,"role":`...), result.Key.Role.String())
	}
	return c.finish(http.StatusCreated, append(b, '}'))
}

// role reads the role of a new key; a tenant's key may read and write unless
// something else is said.
func role(f *jsonx.Fields) fact.Role {
	text, ok := f.Text("role")
	if !ok {
		return fact.RoleWrite
	}
	r, err := fact.ParseRole("role", text)
	if err != nil {
		f.Fail(err)
	}
	return r
}

// appendSecret appends a new key, which is told this once. A retry of the same
// request cannot be told it again: nothing keeps it.
func appendSecret(b []byte, secret string) []byte {
	b = append(b, `,"key":`...)
	if secret != "" {
		return jsonx.AppendString(b, secret)
	}
	return append(b, `null,"warnings":["the key was told in the first answer to this Idempotency-Key and is not kept; make another one if it was lost"]`...)
}

func appendTenant(b []byte, t *fact.TenantRecord) []byte {
	b = jsonx.AppendString(append(b, `"id":`...), t.ID)
	b = append(b, `,"name":`...)
	if t.Name == "" {
		b = append(b, "null"...)
	} else {
		b = jsonx.AppendString(b, t.Name)
	}
	b = jsonx.AppendString(append(b, `,"status":`...), t.Status)
	b = append(b, `,"quota_facts":`...)
	if t.Quota == 0 {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendInt(b, t.Quota, 10)
	}
	return jsonx.AppendInstant(append(b, `,"created_at":`...), t.CreatedAt)
}

func appendRow(b []byte, row *memory.TenantRow) []byte {
	b = appendTenant(append(b, '{'), &row.TenantRecord)
	b = strconv.AppendUint(append(b, `,"fact_count":`...), row.FactCount, 10)
	return append(b, '}')
}

// listTenants is GET /api/tenants.
func (s *Server) listTenants(c *call) error {
	read := c.onlyMain(c.read(), ofTenants)
	if err := c.query.done(); err != nil {
		return err
	}
	rows, meta, err := s.config.Memory.Tenants(c.r.Context(), c.caller, read, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	b := append(c.begin(), '[')
	for i := range rows {
		b = appendRow(comma(b, i), &rows[i])
	}
	return c.finish(http.StatusOK, append(b, ']'))
}

// getTenant is GET /api/tenants/:id.
func (s *Server) getTenant(c *call) error {
	read := c.onlyMain(c.read(), ofTenants)
	if err := c.query.done(); err != nil {
		return err
	}
	row, meta, err := s.config.Memory.Tenant(c.r.Context(), c.caller, read, c.param("id"), c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	return c.finish(http.StatusOK, appendRow(c.begin(), &row))
}

// deleteTenant is DELETE /api/tenants/:id.
func (s *Server) deleteTenant(c *call) error {
	if err := c.caller.RequireOperator(); err != nil {
		return err
	}
	o, err := c.approved()
	if err != nil {
		return err
	}
	id := c.param("id")
	result, err := s.config.Memory.DeleteTenant(c.r.Context(), c.caller, o, id, c.trace)
	if result != nil {
		c.wrote(result)
	}
	if err != nil {
		return c.waits(err)
	}
	s.config.Logger.Info("abagraph.tenant.delete", "tenant", id)
	b := jsonx.AppendString(append(c.begin(), `{"ok":true,"id":`...), id)
	return c.finish(http.StatusOK, append(b, `,"note":"soft-deleted; use /api/admin/purge to erase data"}`...))
}

// bare returns the options of a write that has no body.
func (c *call) bare() (memory.WriteOptions, error) {
	if err := c.noBody(); err != nil {
		return memory.WriteOptions{}, err
	}
	return c.writeOptions()
}

// createKey is POST /api/tenants/:id/keys: it makes a key, or with rotate
// replaces those of the same name and role.
func (s *Server) createKey(c *call) error {
	k := memory.NewKey{Role: fact.RoleWrite}
	if err := c.readBody(); err != nil {
		return err
	}
	if len(c.body) > 0 { // a body is not needed: everything has a default
		v, err := jsonx.Parse(c.body)
		if err != nil {
			return err
		}
		f := jsonx.Open(v, "")
		k.Name, _ = f.Text("name")
		k.Role = role(f)
		k.Rotate = f.Flag("rotate")
		if err := f.Done(); err != nil {
			return err
		}
	}
	o, err := c.writeOptions()
	if err != nil {
		return err
	}
	result, secret, err := s.config.Memory.CreateKey(c.r.Context(), c.caller, o, c.param("id"), k, c.trace)
	if result != nil {
		c.wrote(result)
	}
	if err != nil {
		return err
	}
	b := appendKey(append(c.begin(), '{'), result.Key)
	return c.finish(http.StatusCreated, append(appendSecret(b, secret), '}'))
}

func appendKey(b []byte, k *fact.Key) []byte {
	b = jsonx.AppendString(append(b, `"id":`...), k.ID)
	b = jsonx.AppendString(append(b, `,"name":`...), k.Name)
	b = jsonx.AppendString(append(b, `,"role":`...), k.Role.String())
	b = jsonx.AppendString(append(b, `,"tenant":`...), k.Tenant)
	b = jsonx.AppendInstant(append(b, `,"created_at":`...), k.CreatedAt)
	return jsonx.AppendInstant(append(b, `,"revoked_at":`...), k.RevokedAt)
}

// listKeys is GET /api/tenants/:id/keys.
func (s *Server) listKeys(c *call) error {
	read := c.onlyMain(c.read(), ofTenants)
	if err := c.query.done(); err != nil {
		return err
	}
	keys, meta, err := s.config.Memory.Keys(c.r.Context(), c.caller, read, c.param("id"), c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	b := append(c.begin(), '[')
	for i := range keys {
		b = append(appendKey(append(comma(b, i), '{'), &keys[i]), '}')
	}
	return c.finish(http.StatusOK, append(b, ']'))
}

// revokeKey is DELETE /api/tenants/:id/keys/:key.
func (s *Server) revokeKey(c *call) error {
	o, err := c.bare()
	if err != nil {
		return err
	}
	id := c.param("key")
	result, err := s.config.Memory.RevokeKey(c.r.Context(), c.caller, o, c.param("id"), id, c.trace)
	if result != nil {
		c.wrote(result)
	}
	if err != nil {
		return err
	}
	b := jsonx.AppendString(append(c.begin(), `{"ok":true,"id":`...), id)
	return c.finish(http.StatusOK, append(b, '}'))
}

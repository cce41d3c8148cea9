package http

import (
	"encoding/hex"
	"net/http"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// audit is GET /api/audit: who did what, at which tx.
func (s *Server) audit(c *call) error {
	q := &memory.AuditRequest{Read: c.read(), From: c.instant("from"), To: c.instant("to"), Limit: c.query.limit()}
	q.After, q.Forward = c.query.number("tx_gt")
	q.Before, _ = c.query.number("tx_lt")
	q.Actor, _ = c.query.text("actor")
	q.Action, _ = c.query.text("action")
	if err := c.query.done(); err != nil {
		return err
	}
	page, meta, err := s.config.Memory.Audit(c.r.Context(), c.caller, q, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	b := append(c.begin(), `{"records":[`...)
	for i := range page.Records {
		b = appendAudit(comma(b, i), &page.Records[i], c.caller)
	}
	b = append(b, `],"next":`...)
	if page.Next == 0 {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendUint(b, page.Next, 10)
	}
	return c.finish(http.StatusOK, append(c.warnField(b), '}'))
}

// appendAudit appends a record. What depends on the txs of other tenants, the
// hash of the chain and the digest of the store, is for the operator.
func appendAudit(b []byte, a *fact.AuditRecord, caller memory.Caller) []byte {
	b = strconv.AppendUint(append(b, `{"tx":`...), a.Tx, 10)
	b = jsonx.AppendInstant(append(b, `,"recorded_at":`...), a.RecordedAt)
	b = appendKnown(append(b, `,"actor":`...), a.Actor)
	b = jsonx.AppendString(append(b, `,"action":`...), a.Action)
	b = appendKnown(append(b, `,"target":`...), a.Target)
	tenant := a.Tenant
	if !caller.Operator {
		tenant = caller.Tenant
	}
	b = appendKnown(append(b, `,"tenant":`...), tenant)
	b = jsonx.AppendBool(append(b, `,"all_tenants":`...), a.AllTenants)
	b = appendKnown(append(b, `,"branch":`...), a.Branch)
	for _, n := range [...]struct {
		name string
		n    uint64
	}{{"asserted", a.Asserted}, {"superseded", a.Superseded}, {"retracted", a.Retracted}, {"expired", a.Expired}} {
		if a.Counted {
			b = appendCount(b, n.name, n.n)
		} else {
			b = append(append(append(b, `,"`...), n.name...), `":null`...)
		}
	}
	b = appendKnown(append(b, `,"reason":`...), a.Reason)
	b = jsonx.AppendInstant(append(b, `,"declared_known_at":`...), a.DeclaredKnownAt)
	if caller.Operator && a.Chained {
		b = jsonx.AppendString(append(b, `,"digest":`...), hex.EncodeToString(a.Digest[:]))
		b = jsonx.AppendString(append(b, `,"hash":`...), hex.EncodeToString(a.Hash[:]))
	}
	return append(b, '}')
}

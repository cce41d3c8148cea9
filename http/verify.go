package http

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"abagraph/internal/jsonx"
)

// verifyLimit bounds a check of the store, which takes as long as the store is large.
const verifyLimit = time.Hour

// verify is POST /api/admin/verify: this node's store, checked to its last key.
func (s *Server) verify(c *call) error {
	if err := c.operator(); err != nil {
		return err
	}
	if err := c.noBody(); err != nil {
		return err
	}
	if err := http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(verifyLimit)); err != nil {
		return fmt.Errorf("give a check its time: %w", err)
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), verifyLimit)
	defer cancel()
	defer context.AfterFunc(s.closing, cancel)()
	seen, err := s.config.Memory.VerifyStore(ctx, c.caller)
	if err != nil {
		return err
	}
	c.stand()
	c.trace.Name("verify", "read every key of the store")
	b := append(c.begin(), `{"sound":`...)
	if len(seen.Problems) == 0 {
		b = append(b, "true"...)
	} else {
		b = append(b, "false"...)
	}
	b = jsonx.AppendString(append(b, `,"epoch":`...), seen.Epoch)
	b = jsonx.AppendString(append(b, `,"digest":`...), seen.Digest)
	for _, figure := range [...]struct {
		name string
		n    uint64
	}{{"tx", seen.Tx}, {"keys", seen.Keys}, {"facts", seen.Facts}, {"versions", seen.Versions}, {"events", seen.Events}, {"outcomes", seen.Outcomes},
		{"tenants", seen.Tenants}, {"unchecked", seen.Unchecked}, {"untold", seen.Untold}} {
		b = appendCount(b, figure.name, figure.n)
	}
	b = append(b, `,"problems":[`...)
	for i, problem := range seen.Problems {
		b = jsonx.AppendString(comma(b, i), problem)
	}
	return c.finish(http.StatusOK, append(b, ']', '}'))
}

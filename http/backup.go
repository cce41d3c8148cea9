package http

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"abagraph/fact"
	"abagraph/memory"
)

// backupStall is how long a backup's reader may take no byte before it is cut off.
const backupStall = time.Minute

// backup is GET /api/admin/backup: the whole store as one checksummed stream.
func (s *Server) backup(c *call) error {
	if err := c.caller.RequireOperator(); err != nil {
		return err
	}
	read, err := c.operation("a backup is of the whole store, every tenant in it")
	if err != nil {
		return err
	}
	if c.r.Method == http.MethodHead {
		c.stand()
		p := s.config.Memory.Position()
		c.nameBackup(p.Epoch, p.Tx)
		c.binaryHeaders()
		return nil
	}
	b, meta, err := s.config.Memory.Backup(c.r.Context(), c.caller, read)
	if err != nil {
		return err
	}
	defer func() {
		if err := b.Close(); err != nil {
			s.config.Logger.Error("abagraph.backup.cleanup_error", "error", err)
		}
	}()
	c.meta(&meta)
	c.nameBackup(meta.Epoch, meta.Tx)
	c.w.Header().Set("Content-Length", strconv.FormatInt(b.Size(), 10))
	c.binaryHeaders()
	return s.sendBackup(c, b, meta)
}

// sendBackup writes the stream. What cannot be finished ends before its announced
// length, which no reader takes for a whole.
func (s *Server) sendBackup(c *call, b memory.Backup, meta memory.Meta) error {
	start := time.Now()
	ctx, cancel := context.WithCancel(c.r.Context())
	defer cancel()
	defer context.AfterFunc(s.closing, cancel)()
	out := &patient{to: c.w, control: http.NewResponseController(c.w)}
	if err := b.Write(ctx, out); err != nil {
		s.config.Logger.Warn("abagraph.backup.error", "tx", meta.Tx, "bytes", out.n, "error", err)
		return nil // the answer has begun: there is no other way to tell
	}
	s.config.Logger.Info("abagraph.backup.sent", "tx", meta.Tx, "bytes", out.n, "ms", time.Since(start).Milliseconds())
	return nil
}

func (c *call) nameBackup(epoch string, tx uint64) {
	name := fmt.Sprintf("abagraph-%s-tx%d.backup", epoch, tx)
	c.w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
}

func (c *call) binaryHeaders() {
	h := c.w.Header()
	h["Content-Type"] = []string{"application/octet-stream"}
	h["Cache-Control"] = noStore
	h["X-Content-Type-Options"] = noSniff
	c.status = http.StatusOK
	c.w.WriteHeader(http.StatusOK)
}

// patient gives a slow reader a new time limit with every piece that it takes.
type patient struct {
	to      http.ResponseWriter
	control *http.ResponseController
	n       int64
}

func (p *patient) Write(b []byte) (int, error) {
	if err := p.control.SetWriteDeadline(time.Now().Add(backupStall)); err != nil {
		return 0, err
	}
	n, err := p.to.Write(b)
	p.n += int64(n)
	return n, err
}

// operation reads the parameters of an operator's read: of the node, not of a
// tenant, and without an envelope.
func (c *call) operation(whole string) (memory.Read, error) {
	if _, given := c.query.text("tenant"); given {
		return memory.Read{}, fact.Invalid("tenant", "is not known here: "+whole)
	}
	if c.trace != nil {
		return memory.Read{}, fact.Invalid("explain", "is not known here: the answer is no JSON")
	}
	read := memory.NewRead()
	if text, ok := c.query.text("consistency"); ok {
		level, err := consistency(text)
		if err != nil {
			return read, err
		}
		read.Level = level
	}
	return read, c.query.done()
}

package replication

import (
	"net"
	"sync/atomic"
	"time"
)

// patientPiece is what has to be through within one time limit.
const patientPiece = 64 << 10

// patientConn is a connection whose time limit, where it is set for reading or writing
// from now on, begins anew with each piece that was written: it ends who makes no
// progress, and not who is slow.
type patientConn struct {
	net.Conn
	limit atomic.Int64 // nanoseconds; 0 = there is none
}

// SetDeadline limits both directions.
func (c *patientConn) SetDeadline(t time.Time) error {
	c.keep(t)
	return c.Conn.SetDeadline(t)
}

// SetWriteDeadline limits writing.
func (c *patientConn) SetWriteDeadline(t time.Time) error {
	c.keep(t)
	return c.Conn.SetWriteDeadline(t)
}

func (c *patientConn) keep(t time.Time) {
	limit := time.Duration(0)
	if !t.IsZero() {
		limit = max(time.Until(t), 1)
	}
	c.limit.Store(int64(limit))
}

// Write writes piece by piece.
func (c *patientConn) Write(b []byte) (int, error) {
	written := 0
	for {
		piece := b[written:min(len(b), written+patientPiece)]
		n, err := c.Conn.Write(piece)
		written += n
		if err == nil {
			err = c.begin()
		}
		if err != nil || written == len(b) {
			return written, err
		}
	}
}

// begin begins the time limit anew.
func (c *patientConn) begin() error {
	limit := time.Duration(c.limit.Load())
	if limit == 0 {
		return nil
	}
	return c.Conn.SetDeadline(time.Now().Add(limit))
}

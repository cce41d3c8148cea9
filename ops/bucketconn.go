package ops

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/minio/minio-go/v7"
)

const (
	// storeStall is how long a store may take nothing and send nothing, before the
	// connection is given up.
	storeStall = time.Minute
	// storeRetries is how often one request to a store is made.
	storeRetries = 5
)

// quietConn is a connection that breaks when nothing has gone through it, either way,
// for a while: a store that hangs must not make a timer's backup hang for good.
type quietConn struct {
	net.Conn
	stall time.Duration
}

func (c *quietConn) Read(p []byte) (int, error) {
	if err := c.Conn.SetReadDeadline(time.Now().Add(c.stall)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

func (c *quietConn) Write(p []byte) (n int, err error) {
	const piece = 64 << 10 // so that a slow line is told from a dead one
	for n < len(p) && err == nil {
		if err = c.Conn.SetDeadline(time.Now().Add(c.stall)); err != nil { // the answer is waited for meanwhile
			break
		}
		var wrote int
		wrote, err = c.Conn.Write(p[n:min(len(p), n+piece)])
		n += wrote
	}
	if err == nil {
		err = c.Conn.SetReadDeadline(time.Now().Add(c.stall))
	}
	return n, err
}

// storeOptions are how a store is called.
func storeOptions(secure bool, stall time.Duration) (*minio.Options, error) {
	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, fmt.Errorf("set up the store: %w", err)
	}
	dialer := net.Dialer{Timeout: min(stall, 30*time.Second), KeepAlive: 30 * time.Second}
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &quietConn{conn, stall}, nil
	}
	transport.ResponseHeaderTimeout = stall
	return &minio.Options{Secure: secure, Transport: transport, MaxRetries: storeRetries}, nil
}

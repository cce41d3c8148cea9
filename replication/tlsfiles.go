package replication

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"
)

// keptFiles are the TLS files of the peer port. They are looked at again with each
// new connection, so that certificates are renewed without a restart; connections
// that stand go on as they are.
type keptFiles struct {
	files  *TLSFiles
	logger *slog.Logger

	mu     sync.Mutex
	stamps [3]stamp
	failed bool // what is there now cannot be used, which has been told
	cert   *tls.Certificate
	pool   *x509.CertPool
}

// stamp is by what a file is known to have changed.
type stamp struct {
	size  int64
	at    time.Time
	inode fs.FileInfo
}

func (s stamp) same(o stamp) bool {
	return s.size == o.size && s.at.Equal(o.at) && s.inode != nil && o.inode != nil && os.SameFile(s.inode, o.inode)
}

func openFiles(files *TLSFiles, logger *slog.Logger) (*keptFiles, error) {
	k := &keptFiles{files: files, logger: logger}
	stamps, err := k.look()
	if err != nil {
		return nil, err
	}
	if err := k.load(stamps); err != nil {
		return nil, err
	}
	return k, nil
}

func (k *keptFiles) look() (stamps [3]stamp, err error) {
	for i, path := range [...]string{k.files.Cert, k.files.Key, k.files.CA} {
		info, err := os.Stat(path)
		if err != nil {
			what := "certificate and key"
			if i == 2 {
				what = "authority"
			}
			return stamps, fmt.Errorf("read the peer %s: %w", what, err)
		}
		stamps[i] = stamp{info.Size(), info.ModTime(), info}
	}
	return stamps, nil
}

func (k *keptFiles) load(stamps [3]stamp) error {
	cert, err := tls.LoadX509KeyPair(k.files.Cert, k.files.Key)
	if err != nil {
		return fmt.Errorf("read the peer certificate and key: %w", err)
	}
	pem, err := os.ReadFile(k.files.CA)
	if err != nil {
		return fmt.Errorf("read the peer authority: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return fmt.Errorf("the peer authority %s holds no certificate", k.files.CA)
	}
	k.cert, k.pool, k.stamps = &cert, pool, stamps
	return nil
}

// now returns what the files hold, or held when they could last be used: one of them
// may be replaced before the other.
func (k *keptFiles) now() (*tls.Certificate, *x509.CertPool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	stamps, err := k.look()
	changed := err != nil
	for i := range stamps {
		changed = changed || !stamps[i].same(k.stamps[i])
	}
	if !changed {
		return k.cert, k.pool
	}
	if err == nil {
		err = k.load(stamps)
	}
	switch {
	case err == nil:
		k.failed = false
		k.logger.Info("abagraph.peer.certificates_reloaded", "expires", k.expiry())
	case !k.failed:
		k.failed = true
		k.logger.Warn("abagraph.peer.certificates_error", "error", err)
	}
	return k.cert, k.pool
}

func (k *keptFiles) expiry() string {
	if k.cert.Leaf == nil {
		return ""
	}
	return k.cert.Leaf.NotAfter.UTC().Format(time.RFC3339)
}

// certificateSoon is how long before its end a certificate is told to be renewed.
const certificateSoon = 14 * 24 * time.Hour

// ending says that the certificate has ended, or soon will, or nothing.
func (k *keptFiles) ending(now time.Time) string {
	cert, _ := k.now()
	switch {
	case cert.Leaf == nil || cert.Leaf.NotAfter.Sub(now) > certificateSoon:
		return ""
	case now.After(cert.Leaf.NotAfter):
		return "the peer certificate has ended at " + cert.Leaf.NotAfter.UTC().Format(time.RFC3339) + ", and no new connection between nodes is made with it: put a new one in its place, without a restart"
	}
	return "the peer certificate ends at " + cert.Leaf.NotAfter.UTC().Format(time.RFC3339) + ": put a new one in its place, without a restart"
}

// certificateProblem tells an operator of a certificate that has to be renewed, or "".
func (n *Node) certificateProblem() string {
	if n.port == nil || n.port.creds.files == nil {
		return ""
	}
	return n.port.creds.files.ending(time.Now())
}

// certificateEnd is when the certificate of this node ends, in Unix seconds, or 0.
func (n *Node) certificateEnd() float64 {
	if n.port == nil || n.port.creds.files == nil {
		return 0
	}
	cert, _ := n.port.creds.files.now()
	if cert.Leaf == nil {
		return 0
	}
	return float64(cert.Leaf.NotAfter.Unix())
}

func (k *keptFiles) server() *tls.Config {
	cert, pool := k.now()
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{*cert}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
}

func (k *keptFiles) client(host string) *tls.Config {
	cert, pool := k.now()
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{*cert}, RootCAs: pool, ServerName: host}
}

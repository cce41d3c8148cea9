package replication

import (
	"crypto/ed25519"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// credentials make the two sides of a peer connection; without any it is plain
// text, which Options allow on loopback only.
type credentials struct {
	server *tls.Config
	client *tls.Config
	files  *keptFiles // in place of both
}

// loadCredentials reads the TLS files or derives a key from the secret.
func loadCredentials(o *Options) (credentials, error) {
	switch {
	case o.TLS != nil:
		files, err := openFiles(o.TLS, o.Logger)
		return credentials{files: files}, err
	case o.Secret != "":
		return secretCredentials(o.Secret)
	}
	return credentials{}, nil
}

// secretRounds makes guessing a weak secret from a recorded or provoked
// handshake slow; a node derives the key once, in some ten milliseconds.
const secretRounds = 20_000

// secretCredentials derives one key pair from the secret. Every node has the
// same one; each side proves in the handshake that it holds the private key, and
// accepts no other public key.
func secretCredentials(secret string) (credentials, error) {
	seed, err := pbkdf2.Key(sha256.New, secret, []byte("abagraph peer traffic v1"), secretRounds, ed25519.SeedSize)
	if err != nil {
		return credentials{}, fmt.Errorf("derive the peer key: %w", err)
	}
	key := ed25519.NewKeyFromSeed(seed)
	public := key.Public().(ed25519.PublicKey)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "abagraph peer"},
		NotBefore:    time.Unix(0, 0),
		NotAfter:     time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	if err != nil {
		return credentials{}, fmt.Errorf("make the peer certificate: %w", err)
	}
	cert := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	pinned := func(state tls.ConnectionState) error {
		if len(state.PeerCertificates) == 0 || !public.Equal(state.PeerCertificates[0].PublicKey) {
			return errSecret
		}
		return nil
	}
	return credentials{
		server: &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{cert},
			ClientAuth: tls.RequireAnyClientCert, VerifyConnection: pinned},
		// The chain is not verified, since there is none: the key itself is.
		client: &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{cert},
			InsecureSkipVerify: true, VerifyConnection: pinned},
	}, nil
}

var errSecret = errors.New("the other node has another cluster secret, or certificates in its place")

// dialSide wraps an outgoing connection.
func (c credentials) dialSide(conn net.Conn, address string) net.Conn {
	switch {
	case c.files != nil:
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			host = address
		}
		return tls.Client(conn, c.files.client(host))
	case c.client == nil:
		return conn
	}
	return tls.Client(conn, c.client)
}

// acceptSide wraps an incoming connection.
func (c credentials) acceptSide(conn net.Conn) net.Conn {
	switch {
	case c.files != nil:
		return tls.Server(conn, c.files.server())
	case c.server == nil:
		return conn
	}
	return tls.Server(conn, c.server)
}

// certificateRefused tells why two nodes could not greet each other, where that is a
// certificate, or "".
func certificateRefused(err error) string {
	var theirs *tls.CertificateVerificationError
	if errors.As(err, &theirs) {
		return "its peer certificate is not accepted here: " + theirs.Err.Error()
	}
	var remote *net.OpError
	if errors.As(err, &remote) && remote.Op == "remote error" {
		return "it does not accept the peer certificate of this node: " + remote.Err.Error()
	}
	return ""
}

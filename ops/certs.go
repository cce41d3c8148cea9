package ops

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// The names of an authority's files, and what follows a node's name in those of its
// own.
const (
	authorityName = "ca"
	certSuffix    = ".crt"
	keySuffix     = ".key"
)

// backdated is how far back a certificate is valid, for clocks that differ.
const backdated = time.Hour

// CertReport tells of one certificate. The key lies beside it, for its owner only.
type CertReport struct {
	Name      string    `json:"name"`
	Cert      string    `json:"cert"`
	Key       string    `json:"key,omitempty"`
	Authority bool      `json:"authority"`
	Hosts     []string  `json:"hosts,omitempty"`
	NotBefore time.Time `json:"not_before"`
	NotAfter  time.Time `json:"not_after"`
	Serial    string    `json:"serial"`
	Problem   string    `json:"problem,omitempty"`
}

// MakeAuthority makes a small authority of a cluster in a directory: ca.crt, which
// every node gets, and ca.key, which stays where it is. What is there is never
// replaced.
func MakeAuthority(dir, name string, valid time.Duration, now time.Time) (*CertReport, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of the authority: %w", err)
	}
	template, err := newTemplate(name, valid, now)
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid, template.MaxPathLenZero = true, true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	return issue(dir, authorityName, template, nil, nil, false)
}

var certName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// MakeNodeCert makes a node's certificate and key by the authority of a directory. It
// is valid for the hosts and addresses that others dial, on both sides of a
// connection. Renew replaces one that is there; otherwise that is refused.
func MakeNodeCert(dir, node string, hosts []string, valid time.Duration, now time.Time, renew bool) (*CertReport, error) {
	switch {
	case !certName.MatchString(node) || node == authorityName:
		return nil, fmt.Errorf("the node name %q is not 1 to 64 letters, digits, dots, dashes and underscores, or is that of the authority", node)
	case len(hosts) == 0:
		return nil, errors.New("name the hosts and addresses that other nodes reach this one at")
	}
	authority, signer, err := loadAuthority(dir)
	if err != nil {
		return nil, err
	}
	if now.Add(valid).After(authority.NotAfter) {
		return nil, fmt.Errorf("the authority ends on %s, before the certificate would: ask for fewer days, or make a new authority", authority.NotAfter.UTC().Format(time.DateOnly))
	}
	template, err := newTemplate(node, valid, now)
	if err != nil {
		return nil, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else if host == "" || net.ParseIP(host) == nil && !hostName.MatchString(host) {
			return nil, fmt.Errorf("the host %q is neither a name nor an address (without a port)", host)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return issue(dir, node, template, authority, signer, renew)
}

var hostName = regexp.MustCompile(`^(\*\.)?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)

func newTemplate(name string, valid time.Duration, now time.Time) (*x509.Certificate, error) {
	if valid < time.Hour {
		return nil, errors.New("a certificate is valid for an hour at least")
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("make a serial number: %w", err)
	}
	return &x509.Certificate{
		SerialNumber: serial.Add(serial, big.NewInt(1)), Subject: pkix.Name{CommonName: name, Organization: []string{"abagraph"}},
		NotBefore: now.Add(-backdated), NotAfter: now.Add(valid),
	}, nil
}

// issue makes a key and signs its certificate; without a signer, by itself.
func issue(dir, name string, template, parent *x509.Certificate, signer *ecdsa.PrivateKey, replace bool) (*CertReport, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return nil, fmt.Errorf("sign a certificate: %w", err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode a key: %w", err)
	}
	certPath, keyPath := filepath.Join(dir, name+certSuffix), filepath.Join(dir, name+keySuffix)
	for _, path := range []string{certPath, keyPath} {
		if _, err := os.Lstat(path); err == nil && !replace {
			return nil, fmt.Errorf("%s is there already: nothing was made", path)
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("look for %s: %w", path, err)
		}
	}
	if err := writePEM(keyPath, "PRIVATE KEY", raw, replace); err != nil {
		return nil, err
	}
	if err := writePEM(certPath, "CERTIFICATE", der, replace); err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read the new certificate: %w", err)
	}
	report := reportOf(certPath, cert)
	report.Key = keyPath
	return report, nil
}

// writePEM writes a file for its owner only, whole or not at all; without replace,
// never over another.
func writePEM(path, kind string, content []byte, replace bool) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".abagraph-*.partial") // made with mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	err = pem.Encode(f, &pem.Block{Type: kind, Bytes: content})
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil && replace {
		err = os.Rename(f.Name(), path)
	} else if err == nil {
		err = os.Link(f.Name(), path) // which never replaces one that came meanwhile
	}
	if removed := os.Remove(f.Name()); removed != nil && !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func loadAuthority(dir string) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	cert, err := readCert(filepath.Join(dir, authorityName+certSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("there is no authority in %s: make one with abagraph ops certs ca --dir %s", dir, dir)
	}
	if err != nil {
		return nil, nil, err
	}
	raw, err := os.ReadFile(filepath.Join(dir, authorityName+keySuffix))
	if err != nil {
		return nil, nil, fmt.Errorf("read the authority's key: %w", err)
	}
	block, _ := pem.Decode(raw)
	if block == nil {
		return nil, nil, errors.New("the authority's key is no PEM file")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, nil, fmt.Errorf("read the authority's key: %w", err)
	}
	signer, ok := key.(*ecdsa.PrivateKey)
	if !ok || !signer.PublicKey.Equal(cert.PublicKey) || !cert.IsCA {
		return nil, nil, fmt.Errorf("the key and the certificate in %s are not those of one authority", dir)
	}
	return cert, signer, nil
}

func readCert(path string) (*x509.Certificate, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read a certificate: %w", err)
	}
	block, _ := pem.Decode(raw)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, fmt.Errorf("%s holds no certificate", path)
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read the certificate %s: %w", path, err)
	}
	return cert, nil
}

func reportOf(path string, cert *x509.Certificate) *CertReport {
	r := &CertReport{Name: cert.Subject.CommonName, Cert: path, Authority: cert.IsCA, Hosts: cert.DNSNames,
		NotBefore: cert.NotBefore.UTC(), NotAfter: cert.NotAfter.UTC(), Serial: fmt.Sprintf("%x", cert.SerialNumber)}
	for _, ip := range cert.IPAddresses {
		r.Hosts = append(r.Hosts, ip.String())
	}
	return r
}

// soon is how long before its end a certificate is told to be renewed.
const soon = 30 * 24 * time.Hour

// ListCerts reads every certificate of an authority's directory, by name, and says
// which have to be renewed or do not fit the authority.
func ListCerts(dir string, now time.Time) ([]*CertReport, error) {
	if _, err := os.Stat(filepath.Join(dir, authorityName+certSuffix)); err != nil {
		return nil, fmt.Errorf("list the certificates of an authority: %w", err)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*"+certSuffix))
	if err != nil {
		return nil, fmt.Errorf("list the certificates: %w", err)
	}
	roots := x509.NewCertPool()
	if authority, err := readCert(filepath.Join(dir, authorityName+certSuffix)); err == nil {
		roots.AddCert(authority)
	}
	list := []*CertReport{}
	for _, path := range paths {
		cert, err := readCert(path)
		if err != nil {
			list = append(list, &CertReport{Name: filepath.Base(path), Cert: path, Problem: err.Error()})
			continue
		}
		r := reportOf(path, cert)
		_, err = cert.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
		switch {
		case now.After(cert.NotAfter):
			r.Problem = "it has ended: renew it"
		case err != nil:
			r.Problem = err.Error()
		case now.Add(soon).After(cert.NotAfter):
			r.Problem = "it ends within 30 days: renew it"
		}
		list = append(list, r)
	}
	return list, nil
}

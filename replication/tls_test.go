package replication

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// authority makes certificates for the nodes of a test.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	a := &authority{dir: t.TempDir()}
	a.cert, a.key = a.sign(t, "ca", &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Now().Add(90 * 24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	return a
}

func (a *authority) node(t *testing.T, name string) *TLSFiles {
	a.sign(t, name, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Unix(0, 0), NotAfter: time.Now().Add(90 * 24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	})
	return &TLSFiles{Cert: a.path(name + ".pem"), Key: a.path(name + ".key"), CA: a.path("ca.pem")}
}

// end is when a node's certificate ends, in Unix seconds.
func (a *authority) end(t *testing.T, name string) int64 {
	t.Helper()
	raw, err := os.ReadFile(a.path(name + ".pem"))
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(raw)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert.NotAfter.Unix()
}

func (a *authority) path(name string) string { return filepath.Join(a.dir, name) }

func (a *authority) sign(t *testing.T, name string, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, a.path(name+".pem"), "CERTIFICATE", der)
	writePEM(t, a.path(name+".key"), "EC PRIVATE KEY", raw)
	return cert, key
}

func writePEM(t *testing.T, path, kind string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestMutualTLSFromFiles(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	c := newCluster(t, func(o *Options) { o.Secret, o.TLS = "", ours.node(t, o.NodeID) })
	c.start("n1", "", "")
	c.start("n2", "", c.members["n1"].address)
	c.waitVoters(2)
	c.members["n2"].mustWrite(t, write("Lamp:l", 1))
	if v := c.members["n1"].mustRead(t, "Lamp:l"); v != "1" {
		t.Fatalf("read %q", v)
	}
	c.tune = func(o *Options) { o.Secret, o.TLS = "", theirs.node(t, o.NodeID) }
	c.start("n3", "", c.members["n1"].address)
	eventually(t, "a failed join", func() bool { return c.members["n3"].Status().Problem != "" })
	if n := len(c.members["n1"].servers()); n != 2 {
		t.Fatalf("a node with another authority's certificate got in: %d members", n)
	}
}

// TestCertificatesAreReloaded moves a running cluster to another authority, file by
// file and without a restart: afterwards the new one's nodes get in, and the old
// one's do not.
func TestCertificatesAreReloaded(t *testing.T) {
	before, after := newAuthority(t), newAuthority(t)
	mine := map[string]*TLSFiles{}
	c := newCluster(t, func(o *Options) {
		if mine[o.NodeID] == nil {
			mine[o.NodeID] = before.node(t, o.NodeID)
			mine[o.NodeID].CA = before.path(o.NodeID + "-ca.pem")
			copyFiles(t, mine[o.NodeID].CA, before.path("ca.pem"))
		}
		o.Secret, o.TLS = "", mine[o.NodeID]
	})
	c.start("n1", "", "")
	c.start("n2", "", c.members["n1"].address)
	c.waitVoters(2)
	for _, files := range mine { // first everybody trusts both
		copyFiles(t, files.CA, before.path("ca.pem"), after.path("ca.pem"))
	}
	for id, files := range mine { // then each takes a new certificate, the key a moment later
		next := after.node(t, id)
		copyFiles(t, files.Cert, next.Cert)
		c.members["n2"].mustWrite(t, write("Lamp:l", 1))
		copyFiles(t, files.Key, next.Key)
	}
	for _, files := range mine { // then nobody trusts the old one any more
		copyFiles(t, files.CA, after.path("ca.pem"))
	}
	mine["n3"] = after.node(t, "n3")
	c.start("n3", "", c.members["n1"].address)
	c.waitVoters(3)
	c.members["n3"].mustWrite(t, write("Lamp:l", 2))
	files := c.members["n3"].port.creds.files
	for days, says := range map[time.Duration]string{75: "", 77: "ends at", 91: "has ended at"} {
		if told := files.ending(time.Now().Add(days * 24 * time.Hour)); !strings.Contains(told, says) || (told == "") != (says == "") {
			t.Errorf("after %d days the operator is told %q", days, told)
		}
	}
	if end := c.members["n3"].certificateEnd(); end != float64(after.end(t, "n3")) {
		t.Errorf("the certificate ends at %v", end)
	}
	if told := c.members["n3"].Status().Problem; told != "" {
		t.Errorf("of a certificate that is good for long is told %q", told)
	}
	mine["n4"] = before.node(t, "n4")
	c.start("n4", "", c.members["n1"].address)
	eventually(t, "a failed join", func() bool { return c.members["n4"].Status().Problem != "" })
	if n := len(c.members["n1"].servers()); n != 3 {
		t.Fatalf("the old authority's certificate got in: %d members", n)
	}
}

func copyFiles(t *testing.T, to string, from ...string) {
	t.Helper()
	var all []byte
	for _, path := range from {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, raw...)
	}
	next := to + ".next"
	if err := os.WriteFile(next, all, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, to); err != nil {
		t.Fatal(err)
	}
}

// TestACertificateThatHasEndedIsToldOnBothSides: the others say why they do not reach its
// node, and that node why it reaches nobody; a new one is taken up without a restart.
func TestACertificateThatHasEndedIsToldOnBothSides(t *testing.T) {
	ours := newAuthority(t)
	mine := map[string]*TLSFiles{}
	c := newCluster(t, func(o *Options) {
		if mine[o.NodeID] == nil {
			mine[o.NodeID] = ours.node(t, o.NodeID)
		}
		o.Secret, o.TLS = "", mine[o.NodeID]
	})
	one := c.start("n1", "", "")
	two := c.start("n2", "", one.address)
	c.waitVoters(2)
	ours.sign(t, "ended", &x509.Certificate{
		SerialNumber: big.NewInt(3), Subject: pkix.Name{CommonName: "n2"}, NotBefore: time.Unix(0, 0), NotAfter: time.Now().Add(-time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	})
	copyFiles(t, mine["n2"].Cert, ours.path("ended.pem"))
	copyFiles(t, mine["n2"].Key, ours.path("ended.key"))
	c.wires.isolate("n2", c.members, true)
	c.wires.isolate("n2", c.members, false)
	says := func(m *member, of, what string) func() bool {
		return func() bool {
			_, all := m.Report(soon(t))
			for _, r := range all {
				if r.ID == of {
					return strings.Contains(r.Problem, what)
				}
			}
			return false
		}
	}
	eventually(t, "n1 tells of n2", says(one, "n2", "its peer certificate is not accepted here: x509: certificate has expired"))
	eventually(t, "n2 tells of n1", says(two, "n1", "it does not accept the peer certificate of this node: tls: expired certificate"))
	eventually(t, "n2 tells of itself", says(two, "n2", "has ended at"))
	next := ours.node(t, "renewed")
	copyFiles(t, mine["n2"].Cert, next.Cert)
	copyFiles(t, mine["n2"].Key, next.Key)
	eventually(t, "a write", func() bool {
		_, err := two.Propose(soon(t), write("Lamp:l", 2))
		return err == nil
	})
	eventually(t, "nothing is wrong", func() bool {
		_, all := one.Report(soon(t))
		return len(all) == 2 && all[0].Problem+all[1].Problem == "" && all[1].Reachable
	})
}

func TestPlainTextOnLoopback(t *testing.T) {
	c := newCluster(t, func(o *Options) { o.Secret = "" })
	c.start("n1", "", "")
	c.start("n2", "", c.members["n1"].address)
	c.waitVoters(2)
	c.members["n2"].mustWrite(t, write("Lamp:l", 1))
}

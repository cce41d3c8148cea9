package ops_test

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"abagraph/ops"
)

var certNow = time.Now()

const certDay = 24 * time.Hour

// meet has two nodes with certificates greet each other by mutual TLS.
func meet(t *testing.T, dir, server, client, host string) error {
	t.Helper()
	load := func(name string) (tls.Certificate, *x509.CertPool) {
		cert, err := tls.LoadX509KeyPair(filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key"))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
		if err != nil {
			t.Fatal(err)
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(raw)
		return cert, pool
	}
	sc, sp := load(server)
	cc, cp := load(client)
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	done := make(chan error, 1)
	go func() {
		s := tls.Server(a, &tls.Config{Certificates: []tls.Certificate{sc}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: sp, MinVersion: tls.VersionTLS13})
		err := s.Handshake()
		if err == nil {
			_, err = s.Write([]byte("x"))
		}
		done <- err
		a.Close()
	}()
	c := tls.Client(b, &tls.Config{Certificates: []tls.Certificate{cc}, RootCAs: cp, ServerName: host, MinVersion: tls.VersionTLS13})
	_, err := c.Read(make([]byte, 1))
	b.Close()
	if served := <-done; err == nil {
		err = served
	}
	return err
}

func TestCertificatesOfAnAuthority(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "certs")
	if _, err := ops.MakeNodeCert(dir, "n1", []string{"127.0.0.1"}, certDay, certNow, false); err == nil || !strings.Contains(err.Error(), "ops certs ca") {
		t.Errorf("without an authority: %v", err)
	}
	if _, err := ops.MakeAuthority(dir, "test", 100*certDay, certNow); err != nil {
		t.Fatal(err)
	}
	for _, node := range []string{"n1", "n2"} {
		r, err := ops.MakeNodeCert(dir, node, []string{node + ".example", "127.0.0.1", "::1"}, 50*certDay, certNow, false)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Hosts) != 3 {
			t.Errorf("it is for %v", r.Hosts)
		}
	}
	for _, host := range []string{"n1.example", "127.0.0.1", "::1"} {
		if err := meet(t, dir, "n1", "n2", host); err != nil {
			t.Errorf("dialled as %s: %v", host, err)
		}
	}
	if err := meet(t, dir, "n1", "n2", "n2.example"); err == nil {
		t.Error("a certificate was taken for a host that it does not name")
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 6 {
		t.Fatalf("the directory holds %v: %v", files, err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v: %v", f.Name(), info.Mode(), err)
		}
	}
}

func TestCertificatesReplaceNothing(t *testing.T) {
	dir := t.TempDir()
	if _, err := ops.MakeAuthority(dir, "test", 100*certDay, certNow); err != nil {
		t.Fatal(err)
	}
	if _, err := ops.MakeNodeCert(dir, "n1", []string{"127.0.0.1"}, certDay, certNow, false); err != nil {
		t.Fatal(err)
	}
	before := tree(t, dir)
	for what, try := range map[string]func() error{
		"an authority again": func() error { _, err := ops.MakeAuthority(dir, "test", certDay, certNow); return err },
		"a node again": func() error {
			_, err := ops.MakeNodeCert(dir, "n1", []string{"a"}, certDay, certNow, false)
			return err
		},
		"a node named as the authority": func() error {
			_, err := ops.MakeNodeCert(dir, "ca", []string{"a"}, certDay, certNow, true)
			return err
		},
		"a path for a name": func() error {
			_, err := ops.MakeNodeCert(dir, "../n2", []string{"a"}, certDay, certNow, false)
			return err
		},
		"no host": func() error { _, err := ops.MakeNodeCert(dir, "n2", nil, certDay, certNow, false); return err },
		"a host with a port": func() error {
			_, err := ops.MakeNodeCert(dir, "n2", []string{"a:9080"}, certDay, certNow, false)
			return err
		},
		"longer than the authority": func() error {
			_, err := ops.MakeNodeCert(dir, "n2", []string{"a"}, 101*certDay, certNow, false)
			return err
		},
	} {
		if err := try(); err == nil {
			t.Errorf("%s: it was made", what)
		}
		for path, content := range tree(t, dir) {
			if before[path] != content {
				t.Fatalf("%s: %s was written", what, path)
			}
		}
	}
	if _, err := ops.MakeNodeCert(dir, "n1", []string{"127.0.0.1"}, certDay, certNow, true); err != nil {
		t.Fatal(err)
	}
	after := tree(t, dir)
	for _, name := range []string{"n1.crt", "n1.key"} {
		if path := filepath.Join(dir, name); after[path] == before[path] {
			t.Errorf("%s was not renewed", name)
		}
	}
	if path := filepath.Join(dir, "ca.key"); after[path] != before[path] || len(after) != len(before) {
		t.Error("renewing a node's certificate has changed another file")
	}
}

func TestCertificatesAreListed(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	for _, d := range []string{dir, other} {
		if _, err := ops.MakeAuthority(d, "test", 100*certDay, certNow); err != nil {
			t.Fatal(err)
		}
	}
	for name, days := range map[string]time.Duration{"long": 60, "short": 10} {
		if _, err := ops.MakeNodeCert(dir, name, []string{"a"}, days*certDay, certNow, false); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ops.MakeNodeCert(other, "foreign", []string{"a"}, 60*certDay, certNow, false); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(other, "foreign.crt"), filepath.Join(dir, "foreign.crt")); err != nil {
		t.Fatal(err)
	}
	told := func(now time.Time) map[string]string {
		list, err := ops.ListCerts(dir, now)
		if err != nil {
			t.Fatal(err)
		}
		problems := map[string]string{}
		for _, r := range list {
			problems[r.Name] = r.Problem
		}
		return problems
	}
	now := told(certNow)
	if now["test"] != "" || now["long"] != "" || !strings.Contains(now["short"], "30 days") || !strings.Contains(now["foreign"], "unknown authority") {
		t.Errorf("told %q", now)
	}
	if later := told(certNow.Add(20 * certDay)); !strings.Contains(later["short"], "has ended") {
		t.Errorf("later it told %q", later)
	}
}

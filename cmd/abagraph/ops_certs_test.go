package main

import (
	"strings"
	"testing"
)

// TestOpsCertsAsAUser makes an authority and two nodes' certificates, and looks at
// them.
func TestOpsCertsAsAUser(t *testing.T) {
	r := shell(t)
	dir := r.home + "/certs"
	if said := r.fails("ops", "certs", "node", "n1", "--dir", dir, "--host", "127.0.0.1"); !strings.Contains(said, "ops certs ca") {
		t.Errorf("without an authority it says %q", said)
	}
	r.ok("ops", "certs", "ca", "--dir", dir)
	made := r.object("ops", "certs", "node", "n1", "--dir", dir, "--host", "127.0.0.1,n1.example")
	if made["cert"] != dir+"/n1.crt" || made["key"] != dir+"/n1.key" {
		t.Errorf("it made %v", made)
	}
	if said := r.fails("ops", "certs", "node", "n1", "--dir", dir, "--host", "127.0.0.1"); !strings.Contains(said, "is there already: nothing was made") {
		t.Errorf("a second time it says %q", said)
	}
	r.ok("ops", "certs", "node", "n1", "--dir", dir, "--host", "127.0.0.1", "--renew")
	r.ok("ops", "certs", "node", "n2", "--dir", dir, "--host", "127.0.0.1", "--days", "3")
	r.terminal = true
	code, out, _ := r.run("ops", "certs", "list", "--dir", dir)
	if code != 1 || !strings.Contains(out, "ends within 30 days") || strings.Contains(out, "PRIVATE") {
		t.Errorf("the list ends with %d and says %q", code, out)
	}
	r.terminal = false
	if said := r.fails("ops", "certs", "list", "--dir", dir+"/typo"); !strings.Contains(said, "no such file") {
		t.Errorf("of no authority it says %q", said)
	}
}

package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"abagraph/client"
	"abagraph/fact"
)

// TestServeSaysWhereItIs: the banner names address, data and the missing key,
// and its curl line works as it stands.
func TestServeSaysWhereItIs(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	p := launch(t, "--bind", "127.0.0.1:0", "--data", data).up()
	out := p.out.String()
	for _, want := range []string{"abagraph " + version, "listening  http://127.0.0.1:", "data       " + data, "auth       off, because no key is set"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	_, curl, _ := strings.Cut(out, "try        ")
	if _, err := exec.LookPath("curl"); err != nil {
		t.Log("there is no curl here: its line is not tried")
	} else if got, err := exec.Command("sh", "-c", curl).CombinedOutput(); err != nil || !strings.Contains(string(got), `"object":"Company:acme"`) {
		t.Errorf("the curl line answered %s, %v", got, err)
	}
	for _, line := range strings.Split(strings.TrimSpace(p.errs.String()), "\n") {
		if !strings.HasPrefix(line, `{"ts":`) {
			t.Errorf("stderr has a line that is no event: %q", line)
		}
	}
	p.stop()
}

func TestServeRefusesInOneLineAndTouchesNothing(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "letter.txt"), []byte("dear"), 0o600); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(foreign, "letter.txt")
	for want, args := range map[string][]string{
		"address already in use":                  {"--bind", taken.Addr().String()},
		"refusing to listen on 0.0.0.0:0 without": {"--bind", "0.0.0.0:0"},
		"is not an abagraph data directory":       {"--bind", "127.0.0.1:0", "--data", foreign},
		"make the data directory: ":               {"--bind", "127.0.0.1:0", "--data", plain},
		"must be HOST:PORT":                       {"--bind", "nowhere"},
		"without a cluster secret":                {"--bind", "127.0.0.1:0", "--peer-bind", "0.0.0.0:0"},
		"fewer than 16 characters":                {"--bind", "127.0.0.1:0", "--peer-bind", "127.0.0.1:0", "--cluster-secret", "short"},
		"must look like https://":                 {"--bind", "127.0.0.1:0", "--allowed-origins", "console"},
		"unknown flag: --bnid":                    {"--bnid", "127.0.0.1:0"},
		"is not 1 to 64 letters":                  {"--bind", "127.0.0.1:0", "--node-id", "a b"},
		"either founds a cluster":                 {"--bind", "127.0.0.1:0", "--bootstrap", "--join", "127.0.0.1:9"},
	} {
		data := filepath.Join(t.TempDir(), "data")
		if !strings.Contains(strings.Join(args, " "), "--data") {
			args = append(args, "--data", data)
		}
		if got := launch(t, args...).refused(); !strings.Contains(got, want) {
			t.Errorf("serve %s said %q, want %q", strings.Join(args, " "), got, want)
		}
	}
	if text, err := os.ReadFile(plain); err != nil || string(text) != "dear" {
		t.Errorf("the foreign file holds %q, %v", text, err)
	}
	if names, err := os.ReadDir(foreign); err != nil || len(names) != 1 {
		t.Errorf("the foreign directory holds %v, %v", names, err)
	}
}

func TestServeKeepsASecondProcessOut(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	first := launch(t, "--bind", "127.0.0.1:0", "--data", data).up()
	if got := launch(t, "--bind", "127.0.0.1:0", "--data", data).refused(); !strings.Contains(got, "is in use by another process") {
		t.Errorf("said %q", got)
	}
	if _, err := first.client().Stats(t.Context(), client.Read{}); err != nil {
		t.Errorf("the first one: %v", err)
	}
}

// CLU-03: a member is not founded anew, and nothing of it is touched.
func TestCLU03BootstrapOfAMemberIsRefused(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	p := launch(t, "--bind", "127.0.0.1:0", "--data", data, "--bootstrap").up()
	assert(t, p.client(), "Counter:c", "value", "one")
	before := export(t, p)
	p.kill()
	if got := launch(t, "--bind", "127.0.0.1:0", "--data", data, "--bootstrap").refused(); !strings.Contains(got, "is a member's already") {
		t.Errorf("said %q", got)
	}
	p = launch(t, "--bind", "127.0.0.1:0", "--data", data).up()
	if after := export(t, p); after != before {
		t.Errorf("afterwards\n%s\nwas\n%s", after, before)
	}
}

// TestServeKeepsEveryAnswer: after an orderly end, and after kill -9 in the
// middle of things, a node answers as before.
func TestServeKeepsEveryAnswer(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	p := launch(t, "--bind", "127.0.0.1:0", "--data", data).up()
	for _, object := range []string{"one", "two", "three"} {
		assert(t, p.client(), "Counter:c", "value", object)
	}
	before := export(t, p)
	p.stop()
	p = launch(t, "--bind", "127.0.0.1:0", "--data", data).up()
	if after := export(t, p); after != before {
		t.Errorf("after an orderly end\n%s\nwas\n%s", after, before)
	}
	assert(t, p.client(), "Counter:c", "value", "four")
	before = export(t, p)
	p.kill()
	p = launch(t, "--bind", "127.0.0.1:0", "--data", data).up()
	if after := export(t, p); after != before || strings.Count(after, "\n") != 4 {
		t.Errorf("after kill -9\n%s\nwas\n%s", after, before)
	}
}

func TestServeInMemoryKeepsNothing(t *testing.T) {
	p := launch(t, "--bind", "127.0.0.1:0", "--data", ":memory:").up()
	if !strings.Contains(p.out.String(), "in memory only") {
		t.Errorf("said %s", p.out.String())
	}
	assert(t, p.client(), "a", "p", "o")
	p.stop()
	if _, err := os.Stat(":memory:"); err == nil {
		t.Error("a directory :memory: was made")
	}
}

// TestServeWithAKey: with one the node may be reached from outside, and without
// it a caller learns nothing.
func TestServeWithAKey(t *testing.T) {
	p := launch(t, "--bind", "127.0.0.1:0", "--data", ":memory:", "--admin-key", "the-operators-key").up()
	if out := p.out.String(); !strings.Contains(out, "auth       on") || strings.Contains(out, "the-operators-key") {
		t.Errorf("said %s", out)
	}
	if _, err := p.client().Stats(t.Context(), client.Read{}); client.CodeOf(err) != fact.NotFound {
		t.Errorf("without a key: %v", err)
	}
	c, err := client.New(p.url, client.WithKey("the-operators-key"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Stats(t.Context(), client.Read{}); err != nil {
		t.Errorf("with the key: %v", err)
	}
	p.stop()
	if strings.Contains(p.errs.String(), "the-operators-key") {
		t.Error("the key is in the process log")
	}
}

func assert(t *testing.T, c *client.Client, subject, predicate, object string) *client.Asserted {
	t.Helper()
	got, err := c.Assert(t.Context(), client.Assert{Subject: subject, Predicate: predicate, Object: fact.TextObject(object)}, client.Write{})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// export returns every fact of a server as the command line exports it.
func export(t *testing.T, p *process) string {
	t.Helper()
	r := shell(t)
	return r.ok("export", "--all", "--url", p.url)
}

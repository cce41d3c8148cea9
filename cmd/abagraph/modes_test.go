//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFilesAreTheirOwnersAlone: whatever a command writes, also into a directory that
// anybody may read, nobody but its owner can read.
func TestFilesAreTheirOwnersAlone(t *testing.T) {
	home := t.TempDir()
	at := func(name string) string { return filepath.Join(home, name) }
	p := launch(t, "--bind", "127.0.0.1:0", "--data", at("node")).up()
	do := func(args ...string) {
		t.Helper()
		command := program(t, args...)
		command.Env = append(command.Env, "ABAGRAPH_URL="+p.url, "TMPDIR="+home, "HOME="+home)
		if said, err := command.CombinedOutput(); err != nil {
			t.Errorf("%q: %v, %s", args, err, said)
		}
	}
	for name, text := range map[string]string{"old.jsonl": "old", "rows.jsonl": `{"subject":"A:1","predicate":"p","object":"x"}` + "\n"} {
		if err := os.WriteFile(at(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(at("open"), 0o755); err != nil {
		t.Fatal(err)
	}
	do("init", "--url", p.url)
	do("import", at("rows.jsonl"))
	do("export", "--all", "-o", at("new.jsonl"))
	do("export", "--all", "-o", at("old.jsonl"))
	do("ops", "backup", at("b.backup"), "--check")
	do("ops", "bundle", at("bundle.tar.gz"))
	do("ops", "certs", "ca", "--dir", at("certs"))
	do("ops", "certs", "node", "n1", "--dir", at("certs"), "--host", "127.0.0.1")
	do("ops", "restore", at("b.backup"), "--data", at("restored"))
	do("ops", "snapshot")
	p.stop()
	do("ops", "compact", at("node"))
	h := hosting(t, "--data", at("open"))
	h.ask("initialize", hello)
	h.tool("remember", `{"subject":"A:b","predicate":"text","object":"private"}`)
	h.end()
	for _, name := range []string{"", "rows.jsonl", "open"} { // made by the test
		if err := os.Chmod(at(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	ownersAlone(t, home)
	if text, err := os.ReadFile(at("old.jsonl")); err != nil || !strings.HasPrefix(string(text), `{"id"`) {
		t.Errorf("the file that was there holds %.20q, %v", text, err)
	}
	if left, err := filepath.Glob(at(".abagraph-*")); err != nil || len(left) > 0 {
		t.Error(fmt.Sprint("left behind: ", left, err))
	}
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOpsAfterAKill: what was acknowledged last is in the journal of the log only when
// the process is killed. Every command that reads a directory finds it there and changes
// nothing; one that rewrites it keeps it.
func TestOpsAfterAKill(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	node := []string{"--bind", "127.0.0.1:0", "--data", data}
	p := launch(t, node...).up()
	assert(t, p.client(), "Person:alice", "likes", "tea")
	p.kill()
	if strings.Contains(content(t, filepath.Join(data, "raft.db")), "Person:alice") {
		t.Fatal("the entry was moved already: the test looks at nothing")
	}
	before := content(t, filepath.Join(data, "raft.journal"))
	r := shell(t)
	if out := r.ok("ops", "log", "dump", data, "--facts"); strings.Count(out, "Person:alice") != 1 {
		t.Errorf("the dump: %s", out)
	}
	if got := r.object("ops", "verify", data); got["sound"] != true {
		t.Errorf("verify: %v", got)
	}
	if got := r.object("ops", "replay", data); got["same"] != true {
		t.Errorf("replay: %v", got)
	}
	if got := r.object("ops", "doctor", "--data", data); got["healthy"] != true {
		t.Errorf("doctor: %v", got)
	}
	if content(t, filepath.Join(data, "raft.journal")) != before {
		t.Error("a command that reads has changed the journal")
	}
	r.ok("ops", "compact", data)
	if strings.Contains(content(t, filepath.Join(data, "raft.journal")), "Person:alice") {
		t.Error("the journal holds it still")
	}
	if out := r.ok("ops", "log", "dump", data, "--facts"); strings.Count(out, "Person:alice") != 1 {
		t.Errorf("the dump after the compaction: %s", out)
	}
	p = launch(t, node...).up()
	if got := shellOf(t, p).objects("--subject", "Person:alice"); got != `"tea"` {
		t.Errorf("it is %v", got)
	}
	p.stop()
}

func content(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

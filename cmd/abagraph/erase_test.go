package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestErasedByLaw goes by the runbook: afterwards no file of the node holds what was
// purged, nor the name of its subject, and the node serves on.
func TestErasedByLaw(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	node := []string{"--bind", "127.0.0.1:0", "--data", data}
	p := launch(t, node...).up()
	r := shellOf(t, p)
	r.ok("assert", "Person:erika-canary", "says", "the canary sings")
	r.ok("assert", "Person:other", "says", "nothing")
	r.ok("ops", "snapshot")
	r.ok("purge", "--subject", "Person:erika-canary", "--confirm")
	p.stop()
	r.ok("ops", "compact", data, "--trim-all")
	p = launch(t, node...).up()
	r = shellOf(t, p)
	if got := r.objects("--subject", "Person:other"); got != `"nothing"` {
		t.Errorf("the others: %v", got)
	}
	err := filepath.WalkDir(data, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if bytes.Contains(raw, []byte("canary")) {
			t.Errorf("%s holds it still", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	p.stop()
}

//go:build unix

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOfflineCommandsLeaveFilesToTheirOwner: an operator who runs them as root does not
// lock the node's own user out. Where the test is not root, all is its own anyway.
func TestOfflineCommandsLeaveFilesToTheirOwner(t *testing.T) {
	home := t.TempDir()
	data, saved, empty := filepath.Join(home, "data"), filepath.Join(home, "b.backup"), filepath.Join(home, "empty")
	p := launch(t, "--bind", "127.0.0.1:0", "--data", data).up()
	r := shellOf(t, p)
	r.ok("assert", "Person:alice", "likes", "tea")
	r.ok("ops", "backup", saved)
	p.stop()
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	owner := os.Geteuid()
	if owner == 0 {
		owner = 12_345
	}
	give := func(dir string) {
		t.Helper()
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(path, owner, -1)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	give(data)
	give(empty)
	r.ok("ops", "compact", data)
	r.ok("ops", "restore", saved, "--data", empty)
	r.ok("ops", "restore", saved, "--data", data, "--replace")
	for _, dir := range []string{data, empty} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			if its := info.Sys().(*syscall.Stat_t); int(its.Uid) != owner {
				t.Errorf("%s belongs to %d", path, its.Uid)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

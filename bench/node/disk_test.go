package node

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDiskCountsSharedFilesOnce(t *testing.T) {
	dir := t.TempDir()
	c := &Cluster{members: []*member{{dir: dir}}}
	if _, err := c.Disk(); err == nil {
		t.Error("an empty data folder was measured")
	}
	for name, size := range map[string]int{"state/1.sst": 100, "state/wal/2.log": 10, "snapshots/a/meta": 1, "raft.db": 1000, "lock": 1} {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(dir, "state/1.sst"), filepath.Join(dir, "snapshots/a/1.sst")); err != nil {
		t.Fatal(err)
	}
	got, err := c.Disk()
	if want := (Disk{Store: 110, Snapshots: 1, Log: 1001}); err != nil || got != want {
		t.Errorf("disk = %+v, %v, want %+v", got, err, want)
	}
}

package replication

import (
	"bytes"
	"context"
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/fsm"
)

// A backup of any node holds what was acknowledged before; one at a time is under
// way; a second one is told so; and its checkpoint is gone once it is closed.
func TestBackupOfEachNode(t *testing.T) {
	c := three(t, nil)
	wrote := c.follower().mustWrite(t, write("a", 1))
	for _, m := range c.members {
		if _, err := m.Basis(t.Context(), fact.Linearizable, 0); err != nil {
			t.Fatal(err)
		}
		b, err := m.Backup(t.Context(), "test")
		if err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if _, err := m.Backup(short, "test"); fact.CodeOf(err) != fact.RateLimited {
			t.Errorf("a second one: %v", err)
		}
		cancel()
		var out bytes.Buffer
		if err := b.Write(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		size := int64(out.Len())
		got, err := fsm.CheckBackup(&out)
		if err != nil || got.Tx != wrote.Tx || got.Node != m.id || size != b.Size() {
			t.Errorf("%+v, %v", got, err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if _, err := m.machine.FS().Stat(b.dir); err == nil {
			t.Error("the checkpoint is still there")
		}
	}
}

package ops_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"abagraph/ops"
)

// The audit chain of a backup and of a restored directory holds, up to the same end;
// a hash that was noted elsewhere and is not the trail's is told, and so is a file
// that cannot be used. Nothing is left behind.
func TestVerifyAudit(t *testing.T) {
	path := file(t, filled(t, filepath.Join(t.TempDir(), "store")))
	temp := t.TempDir()
	run := func(job ops.VerifyAudit) *ops.VerifyAuditReport {
		t.Helper()
		job.Temp = temp
		report, err := job.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	backup := run(ops.VerifyAudit{Path: path})
	if !backup.Sound || backup.Kind != "backup" || backup.Audit.From != 1 || backup.Audit.Records != backup.Audit.Tx || backup.Audit.Tx == 0 {
		t.Fatalf("%+v, %+v", backup, backup.Audit)
	}
	data := filepath.Join(t.TempDir(), "data")
	restore(t, &ops.Restore{File: path, Data: data, NodeID: "n1"})
	if restored := run(ops.VerifyAudit{Path: data, NotedTx: backup.Audit.Tx, NotedHash: backup.Audit.Hash}); !restored.Sound || restored.Kind != "data" || restored.Audit.Hash != backup.Audit.Hash {
		t.Errorf("after a restore: %+v, %+v", restored, restored.Audit)
	}
	if other := run(ops.VerifyAudit{Path: data, NotedTx: backup.Audit.Tx, NotedHash: strings.Repeat("0", 64)}); other.Sound || !strings.Contains(other.Problems[0], "not the one that was noted") {
		t.Errorf("another hash: %+v", other)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if damaged := run(ops.VerifyAudit{Path: file(t, flipped(b, len(b)-50))}); damaged.Sound || len(damaged.Problems) != 1 {
		t.Errorf("damaged: %+v", damaged)
	}
	empty(t, temp)
	if _, err := (&ops.VerifyAudit{Path: filepath.Join(temp, "none")}).Run(t.Context()); err == nil {
		t.Error("a file that is not there was verified")
	}
}

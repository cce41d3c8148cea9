package ops

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"abagraph/fsm"
	rlog "abagraph/log"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// VerifyAudit follows the audit chain of a backup, or of the data directory of a
// node that does not run. It changes nothing.
type VerifyAudit struct {
	Path string
	// NotedTx and NotedHash are of a record that was noted elsewhere, which the
	// trail must have; 0 = none was.
	NotedTx   uint64
	NotedHash string
	// Temp is where a backup is unpacked; "" = the system's directory for such.
	Temp string
	// Progress is told what is being done and how far it is; total 0 = not known.
	Progress func(what string, done, total int64)
}

// VerifyAuditReport tells what was seen. Sound is set where there is no problem.
type VerifyAuditReport struct {
	Path     string             `json:"path"`
	Kind     string             `json:"kind"` // backup or data
	Sound    bool               `json:"sound"`
	Problems []string           `json:"problems"`
	Audit    *fsm.AuditVerified `json:"audit,omitempty"`
}

// Run follows the chain. The error tells why nothing could be checked; what was
// found to be wrong is in the report.
func (v *VerifyAudit) Run(ctx context.Context) (*VerifyAuditReport, error) {
	info, err := os.Stat(v.Path)
	if err != nil {
		return nil, fmt.Errorf("look at what is to be verified: %w", err)
	}
	report := &VerifyAuditReport{Path: v.Path, Problems: []string{}}
	if info.IsDir() {
		report.Kind, err = "data", v.directory(ctx, report)
	} else {
		report.Kind, err = "backup", v.backup(ctx, report)
	}
	if err != nil {
		return nil, err
	}
	report.Sound = len(report.Problems) == 0
	return report, nil
}

func (v *VerifyAudit) directory(ctx context.Context, report *VerifyAuditReport) error {
	lock, err := rlog.Lock(v.Path)
	if err != nil {
		return err
	}
	return errors.Join(v.store(ctx, report, filepath.Join(v.Path, "state")), lock.Close())
}

func (v *VerifyAudit) backup(ctx context.Context, report *VerifyAuditReport) error {
	file, size, err := openFile(v.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	temp, err := os.MkdirTemp(v.Temp, "abagraph-verify-")
	if err != nil {
		return fmt.Errorf("make room to unpack the backup: %w", err)
	}
	read := (&Restore{Progress: func(done, total int64) { v.tell("reading", done, total/2) }}).reader(ctx, file, 0, size)
	state := filepath.Join(temp, "state")
	if _, err = fsm.ReadBackup(vfs.Default, read, state); err == nil {
		err = v.store(ctx, report, state)
	} else if ctx.Err() == nil {
		report.Problems, err = append(report.Problems, err.Error()), nil
	}
	return errors.Join(err, os.RemoveAll(temp))
}

func (v *VerifyAudit) store(ctx context.Context, report *VerifyAuditReport, dir string) error {
	machine, err := fsm.Open(fsm.Options{Dir: dir, ReadOnly: true, CacheBytes: 16 << 20})
	if err != nil {
		report.Problems = append(report.Problems, err.Error())
		return ctx.Err()
	}
	defer machine.Close()
	view, err := machine.View()
	if err != nil {
		return err
	}
	defer view.Close()
	report.Audit, err = view.VerifyAudit(ctx, v.NotedTx, v.NotedHash, func(n uint64) { v.tell("records", int64(n), 0) })
	if err != nil {
		return err
	}
	report.Problems = append(report.Problems, report.Audit.Problems...)
	return nil
}

func (v *VerifyAudit) tell(what string, done, total int64) {
	if v.Progress != nil {
		v.Progress(what, done, total)
	}
}

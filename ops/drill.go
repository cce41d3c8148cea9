package ops

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"abagraph/fact"
)

// unsound is an error that says that a backup is none: its test restore was made, and
// what came of it is not what its manifest says.
type unsound struct{ error }

func (u unsound) Unwrap() error { return u.error }

// IsUnsound reports whether a test restore has found a backup to be unusable, rather
// than that it could not be made.
func IsUnsound(err error) bool { return errors.As(err, new(unsound)) }

// unsoundSuffix follows the name of a backup that was found to be unusable.
const unsoundSuffix = ".unsound"

// SetAside gives an unusable backup a name under which it counts as none, and returns
// that.
func SetAside(file string) (string, error) {
	if err := os.Rename(file, file+unsoundSuffix); err != nil {
		return "", fmt.Errorf("set the unusable backup aside: %w", err)
	}
	return file + unsoundSuffix, syncDir(filepath.Dir(file))
}

// Drill restores a backup into a temporary directory, checks what came of it to the
// last key, and removes it again. It fails where the restored data is not sound.
func Drill(ctx context.Context, file, temp string, progress func(what string, done, total int64), fatal Fatal) (*VerifyReport, error) {
	dir, err := os.MkdirTemp(temp, "abagraph-drill-")
	if err != nil {
		return nil, fmt.Errorf("make room for a test restore: %w", err)
	}
	report, err := drill(ctx, file, filepath.Join(dir, "data"), progress, fatal.leaving(dir))
	return report, errors.Join(err, os.RemoveAll(dir))
}

func drill(ctx context.Context, file, data string, progress func(what string, done, total int64), fatal Fatal) (*VerifyReport, error) {
	restore := Restore{File: file, Data: data, NodeID: "drill", Fatal: fatal}
	if progress != nil {
		restore.Progress = func(done, total int64) { progress("restoring", done, total) }
	}
	restored, err := restore.Run(ctx)
	if err != nil {
		err = fmt.Errorf("the test restore: %w", err)
		if fact.CodeOf(err) == fact.SchemaInvalid {
			err = unsound{err}
		}
		return nil, err
	}
	report, err := (&Verify{Path: data, Progress: progress}).Run(ctx)
	switch {
	case err != nil:
		return nil, err
	case !report.Sound:
		return report, unsound{fmt.Errorf("the test restore of %s is not sound: %s", file, report.Problems[0])}
	case report.Store.Tx != restored.Manifest.Tx || report.Store.Digest != restored.Manifest.Digest:
		return report, unsound{fmt.Errorf("the test restore of %s is at tx %d, the backup at tx %d", file, report.Store.Tx, restored.Manifest.Tx)}
	}
	return report, nil
}

package ops

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// backupName is how a backup's file is named after its state (fsm.Manifest.FileName):
// epoch, tx and the time it was made at.
var backupName = regexp.MustCompile(`^abagraph-([a-z0-9]+)-tx(\d+)-(\d{8}T\d{6}\.\d{3}Z)\.backup$`)

// Retain deletes the oldest backups of a directory, by the times in their names, but
// for the newest ones. Files with other names are left alone, whatever they hold. It
// returns the names that it has deleted, oldest first.
func Retain(dir string, keep int) ([]string, error) {
	if keep < 1 {
		return nil, fmt.Errorf("at least one backup is kept, not %d", keep)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list the backups: %w", err)
	}
	type kept struct{ name, at string }
	var all []kept
	for _, e := range entries {
		if found := backupName.FindStringSubmatch(e.Name()); found != nil && e.Type().IsRegular() {
			all = append(all, kept{e.Name(), found[3]})
		}
	}
	slices.SortFunc(all, func(a, b kept) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.name, b.name)) })
	deleted := []string{}
	for _, old := range all[:max(0, len(all)-keep)] {
		if err := os.Remove(filepath.Join(dir, old.name)); err != nil {
			return deleted, fmt.Errorf("delete an old backup: %w", err)
		}
		deleted = append(deleted, old.name)
	}
	return deleted, nil
}

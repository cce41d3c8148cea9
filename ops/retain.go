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
		return nil, errKeep(keep)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list the backups: %w", err)
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	deleted := []string{}
	for _, name := range tooOld(names, keep) {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return deleted, fmt.Errorf("delete an old backup: %w", err)
		}
		deleted = append(deleted, name)
	}
	return deleted, nil
}

func errKeep(keep int) error { return fmt.Errorf("at least one backup is kept, not %d", keep) }

// tooOld picks, of names, those of the backups that are not among the newest, oldest
// first.
func tooOld(names []string, keep int) (old []string) {
	type kept struct{ name, at string }
	var all []kept
	for _, name := range names {
		if found := backupName.FindStringSubmatch(name); found != nil {
			all = append(all, kept{name, found[3]})
		}
	}
	slices.SortFunc(all, func(a, b kept) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.name, b.name)) })
	for _, one := range all[:max(0, len(all)-keep)] {
		old = append(old, one.name)
	}
	return old
}

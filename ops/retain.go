package ops

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// backupName is how a backup's file is named after its state (fsm.Manifest.FileName):
// epoch, tx and the time it was made at.
var backupName = regexp.MustCompile(`^abagraph-([a-z0-9]+)-tx(\d+)-(\d{8}T\d{6}\.\d{3}Z)\.backup$`)

// Retained tells what became of the backups that lie beside a new one.
type Retained struct {
	Deleted []string // names, oldest first
	// Others is how many backups of other epochs lie there: of before a restore, or of
	// another cluster. They are left alone.
	Others int
}

// Retain deletes the oldest backups of a directory but for the newest ones, the one
// that has just been made among them. Only those of its epoch are looked at, and what
// is oldest goes by the tx, not by clocks, so that neither another cluster's backups
// nor a clock that was wrong for a day lead to a loss. Files with other names are left
// alone, whatever they hold.
func Retain(dir string, keep int, made string) (Retained, error) {
	done := Retained{Deleted: []string{}}
	if keep < 1 {
		return done, errKeep(keep)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return done, fmt.Errorf("list the backups: %w", err)
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	old, others := tooOld(names, keep, made)
	done.Others = others
	for _, name := range old {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return done, fmt.Errorf("delete an old backup: %w", err)
		}
		done.Deleted = append(done.Deleted, name)
	}
	return done, nil
}

func errKeep(keep int) error { return fmt.Errorf("at least one backup is kept, not %d", keep) }

// tooOld picks, of names, the backups of the epoch of the one just made that are not
// among the newest, oldest first, and counts those of other epochs.
func tooOld(names []string, keep int, made string) (old []string, others int) {
	type kept struct {
		name, at string
		tx       uint64
	}
	this := backupName.FindStringSubmatch(made)
	if this == nil {
		return nil, 0 // whoever named it so deletes by himself
	}
	var all []kept
	for _, name := range names {
		found := backupName.FindStringSubmatch(name)
		if found == nil || name == made {
			continue
		}
		tx, err := strconv.ParseUint(found[2], 10, 64)
		if err != nil || found[1] != this[1] {
			others++
			continue
		}
		all = append(all, kept{name, found[3], tx})
	}
	slices.SortFunc(all, func(a, b kept) int {
		return cmp.Or(cmp.Compare(a.tx, b.tx), cmp.Compare(a.at, b.at), cmp.Compare(a.name, b.name))
	})
	for _, one := range all[:max(0, len(all)-(keep-1))] {
		old = append(old, one.name)
	}
	return old, others
}

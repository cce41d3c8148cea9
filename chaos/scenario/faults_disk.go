package scenario

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"abagraph/chaos"
)

// powerCut has one node lose its power: what it had not synced is gone.
func (f *fault) powerCut() error { return f.cut(f.some()) }

// powerCutAll has all of them lose it at one moment.
func (f *fault) powerCutAll() error { return f.cut(f.Nodes...) }

func (f *fault) cut(nodes ...*chaos.Node) error {
	for _, n := range nodes {
		f.note += n.Name + " "
		f.mayEnd[n], f.harmed[n.Name] = true, true
		if err := n.Disk().PowerCut(); err != nil {
			return err
		}
	}
	if err := f.ends(nodes...); err != nil {
		return err
	}
	f.wait(f.hold / 4)
	for _, n := range nodes {
		if err := n.Disk().PowerBack(); err != nil {
			return err
		}
	}
	return nil
}

// slowDisk has one disk take a few writes a second.
func (f *fault) slowDisk() error {
	n := f.some()
	writes := 5 + f.rng.IntN(40)
	f.tell("%s, %d writes a second", n.Name, writes)
	if err := n.Disk().Slow(writes); err != nil {
		return err
	}
	f.stay()
	return n.Disk().Slow(0)
}

// fullDisk takes all room on one disk, or leaves a part of the reserve, and gives it
// back.
func (f *fault) fullDisk() error {
	n := f.some()
	leave := []int64{0, 1 << 20, diskReserve / 4, diskReserve / 4 * 3}[f.rng.IntN(4)]
	f.tell("%s, %d bytes are left", n.Name, leave)
	f.mayEnd[n] = true // a disk that is full at once ends its node, in one line
	if err := n.Disk().Fill(leave); err != nil {
		return err
	}
	f.stay()
	return n.Disk().Empty()
}

// flipStore, flipLog, flipJournal and flipSnapshot damage files of a follower that is down. The
// node refuses to start, or to read what is damaged, or has all of it: never less.
func (f *fault) flipStore() error    { return f.damaged("state", ".sst", flip) }
func (f *fault) flipJournal() error  { return f.damaged("", "raft.journal", flip) }
func (f *fault) flipLog() error      { return f.damaged("", "raft.db", flip) }
func (f *fault) flipSnapshot() error { return f.damaged("snapshots", "", flip) }

// torn cuts off what a store was writing last: it is of the log, and comes again from
// there.
func (f *fault) torn() error {
	n, err := f.follower()
	if err != nil {
		return err
	}
	if err := f.ends(n); err != nil {
		return err
	}
	files, err := filesOf(n, "state", ".log")
	if err != nil || len(files) == 0 {
		return err
	}
	newest := files[len(files)-1]
	info, err := os.Stat(newest)
	if err != nil {
		return fmt.Errorf("tear a file: %w", err)
	}
	cut := min(info.Size(), 1+f.rng.Int64N(4096))
	f.tell("%s, %d bytes of %s", n.Name, cut, filepath.Base(newest))
	if err := os.Truncate(newest, info.Size()-cut); err != nil {
		return fmt.Errorf("tear a file: %w", err)
	}
	return nil
}

func (f *fault) damaged(under, suffix string, damage func(*fault, string) error) error {
	n, err := f.follower()
	if err != nil {
		return err
	}
	if err := f.ends(n); err != nil {
		return err
	}
	files, err := filesOf(n, under, suffix)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		f.tell("%s has nothing to damage", n.Name)
		return nil
	}
	file := files[f.rng.IntN(len(files))]
	if err := damage(f, file); err != nil {
		return err
	}
	f.harmed[n.Name] = true
	name, err := filepath.Rel(n.Data(), file)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(f.ctx, back)
	defer cancel()
	started := n.Start(ctx)
	f.stay()
	if started == nil && n.Running() {
		f.tell("%s runs with a damaged %s", n.Name, name)
	} else {
		f.tell("%s refuses a damaged %s", n.Name, name)
	}
	// Whatever it says, its disk is replaced.
	if err := f.ends(n); err != nil {
		return err
	}
	return f.anew(n)
}

// filesOf are files of a node that does not run, in the order of their names.
func filesOf(n *chaos.Node, under, suffix string) (files []string, err error) {
	err = filepath.WalkDir(filepath.Join(n.Data(), under), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, suffix) {
			files = append(files, path)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	slices.Sort(files)
	return files, err
}

// flip changes one byte of a file, somewhere. The file is written anew, since others
// may share its content by a link.
func flip(f *fault, path string) error {
	raw, err := os.ReadFile(path)
	if err != nil || len(raw) == 0 {
		return err
	}
	raw[f.rng.IntN(len(raw))] ^= byte(1 + f.rng.IntN(255))
	if err := os.WriteFile(path+".damaged", raw, 0o600); err != nil {
		return fmt.Errorf("damage a file: %w", err)
	}
	if err := os.Rename(path+".damaged", path); err != nil {
		return fmt.Errorf("damage a file: %w", err)
	}
	return nil
}

package ops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"abagraph/fact"
	"abagraph/fsm"
	rlog "abagraph/log"
)

// asidePrefix begins the names of directories that hold replaced data.
const asidePrefix = "replaced-"

// parts are what makes a data directory a node's, in the order in which they are
// set aside: without the first one no node starts there, so that a crash in between
// is never served from.
var parts = []string{"node.json", "state", "raft.db", "raft.journal", "snapshots"}

// leftovers may lie beside them after a crash or an earlier restore.
var leftovers = []string{"LOCK", "lost+found", "raft.db.next", "raft.journal.next", "state.old", "node.json.tmp", stagingName}

// claim locks the data directory and looks at what it holds. A directory that holds
// anything but a node's data is refused whatever is asked for.
func (r *Restore) claim() (*place, error) {
	root, err := filepath.Abs(r.Data)
	if err != nil {
		return nil, fmt.Errorf("find the data directory %s: %w", r.Data, err)
	}
	p := &place{root: root, rename: r.rename}
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		p.made = true
		if err := os.MkdirAll(root, 0o700); err != nil {
			return nil, fmt.Errorf("make the data directory: %w", err)
		}
	} else if err != nil {
		return nil, fmt.Errorf("read the data directory: %w", err)
	}
	for _, e := range entries {
		name := e.Name()
		switch {
		case slices.Contains(parts, name), name == "state.old":
			p.old = append(p.old, name)
		case !slices.Contains(leftovers, name) && !strings.HasPrefix(name, asidePrefix):
			return nil, fmt.Errorf("%s is not an abagraph data directory: it holds %q; choose an empty one", root, name)
		}
	}
	if len(p.old) > 0 && !r.Replace {
		return nil, fmt.Errorf("%s holds a node's data already: restore into an empty directory, or set that data aside with --replace", root)
	}
	if p.lock, err = rlog.Lock(root); err != nil {
		return nil, err
	}
	p.nodeID = nodeOf(root)
	p.aside = asidePrefix + r.now().UTC().Format("20060102T150405.000Z")
	return p, nil
}

// nodeOf is whose data a directory holds, or "".
func nodeOf(root string) string {
	raw, err := os.ReadFile(filepath.Join(root, "node.json"))
	var known struct {
		Node string `json:"node_id"`
	}
	if err != nil || json.Unmarshal(raw, &known) != nil {
		return ""
	}
	return known.Node
}

// abandon removes what an unfinished restore has built.
func (p *place) abandon() error {
	if !p.made {
		return os.RemoveAll(p.staging())
	}
	return os.RemoveAll(p.root)
}

// swap sets the old data aside and moves the new in, who the node is last.
func (p *place) swap(report *RestoreReport) error {
	if len(p.old) > 0 {
		report.SetAside = filepath.Join(p.root, p.aside)
		if err := os.Mkdir(report.SetAside, 0o700); err != nil {
			return fmt.Errorf("set the old data aside: %w", err)
		}
	}
	for _, name := range parts {
		if slices.Contains(p.old, name) {
			if err := p.move(p.root, report.SetAside, name); err != nil {
				return fmt.Errorf("set the old data aside: %w", err)
			}
		}
	}
	if slices.Contains(p.old, "state.old") {
		if err := p.move(p.root, report.SetAside, "state.old"); err != nil {
			return fmt.Errorf("set the old data aside: %w", err)
		}
	}
	for _, name := range slices.Backward(parts) {
		if err := p.move(p.staging(), p.root, name); err != nil {
			return fmt.Errorf("put the restored data in place: %w", err)
		}
	}
	if err := os.RemoveAll(p.staging()); err != nil {
		return fmt.Errorf("clean up after the restore: %w", err)
	}
	return syncDir(p.root)
}

// move renames, and has the rename on disk before the next one.
func (p *place) move(from, to, name string) error {
	if err := p.rename(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
		return err
	}
	return errors.Join(syncDir(from), syncDir(to))
}

// maxPurgesTold bounds the purges that a restore lists.
const maxPurgesTold = 20

// lost tells what the data that is replaced had, and the backup has not: writes,
// purges, and changes of keys. What it cannot know it says.
func (p *place) lost(ctx context.Context, backup *fsm.Manifest) []string {
	unknown := fmt.Sprintf("whatever was purged after tx %d is in the restored store again, and keys that were revoked after it are valid again: this cannot be known here, so look it up and repeat it", backup.Tx)
	if !slices.Contains(p.old, "state") {
		return []string{unknown}
	}
	machine, err := fsm.Open(fsm.Options{Dir: filepath.Join(p.root, "state"), ReadOnly: true, CacheBytes: 8 << 20})
	if err != nil {
		return []string{fmt.Sprintf("the replaced data cannot be read (%v): %s", err, unknown)}
	}
	defer machine.Close()
	view, err := machine.View()
	if err != nil {
		return []string{unknown}
	}
	defer view.Close()
	at := view.Position()
	if at.Epoch != backup.Epoch {
		return []string{fmt.Sprintf("the replaced data is of epoch %s, the backup of epoch %s: %s", at.Epoch, backup.Epoch, unknown)}
	}
	var told []string
	if at.Tx > backup.Tx {
		told = append(told, fmt.Sprintf("the replaced data went on to tx %d: its %d writes after tx %d are not in the restored store", at.Tx, at.Tx-backup.Tx, backup.Tx))
	}
	purges, err := view.Purges(ctx, backup.Tx, maxPurgesTold)
	if err != nil {
		return append(told, unknown)
	}
	for _, purge := range purges {
		whose := "of tenant " + purge.Tenant
		if purge.AllTenants {
			whose = "of all tenants"
		} else if purge.Tenant == "" {
			whose = "of the ownerless scope"
		}
		told = append(told, fmt.Sprintf("what the purge %s at tx %d (%s) erased is in the restored store again: purge it again",
			whose, purge.Tx, stamp(purge.RecordedAt)))
	}
	if view.LastRegistryTx() > backup.Tx {
		told = append(told, fmt.Sprintf("tenants or keys were changed after the backup, last at tx %d: keys that were revoked then are valid again", view.LastRegistryTx()))
	}
	return told
}

func stamp(t fact.Instant) string { return t.Time().UTC().Format(time.RFC3339) }

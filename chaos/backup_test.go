package chaos_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"abagraph/chaos"
	"abagraph/client"
)

// taken is one backup, and what had been acknowledged before it was asked for.
type taken struct {
	file  string
	known map[string]bool
	manifest
}

type manifest struct {
	Epoch  string `json:"epoch"`
	Tx     uint64 `json:"tx"`
	Digest string `json:"digest"`
}

// command runs the program as an operator does, and reads its report.
func (w *world) command(into any, args ...string) {
	w.t.Helper()
	command := exec.CommandContext(w.ctx, plainBinary, args...)
	command.Env = []string{"HOME=" + w.t.TempDir(), "PATH=" + os.Getenv("PATH")}
	output, err := command.Output()
	if err != nil {
		var said []byte
		if exit, ok := err.(*exec.ExitError); ok {
			said = exit.Stderr
		}
		w.t.Fatalf("abagraph %v: %v: %s", args, err, said)
	}
	if err := json.Unmarshal(output, into); err != nil {
		w.t.Fatalf("abagraph %v wrote %s: %v", args, output, err)
	}
}

// TestSTO03BackupsUnderLoad: twenty writers at full speed on three nodes, a backup
// of one node after another among them. Each is restored into a fresh node and holds
// all that was acknowledged before it was asked for, every batch wholly or not at
// all, one state with the digest that its manifest names.
func TestSTO03BackupsUnderLoad(t *testing.T) {
	w := open(t, chaos.Options{Nodes: 3})
	var ledger chaos.Ledger
	load := chaos.Load{Nodes: w.Nodes, Workers: 20, Ledger: &ledger, Name: "load"}
	finish := load.Start(w.ctx)
	dir := t.TempDir()
	var all []taken
	for i := range scale(t, 3) {
		w.must("write", load.Await(w.ctx, load.Done()+100))
		one := taken{file: filepath.Join(dir, fmt.Sprintf("b%d", i)), known: ledger.Acknowledged()}
		var report struct{ Manifest manifest }
		w.command(&report, "ops", "backup", one.file, "--url", w.Nodes[i%3].URL)
		one.manifest = report.Manifest
		all = append(all, one)
	}
	w.must("write on", load.Await(w.ctx, load.Done()+20))
	w.must("end the load", finish())
	for i, one := range all {
		w.judgeBackup(one, &ledger)
		t.Logf("backup %d: tx %d, %d writes acknowledged before", i, one.Tx, len(one.known))
	}
}

// judgeBackup restores a backup into a fresh node and holds what it tells to what was
// written.
func (w *world) judgeBackup(one taken, ledger *chaos.Ledger) {
	w.t.Helper()
	dir := w.t.TempDir()
	var restored struct{ Epoch string }
	w.command(&restored, "ops", "restore", one.file, "--data", filepath.Join(dir, "n1"), "--node-id", "n1")
	c, err := chaos.Open(w.ctx, chaos.Options{Nodes: 1, Dir: dir, Binary: binary})
	w.must("start the restored node", err)
	defer func() {
		if err := c.Close(); err != nil {
			w.t.Error(err)
		}
	}()
	status, err := c.Nodes[0].Status(w.ctx)
	w.must("ask the restored node", err)
	if status.Tx != one.Tx || status.Digest != one.Digest || status.Epoch != restored.Epoch || status.Epoch == one.Epoch {
		w.t.Errorf("the restored node stands at %+v, the manifest tells of %+v", status, one.manifest)
	}
	state, err := c.Nodes[0].Look(w.ctx, "", one.Tx, one.Tx)
	w.must("read the restored node", err)
	if err := ledger.AsOf(one.known).Judge(state.Events); err != nil {
		w.t.Errorf("the backup at tx %d breaks what was promised:\n%v", one.Tx, err)
	}
}

// TestSTO03RestoreThenThree: a cluster of three is lost, restored from a backup on
// one node, and joined by two empty ones; all three have the same then, old cursors
// are told of the new epoch, and what was written after the backup is not there.
func TestSTO03RestoreThenThree(t *testing.T) {
	before := open(t, chaos.Options{Nodes: 3})
	fence := before.fence("kept", "")
	file := filepath.Join(t.TempDir(), "b")
	var report struct{ Manifest manifest }
	before.command(&report, "ops", "backup", file, "--url", before.Nodes[1].URL)
	before.fence("lost", "")
	for _, n := range before.Nodes {
		before.must("lose a node", n.Kill())
	}

	dir := t.TempDir()
	var restored struct{ Epoch string }
	before.command(&restored, "ops", "restore", file, "--data", filepath.Join(dir, "n1"), "--node-id", "n1")
	c, err := chaos.Open(before.ctx, chaos.Options{Nodes: 3, Dir: dir, Binary: binary})
	before.must("start the restored cluster", err)
	w := &world{c, t, before.ctx}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the restored nodes wrote\n%s", c.Logs(40))
		}
	})
	after := w.fence("after", "")
	if after.Tx != report.Manifest.Tx+1 {
		t.Errorf("the first write after the restore has tx %d, and the backup ended at tx %d", after.Tx, report.Manifest.Tx)
	}
	states, err := w.Compare(w.ctx, after.Tx, map[string]uint64{"": after.Tx})
	w.must("compare the nodes", err)
	var ledger chaos.Ledger
	ledger.Add(fence)
	ledger.Add(after)
	if err := ledger.Judge(states[""].Events); err != nil {
		t.Errorf("the restored cluster breaks what was promised:\n%v", err)
	}
	for _, n := range w.Nodes {
		w.oldCursor(n, report.Manifest, restored.Epoch)
	}
}

// oldCursor holds a node to C-35: a cursor of the epoch before the restore.
func (w *world) oldCursor(n *chaos.Node, old manifest, epoch string) {
	w.t.Helper()
	c := w.client(n)
	cursor := fmt.Sprintf("%s:%d", old.Epoch, old.Tx)
	_, err := c.Facts(w.ctx, client.FactQuery{TxGt: cursor, Read: client.Read{}})
	if client.StatusOf(err) != 410 || client.CodeOf(err) != "EpochChanged" {
		w.t.Errorf("%s answers an old cursor with %v", n.Name, err)
	}
	got, err := c.Facts(w.ctx, client.FactQuery{TxGt: fmt.Sprintf("%s:%d", epoch, old.Tx)})
	if err != nil || len(got.Facts) != 1 {
		w.t.Errorf("%s answers a cursor of the new epoch with %v, %v", n.Name, got, err)
	}
	err = c.Stream(w.ctx, client.StreamQuery{TxGt: cursor}, func(e client.Event) error {
		if e.Op != client.OpResync {
			w.t.Errorf("%s goes on from an old cursor with %s", n.Name, e.Raw)
		}
		return errSeen
	})
	if err != errSeen {
		w.t.Errorf("the stream of %s ends with %v", n.Name, err)
	}
}

// errSeen ends a stream that has told enough.
var errSeen = errors.New("seen")

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"abagraph/client"
	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/log/entry"
)

// shellOf is a shell for a running process.
func shellOf(t *testing.T, p *process) *rig {
	t.Helper()
	r := shell(t)
	r.env["ABAGRAPH_URL"] = p.url
	return r
}

// TestBackupAndRestoreAsAUser: what the docs show, word for word: a backup of a
// running node, a restore, and the restored node with all data and its keys.
func TestBackupAndRestoreAsAUser(t *testing.T) {
	home := t.TempDir()
	p := launch(t, "--bind", "127.0.0.1:0", "--data", filepath.Join(home, "data"), "--admin-key", "the-operators-secret-key").up()
	r := shellOf(t, p)
	if said := r.fails("ops", "backup", home); !strings.Contains(said, "no key is set") {
		t.Errorf("without a key: %q", said)
	}
	r.env["ABAGRAPH_KEY"] = "the-operators-secret-key"
	r.ok("assert", "Person:alice", "works_at", "Company:acme")
	admin, err := client.New(p.url, client.WithKey("the-operators-secret-key"))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	ownersAlone(t, filepath.Join(home, "data"))
	tenant, err := admin.CreateTenant(t.Context(), client.NewTenant{ID: "acme"})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(home, "monday.backup")
	r.terminal = true
	if out := r.ok("ops", "backup", file); !strings.Contains(out, "digest") || !strings.Contains(out, "2 active, 0 candidates") {
		t.Errorf("the table is\n%s", out)
	}
	r.terminal = false
	if said := r.fails("ops", "backup", file); !strings.Contains(said, "a backup never replaces a file") {
		t.Errorf("again: %q", said)
	}
	timed := t.TempDir()
	var last string
	for range 3 {
		last = r.object("ops", "backup", timed, "--check", "--keep", "2")["file"].(string)
	}
	if left, err := filepath.Glob(filepath.Join(timed, "*")); err != nil || len(left) != 2 || left[1] != last {
		t.Errorf("kept %v, %v, the last being %s", left, err, last)
	}
	if said := r.fails("ops", "backup", file, "--keep", "2"); !strings.Contains(said, "--keep and --every need a directory") {
		t.Errorf("keeping beside a file: %q", said)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"the-operators-secret-key", tenant.Key, tenant.Key[:16]} {
		if bytes.Contains(raw, []byte(secret)) { // OBS-01
			t.Errorf("the backup holds %q", secret)
		}
	}
	p.stop()

	restored := filepath.Join(home, "restored")
	if said := r.fails("ops", "restore", file); !strings.Contains(said, "--data DIR") {
		t.Errorf("without a directory: %q", said)
	}
	if got := r.object("ops", "restore", file, "--data", restored, "--node-id", "n1"); got["node_id"] != "n1" {
		t.Errorf("restored %v", got)
	}
	if said := r.fails("ops", "restore", file, "--data", restored); !strings.Contains(said, "--replace") {
		t.Errorf("again: %q", said)
	}
	p = launch(t, "--bind", "127.0.0.1:0", "--data", restored, "--admin-key", "the-operators-secret-key").up()
	if !strings.Contains(p.out.String(), "n1, alone") {
		t.Errorf("the banner says\n%s", p.out.String())
	}
	r.env["ABAGRAPH_URL"] = p.url
	if out := r.ok("query", "--subject", "Person:alice"); !strings.Contains(out, "Company:acme") {
		t.Errorf("the restored node answers %s", out)
	}
	r.env["ABAGRAPH_KEY"] = tenant.Key
	if out := r.ok("query"); strings.TrimSpace(out) != "[]" {
		t.Errorf("the tenant sees %s", out)
	}
	said := r.fails("ops", "backup", home)
	if !strings.HasPrefix(said, "Forbidden: ") {
		t.Errorf("with a tenant's key: %q", said)
	}
	if said = launchFails(t, "--data", restored, "ops", "restore", file, "--replace"); !strings.Contains(said, "in use by another process") {
		t.Errorf("while it runs: %q", said)
	}
	p.stop()
}

// launchFails runs the program as another process, that must fail; the flags come
// first.
func launchFails(t *testing.T, flag, value string, args ...string) string {
	t.Helper()
	out, err := program(t, append(args, flag, value)...).CombinedOutput()
	if err == nil {
		t.Errorf("%v worked: %s", args, out)
	}
	return string(out)
}

// backupOf writes a backup of a store whose log's clock stands at an instant.
func backupOf(t *testing.T, clock fact.Instant) string {
	t.Helper()
	m, err := fsm.Open(fsm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	request := &fact.Request{Tenant: "default", Branch: fact.MainBranch, Threshold: fact.DefaultThreshold, Write: &fact.Write{Asserts: []fact.Assert{{
		ID: fact.ID{0: 1, 6: 0x70, 8: 0x80}, Subject: "Person:future", Predicate: "likes", Object: fact.TextObject("tea"), Confidence: 1,
		ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, KnownAt: fact.NoInstant,
	}}}}
	for i, data := range [][]byte{entry.EncodeTick(clock), entry.EncodeBatch(entry.Batch{ProposedAt: clock, Requests: [][]byte{entry.EncodeRequest(request)}})} {
		if _, err := m.Apply([]fsm.Committed{{Index: uint64(i + 1), Term: 1, Data: data}}); err != nil {
			t.Fatal(err)
		}
	}
	view, err := m.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	manifest, err := view.Manifest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Checkpoint("checkpoint"); err != nil {
		t.Fatal(err)
	}
	if manifest.ArchiveBytes, err = fsm.ArchiveSize(m.FS(), "checkpoint"); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := fsm.WriteBackup(m.FS(), "checkpoint", &manifest, &b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "b")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSTO06TimesAheadOfNow: a store whose clock was two days ahead is restored whole,
// says so, and its facts are in default reads at once; new writes go on from there.
func TestSTO06TimesAheadOfNow(t *testing.T) {
	ahead := fact.Instant(time.Now().Add(48 * time.Hour).UnixMilli())
	data := filepath.Join(t.TempDir(), "data")
	got := shell(t).ok("ops", "restore", backupOf(t, ahead), "--data", data)
	if !strings.Contains(got, "ahead of this machine's clock") {
		t.Errorf("the report is %s", got)
	}
	p := launch(t, "--bind", "127.0.0.1:0", "--data", data).up()
	list, err := p.client().Facts(t.Context(), client.FactQuery{})
	if err != nil || len(list.Facts) != 1 || list.Facts[0].Subject != "Person:future" || list.Now < ahead {
		t.Errorf("a default read answers %+v, %v", list, err)
	}
	if later := assert(t, p.client(), "Person:future", "likes", "milk"); later.Fact.ValidFrom < ahead {
		t.Errorf("a write after it has %+v", later.Fact)
	}
	p.stop()
}

// TestSTO06NewestSnapshotDamaged: a node whose newest snapshot is damaged starts with
// all its data while its state is whole, and is refused, with a reason, where the
// snapshot would be needed: it never serves with a hole.
func TestSTO06NewestSnapshotDamaged(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	shell(t).ok("ops", "restore", backupOf(t, 1_700_000_000_000), "--data", data)
	metas, err := filepath.Glob(filepath.Join(data, "snapshots", "*", "meta.json"))
	if err != nil || len(metas) != 1 {
		t.Fatalf("snapshots %v, %v", metas, err)
	}
	raw, err := os.ReadFile(metas[0])
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Replace(raw, []byte("Index"), []byte("Indey"), 1)
	if err := os.WriteFile(metas[0], damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	// Without its description the log does not reach back to the state's beginning.
	refused := launch(t, "--bind", "127.0.0.1:0", "--data", data).refused()
	if !strings.Contains(refused, "a part of the log is missing") {
		t.Errorf("it was refused with %q", refused)
	}
	if err := os.WriteFile(metas[0], raw, 0o600); err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(filepath.Dir(metas[0]), "state", "MANIFEST-*"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("the snapshot holds %v, %v", tables, err)
	}
	if err := os.Truncate(tables[0], 10); err != nil {
		t.Fatal(err)
	}
	p := launch(t, "--bind", "127.0.0.1:0", "--data", data).up()
	if list, err := p.client().Facts(t.Context(), client.FactQuery{}); err != nil || len(list.Facts) != 1 {
		t.Errorf("with its own state it answers %+v, %v", list, err)
	}
	p.stop()
	if err := os.RemoveAll(filepath.Join(data, "state")); err != nil {
		t.Fatal(err)
	}
	if refused := launch(t, "--bind", "127.0.0.1:0", "--data", data).refused(); !strings.Contains(refused, "restore the newest snapshot") {
		t.Errorf("without its own state it was refused with %q", refused)
	}
}

// ownersAlone holds every file of a directory to modes that leave others nothing.
func ownersAlone(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A connection that broke is a failure, whatever it broke with; only the reader of
// the output may have seen enough.
func TestABrokenConnectionIsNoSuccess(t *testing.T) {
	broken := &net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", syscall.EPIPE)}
	if enough(fmt.Errorf("send a backup: %w", broken)) {
		t.Error("a broken connection ends a command as if it had done its work")
	}
	if !enough(fmt.Errorf("show: %w", &fs.PathError{Op: "write", Path: os.Stdout.Name(), Err: syscall.EPIPE})) {
		t.Error("a reader that has seen enough is told as a failure")
	}
}

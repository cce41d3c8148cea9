package replication

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"abagraph/fact"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/hashicorp/raft"
)

// faultyMachine fails where a test says.
type faultyMachine struct {
	StateMachine
	restore atomic.Int32 // how many restores fail
	fs      vfs.FS
}

var errFault = errors.New("a fault of the test")

func (f *faultyMachine) RestoreDir(dir string) error {
	if f.restore.Add(-1) >= 0 {
		return errFault
	}
	return f.StateMachine.RestoreDir(dir)
}

func (f *faultyMachine) FS() vfs.FS {
	if f.fs != nil {
		return f.fs
	}
	return f.StateMachine.FS()
}

// CLU-04: a snapshot that cannot be installed leaves the state as it was, the
// node says why, and the next attempt succeeds.
func TestCLU04FailedInstallLeavesTheOldState(t *testing.T) {
	c := three(t, func(o *Options) { o.TrailingBytes = 1 })
	lagging := c.follower()
	before := lagging.Position()
	lagging.stop(t)
	for i := range 60 {
		c.leader().mustWrite(t, write(fmt.Sprintf("Lamp:%d", i%7), i))
	}
	c.snapshot()
	faulty := &faultyMachine{}
	faulty.restore.Store(3)
	c.wrap = func(m StateMachine) StateMachine { faulty.StateMachine = m; return faulty }
	c.start(lagging.id, lagging.path, "")
	m := c.members[lagging.id]
	eventually(t, "a failed restore", func() bool {
		return strings.Contains(m.Status().Problem, errFault.Error()) || faulty.restore.Load() < 0
	})
	if at := m.Position(); at.Tx != before.Tx && faulty.restore.Load() >= 0 {
		t.Fatalf("tx %d after a failed restore, %d before", at.Tx, before.Tx)
	}
	c.equalDigests()
	eventually(t, "the problem to go away with the restore that succeeds", func() bool { return m.Status().Problem == "" })
}

// CLU-04: a node that is killed after a snapshot has come whole, and before it was
// restored, restores it when it starts.
func TestCLU04KilledBeforeTheRestore(t *testing.T) {
	c := three(t, nil)
	lagging := c.follower()
	lagging.stop(t)
	for i := range 60 {
		c.leader().mustWrite(t, write(fmt.Sprintf("Lamp:%d", i%7), i))
	}
	leader := c.leader()
	if err := leader.Snapshot(); err != nil {
		t.Fatal(err)
	}
	newest, _ := leader.snaps.newest()
	store, err := openSnapshots(vfs.Default, lagging.dir.Snapshots(), leader.logger)
	if err != nil {
		t.Fatal(err)
	}
	meta := newest.Raft
	sink, err := store.Create(1, meta.Index, meta.Term, meta.Configuration, meta.ConfigurationIndex, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sink.Write(readSnapshot(t, leader.snaps)); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	c.start(lagging.id, lagging.path, "")
	c.leader().mustWrite(t, write("Lamp:after", 1))
	c.equalDigests()
}

// CLU-04: a disk error at any point of an install leaves no snapshot behind that
// counts, and a later install of the same one succeeds.
func TestCLU04DiskErrorsDuringInstall(t *testing.T) {
	c := newCluster(t, nil)
	m := c.start("n1", c.disk("n1"), "")
	for i := range 30 {
		m.mustWrite(t, write(fmt.Sprintf("Lamp:%d", i), i))
	}
	if err := m.Snapshot(); err != nil {
		t.Fatal(err)
	}
	archive := readSnapshot(t, m.snaps)
	failed := 0
	for at := int64(0); ; at++ {
		broken := &failAt{at: at}
		root := filepath.Join(c.base, fmt.Sprint("faults", at))
		fs := errorfs.Wrap(vfs.Default, broken)
		store, err := openSnapshots(fs, root, m.logger)
		if err == nil {
			err = install(store, archive)
		}
		broken.at = -1
		again, openErr := openSnapshots(fs, root, m.logger)
		if openErr != nil {
			t.Fatalf("fault %d: open afterwards: %v", at, openErr)
		}
		for _, h := range again.held {
			got := readSnapshotOf(t, again, h.meta.Raft.ID)
			if !bytes.Equal(got, archive) {
				t.Fatalf("fault %d: a snapshot counts that is not the whole one", at)
			}
		}
		if err == nil && broken.seen <= at {
			break // past the last operation: nothing failed
		}
		failed++
		if err := install(again, archive); err != nil {
			t.Fatalf("fault %d: the next install: %v", at, err)
		}
	}
	if failed < 10 {
		t.Fatalf("only %d faults were met", failed)
	}
}

// failAt fails the n-th writing operation.
type failAt struct{ at, seen int64 }

func (f *failAt) String() string { return "fail one operation" }

func (f *failAt) MaybeError(op errorfs.Op) error {
	if op.Kind.ReadOrWrite() != errorfs.OpIsWrite {
		return nil
	}
	f.seen++
	if f.at >= 0 && f.seen == f.at+1 {
		return errFault
	}
	return nil
}

func install(s *snapshots, archive []byte) error {
	sink, err := s.Create(1, 100, 3, raft.Configuration{Servers: []raft.Server{{ID: "n1", Address: "x"}}}, 1, nil)
	if err != nil {
		return err
	}
	if _, err := io.Copy(sink, bytes.NewReader(archive)); err != nil {
		sink.Cancel()
		return err
	}
	return sink.Close()
}

func readSnapshot(t *testing.T, s *snapshots) []byte {
	t.Helper()
	newest, ok := s.newest()
	if !ok {
		t.Fatal("there is no snapshot")
	}
	return readSnapshotOf(t, s, newest.Raft.ID)
}

func readSnapshotOf(t *testing.T, s *snapshots, id string) []byte {
	t.Helper()
	meta, r, err := s.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(content)) != meta.Size {
		t.Fatalf("the snapshot has %d bytes, its description says %d", len(content), meta.Size)
	}
	return content
}

// An archive that is cut or changed on its way is never installed.
func TestCLU04DamagedTransferIsRefused(t *testing.T) {
	c := newCluster(t, nil)
	m := c.start("n1", c.disk("n1"), "")
	m.mustWrite(t, write("Lamp:l", 1))
	if err := m.Snapshot(); err != nil {
		t.Fatal(err)
	}
	archive := readSnapshot(t, m.snaps)
	cases := map[string][]byte{
		"cut": archive[:len(archive)*9/10], "empty": {}, "foreign": []byte("PK\x03\x04 something else"),
		"flipped": append(append([]byte(nil), archive[:len(archive)/2]...), append([]byte{archive[len(archive)/2] ^ 1}, archive[len(archive)/2+1:]...)...),
	}
	for name, content := range cases {
		t.Run(name, func(t *testing.T) {
			store, err := openSnapshots(vfs.NewMem(), "snapshots", m.logger)
			if err != nil {
				t.Fatal(err)
			}
			if err := install(store, content); err == nil {
				t.Fatal("it was installed")
			}
			if left, _ := store.fs.List("snapshots"); len(left) != 0 || len(store.held) != 0 {
				t.Fatalf("left behind: %v", left)
			}
		})
	}
}

func TestSnapshotsAreBoundedAndNotRemovedWhileRead(t *testing.T) {
	c := newCluster(t, nil)
	m := c.start("n1", c.disk("n1"), "")
	take := func(i int) {
		t.Helper()
		m.mustWrite(t, write("Lamp:l", i))
		if err := m.Snapshot(); err != nil {
			t.Fatal(err)
		}
	}
	take(0)
	oldest, _ := m.snaps.newest()
	_, reader, err := m.snaps.Open(oldest.Raft.ID)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		take(i + 1)
	}
	count := func() int {
		names, err := m.machine.FS().List(m.snaps.root)
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	if n := count(); n != keptSnapshots+1 {
		t.Fatalf("%d snapshots on disk while one is being read, want %d", n, keptSnapshots+1)
	}
	content, err := io.ReadAll(reader)
	if err != nil || int64(len(content)) != oldest.Raft.Size {
		t.Fatalf("read %d bytes of %d: %v", len(content), oldest.Raft.Size, err)
	}
	reader.Close()
	if n := count(); n != keptSnapshots {
		t.Fatalf("%d snapshots on disk, want %d", n, keptSnapshots)
	}
}

func TestSnapshotIsTakenByLogBytes(t *testing.T) {
	c := newCluster(t, func(o *Options) { o.SnapshotBytes, o.TrailingBytes = 20_000, 5_000 })
	m := c.start("n1", c.disk("n1"), "")
	for i := range 200 {
		m.mustWrite(t, write(fmt.Sprintf("Lamp:%s-%d", strings.Repeat("x", 200), i), i))
	}
	eventually(t, "a snapshot and a short log", func() bool {
		s := m.Status()
		return s.SnapshotIndex > 0 && s.LogBytes < 30_000
	})
}

// What connects to the peer port and is no node is sent away, and the port goes
// on serving.
func TestPeerPortWithstandsStrangers(t *testing.T) {
	for _, secret := range []string{testSecret, ""} {
		c := newCluster(t, func(o *Options) { o.Secret = secret })
		c.start("n1", "", "")
		m := c.members["n1"]
		for _, garbage := range []string{"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "ABGP\x09" + strings.Repeat("x", 300), strings.Repeat("\xff", 4096), ""} {
			conn, err := net.Dial("tcp", m.address)
			if err != nil {
				t.Fatal(err)
			}
			io.WriteString(conn, garbage)
			if garbage != "" {
				conn.SetReadDeadline(time.Now().Add(10 * time.Second))
				io.Copy(io.Discard, conn)
			}
			conn.Close()
		}
		c.start("n2", "", m.address)
		c.waitVoters(2)
		m.mustWrite(t, write("Lamp:l", 1))
	}
}

// A guest may ask to join and nothing else.
func TestGuestsMayOnlyJoin(t *testing.T) {
	c := newCluster(t, nil)
	m := c.start("n1", "", "")
	guest := c.start("n2", "", "127.0.0.1:1") // it never gets in
	for _, k := range []method{methodPropose, methodReadIndex, methodConfirm, methodRemove, methodStatus} {
		v, payload, err := guest.calls.call(soon(t), m.address, streamGuest, k, []byte("{}"))
		if err != nil || v != verdictFailed || decodeFailure(payload).Code != fact.Forbidden {
			t.Fatalf("call %d: %d %q %v", k, v, payload, err)
		}
	}
	if _, _, err := guest.calls.call(soon(t), m.address, streamWrites, methodPropose, nil); err == nil {
		t.Fatal("a node that is no member was let in")
	}
}

func TestFramesAreBounded(t *testing.T) {
	c := newCluster(t, nil)
	m := c.start("n1", "", "")
	guest := c.start("n2", "", "127.0.0.1:1")
	if _, _, err := guest.calls.call(soon(t), m.address, streamGuest, methodJoin, make([]byte, maxGuestFrame+1)); !errors.Is(err, errBroken) {
		t.Fatalf("got %v: a frame beyond the bound was read", err)
	}
	big := write("Lamp:l", 1)
	big.Write.Asserts[0].Properties = make([]byte, maxRequestBytes)
	if _, err := m.Propose(soon(t), big); fact.CodeOf(err) != fact.TooLarge {
		t.Fatalf("got %v, want TooLarge", err)
	}
}

// A log that can no longer be written stops the node with the reason; the library
// would end the whole process.
func TestLogThatCannotBeWrittenStopsTheNode(t *testing.T) {
	c := newCluster(t, nil)
	m := c.start("n1", c.disk("n1"), "")
	m.mustWrite(t, write("Lamp:l", 1))
	if err := m.store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Propose(soon(t), write("Lamp:l", 2)); fact.CodeOf(err) != fact.Timeout && fact.CodeOf(err) != fact.Closed {
		t.Fatalf("got %v: the outcome is not known", err)
	}
	<-m.Failed()
	if err := m.Err(); err == nil || !strings.Contains(err.Error(), "the log") {
		t.Fatalf("the reason is %v", err)
	}
}

// Damage that a leader meets while it runs, here in entries that a new member
// needs, stops it with the reason.
func TestSTO01DamageMetWhileRunning(t *testing.T) {
	c := newCluster(t, nil)
	leader := c.start("n1", c.disk("n1"), "")
	for i := range 20 {
		leader.mustWrite(t, write("Marked:subject", i))
	}
	leader.stop(t) // so that the marked ones are in raft.db, and in no memory
	leader = c.start("n1", leader.path, "")
	leader.mustWrite(t, write("Lamp:l", 1))
	file, err := os.OpenFile(filepath.Join(leader.path, "raft.db"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	content, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; ; {
		next := bytes.Index(content[at:], []byte("Marked:subject"))
		if next < 0 {
			break
		}
		at += next + 1
		if _, err := file.WriteAt([]byte("x"), int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	c.start("n2", c.disk("n2"), leader.address)
	<-leader.Failed()
	if err := leader.Err(); err == nil || !strings.Contains(err.Error(), "damaged at entry") {
		t.Fatalf("the reason is %v", err)
	}
}

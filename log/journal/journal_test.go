package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"unsafe"
)

func create(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "raft.journal")
	if _, err := Create(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func opened(t *testing.T, path string) *Journal {
	t.Helper()
	_, last, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	j, err := Open(path, last, false) // nothing here can tell whether it is synced
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func read(t *testing.T, path string) [][]byte {
	t.Helper()
	records, _, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	all, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func equal(got, want [][]byte) bool {
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		if !bytes.Equal(got[i], want[i]) {
			return false
		}
	}
	return true
}

func record(r *rand.Rand) []byte {
	n := r.IntN(3000)
	if r.IntN(8) == 0 {
		n = r.IntN(3) * bodySize // at the edges of sectors
	}
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(r.Uint32())
	}
	return out
}

// What was appended is read again, over many turns of the segments, resets and starts.
func TestRecordsAreReadAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	path := create(t)
	j := opened(t, path)
	var want, held [][]byte // of the segment that is being filled, of the one before
	serial := uint32(0)
	for i := range 12_000 {
		rec := record(r)
		got, err := j.Append(rec)
		if errors.Is(err, ErrFull) {
			j.Free(serial - 1)
			got, err = j.Append(rec)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got != serial {
			held, want, serial = want, nil, got
		}
		want = append(want, rec)
		if i%1997 == 0 {
			if all := read(t, path); !equal(all, append(append([][]byte(nil), held...), want...)) {
				t.Fatalf("after %d records %d are read, want %d and %d", i, len(all), len(held), len(want))
			}
		}
		switch r.IntN(3000) {
		case 0:
			if _, err := j.Reset(); err != nil {
				t.Fatal(err)
			}
			held, want = nil, nil
			serial = j.serial
		case 1:
			j.Close()
			j = opened(t, path)
			held, want, serial = nil, nil, j.serial
		}
	}
	if serial < 6 {
		t.Fatalf("only %d segments were used", serial)
	}
}

// A segment that is in use is not written over.
func TestFullUntilASegmentIsFree(t *testing.T) {
	path := create(t)
	j := opened(t, path)
	var want [][]byte
	for i := 0; ; i++ {
		rec := bytes.Repeat([]byte{byte(i)}, 100_000)
		_, err := j.Append(rec)
		if errors.Is(err, ErrFull) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, rec)
	}
	if len(want) < 2*segmentSize/110_000 || !equal(read(t, path), want) {
		t.Fatalf("%d records were taken", len(want))
	}
	if _, err := j.Append(make([]byte, MaxRecord+1)); err == nil {
		t.Fatal("a record of more than MaxRecord bytes was taken")
	}
}

// crashed is a journal with some history, and its content before and after its last
// record was written.
func crashed(t *testing.T, r *rand.Rand, path string) (before, after []byte, records [][]byte) {
	t.Helper()
	j := opened(t, path)
	for range r.IntN(5) {
		rec := record(r)
		if _, err := j.Append(rec); err != nil {
			t.Fatal(err)
		}
		records = append(records, rec)
	}
	before = content(t, path)
	last := record(r)
	if _, err := j.Append(last); err != nil {
		t.Fatal(err)
	}
	j.Close()
	return before, content(t, path), append(records, last)
}

// Of the record that was being written any of the sectors may be on the disk: it is read
// whole or not at all, and those before it always. Many such ends follow upon each other
// in one file.
func TestTornRecordIsLeftOut(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	path := create(t)
	torn, whole := 0, 0
	for round := range 120 {
		before, after, records := crashed(t, r, path)
		mixed := append([]byte(nil), before...)
		for at := 0; at < fileSize; at += sectorSize {
			if r.IntN(3) > 0 {
				copy(mixed[at:at+sectorSize], after[at:])
			}
		}
		if err := os.WriteFile(path, mixed, 0o600); err != nil {
			t.Fatal(err)
		}
		got := read(t, path)
		complete := bytes.Equal(mixed, after)
		switch {
		case complete && equal(got, records):
			whole++
		case !complete && equal(got, records[:len(records)-1]):
			torn++
		default:
			t.Fatalf("round %d: %d records are read of %d, all written: %v", round, len(got), len(records), complete)
		}
	}
	if torn < 20 || whole < 20 {
		t.Fatalf("%d were torn and %d whole: the test looks at too few", torn, whole)
	}
}

// A changed byte of what counts is reported, and never takes a record away in silence.
func TestSTO01FlippedByteOfTheJournal(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	path := create(t)
	_, after, records := crashed(t, r, path)
	for len(records) < 4 {
		_, after, records = crashed(t, r, path)
	}
	reported := 0
	for at := 0; at < fileSize; at += 1 + r.IntN(100_000) {
		reported += flip(t, path, after, at, records)
	}
	used := 0
	for i, b := range after {
		if b != 0 {
			used = i
		}
	}
	for at := used - 3000; at <= used; at += 41 {
		reported += flip(t, path, after, at, records)
	}
	if reported < 40 {
		t.Fatalf("only %d flips were reported", reported)
	}
}

func flip(t *testing.T, path string, whole []byte, at int, want [][]byte) int {
	t.Helper()
	broken := append([]byte(nil), whole...)
	broken[at] ^= 0x10
	got, _, err := parse(path, broken)
	var d *Damage
	switch {
	case errors.As(err, &d):
		return 1
	case err != nil:
		t.Fatal(err)
	case !equal(got, want):
		t.Fatalf("byte %d: %d records are read, want %d", at, len(got), len(want))
	}
	return 0
}

// A sector that lost a write which was reported to be on the disk is damage, unless
// it is of the last record.
func TestLostSectorIsReported(t *testing.T) {
	path := create(t)
	j := opened(t, path)
	for i := range 5 {
		if _, err := j.Append(bytes.Repeat([]byte{byte(i + 1)}, 1200)); err != nil {
			t.Fatal(err)
		}
	}
	j.Close()
	whole := content(t, path)
	start := int(j.serial%2)*segmentSize + sectorSize // behind the mark of the start
	for sector := range 5 * sectorsOf(1200) {
		broken := append([]byte(nil), whole...)
		clear(broken[start+sector*sectorSize : start+(sector+1)*sectorSize])
		got, _, err := parse(path, broken)
		var d *Damage
		if last := sector >= 4*sectorsOf(1200); last && (err != nil || len(got) != 4) || !last && !errors.As(err, &d) {
			t.Errorf("sector %d: %d records, %v", sector, len(got), err)
		}
	}
}

func TestAFileThatIsNoJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "raft.journal")
	for name, content := range map[string][]byte{"empty": nil, "short": make([]byte, 5000), "other": bytes.Repeat([]byte("text "), fileSize/5+1)[:fileSize]} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		var d *Damage
		if _, _, err := Read(path); !errors.As(err, &d) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// After a write that failed nothing is taken: what the disk holds is not known.
func TestAFailedWriteIsTheLast(t *testing.T) {
	path := create(t)
	j := opened(t, path)
	failing := errors.New("input/output error")
	j.syncing = func(*os.File) error { return failing }
	if _, err := j.Append([]byte("a")); !errors.Is(err, failing) {
		t.Fatal(err)
	}
	j.syncing = syncData
	if _, err := j.Append([]byte("b")); !errors.Is(err, failing) {
		t.Fatal(err)
	}
}

// whole is a disk that takes whole blocks only.
type whole struct {
	io.WriterAt
	t *testing.T
}

func (w whole) WriteAt(b []byte, at int64) (int, error) {
	if uintptr(unsafe.Pointer(unsafe.SliceData(b)))%blockSize != 0 || len(b)%blockSize != 0 || at%blockSize != 0 {
		w.t.Errorf("%d bytes are written at %d", len(b), at)
	}
	return w.WriterAt.WriteAt(b, at)
}

func (w whole) Close() error { return nil }

// Where the file is written past the system's cache, in whole blocks, what was appended is
// read again, over turns of the segments.
func TestDirectWritesAreReadAgain(t *testing.T) {
	for name, own := range map[string]bool{"the system's": true, "one of ours": false} {
		t.Run(name, func(t *testing.T) {
			path := create(t)
			j, err := Open(path, 2, true)
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			switch {
			case !own:
				if j.direct != nil {
					j.direct.Close()
				}
				j.direct = whole{j.file, t}
			case runtime.GOOS == "linux" && j.direct == nil:
				t.Log("this file system has no direct writes: through its cache")
			}
			appendMany(t, path, j)
		})
	}
}

func appendMany(t *testing.T, path string, j *Journal) {
	r := rand.New(rand.NewPCG(8, 1))
	var want [][]byte
	for first := j.serial; j.serial < first+3; {
		serial := j.serial
		w := record(r)
		if _, err := j.Append(w); err != nil {
			t.Fatal(err)
		}
		if j.serial > serial {
			j.Free(serial)
			want = nil // of the segment before; all of the newer one are there
		}
		want = append(want, w)
		if j.serial == serial && r.IntN(50) > 0 {
			continue
		}
		if got := read(t, path); len(got) < len(want) || !equal(got[len(got)-len(want):], want) {
			t.Fatalf("segment %d: %d records are read, of %d", j.serial, len(got), len(want))
		}
	}
}

// refusing is a file system that opens files past its cache and does not write them so.
type refusing struct{ asked, closed int }

func (r *refusing) WriteAt([]byte, int64) (int, error) {
	r.asked++
	return 0, &os.PathError{Op: "write", Path: "raft.journal", Err: syscall.EINVAL}
}

func (r *refusing) Close() error { r.closed++; return nil }

// A file system that refuses direct writes is written through its cache, with a sync.
func TestRefusedDirectWritesGoThroughTheCache(t *testing.T) {
	path := create(t)
	j := opened(t, path)
	syncs, direct := 0, &refusing{}
	j.syncing, j.direct = func(*os.File) error { syncs++; return nil }, direct
	for _, w := range []string{"a", "b"} {
		if _, err := j.Append([]byte(w)); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, path); !equal(got, [][]byte{[]byte("a"), []byte("b")}) {
		t.Fatalf("%q", got)
	}
	if syncs != 2 || direct.asked != 1 || direct.closed != 1 {
		t.Fatalf("%d syncs; %+v", syncs, direct)
	}
}

// A changed byte of the first record of a new segment, the only one of it, is reported
// too: it does not look as if the segment had not been begun.
func TestSTO01FlippedByteOfANewSegment(t *testing.T) {
	path := create(t)
	turn(t, path, 3)      // what stands behind the one sector is of an earlier use
	j := turn(t, path, 1) // the segment before the new one begins with a mark
	whole := content(t, path)
	want := read(t, path)
	start := int(j.serial%2) * segmentSize
	reported := 0
	for at := start; at < start+2*sectorSize; at += 7 {
		reported += flip(t, path, whole, at, want)
	}
	if reported < sectorSize/7 {
		t.Fatalf("only %d flips were reported", reported)
	}
}

// turn opens a journal, fills its first segment and puts some records into the next.
func turn(t *testing.T, path string, records int) *Journal {
	t.Helper()
	j := opened(t, path)
	for first := j.serial; j.serial == first || records > 0; {
		if _, err := j.Append([]byte("a record")); err != nil {
			t.Fatal(err)
		}
		if j.serial > first {
			records--
		}
	}
	j.Close()
	return j
}

// What a process that was killed has not synced is on the disk before the mark of the
// next start is: else the power could leave the mark, and not what it follows upon.
func TestTheRestIsSyncedBeforeTheMark(t *testing.T) {
	path := create(t)
	before := content(t, path)
	var synced [][]byte
	j, err := open(path, 2, func(*os.File) error { synced = append(synced, content(t, path)); return nil })
	if err != nil {
		t.Fatal(err)
	}
	j.Close()
	if len(synced) != 2 || !bytes.Equal(synced[0], before) || bytes.Equal(synced[1], before) {
		t.Fatalf("%d syncs", len(synced))
	}
}

// A segment, or the whole file, that has become zeros is no journal without records.
func TestZerosAreReported(t *testing.T) {
	path := create(t)
	j := opened(t, path)
	if _, err := j.Append([]byte("a record")); err != nil {
		t.Fatal(err)
	}
	j.Close()
	whole := content(t, path)
	for name, cut := range map[string][2]int{"all": {0, fileSize}, "the newer segment": {int(j.serial%2) * segmentSize, segmentSize}} {
		broken := append([]byte(nil), whole...)
		clear(broken[cut[0] : cut[0]+cut[1]])
		var d *Damage
		if records, _, err := parse(path, broken); !errors.As(err, &d) {
			t.Errorf("%s: %d records, %v", name, len(records), err)
		}
	}
}

// FuzzFile reads files whose sectors are whole, each by itself, but make no sense
// together: a new file with edits. An edit is of 12 bytes: place u16, serial u8, call u8, place as it says u16,
// part u8, kind u8, length u32.
func FuzzFile(f *testing.F) {
	f.Add([]byte{0, 16, 1, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 1, 10, 0, 0, 0})
	f.Fuzz(func(t *testing.T, edits []byte) {
		content := make([]byte, fileSize)
		for slot, serial := range []uint32{2, 1} {
			sector := content[slot*segmentSize:][:sectorSize]
			sector[headSize+4] = kindReset
			tag{serial, 1, 0, 0}.put(sector)
		}
		for ; len(edits) >= 12; edits = edits[12:] {
			at := int(binary.LittleEndian.Uint16(edits)) % (2 * sectors) * sectorSize
			sector := content[at : at+sectorSize]
			copy(sector[headSize:], edits[8:12])
			sector[headSize+4] = edits[7]
			tag{uint32(edits[2]), uint32(edits[3]), binary.LittleEndian.Uint16(edits[4:]), uint16(edits[6])}.put(sector)
		}
		records, last, err := parse("journal", content)
		var d *Damage
		if err != nil && !errors.As(err, &d) || err == nil && last == 0 {
			t.Fatal(last, err)
		}
		for _, r := range records {
			if len(r) > MaxRecord {
				t.Fatal(fmt.Sprint("a record of ", len(r)))
			}
		}
	})
}

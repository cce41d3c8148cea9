package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"unsafe"
)

const (
	segmentSize = 2 << 20
	sectors     = segmentSize / sectorSize
	fileSize    = 2 * segmentSize
	// blockSize is what is written at once past the system's cache, or a multiple of it:
	// of a disk with larger sectors than ours a part of one would have to be read first.
	blockSize = 4096
	// frameSize is what stands before a record's bytes: its length u32, its kind u8.
	frameSize = 5
	// MaxRecord is how long a record may be, in bytes.
	MaxRecord = sectors*bodySize - frameSize
)

// The kinds of records.
const (
	kindRecord byte = 1
	kindReset  byte = 2 // nothing before it counts
)

// ErrFull tells that the segment to be used next is not free yet.
var ErrFull = errors.New("both segments of the journal are in use")

// Journal is the open file. It is not safe for concurrent use, Free apart.
type Journal struct {
	file    *os.File
	direct  direct // nil = none: the file is written through the system's cache
	serial  uint32 // of the segment that is being filled
	call    uint32 // of the last record in it
	used    int    // its sectors
	inUse   [2]atomic.Bool
	buffer  []byte
	broken  error // the first write that failed: what is on the disk is not known
	syncing func(*os.File) error
}

// direct is the file as something that takes whole sectors, and has them on the disk
// when it returns: one request to the disk where a write and a sync are two.
type direct interface {
	io.WriterAt
	io.Closer
}

// Create makes the file anew, whole or not at all, without a record. It returns the
// serial number that is in use.
func Create(path string) (last uint32, err error) {
	next := path + ".next"
	if last, err = fresh(next); err != nil {
		return 0, errors.Join(fmt.Errorf("make the journal: %w", err), os.Remove(next))
	}
	if err := os.Rename(next, path); err != nil {
		return 0, fmt.Errorf("make the journal: %w", err)
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return 0, fmt.Errorf("make the journal: %w", err)
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return 0, fmt.Errorf("make the journal: %w", err)
	}
	return last, nil
}

// fresh writes the whole file, so that the disk has set its blocks aside, and a mark in
// each segment, so that one of zeros is one that has lost what it held.
func fresh(path string) (last uint32, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, err
	}
	chunk := make([]byte, 256<<10)
	for range fileSize / len(chunk) {
		if _, err := f.Write(chunk); err != nil {
			return 0, errors.Join(err, f.Close())
		}
	}
	j := &Journal{file: f, syncing: (*os.File).Sync}
	for range 2 {
		if last, err = j.Reset(); err != nil {
			break
		}
	}
	return last, errors.Join(err, f.Close())
}

// Open opens the file to append to it, once its records were read with Read and are
// kept elsewhere: they no longer count. Last is the serial number that Read has found.
// Without sync nothing is certain to be on the disk (a test of the tests).
func Open(path string, last uint32, sync bool) (*Journal, error) {
	if !sync {
		return open(path, last, func(*os.File) error { return nil })
	}
	j, err := open(path, last, syncData)
	if err == nil {
		j.direct = openDirect(path)
	}
	return j, err
}

func open(path string, last uint32, syncing func(*os.File) error) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	j := &Journal{file: f, serial: last, syncing: syncing}
	// What a process that was killed has not synced comes to the disk before the mark
	// does: so the two segments there always have numbers that follow each other.
	if err := j.syncing(f); err != nil {
		return nil, errors.Join(fmt.Errorf("open the journal: %w", err), f.Close())
	}
	if _, err := j.Reset(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return j, nil
}

// Append writes a record of up to MaxRecord bytes and returns, once it is on the disk,
// the serial number of its segment.
func (j *Journal) Append(record []byte) (serial uint32, err error) {
	return j.append(kindRecord, record)
}

// Reset makes all records before it count no more, and begins a segment, whose serial
// number it returns.
func (j *Journal) Reset() (serial uint32, err error) {
	j.inUse[0].Store(false)
	j.inUse[1].Store(false)
	if err := j.turn(); err != nil {
		return 0, err
	}
	return j.append(kindReset, nil)
}

// Free tells that the records of a segment that is full are kept elsewhere.
func (j *Journal) Free(serial uint32) { j.inUse[serial%2].Store(false) }

// turn begins the next segment.
func (j *Journal) turn() error {
	if j.inUse[(j.serial+1)%2].Load() {
		return ErrFull
	}
	j.serial, j.call, j.used = j.serial+1, 0, 0
	j.inUse[j.serial%2].Store(true)
	return nil
}

func (j *Journal) append(kind byte, record []byte) (uint32, error) {
	if j.broken != nil {
		return 0, j.broken
	}
	if len(record) > MaxRecord {
		return 0, fmt.Errorf("write the journal: a record of %d bytes", len(record))
	}
	if j.used+sectorsOf(len(record)) > sectors {
		if err := j.turn(); err != nil {
			return 0, err
		}
	}
	j.call++
	j.lay(kind, record)
	if err := j.write(sectorsOf(len(record))); err != nil {
		j.broken = fmt.Errorf("write the journal: %w", err)
		return 0, j.broken
	}
	j.wrote(sectorsOf(len(record)))
	return j.serial, nil
}

// write has the n sectors that were laid on the disk. Direct writes are of whole blocks:
// the sectors that stand before in the first are written again as they are, and zeros
// behind, as if nothing had ever been there.
func (j *Journal) write(n int) error {
	at, head := int64(j.serial%2)*segmentSize+int64(j.used)*sectorSize, j.head()
	if j.direct != nil {
		_, err := j.direct.WriteAt(j.buffer, at-int64(head))
		if !errors.Is(err, syscall.EINVAL) {
			return err
		}
		// Nothing was written: this file system takes no such writes.
		_ = j.direct.Close()
		j.direct = nil
	}
	if _, err := j.file.WriteAt(j.buffer[head:head+n*sectorSize], at); err != nil {
		return err
	}
	return j.syncing(j.file)
}

// sectorsOf is how many sectors a record of n bytes takes.
func sectorsOf(n int) int { return (frameSize + n + bodySize - 1) / bodySize }

// head is how many bytes the sectors take that stand in the block to be written next.
func (j *Journal) head() int { return j.used * sectorSize % blockSize }

// lay puts a record into sectors, in the buffer, behind those of its block.
func (j *Journal) lay(kind byte, record []byte) {
	n, head := sectorsOf(len(record)), j.head()
	need := (head + n*sectorSize + blockSize - 1) / blockSize * blockSize
	if cap(j.buffer) < need {
		larger := aligned(need)
		copy(larger, j.buffer[:head])
		j.buffer = larger
	}
	j.buffer = j.buffer[:need]
	clear(j.buffer[head+n*sectorSize:])
	for part := range n {
		sector := j.buffer[head+part*sectorSize:][:sectorSize]
		body := sector[headSize:]
		if part == 0 {
			binary.LittleEndian.PutUint32(body, uint32(len(record)))
			body[4] = kind
			body = body[frameSize:]
		}
		took := copy(body, record)
		record = record[took:]
		clear(body[took:])
		tag{j.serial, j.call, uint16(j.used + part), uint16(part)}.put(sector)
	}
}

// wrote takes down that n sectors more are on the disk, and keeps those of the block
// that is not full.
func (j *Journal) wrote(n int) {
	end := j.head() + n*sectorSize
	copy(j.buffer, j.buffer[end/blockSize*blockSize:end])
	j.used += n
}

// aligned makes a buffer for direct writes: it begins where a block could.
func aligned(n int) []byte {
	raw := make([]byte, n+blockSize)
	over := int(uintptr(unsafe.Pointer(unsafe.SliceData(raw))) % blockSize)
	return raw[blockSize-over:][:n]
}

// Close closes the file.
func (j *Journal) Close() error {
	err := j.file.Close()
	if j.direct != nil {
		err = errors.Join(err, j.direct.Close())
	}
	if err != nil {
		return fmt.Errorf("close the journal: %w", err)
	}
	return nil
}

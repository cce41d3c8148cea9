package log

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// The layout of a bbolt file, as far as a check needs it: two heads (pages 0 and
// 1, written in turn), then a tree of branch and leaf pages. Numbers are in the
// byte order of the machine that wrote them; all that we build for are little
// endian.
const (
	pageHeader  = 16 // id u64, flags u16, count u16, overflow u32
	elementSize = 16
	metaSize    = 64
	metaMagic   = 0xED0CDAED
	branchFlag  = 0x01
	leafFlag    = 0x02
	metaFlag    = 0x04
	bucketFlag  = 0x01
	bucketSize  = 16 // root u64, sequence u64
	maxPageSize = 1 << 16
)

// pages walks the tree of one file.
type pages struct {
	path string
	file io.ReaderAt
	size uint32 // of a page
	end  uint64 // pages from here on are not in use
	seen map[uint64]bool
}

// checkPages verifies both heads and the structure of every page in use. What
// the entries say is checked by their own checksums.
func checkPages(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	p := &pages{path: path, file: f, seen: make(map[uint64]bool)}
	root, err := p.heads()
	if err != nil {
		return err
	}
	// The last page may be cut short by its unused end, as a file that was
	// growing may be.
	if have := uint64(info.Size()) + uint64(p.size) - 1; p.end*uint64(p.size) > have {
		return p.damage("the file ends at byte %d, before its last page", info.Size())
	}
	return p.walk(root, span{}, 0)
}

func (p *pages) damage(format string, args ...any) error {
	return &Damage{Path: p.path, What: fmt.Sprintf(format, args...)}
}

// heads checks both heads and returns the root of the newer one.
func (p *pages) heads() (root uint64, err error) {
	first, err := p.head(0)
	if err != nil {
		return 0, err
	}
	p.size = binary.LittleEndian.Uint32(first[8:])
	if p.size < 512 || p.size > maxPageSize {
		return 0, p.damage("its pages would have %d bytes", p.size)
	}
	second, err := p.head(int64(p.size))
	if err != nil {
		return 0, err
	}
	newest := first
	if binary.LittleEndian.Uint64(second[48:]) > binary.LittleEndian.Uint64(first[48:]) {
		newest = second
	}
	p.end = binary.LittleEndian.Uint64(newest[40:])
	return binary.LittleEndian.Uint64(newest[16:]), nil
}

// head reads the head at an offset. A head that is not whole is refused even if
// the other one is: the newer of the two is what the last write made, and which
// one that was cannot be told any more.
func (p *pages) head(offset int64) ([]byte, error) {
	buf := make([]byte, pageHeader+metaSize)
	if _, err := p.file.ReadAt(buf, offset); err != nil {
		return nil, p.damage("its head at byte %d cannot be read: %v", offset, err)
	}
	meta := buf[pageHeader:]
	sum := fnv.New64a()
	sum.Write(meta[:metaSize-8])
	switch {
	case binary.LittleEndian.Uint32(meta) != metaMagic:
		return nil, p.damage("it is not a log, or its head at byte %d is damaged", offset)
	case sum.Sum64() != binary.LittleEndian.Uint64(meta[metaSize-8:]):
		return nil, p.damage("the checksum of its head at byte %d does not fit; its newest entries may be missing", offset)
	case binary.LittleEndian.Uint16(buf[8:]) != metaFlag:
		return nil, p.damage("the page of its head at byte %d is damaged", offset)
	}
	return meta, nil
}

// maxDepth is deeper than any tree that fits on a disk.
const maxDepth = 64

// span are the keys that a page may hold: those from low on, below high. Nil is
// no bound.
type span struct{ low, high []byte }

func (s span) holds(key []byte) bool {
	return bytes.Compare(key, s.low) >= 0 && (s.high == nil || bytes.Compare(key, s.high) < 0)
}

// walk checks one page and everything below it.
func (p *pages) walk(id uint64, keys span, depth int) error {
	if id < 2 || id >= p.end || depth > maxDepth {
		return p.damage("a page points at page %d, which is not in use", id)
	}
	header := make([]byte, pageHeader)
	if _, err := p.file.ReadAt(header, int64(id)*int64(p.size)); err != nil {
		return p.damage("page %d cannot be read: %v", id, err)
	}
	overflow := uint64(binary.LittleEndian.Uint32(header[12:]))
	if binary.LittleEndian.Uint64(header) != id || id+overflow >= p.end {
		return p.damage("the header of page %d is damaged", id)
	}
	for n := id; n <= id+overflow; n++ {
		if p.seen[n] {
			return p.damage("page %d is in use twice", n)
		}
		p.seen[n] = true
	}
	content := make([]byte, (overflow+1)*uint64(p.size))
	if n, err := p.file.ReadAt(content, int64(id)*int64(p.size)); err != nil && err != io.EOF {
		return p.damage("page %d cannot be read: %v", id, err)
	} else if n < pageHeader {
		return p.damage("page %d is cut off", id)
	}
	return p.page(id, content, keys, depth)
}

// page checks the elements of one page, which may also be a small bucket inside
// another page.
func (p *pages) page(id uint64, content []byte, keys span, depth int) error {
	flags := binary.LittleEndian.Uint16(content[8:])
	count := int(binary.LittleEndian.Uint16(content[10:]))
	if flags != branchFlag && flags != leafFlag {
		return p.damage("the header of page %d is damaged", id)
	}
	if pageHeader+count*elementSize > len(content) {
		return p.damage("page %d claims %d elements", id, count)
	}
	elements := make([]pageElement, count)
	for i := range elements {
		e, ok := element(content, pageHeader+i*elementSize, flags == branchFlag)
		if !ok || !keys.holds(e.key) || (i > 0 && bytes.Compare(elements[i-1].key, e.key) >= 0) {
			return p.damage("element %d of page %d is damaged", i, id)
		}
		elements[i] = e
	}
	for i, e := range elements {
		below := span{low: e.key, high: keys.high}
		if i+1 < count {
			below.high = elements[i+1].key
		}
		if err := p.child(id, e, below, depth); err != nil {
			return err
		}
	}
	return nil
}

// child follows what one element points at. A bucket's keys are its own.
func (p *pages) child(id uint64, e pageElement, below span, depth int) error {
	switch {
	case e.branch:
		return p.walk(e.page, below, depth+1)
	case e.flags&^bucketFlag != 0:
		return p.damage("an element of page %d has unknown flags", id)
	case e.flags == 0:
		return nil
	case len(e.value) < bucketSize:
		return p.damage("a bucket of page %d is cut off", id)
	}
	root := binary.LittleEndian.Uint64(e.value)
	if root != 0 {
		return p.walk(root, span{}, depth+1)
	}
	if len(e.value) < bucketSize+pageHeader || depth > maxDepth {
		return p.damage("a bucket of page %d is cut off", id)
	}
	return p.page(id, e.value[bucketSize:], span{}, depth+1)
}

// pageElement is one key of a page, with a value or a page below it.
type pageElement struct {
	branch bool
	flags  uint32
	page   uint64
	key    []byte
	value  []byte
}

func element(content []byte, at int, branch bool) (e pageElement, ok bool) {
	e.branch = branch
	u32 := func(offset int) uint64 { return uint64(binary.LittleEndian.Uint32(content[at+offset:])) }
	var start, keyLen, valueLen uint64
	if branch {
		start, keyLen = u32(0), u32(4)
		e.page = binary.LittleEndian.Uint64(content[at+8:])
	} else {
		e.flags = uint32(u32(0))
		start, keyLen, valueLen = u32(4), u32(8), u32(12)
	}
	start += uint64(at)
	if start+keyLen+valueLen > uint64(len(content)) {
		return e, false
	}
	e.key = content[start : start+keyLen]
	e.value = content[start+keyLen : start+keyLen+valueLen]
	return e, true
}

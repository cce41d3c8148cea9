package journal

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"os"
)

// Damage tells that the file is not what was written.
type Damage struct {
	Path   string
	Offset int64 // of the sector, in bytes; -1 where the file itself is at fault
	What   string
}

// Error names the file and the place.
func (d *Damage) Error() string {
	return fmt.Sprintf("the journal %s is damaged: %s", d.Path, d.Where())
}

// Where tells the place and what is wrong there.
func (d *Damage) Where() string {
	if d.Offset < 0 {
		return d.What
	}
	return fmt.Sprintf("at byte %d, %s", d.Offset, d.What)
}

// Read reads the records that count, from the oldest on, and the greatest serial number
// that is in use. A record that was never finished, at the end, is left out; whatever
// else is missing or has changed is *Damage.
func Read(path string) (records [][]byte, last uint32, err error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, 0, fmt.Errorf("read the journal: %w", err)
	}
	return parse(path, content)
}

func parse(path string, content []byte) (records [][]byte, last uint32, err error) {
	if len(content) != fileSize {
		return nil, 0, &Damage{Path: path, Offset: -1, What: fmt.Sprintf("it has %d bytes, not %d", len(content), fileSize)}
	}
	var both [2]*segment
	for slot := range both {
		both[slot] = look(path, slot, content[slot*segmentSize:(slot+1)*segmentSize])
	}
	older, newer := both[0], both[1]
	if older.serial > newer.serial {
		older, newer = newer, older
	}
	// Even where the older one does not count: what is wrong with it may be that it was
	// the newer one.
	if err := cmp.Or(older.bad, newer.bad); err != nil {
		return nil, 0, err
	}
	if older.serial == 0 || older.serial+1 != newer.serial {
		return nil, 0, &Damage{Path: path, Offset: -1, What: fmt.Sprintf("segment %d follows %d", newer.serial, older.serial)}
	}
	if !newer.resets() {
		if records, err = older.read(nil, false); err != nil {
			return nil, 0, err
		}
	}
	if records, err = newer.read(records, true); err != nil {
		return nil, 0, err
	}
	return records, newer.serial, nil
}

// segment is one of the two, as it was read.
type segment struct {
	path    string
	start   int64
	content []byte
	serial  uint32 // the greatest of its sectors
	tags    []tag
	bad     error // the first sector that is not what was written
}

// look checks every sector of a segment on its own.
func look(path string, slot int, content []byte) *segment {
	s := &segment{path: path, start: int64(slot) * segmentSize, content: content, tags: make([]tag, sectors)}
	for i := range s.tags {
		t, written, ok := tagOf(s.sector(i))
		if ok && written {
			ok = int(t.place) == i && int(t.serial%2) == slot && t.serial != 0 && t.call != 0
		}
		if !ok {
			if s.bad == nil {
				s.bad = s.damage(i, "a sector is not what was written")
			}
			continue
		}
		s.tags[i] = t
		s.serial = max(s.serial, t.serial)
	}
	return s
}

// resets reports whether the segment begins with the mark that nothing before it counts.
func (s *segment) resets() bool {
	return s.holds(0, 1, 0) && s.sector(0)[headSize+4] == kindReset
}

func (s *segment) sector(i int) []byte { return s.content[i*sectorSize : (i+1)*sectorSize] }

func (s *segment) damage(i int, what string) error {
	return &Damage{Path: s.path, Offset: s.start + int64(i)*sectorSize, What: what}
}

// read appends the segment's records to what was read before.
func (s *segment) read(records [][]byte, newest bool) ([][]byte, error) {
	at, call := 0, uint32(1)
	for at < sectors && s.holds(at, call, 0) {
		length := int(binary.LittleEndian.Uint32(s.sector(at)[headSize:]))
		kind := s.sector(at)[headSize+4]
		if length > MaxRecord || at+sectorsOf(length) > sectors || kind != kindRecord && (kind != kindReset || at > 0) {
			return nil, s.damage(at, "a record that cannot be")
		}
		record, whole := s.record(at, call, length)
		if !whole {
			break
		}
		if kind == kindRecord {
			records = append(records, record)
		}
		at, call = at+sectorsOf(length), call+1
	}
	return records, s.unfinished(at, call, newest)
}

func (s *segment) holds(at int, call uint32, part int) bool {
	t := s.tags[at]
	return t.serial == s.serial && t.call == call && int(t.part) == part
}

// record puts a record's sectors together; whole is false if one was not written.
func (s *segment) record(at int, call uint32, length int) (record []byte, whole bool) {
	record = make([]byte, 0, length+bodySize)
	for part := range sectorsOf(length) {
		if !s.holds(at+part, call, part) {
			return nil, false
		}
		record = append(record, s.sector(at + part)[headSize:]...)
	}
	return record[frameSize : frameSize+length], true
}

// unfinished checks what stands behind the last whole record: sectors of earlier uses,
// and such of one record that was being written when the process ended. A later one
// was written when this one was on the disk already. So was a later segment.
func (s *segment) unfinished(at int, call uint32, newest bool) error {
	for i := at; i < sectors; i++ {
		if s.tags[i].serial != s.serial {
			continue
		}
		if s.tags[i].call != call {
			return s.damage(at, "a record is missing")
		}
		if !newest {
			return s.damage(at, "a record is cut short")
		}
	}
	return nil
}

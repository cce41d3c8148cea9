package journal

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// A disk writes a sector whole or not at all. Numbers are little endian.
const (
	sectorSize = 512
	headSize   = 16 // sum u32, serial u32, call u32, place u16, part u16
	bodySize   = sectorSize - headSize
)

var zero [sectorSize]byte

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// tag is where a sector belongs.
type tag struct {
	serial uint32 // of the segment: each use of one has the next number
	call   uint32 // of the record within the segment, from 1 on
	place  uint16 // of the sector within the segment
	part   uint16 // of the sector within its record
}

// put writes the head of a sector whose body is there already.
func (t tag) put(sector []byte) {
	binary.LittleEndian.PutUint32(sector[4:], t.serial)
	binary.LittleEndian.PutUint32(sector[8:], t.call)
	binary.LittleEndian.PutUint16(sector[12:], t.place)
	binary.LittleEndian.PutUint16(sector[14:], t.part)
	binary.LittleEndian.PutUint32(sector, crc32.Checksum(sector[4:sectorSize], castagnoli))
}

// tagOf reads the head of a sector. One of zeros has never been written; ok is false
// where the sector is not what was written.
func tagOf(sector []byte) (t tag, written, ok bool) {
	if sum := binary.LittleEndian.Uint32(sector); sum != crc32.Checksum(sector[4:], castagnoli) {
		return tag{}, false, bytes.Equal(sector, zero[:])
	}
	t = tag{
		serial: binary.LittleEndian.Uint32(sector[4:]), call: binary.LittleEndian.Uint32(sector[8:]),
		place: binary.LittleEndian.Uint16(sector[12:]), part: binary.LittleEndian.Uint16(sector[14:]),
	}
	return t, true, true
}

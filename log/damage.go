package log

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/hashicorp/raft"
)

// Damage tells that the log is not what was written: a checksum that does not
// fit, or an entry that is missing. Nothing is repaired: on a node of a cluster
// its data directory can be removed and the node joined again.
type Damage struct {
	Path  string
	Index uint64 // of the entry, or 0 where the file itself is at fault
	What  string
}

// Error names the file, the index and what is wrong.
func (d *Damage) Error() string {
	if d.Index == 0 {
		return fmt.Sprintf("the log %s is damaged: %s", d.Path, d.What)
	}
	return fmt.Sprintf("the log %s is damaged at entry %d: %s", d.Path, d.Index, d.What)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumSize is the length of the checksum that each entry and value carries.
const sumSize = 4

// entrySum covers everything of an entry that decides what it means.
func entrySum(l *raft.Log) uint32 {
	var head [17]byte
	binary.BigEndian.PutUint64(head[0:], l.Index)
	binary.BigEndian.PutUint64(head[8:], l.Term)
	head[16] = byte(l.Type)
	return crc32.Update(crc32.Checksum(head[:], castagnoli), castagnoli, l.Data)
}

// seal returns a copy of the entry with its checksum in the extensions, which
// Raft leaves to such use. The data is shared, not copied.
func seal(l *raft.Log) *raft.Log {
	sealed := *l
	sealed.Extensions = binary.BigEndian.AppendUint32(nil, entrySum(l))
	return &sealed
}

// unseal checks the entry and takes the checksum off again.
func unseal(path string, index uint64, l *raft.Log) error {
	switch {
	case l.Index != index:
		return &Damage{Path: path, Index: index, What: fmt.Sprintf("it says it is entry %d", l.Index)}
	case len(l.Extensions) != sumSize:
		return &Damage{Path: path, Index: index, What: "its checksum is missing"}
	case binary.BigEndian.Uint32(l.Extensions) != entrySum(l):
		return &Damage{Path: path, Index: index, What: "its checksum does not fit"}
	}
	l.Extensions = nil
	return nil
}

// sealValue appends a checksum over key and value to a stable value.
func sealValue(key, value []byte) []byte {
	return binary.BigEndian.AppendUint32(append([]byte(nil), value...), valueSum(key, value))
}

func valueSum(key, value []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value)
}

func unsealValue(path string, key, sealed []byte) ([]byte, error) {
	if len(sealed) < sumSize {
		return nil, &Damage{Path: path, What: fmt.Sprintf("the value %s is too short", key)}
	}
	value := sealed[:len(sealed)-sumSize]
	if binary.BigEndian.Uint32(sealed[len(value):]) != valueSum(key, value) {
		return nil, &Damage{Path: path, What: fmt.Sprintf("the checksum of the value %s does not fit", key)}
	}
	return value, nil
}

package log

import (
	"encoding/binary"
	"time"

	"github.com/hashicorp/raft"
)

// entryHead is what stands before the bytes of an entry in the journal, little endian:
// index u64, term u64, type u8, time in ns since 1970 i64 (0 = none), length of the
// extensions u32, of the data u32.
const entryHead = 8 + 8 + 1 + 8 + 4 + 4

// appendEntry appends an entry as the journal keeps it.
func appendEntry(dst []byte, l *raft.Log) []byte {
	var appended int64
	if !l.AppendedAt.IsZero() {
		appended = l.AppendedAt.UnixNano()
	}
	dst = binary.LittleEndian.AppendUint64(dst, l.Index)
	dst = binary.LittleEndian.AppendUint64(dst, l.Term)
	dst = append(dst, byte(l.Type))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(appended))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(l.Extensions)))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(l.Data)))
	dst = append(dst, l.Extensions...)
	return append(dst, l.Data...)
}

// cutEntry reads the first entry of a record, and returns what follows it.
func cutEntry(record []byte) (l *raft.Log, rest []byte, ok bool) {
	if len(record) < entryHead {
		return nil, nil, false
	}
	l = &raft.Log{
		Index: binary.LittleEndian.Uint64(record),
		Term:  binary.LittleEndian.Uint64(record[8:]),
		Type:  raft.LogType(record[16]),
	}
	if appended := int64(binary.LittleEndian.Uint64(record[17:])); appended != 0 {
		l.AppendedAt = time.Unix(0, appended)
	}
	extensions, data := uint64(binary.LittleEndian.Uint32(record[25:])), uint64(binary.LittleEndian.Uint32(record[29:]))
	record = record[entryHead:]
	if uint64(len(record)) < extensions+data {
		return nil, nil, false
	}
	l.Extensions, l.Data = record[:extensions:extensions], record[extensions:extensions+data:extensions+data]
	return l, record[extensions+data:], true
}

package log

import (
	"bytes"
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// Entries of every size come back from a log that was killed as they were stored, with
// the time at which they were.
func TestEntriesOfEverySize(t *testing.T) {
	w := newWorld(t, 8)
	edge := directBytes - entryHead - sumSize
	stored := time.Date(2026, 2, 28, 23, 59, 59, 987654321, time.UTC)
	for i, size := range []int{0, 1, 455, 456, 457, 951, 952, 953, edge - 1, edge, edge + 1, 0, 2<<20 + 1, 0} {
		l := &raft.Log{Index: uint64(i + 1), Term: 3, Type: raft.LogType(i % 5), Data: bytes.Repeat([]byte{byte(i)}, size)}
		if i%2 == 0 {
			l.AppendedAt = stored.Add(time.Duration(i))
		}
		w.must(w.s.StoreLog(l))
		w.logs = append(w.logs, l)
	}
	path := w.killed()
	w.must(w.s.Close())
	s, err := Look(path)
	w.must(err)
	w.check(s)
	for _, want := range w.logs {
		var l raft.Log
		w.must(s.GetLog(want.Index, &l))
		if l.Type != want.Type || !l.AppendedAt.Equal(want.AppendedAt) || l.Extensions != nil {
			t.Errorf("entry %d is %v of %v, want %v of %v", want.Index, l.Type, l.AppendedAt, want.Type, want.AppendedAt)
		}
	}
	w.must(s.Close())
}

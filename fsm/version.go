package fsm

import (
	"encoding/binary"

	"abagraph/fact"
	"abagraph/log/entry"

	"github.com/cockroachdb/pebble/v2"
)

// version is a fact as it was until another tx changed it.
type version struct {
	f   fact.Fact
	end versionEnd
}

func encodeVersion(f *fact.Fact, end versionEnd) []byte {
	b := make([]byte, 0, 320)
	b = binary.AppendUvarint(b, end.tx)
	b = binary.AppendVarint(b, int64(end.at))
	b = binary.AppendVarint(b, int64(end.known))
	return entry.AppendFact(b, f)
}

func decodeVersion(b []byte) (version, error) {
	bad := fact.Errorf(fact.StorageCorruption, "a version cannot be read")
	var v version
	tx, n := binary.Uvarint(b)
	if n <= 0 {
		return v, bad
	}
	b = b[n:]
	at, n := binary.Varint(b)
	if n <= 0 {
		return v, bad
	}
	b = b[n:]
	known, n := binary.Varint(b)
	if n <= 0 {
		return v, bad
	}
	f, err := entry.DecodeFact(b[n:])
	if err != nil {
		return v, bad
	}
	return version{f, versionEnd{tx, fact.Instant(at), fact.Instant(known)}}, nil
}

// versionTail is the length of bucket, start, end, id and tx at the end of a key.
const versionTail = rowTail + 8

// scanVersions visits the past versions of a timeline that ended in or after,
// and began in or before, an instant of an axis. The whole range is visited
// where at is NoInstant. The prefix may end after the subject, the predicate or
// the axis; each version tells the axis that it was found on.
func scanVersions(r pebble.Reader, prefix []byte, at fact.Instant, visit func(axis byte, v *version) error) error {
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: successor(prefix)})
	if err != nil {
		return storageError("open an iterator", err)
	}
	defer it.Close()
	from, until := at, at+1
	if !at.Given() {
		from, until = fact.NoInstant, fact.Forever
	}
	return scanTailed(it, versionTail, from, until, func() error {
		b, err := it.ValueAndErr()
		if err != nil {
			return storageError("read a version", err)
		}
		v, err := decodeVersion(b)
		if err != nil {
			return err
		}
		k := it.Key()
		return visit(k[len(k)-versionTail-1], &v)
	})
}

// versionAt returns a fact of a timeline as it was at a tx; nil where it was
// not there.
func versionAt(r pebble.Reader, s space, now *fact.Fact, tx uint64, recorded fact.Instant) (*fact.Fact, error) {
	if now.Tx <= tx {
		return now, nil
	}
	if now.FirstTx > tx {
		return nil, nil
	}
	var found *fact.Fact
	err := scanVersions(r, s.versions(now.Subject, now.Predicate, axisRecorded), recorded, func(_ byte, v *version) error {
		if v.f.ID == now.ID && v.f.Tx <= tx && tx < v.end.tx {
			found = &v.f
		}
		return nil
	})
	return found, err
}

// factAt returns a fact as it was at a tx, changes of this call included; nil
// where it is gone.
func (l *ledger) factAt(s space, id fact.ID, tx uint64) (*fact.Fact, error) {
	if r := l.rows[id]; r != nil {
		if r.gone {
			return nil, nil
		}
		if r.f.Tx <= tx {
			f := r.f
			return &f, nil
		}
		for i := len(r.past) - 1; i >= 0; i-- {
			if r.past[i].Tx <= tx {
				f := r.past[i]
				return &f, nil
			}
		}
	}
	f, err := readFact(l.base, s, id)
	if err != nil || f == nil {
		return nil, err
	}
	if f.Tx <= tx {
		return f, nil
	}
	record, err := readTx(l.base, tx)
	if err != nil {
		return nil, err
	}
	return versionAt(l.base, s, f, tx, record.RecordedAt)
}

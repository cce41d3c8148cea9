package fsm

import (
	"encoding/binary"

	"abagraph/fact"

	"github.com/cockroachdb/pebble/v2"
)

// version is what a fact was until another tx changed it: the few fields that
// ever change. The others are those of its row.
type version struct {
	id           fact.ID
	tx           uint64
	status       fact.Status
	pending      bool
	promoted     bool
	from, until  fact.Instant
	at, known    fact.Instant
	supersededBy fact.ID
	end          versionEnd
}

// The flags of a version's bytes.
const (
	versionPending = 1 << iota
	versionPromoted
	versionOpen
	versionEnded // by another fact, whose id follows
)

// appendPast appends what is kept of a version.
func appendPast(b []byte, f *fact.Fact, end versionEnd) []byte {
	flags := byte(0)
	set := func(flag byte, on bool) {
		if on {
			flags |= flag
		}
	}
	set(versionPending, f.Pending)
	set(versionPromoted, f.Promoted)
	set(versionOpen, f.ValidUntil == fact.Forever)
	set(versionEnded, !f.SupersededBy.IsZero())
	b = append(b, byte(f.Status), flags)
	b = binary.AppendUvarint(b, end.tx)
	for _, t := range []fact.Instant{end.at, end.known, f.VersionAt, f.VersionKnownAt, f.ValidFrom} {
		b = binary.AppendVarint(b, int64(t))
	}
	if f.ValidUntil != fact.Forever {
		b = binary.AppendVarint(b, int64(f.ValidUntil))
	}
	if !f.SupersededBy.IsZero() {
		b = append(b, f.SupersededBy[:]...)
	}
	return b
}

// decodeVersion reads a version; its id and tx stand at the end of its key.
func decodeVersion(k, b []byte) (version, error) {
	var v version
	bad := fact.Errorf(fact.StorageCorruption, "a version cannot be read")
	if len(k) < versionTail || len(b) < 2 {
		return v, bad
	}
	v.id, v.tx = versionOf(k)
	v.status = fact.Status(b[0])
	flags := b[1]
	v.pending, v.promoted = flags&versionPending != 0, flags&versionPromoted != 0
	tx, n := binary.Uvarint(b[2:])
	if n <= 0 {
		return v, bad
	}
	v.end.tx, b = tx, b[2+n:]
	times := []*fact.Instant{&v.end.at, &v.end.known, &v.at, &v.known, &v.from}
	v.until = fact.Forever
	if flags&versionOpen == 0 {
		times = append(times, &v.until)
	}
	for _, t := range times {
		at, n := binary.Varint(b)
		if n <= 0 {
			return v, bad
		}
		*t, b = fact.Instant(at), b[n:]
	}
	if flags&versionEnded != 0 {
		if len(b) < len(v.supersededBy) {
			return v, bad
		}
		copy(v.supersededBy[:], b)
	}
	return v, nil
}

// of returns the fact as it was, given what it is now.
func (v *version) of(now *fact.Fact) fact.Fact {
	f := *now
	f.Tx, f.Status, f.Pending, f.Promoted = v.tx, v.status, v.pending, v.promoted
	f.ValidFrom, f.ValidUntil = v.from, v.until
	f.VersionAt, f.VersionKnownAt, f.SupersededBy = v.at, v.known, v.supersededBy
	return f
}

// versionTail is the length of bucket, start, end, id and tx at the end of a key.
const versionTail = rowTail + 8

// scanVersions visits the past versions of a timeline that ended in or after,
// and began in or before, an instant of an axis. The whole range is visited
// where at is NoInstant. The prefix may end after the subject, the predicate or
// the axis; each version tells the axis that it was found on.
func scanVersions(r pebble.Reader, prefix []byte, at fact.Instant, visit func(axis byte, v *version) error) error {
	it, err := openIter(r, prefix, successor(prefix))
	if err != nil {
		return err
	}
	defer it.Close()
	return versionsOf(it, at, nil, visit)
}

// scanVersions is scanVersions of a range, with one of the view's iterators. step, unless
// it is nil, is called now and then where versions are passed over.
func (v *View) scanVersions(lower, upper []byte, at fact.Instant, step func() error, visit func(axis byte, v *version) error) error {
	it, err := v.over(lower, upper)
	if err != nil {
		return err
	}
	defer v.giveBack(it)
	return versionsOf(it, at, step, visit)
}

// versionsOf visits the versions in an iterator's range, as scanVersions does.
func versionsOf(it iterator, at fact.Instant, step func() error, visit func(axis byte, v *version) error) error {
	from, until := at, at+1
	if !at.Given() {
		from, until = fact.NoInstant, fact.Forever
	}
	return scanTailed(it, versionTail, from, until, step, func() error {
		b, err := it.ValueAndErr()
		if err != nil {
			return storageError("read a version", err)
		}
		k := it.Key()
		v, err := decodeVersion(k, b)
		if err != nil {
			return err
		}
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
		if v.id == now.ID && v.tx <= tx && tx < v.end.tx {
			f := v.of(now)
			found = &f
		}
		return nil
	})
	return found, err
}

// factAt returns a fact as it was at a tx, changes of this call included; nil
// where it is gone.
func (l *ledger) factAt(s space, id fact.ID, tx uint64) (*fact.Fact, error) {
	if r := l.changed(s, id); r != nil {
		if r.gone {
			return nil, nil
		}
		if r.f.Tx <= tx && !r.untouched() {
			f := r.f
			return &f, nil
		}
		for i := len(r.past) - 1; i >= r.own(); i-- {
			if r.past[i].Tx <= tx {
				f := *r.past[i]
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

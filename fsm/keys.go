package fsm

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"

	"abagraph/fact"
)

// This file alone builds and parses keys.
//
// A key is a tuple. Strings are escaped (0x00 becomes 0x00 0xff) and ended by
// 0x00 0x01, so that tuples sort like their parts and no tuple is the prefix of
// another one's neighbour (INJ-04). Times are biased so that they sort with
// their sign (TIM-06); descending numbers are inverted.
//
//	0x01 …                            the store's own keys, out of any tenant's reach
//	0x02 tenant branch family …       a tenant's data, branch by branch
//	0x02 tenant ""     family …       a tenant's data that no branch owns
const (
	spaceStore  = 0x01
	spaceTenant = 0x02
)

// Families of the store's own keys.
const (
	storeState  = 's' // → position, epoch, digest
	storeTx     = 'x' // tx → txRecord
	storeTenant = 't' // tenant → "" : tenants that hold data
	storeRecord = 'r' // tenant → fact.TenantRecord
	storeHash   = 'k' // hash → fact.Key
	storeKey    = 'K' // tenant, key id → hash
	storeClean  = 'c' // → the last purge that has left this node's files; each node's own
)

// Families of a tenant's data on a branch.
const (
	famCounters  = 'C' // → counters
	famPredicate = 'N' // predicate → number of rows
	famTimeline  = 'T' // subject, class, … : rows, see below
	famID        = 'F' // id → the tail of its row's key
	famByPred    = 'P' // predicate, status, tx↓, id
	famByObject  = 'O' // object, status, tx↓, id
	famVersion   = 'V' // subject, predicate, axis, bucket, start, end, id, tx → past version
	famVector    = 'W' // tx, statement, model, dimension → the vector that was set at the tx
	famVectorOf  = 'U' // statement, model, dimension → that tx
	famForked    = 'G' // id → tx : since when the branch has, or had, a row of its own for an inherited fact
)

// Families of a tenant's data that no branch owns. Those of events and expiries
// belong to main: what is told of another branch lies on it.
const (
	famEvent      = 'X' // tx, n → event
	famDue        = 'D' // instant, id, the branch unless it is main → ""
	famExpired    = 'E' // subject, tx, n → "" : the events of its facts that expired
	famBranch     = 'B' // name → fact.Branch
	famOutcome    = 'I' // hash of (key, method, path) → outcome
	famOutcomeAge = 'J' // record time, the same hash → ""
	famBlob       = 'H' // hash, part → checksum and bytes of a piece of a blob
	famAudit      = 'A' // tx → "" : the txs that are the tenant's or about it
)

// Classes within famTimeline, after the subject. A row's class is its status.
// All of one subject lies together: its marker, its rows by status, predicate
// and time, and its statements.
//
//	subject 0x00                                                → ""  (the subject exists)
//	subject status predicate bucket valid_from valid_until id   → the fact
//	subject 0x08 predicate object source stated_from id         → ""  (the statement's pieces)
const (
	classMarker    = 0x00
	classStatement = 0x08
)

// The axes of famVersion.
const (
	axisRecorded = 0
	axisKnown    = 1
)

// rowTail is the length of bucket, valid_from, valid_until and id at the end of
// a row's key.
const rowTail = 1 + 8 + 8 + 16

// Buckets sort intervals by length: bucket k holds the lengths from 16^(k-1) to
// below 16^k milliseconds. A search for what holds at t then looks at most 16^k
// back in bucket k, and finds in each bucket of a functional timeline only a
// handful of rows, however long its history is.
const (
	bucketEmpty = 0  // no time at all
	bucketOpen  = 14 // no end
)

func bucketOf(from, until fact.Instant) byte {
	switch {
	case until == fact.Forever:
		return bucketOpen
	case until <= from:
		return bucketEmpty
	}
	return byte((bits.Len64(uint64(until-from))-1)/4 + 1)
}

// reach returns the earliest start with which an interval of a bucket can still
// hold at t.
func reach(bucket byte, t fact.Instant) fact.Instant {
	switch bucket {
	case bucketEmpty:
		return fact.Forever
	case bucketOpen:
		return fact.NoInstant
	}
	span := fact.Instant(1) << (4 * bucket)
	if t < fact.NoInstant+span {
		return fact.NoInstant
	}
	return t - span + 1
}

func appendString(k []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if s[i] == 0 {
			k = append(k, 0x00, 0xff)
			continue
		}
		k = append(k, s[i])
	}
	return append(k, 0x00, 0x01)
}

// skipString returns what follows an escaped string in front of k.
func skipString(k []byte) (rest []byte, ok bool) {
	for {
		end := bytes.IndexByte(k, 0)
		if end < 0 || end+1 >= len(k) {
			return nil, false
		}
		if k[end+1] == 0x01 {
			return k[end+2:], true
		}
		k = k[end+2:]
	}
}

// cutString takes an escaped string off the front of k.
func cutString(k []byte) (s string, rest []byte, ok bool) {
	end := bytes.IndexByte(k, 0)
	if end >= 0 && end+1 < len(k) && k[end+1] == 0x01 {
		return string(k[:end]), k[end+2:], true
	}
	var b []byte
	for i := 0; i+1 < len(k); i++ {
		if k[i] != 0 {
			b = append(b, k[i])
			continue
		}
		switch k[i+1] {
		case 0x01:
			return string(b), k[i+2:], true
		case 0xff:
			b = append(b, 0)
			i++
		default:
			return "", nil, false
		}
	}
	return "", nil, false
}

func appendUint(k []byte, v uint64) []byte { return binary.BigEndian.AppendUint64(k, v) }

func appendUintDown(k []byte, v uint64) []byte { return binary.BigEndian.AppendUint64(k, ^v) }

func appendTime(k []byte, t fact.Instant) []byte {
	return binary.BigEndian.AppendUint64(k, uint64(t)^(1<<63))
}

func timeAt(k []byte) fact.Instant {
	return fact.Instant(binary.BigEndian.Uint64(k) ^ (1 << 63))
}

// successor returns the first key after every key that begins with prefix.
func successor(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i] < 0xff {
			end[i]++
			return end[:i+1]
		}
	}
	return nil
}

func storeKeyOf(family byte) []byte { return []byte{spaceStore, family} }

func txKey(tx uint64) []byte { return appendUint(storeKeyOf(storeTx), tx) }

func dataTenantKey(tenant string) []byte { return appendString(storeKeyOf(storeTenant), tenant) }

func tenantRecordKey(tenant string) []byte { return appendString(storeKeyOf(storeRecord), tenant) }

func keyHashKey(hash [32]byte) []byte { return append(storeKeyOf(storeHash), hash[:]...) }

func keyIDKey(tenant, id string) []byte {
	return appendString(appendString(storeKeyOf(storeKey), tenant), id)
}

// space is the keyspace of one tenant's branch.
type space struct{ tenant, branch string }

// prefix returns the prefix of a family; callers append to it.
func (s space) prefix(family byte) []byte { return s.appendPrefix(make([]byte, 0, 128), family) }

func (s space) appendPrefix(k []byte, family byte) []byte {
	k = append(k, spaceTenant)
	k = appendString(k, s.tenant)
	k = appendString(k, s.branch)
	return append(k, family)
}

// shared is the keyspace of what no branch of the tenant owns.
func (s space) shared() space { return space{tenant: s.tenant} }

// told is the keyspace of what is told of the branch.
func (s space) told() space {
	if s.branch == fact.MainBranch {
		return s.shared()
	}
	return s
}

// tenantPrefix is the prefix of everything that a tenant has.
func tenantPrefix(tenant string) []byte {
	return appendString([]byte{spaceTenant}, tenant)
}

func (s space) counters() []byte { return s.prefix(famCounters) }

func (s space) predicate(name string) []byte { return appendString(s.prefix(famPredicate), name) }

func (s space) subject(name string) []byte { return appendString(s.prefix(famTimeline), name) }

func (s space) marker(subject string) []byte { return append(s.subject(subject), classMarker) }

// class is the prefix of a subject's rows of one status.
func (s space) class(subject string, status fact.Status) []byte {
	return append(s.subject(subject), byte(status))
}

// line is the prefix of a subject's and predicate's rows of one status.
func (s space) line(subject, predicate string, status fact.Status) []byte {
	return appendString(s.class(subject, status), predicate)
}

func (s space) row(f *fact.Fact) []byte { return appendRow(s.prefix(famTimeline), f) }

// appendRow and its like below append to the prefix of their family.
func appendRow(k []byte, f *fact.Fact) []byte {
	k = append(appendString(k, f.Subject), byte(f.Status))
	k = appendInterval(appendString(k, f.Predicate), f.ValidFrom, f.ValidUntil)
	return append(k, f.ID[:]...)
}

// appendInterval appends bucket, start and end, the form that scanWindow reads.
func appendInterval(k []byte, from, until fact.Instant) []byte {
	k = append(k, bucketOf(from, until))
	return appendTime(appendTime(k, from), until)
}

// rowFromTail rebuilds a row's key from what famID keeps.
func (s space) rowFromTail(tail []byte) []byte { return append(s.prefix(famTimeline), tail...) }

// statements is the prefix of a timeline's statements with one object and
// source.
func (s space) statements(subject, predicate string, object fact.Object, source *string) []byte {
	return appendStatements(s.prefix(famTimeline), subject, predicate, hashOf(object), source)
}

func appendStatements(k []byte, subject, predicate string, object objectHash, source *string) []byte {
	k = append(appendString(k, subject), classStatement)
	k = append(appendString(k, predicate), object[:8]...)
	return appendSource(k, source)
}

func appendStatement(k []byte, f *fact.Fact, object objectHash) []byte {
	k = appendStatements(k, f.Subject, f.Predicate, object, f.Source)
	return append(appendTime(k, f.StatedFrom), f.ID[:]...)
}

func (s space) id(id fact.ID) []byte { return append(s.prefix(famID), id[:]...) }

func appendOrder(k []byte, f *fact.Fact) []byte {
	k = append(k, byte(f.Status))
	k = appendUintDown(k, f.Tx)
	return append(k, f.ID[:]...)
}

func (s space) byPredicate(name string) []byte { return appendString(s.prefix(famByPred), name) }

func appendByPredicate(k []byte, f *fact.Fact) []byte {
	return appendOrder(appendString(k, f.Predicate), f)
}

// objectHash stands for an object in keys: its first bytes do.
type objectHash [16]byte

func hashOf(o fact.Object) objectHash {
	sum := sha256.Sum256(o.AppendCanonical(make([]byte, 0, 512)))
	return objectHash(sum[:16])
}

func (s space) byObject(o fact.Object) []byte {
	hash := hashOf(o)
	return append(s.prefix(famByObject), hash[:]...)
}

func appendByObject(k []byte, f *fact.Fact, object objectHash) []byte {
	return appendOrder(append(k, object[:]...), f)
}

// versions is the prefix of a timeline's past versions on one axis.
func (s space) versions(subject, predicate string, axis byte) []byte {
	k := appendString(s.prefix(famVersion), subject)
	return append(appendString(k, predicate), axis)
}

func appendVersion(k []byte, f *fact.Fact, axis byte, start, end fact.Instant) []byte {
	k = append(appendString(appendString(k, f.Subject), f.Predicate), axis)
	k = append(appendInterval(k, start, end), f.ID[:]...)
	return appendUint(k, f.Tx)
}

// versionOf parses the id and tx that end a version's key.
func versionOf(k []byte) (id fact.ID, tx uint64) {
	return idAtEnd(k[:len(k)-8]), binary.BigEndian.Uint64(k[len(k)-8:])
}

func (s space) events(tx uint64) []byte { return appendUint(s.told().prefix(famEvent), tx) }

// expiries is the prefix of the places where a subject's expired facts are told.
func (s space) expiries(subject string) []byte {
	return appendString(s.told().prefix(famExpired), subject)
}

func (s space) due(at fact.Instant, id fact.ID) []byte {
	k := append(appendTime(s.shared().prefix(famDue), at), id[:]...)
	if s.branch == fact.MainBranch {
		return k
	}
	return append(k, s.branch...)
}

// dueOf parses whose row a due key names: what follows its family and instant.
func dueOf(rest []byte) (branch string, id fact.ID) {
	copy(id[:], rest)
	if len(rest) == len(id) {
		return fact.MainBranch, id
	}
	return string(rest[len(id):]), id
}

func (s space) forked(id fact.ID) []byte { return append(s.prefix(famForked), id[:]...) }

// record is the key of the branch's own record.
func (s space) record() []byte { return append(s.shared().prefix(famBranch), s.branch...) }

func (s space) outcome(hash [32]byte) []byte {
	return append(s.shared().prefix(famOutcome), hash[:]...)
}

func (s space) outcomeAge(at fact.Instant, hash [32]byte) []byte {
	return append(appendTime(s.shared().prefix(famOutcomeAge), at), hash[:]...)
}

// blobs is the prefix of the pieces of a blob.
func (s space) blobs(hash [32]byte) []byte { return append(s.shared().prefix(famBlob), hash[:]...) }

func (s space) blob(hash [32]byte, part uint32) []byte {
	return binary.BigEndian.AppendUint32(s.blobs(hash), part)
}

// audits is the place of the first tx of the tenant's trail that is not before tx.
func (s space) audits(tx uint64) []byte { return appendUint(s.shared().prefix(famAudit), tx) }

// appendSource appends a hash of a source; it tells none from an empty one.
func appendSource(k []byte, source *string) []byte {
	var hash [8]byte
	if source != nil {
		sum := sha256.Sum256([]byte("s" + *source))
		copy(hash[:], sum[:])
	}
	return append(k, hash[:]...)
}

// orderTail is the length of status, tx and id at the end of famByPred and
// famByObject keys.
const orderTail = 1 + 8 + 16

// orderOf parses the end of such a key.
func orderOf(k []byte) (tx uint64, id fact.ID) {
	tail := k[len(k)-24:]
	copy(id[:], tail[8:])
	return ^binary.BigEndian.Uint64(tail), id
}

// idAtEnd parses the id that ends a row's or a statement's key.
func idAtEnd(k []byte) (id fact.ID) {
	copy(id[:], k[len(k)-16:])
	return id
}

// eventPlace parses the place of an event within its tx out of its key, eventTx
// the tx.
func eventPlace(k []byte) uint64 { return binary.BigEndian.Uint64(k[len(k)-8:]) }

func eventTx(k []byte) uint64 { return binary.BigEndian.Uint64(k[len(k)-16:]) }

func appendModel(k []byte, m fact.Model) []byte {
	return binary.BigEndian.AppendUint32(appendString(k, m.Name), uint32(m.Dim))
}

// vectorsOf is the prefix of what tells when a statement was given its vectors.
func (s space) vectorsOf(statement fact.ID) []byte {
	return append(s.prefix(famVectorOf), statement[:]...)
}

// vectorsFrom is the place of the first vector that was set at a tx or later.
func (s space) vectorsFrom(tx uint64) []byte { return appendUint(s.prefix(famVector), tx) }

func (s space) vector(tx uint64, statement fact.ID, m fact.Model) []byte {
	return appendModel(append(s.vectorsFrom(tx), statement[:]...), m)
}

func (s space) vectorOf(statement fact.ID, m fact.Model) []byte {
	return appendModel(s.vectorsOf(statement), m)
}

// cutModel parses the model that ends a vector's key.
func cutModel(k []byte) (m fact.Model, ok bool) {
	name, rest, ok := cutString(k)
	if !ok || len(rest) != 4 {
		return m, false
	}
	return fact.Model{Name: name, Dim: int(binary.BigEndian.Uint32(rest))}, true
}

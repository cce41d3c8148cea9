package fsm

import (
	"encoding/binary"

	"abagraph/fact"

	"github.com/cockroachdb/pebble/v2"
)

// counters are the figures of one tenant's branch. They ride in every batch, so
// that stats need no scan.
type counters struct {
	ByStatus   [fact.Retracted + 1]int64
	Entities   int64
	Predicates int64
	Outcomes   int64 // kept idempotent outcomes; counted on the shared branch
}

func (c *counters) fields() []*int64 {
	return []*int64{
		&c.ByStatus[fact.Active], &c.ByStatus[fact.Candidate], &c.ByStatus[fact.Superseded], &c.ByStatus[fact.Retracted],
		&c.Entities, &c.Predicates, &c.Outcomes,
	}
}

func (c *counters) encode() []byte {
	var b []byte
	for _, f := range c.fields() {
		b = binary.AppendVarint(b, *f)
	}
	return b
}

func readCounters(r pebble.Reader, s space) (counters, error) {
	var c counters
	b, err := get(r, s.counters())
	if err != nil || b == nil {
		return c, err
	}
	for _, f := range c.fields() {
		v, n := binary.Varint(b)
		if n <= 0 {
			return c, fact.Errorf(fact.StorageCorruption, "a counter record cannot be read")
		}
		*f, b = v, b[n:]
	}
	return c, nil
}

// rows is how many facts there are, of whatever status.
func (c *counters) rows() int64 {
	sum := int64(0)
	for _, n := range c.ByStatus {
		sum += n
	}
	return sum
}

func (c *counters) stats() fact.Stats {
	return fact.Stats{
		Active: uint64(c.ByStatus[fact.Active]), Candidate: uint64(c.ByStatus[fact.Candidate]),
		Superseded: uint64(c.ByStatus[fact.Superseded]), Retracted: uint64(c.ByStatus[fact.Retracted]),
		Entities: uint64(c.Entities), Predicates: uint64(c.Predicates),
	}
}

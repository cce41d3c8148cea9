package fsm

import "abagraph/fact"

// Bounds of what one request, one entry and one call may touch, in weight of
// facts. A request of a few bytes may touch much: it may close or cut facts that
// are large or many. They are judged by the state and the entry alone, so that
// every node refuses the same.
const (
	// maxEntryBytes bounds what the requests of one entry touch together: a
	// Pebble batch holds 4 GiB, and an entry is never split.
	maxEntryBytes = 4 * fact.MaxTxBytes
	// flushBytes is what one Apply call touches before it commits and goes on
	// with a new batch, between two entries.
	flushBytes = fact.MaxTxBytes
	// maxFailureBytes bounds the facts that a failed batch tells of its guards.
	maxFailureBytes = 4 << 20
	// maxSweepBytes bounds the facts that one sweep entry settles.
	maxSweepBytes = fact.MaxAnswerBytes
)

// errTooHeavy refuses a write that would touch too much.
var errTooHeavy = fact.Errorf(fact.TooLarge,
	"the write would make, change or look at facts of more than %d MiB; nothing was written, write less at a time", fact.MaxTxBytes>>20)

// errEntryFull refuses a write whose entry has touched too much before it. It is
// not kept for its Idempotency-Key: the same request may succeed next time.
var errEntryFull = fact.Errorf(fact.RateLimited,
	"the writes proposed together with this one change too much at once; nothing was written, try again")

func weightOf(rows []*row) int {
	n := 0
	for _, r := range rows {
		n += r.f.Weight()
	}
	return n
}

// within returns the first facts that there is room for, and the room left.
func within(facts []fact.Fact, room int) ([]fact.Fact, int) {
	for i := range facts {
		if room -= facts[i].Weight(); room < 0 {
			return facts[:i], 0
		}
	}
	return facts, room
}

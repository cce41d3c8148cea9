package imports

import (
	"hash/fnv"

	"golang.org/x/text/unicode/norm"

	"abagraph/client"
	"abagraph/fact"
	"abagraph/memory/mask"
)

// hashes tell which rows may touch each other, by what the server compares. Two
// rows that share one by chance only make batches smaller.
type hashes struct {
	pair  uint64 // subject and predicate
	claim uint64 // those, the object and the source
	dated uint64 // those and the interval; 0 = undated
}

func hashesOf(a *client.Assert) hashes {
	subject, object, source := masked(a)
	hash := fnv.New64a()
	write := func(text string) {
		_, _ = hash.Write([]byte(text))
		_, _ = hash.Write([]byte{0})
	}
	var h hashes
	write(norm.NFC.String(subject))
	write(norm.NFC.String(a.Predicate))
	h.pair = hash.Sum64()
	write(object.Canonical())
	if a.Source != nil {
		write(source)
	}
	h.claim = hash.Sum64()
	if a.ValidFrom != "" {
		write(sameTime(a.ValidFrom))
		write(sameTime(a.ValidUntil))
		h.dated = max(hash.Sum64(), 1)
	}
	return h
}

// masked returns what a server that masks all that can be masked compares: two
// addresses of one subject may be one fact for it.
func masked(a *client.Assert) (subject string, object fact.Object, source string) {
	m := mask.Masker{Regions: mask.EveryRegion}
	subject, _ = m.Name(a.Subject)
	object, _ = m.Object(a.Object)
	if a.Source != nil {
		source, _ = m.Text(*a.Source)
	}
	return subject, object, source
}

// sameTime writes all spellings of one time alike.
func sameTime(text string) string {
	if t, err := fact.ParseInstant("", text); err == nil {
		return client.At(t)
	}
	return text
}

// cut divides the events into batches.
func (p *Plan) cut() {
	from := 0
	c := cutter{batch: p.options.Batch}
	c.begin()
	for i, e := range p.events {
		row := &p.rows[e.row]
		if i > from && !c.fits(e.step, row) {
			p.batches = append(p.batches, span{from, i})
			from = i
			c.begin()
		}
		c.add(e.step, row)
	}
	if from < len(p.events) {
		p.batches = append(p.batches, span{from, len(p.events)})
	}
}

// cutter knows what is in the batch that is being filled.
type cutter struct {
	batch       int
	rows, bytes int
	pairs       map[uint64]struct{}
	claims      map[uint64]bool // true where one of them is undated
	dated       map[uint64]struct{}
}

func (c *cutter) begin() {
	c.rows, c.bytes = 0, 0
	c.pairs, c.claims, c.dated = map[uint64]struct{}{}, map[uint64]bool{}, map[uint64]struct{}{}
}

// fits reports whether one more event may join the batch.
//
// A transact retracts before it asserts, so a retraction may not follow an
// assert of its subject and predicate; everything else in a batch keeps its
// order. And an answer lists each fact once, so two asserts that may turn out
// to be one fact (C-10) may not share a batch: undated ones of one claim, or
// dated ones of one interval.
func (c *cutter) fits(s step, row *ref) bool {
	if c.rows >= c.batch || c.bytes+int(row.size) > maxBatchBytes {
		return false
	}
	if s != assertRow {
		_, touched := c.pairs[row.pair]
		return !touched
	}
	undated, claimed := c.claims[row.claim]
	if row.hashes.dated == 0 {
		return !claimed
	}
	_, twice := c.dated[row.hashes.dated]
	return !undated && !twice
}

func (c *cutter) add(s step, row *ref) {
	c.rows++
	if s != assertRow {
		return
	}
	c.bytes += int(row.size)
	c.pairs[row.pair] = struct{}{}
	c.claims[row.claim] = c.claims[row.claim] || row.hashes.dated == 0
	if row.hashes.dated != 0 {
		c.dated[row.hashes.dated] = struct{}{}
	}
}

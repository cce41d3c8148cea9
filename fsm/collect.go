package fsm

import (
	"math"
	"slices"

	"abagraph/fact"
)

// collector gathers the facts of one page, from one tenant after another, and
// never holds many more than the page has room for.
type collector struct {
	limit     int
	ascending bool // with tx_gt: oldest first, whole transactions
	facts     []fact.Fact
	scanned   int
	limitHit  bool
	heavy     bool             // cut by weight, not by number
	own       int              // where the present tenant's facts begin
	weight    int              // of the present tenant's facts
	trimAt    int              // the weight at which they are trimmed next
	others    int              // the weight of the facts before them
	visit     func(*fact.Fact) // gets each fact instead
	enough    bool             // set by visit: no more is wanted
	glances   int              // of a list, so many entries are looked at, and no more; 0 = all
	// horizon is the first tx that some tenant has more of than it could give;
	// a page may not reach it.
	horizon uint64
	earlier uint64 // the horizon of the tenants before
	floor   uint64 // what an earlier tx made of the present tenant has no place on the page
	whole   bool   // an index was given up for all rows
}

func newCollector(q *fact.Query) *collector {
	limit := q.Limit
	if limit <= 0 {
		limit = fact.DefaultLimit
	}
	return &collector{limit: limit, ascending: q.TxGtGiven, horizon: math.MaxUint64, trimAt: 2 * fact.MaxAnswerBytes}
}

// begin starts the facts of another tenant.
func (c *collector) begin() {
	c.others += c.weight
	if len(c.facts) > 2*c.limit || c.others > 2*fact.MaxAnswerBytes {
		c.own = 0
		c.trim()
		c.others = c.weight
	}
	c.own, c.weight, c.trimAt, c.floor, c.earlier = len(c.facts), 0, 2*fact.MaxAnswerBytes, 0, c.horizon
}

// again lets go of the present tenant's facts: they are read another way.
func (c *collector) again() {
	clear(c.facts[c.own:])
	c.facts = c.facts[:c.own]
	c.weight, c.trimAt, c.floor, c.horizon, c.whole = 0, 2*fact.MaxAnswerBytes, 0, c.earlier, true
}

// worth reports whether a version that a tx made may come on the page.
func (c *collector) worth(tx uint64) bool { return tx >= c.floor }

// expect makes room for so many more facts, as far as a page holds them.
func (c *collector) expect(n int) {
	if c.visit == nil {
		c.facts = slices.Grow(c.facts, min(n, c.limit))
	}
}

// add takes a fact in.
func (c *collector) add(f *fact.Fact) {
	if c.visit != nil {
		c.visit(f)
		return
	}
	c.facts = append(c.facts, *f)
	c.weight += f.Weight()
	if len(c.facts)-c.own > 4*c.limit+1024 || c.weight > c.trimAt {
		c.trim()
	}
}

// full reports whether the present tenant, read in order, can add nothing more
// to the page from this tx on.
func (c *collector) full(tx uint64) bool {
	light := len(c.facts)-c.own < c.limit
	if light && c.weight < fact.MaxAnswerBytes {
		return false
	}
	if !c.ascending {
		c.heavy = c.heavy || light
		return true
	}
	if c.facts[len(c.facts)-1].Tx == tx {
		return false // a transaction comes whole, or is left for the next page
	}
	c.heavy = c.heavy || light
	c.horizon = min(c.horizon, tx)
	return true
}

func (c *collector) compare(a, b fact.Fact) int {
	if c.ascending && a.Tx != b.Tx {
		if a.Tx < b.Tx {
			return -1
		}
		return 1
	}
	return compareNewest(&a, &b)
}

// trim drops what cannot be on the page of the present tenant.
func (c *collector) trim() {
	own := c.facts[c.own:]
	slices.SortFunc(own, c.compare)
	keep := c.fit(own)
	if c.ascending && keep > 0 {
		// The transaction that crosses the bounds stays whole.
		for keep < len(own) && own[keep].Tx == own[keep-1].Tx {
			keep++
		}
		if keep < len(own) {
			c.horizon = min(c.horizon, own[keep].Tx)
		}
	}
	if keep < len(own) {
		c.limitHit = true
		clear(own[keep:])
		c.facts = c.facts[:c.own+keep]
		if !c.ascending && keep > 0 {
			c.floor = own[keep-1].Tx
		}
	}
	c.weight = 0
	for i := range c.facts[c.own:] {
		c.weight += c.facts[c.own+i].Weight()
	}
	c.trimAt = c.weight + fact.MaxAnswerBytes
}

// fit returns how many of the first facts a page has room for: at least one.
func (c *collector) fit(facts []fact.Fact) int {
	weight := 0
	for i := range facts {
		weight += facts[i].Weight()
		switch {
		case i == c.limit:
			return i
		case i > 0 && weight > fact.MaxAnswerBytes:
			c.heavy = true
			return i
		}
	}
	return len(facts)
}

// page sorts what was gathered and cuts the page out of it.
func (c *collector) page(index string) *fact.Page {
	if c.whole {
		index = fullScan
	}
	if !slices.IsSortedFunc(c.facts, c.compare) {
		slices.SortFunc(c.facts, c.compare)
	}
	cut := c.fit(c.facts)
	if c.ascending {
		cut = c.wholeTxs(cut)
	}
	if cut < len(c.facts) {
		c.limitHit = true
	}
	p := &fact.Page{
		Facts: slices.Clip(c.facts[:cut]),
		Scan:  fact.Scan{Index: index, Scanned: c.scanned, LimitHit: c.limitHit, Heavy: c.heavy && cut < c.limit},
	}
	p.Backfilled = backfilled(p.Facts)
	return p
}

// wholeTxs returns how many facts a page of whole transactions holds: as many
// as fit, and at least the first transaction.
func (c *collector) wholeTxs(fit int) int {
	end := 0
	for i := range c.facts {
		f := &c.facts[i]
		if f.Tx >= c.horizon && end > 0 {
			break
		}
		if i+1 < len(c.facts) && c.facts[i+1].Tx == f.Tx {
			continue
		}
		if i+1 > fit && end > 0 {
			break
		}
		end = i + 1
	}
	return end
}

// backfilled counts the declared rows of an answer by their batch (C-28).
func backfilled(facts []fact.Fact) []fact.BatchCount {
	var counts []fact.BatchCount
	for i := range facts {
		batch := facts[i].Batch
		if batch == 0 {
			continue
		}
		at, there := slices.BinarySearchFunc(counts, batch, func(c fact.BatchCount, b uint64) int {
			return int(min(max(int64(c.Batch)-int64(b), -1), 1))
		})
		if !there {
			counts = slices.Insert(counts, at, fact.BatchCount{Batch: batch})
		}
		counts[at].Rows++
	}
	return counts
}

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
	own       int // where the present tenant's facts begin
	// horizon is the first tx that some tenant has more of than it could give;
	// a page may not reach it.
	horizon uint64
}

func newCollector(q *fact.Query) *collector {
	limit := q.Limit
	if limit <= 0 {
		limit = fact.DefaultLimit
	}
	return &collector{limit: limit, ascending: q.TxGtGiven, horizon: math.MaxUint64}
}

// begin starts the facts of another tenant.
func (c *collector) begin() { c.own = len(c.facts) }

// add takes a fact in.
func (c *collector) add(f *fact.Fact) {
	c.facts = append(c.facts, *f)
	if len(c.facts)-c.own > 4*c.limit+1024 {
		c.trim()
	}
}

// full reports whether the present tenant, read in order, can add nothing more
// to the page from this tx on.
func (c *collector) full(tx uint64) bool {
	n := len(c.facts) - c.own
	if n < c.limit {
		return false
	}
	if !c.ascending {
		return n >= c.limit
	}
	if c.facts[len(c.facts)-1].Tx == tx {
		return false // a transaction comes whole, or is left for the next page
	}
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
	keep := c.limit
	if c.ascending {
		// The transaction that crosses the limit stays whole.
		for keep < len(own) && own[keep].Tx == own[keep-1].Tx {
			keep++
		}
		if keep < len(own) {
			c.horizon = min(c.horizon, own[keep].Tx)
		}
	}
	if keep < len(own) {
		c.limitHit = true
		c.facts = c.facts[:c.own+keep]
	}
}

// page sorts what was gathered and cuts the page out of it.
func (c *collector) page(index string) *fact.Page {
	slices.SortFunc(c.facts, c.compare)
	cut := min(len(c.facts), c.limit)
	if c.ascending {
		cut = c.wholeTxs()
	}
	if cut < len(c.facts) {
		c.limitHit = true
	}
	p := &fact.Page{
		Facts: slices.Clip(c.facts[:cut]),
		Scan:  fact.Scan{Index: index, Scanned: c.scanned, LimitHit: c.limitHit},
	}
	p.Backfilled = backfilled(p.Facts)
	return p
}

// wholeTxs returns how many facts a page of whole transactions holds: as many
// as fit, and at least the first transaction.
func (c *collector) wholeTxs() int {
	end := 0
	for i := range c.facts {
		f := &c.facts[i]
		if f.Tx >= c.horizon && end > 0 {
			break
		}
		if i+1 < len(c.facts) && c.facts[i+1].Tx == f.Tx {
			continue
		}
		if i+1 > c.limit && end > 0 {
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

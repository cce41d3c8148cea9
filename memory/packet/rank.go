package packet

import (
	"bytes"
	"cmp"
	"slices"

	"abagraph/fact"
)

// The weights of the parts of a score. They add up to one.
const (
	weightRelevance     = 350
	weightProximity     = 250
	weightConfidence    = 200
	weightRecency       = 100
	weightCorroboration = 100
	weights             = weightRelevance + weightProximity + weightConfidence + weightRecency + weightCorroboration
)

// halfLife is the age, in milliseconds, at which recency is one half: 90 days.
const halfLife = 90 * 24 * 60 * 60 * 1000

// Score is what a fact is ranked by, in whole numbers from 0 to Unit, so that it
// is the same on every machine.
type Score struct {
	Total         int
	Relevance     int
	Proximity     int
	Confidence    int
	Recency       int
	Corroboration int
	Why           string // what the relevance comes from
}

// rank scores claims and sorts them: the best first, then the newest, then by id.
func rank(list []claim) {
	newest := fact.NoInstant
	for i := range list {
		newest = max(newest, list[i].Fact.ValidFrom)
	}
	for i := range list {
		list[i].score = score(&list[i], newest)
	}
	order := make([]int32, len(list)) // claims are large
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int {
		a, b := &list[i], &list[j]
		if c := cmp.Or(cmp.Compare(b.score.Total, a.score.Total), cmp.Compare(b.Fact.Tx, a.Fact.Tx)); c != 0 {
			return c
		}
		return bytes.Compare(a.Fact.ID[:], b.Fact.ID[:])
	})
	sorted := make([]claim, len(list))
	for i, at := range order {
		sorted[i] = list[at]
	}
	copy(list, sorted)
}

// Outlook is what a candidate would score, as far as it is known before others
// are heard.
func (c *Candidate) Outlook() int {
	proximity := [...]int{AtSeed: Unit, NextToSeed: Unit / 2, Unreached: 0}[c.Distance]
	return (weightRelevance*c.Relevance + weightProximity*proximity + weightConfidence*share(c.Fact.Confidence)) / weights
}

// score weighs one claim. Recency is measured against the newest claim, not
// against a clock: a packet does not change while nothing happens.
func score(c *claim, newest fact.Instant) Score {
	s := Score{Relevance: c.Relevance, Confidence: share(c.Fact.Confidence), Why: c.Why}
	s.Proximity = [...]int{AtSeed: Unit, NextToSeed: Unit / 2, Unreached: 0}[c.Distance]
	s.Recency = halfLife * Unit / (halfLife + int(newest-c.Fact.ValidFrom))
	sources := max(1, len(c.corroboration.Sources))
	s.Corroboration = sources * Unit / (sources + 1 + c.corroboration.Conflict)
	s.Total = (weightRelevance*s.Relevance + weightProximity*s.Proximity + weightConfidence*s.Confidence +
		weightRecency*s.Recency + weightCorroboration*s.Corroboration) / weights
	return s
}

// share turns a number from 0 to 1 into parts of Unit. The product is rounded
// before the sum, so that no machine fuses the two.
func share(f float64) int {
	product := float64(f * Unit)
	return int(min(max(product+0.5, 0), Unit))
}

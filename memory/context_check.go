package memory

import (
	"strconv"

	"abagraph/fact"
	"abagraph/memory/packet"
)

// maxBudget is the largest budget that makes a difference to nobody.
const maxBudget = 1_000_000_000_000

// check refuses values outside of their ranges. Names have been checked by Name.
func (q *ContextQuery) check() error {
	switch {
	case len(q.Goal) > packet.MaxGoalBytes:
		return fact.Invalid("goal", "is longer than "+strconv.Itoa(packet.MaxGoalBytes)+" bytes")
	case len(q.Role) > packet.MaxRoleBytes:
		return fact.Invalid("role", "is longer than "+strconv.Itoa(packet.MaxRoleBytes)+" bytes")
	case len(q.Seeds) > packet.MaxSeeds:
		return fact.Invalid("seeds", "names more than "+strconv.Itoa(packet.MaxSeeds)+" entities")
	case q.MaxFacts < 0 || q.MaxFacts > packet.MaxFacts:
		return fact.Invalid("max_facts", "must be a whole number from 0 to "+strconv.Itoa(packet.MaxFacts))
	case q.MaxPages < 0 || q.MaxPages > packet.MaxPages:
		return fact.Invalid("max_pages", "must be a whole number from 0 to "+strconv.Itoa(packet.MaxPages))
	case q.TokenBudget < 0 || q.TokenBudget > maxBudget:
		return fact.Invalid("token_budget", budgetRange)
	case !(q.ClusterThreshold >= 0 && q.ClusterThreshold <= 1):
		return fact.Invalid("cluster_threshold", "must be a number from 0 to 1")
	case q.IncludeRetracted && !q.AsOf.Given():
		return fact.Invalid("include_retracted", "needs as_of: a packet shows what was retracted since only as of a time")
	}
	return nil
}

const budgetRange = "must be a whole number of tokens from 1 on"

// ParseBudget reads a budget that was written as text.
func ParseBudget(field, text string) (int, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > maxBudget {
		return 0, fact.Invalid(field, budgetRange)
	}
	return int(n), nil
}

package check

import "abagraph/fact"

// Diff compares what held of one subject at two points in time, statement by
// statement: one that was cut meanwhile, or has lost its beginning, still holds.
// Both lists keep their order.
func Diff(from, to []fact.Fact) (added, gone []fact.Fact, still int) {
	was, is := statements(from), statements(to)
	for i := range to {
		if was[to[i].Statement()] {
			still++
		} else {
			added = append(added, to[i])
		}
	}
	for i := range from {
		if !is[from[i].Statement()] {
			gone = append(gone, from[i])
		}
	}
	return added, gone, still
}

func statements(facts []fact.Fact) map[fact.ID]bool {
	set := make(map[fact.ID]bool, len(facts))
	for i := range facts {
		set[facts[i].Statement()] = true
	}
	return set
}

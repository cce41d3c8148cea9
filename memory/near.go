package memory

import (
	"bytes"
	"fmt"
	"slices"

	"abagraph/fact"
	"abagraph/memory/search"

	"golang.org/x/text/unicode/norm"
)

// What seeds reach: facts of the seeds themselves, and of what is one edge away.
const (
	nearDepth     = 2
	maxNearNodes  = 256
	maxNodeFacts  = 256
	maxNearFacts  = 4_096
	nearFactReads = 2 // by subject and by object
)

// near returns the facts around some seeds, each with its proximity: 1 for a
// fact of a seed, 1/2 for one of its neighbours. Large neighbourhoods are cut,
// the newest facts first. A seed that no fact mentions is a warning.
func (r *reading) near(seeds []string) ([]search.Near, error) {
	if len(seeds) == 0 {
		return nil, nil
	}
	g := newGrapher(r, nil)
	found, reached := map[fact.ID]float64{}, map[string]bool{}
	level := slices.Compact(slices.Sorted(slices.Values(seeds)))
	for _, seed := range level {
		reached[seed] = true
	}
	for depth := range nearDepth {
		var next []string
		for _, node := range level {
			facts, err := r.touching(node)
			if err != nil {
				return nil, err
			}
			if depth == 0 && len(facts) == 0 {
				if err := r.warnUnknown(node); err != nil {
					return nil, err
				}
			}
			for i := range facts {
				f := &facts[i]
				if _, seen := found[f.ID]; !seen && len(found) < maxNearFacts {
					found[f.ID] = 1 / float64(1+depth)
				}
				to, ok, err := g.target(r.ctx, f)
				if err != nil {
					return nil, err
				}
				for _, end := range [...]string{f.Subject, to} {
					if (ok || end != to) && !reached[end] && len(reached) < maxNearNodes {
						reached[end] = true
						next = append(next, end)
					}
				}
			}
		}
		level = next
	}
	list := make([]search.Near, 0, len(found))
	for id, proximity := range found {
		list = append(list, search.Near{ID: id, Proximity: proximity})
	}
	slices.SortFunc(list, func(a, b search.Near) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	return list, nil
}

// touching reads the newest facts that a node is the subject or the object of.
func (r *reading) touching(node string) ([]fact.Fact, error) {
	all := make([]fact.Fact, 0, nearFactReads*16)
	objects := []fact.Object{fact.TextObject(node)}
	if apart := norm.NFD.String(node); apart != node {
		objects = append(objects, fact.TextObject(apart))
	}
	for _, q := range [nearFactReads]fact.Query{{Subject: node}, {Objects: objects}} {
		q.Scope, q.At, q.Limit = r.scope, r.at, maxNodeFacts
		page, err := r.view.Facts(r.ctx, &q)
		if err != nil {
			return nil, fmt.Errorf("read around a seed: %w", err)
		}
		all = append(all, page.Facts...)
	}
	return all, nil
}

package openapi

import "strings"

// Find returns the operation that a request means, or nil. The path is as it was sent,
// without its query. Of several, the one with the fewest places is meant; a path with a
// last place that holds slashes comes after all others.
func (d *Document) Find(method, path string) *Operation {
	var best *Operation
	least := 0
	for _, o := range d.Operations {
		if o.Method != method {
			continue
		}
		cost, ok := fits(o.Path, path)
		if ok && (best == nil || cost < least) {
			best, least = o, cost
		}
	}
	return best
}

// fits reports whether a path is one of a described path, and how loosely.
func fits(described, path string) (cost int, ok bool) {
	a, b := strings.Split(described, "/"), strings.Split(path, "/")
	if len(b) < len(a) {
		return 0, false
	}
	for i := range a {
		place := strings.HasPrefix(a[i], "{")
		switch {
		case !place && a[i] != b[i], place && b[i] == "" && len(a) == len(b):
			return 0, false
		case place:
			cost++
		}
	}
	if len(a) == len(b) {
		return cost, true
	}
	return cost + 100, strings.HasPrefix(a[len(a)-1], "{")
}

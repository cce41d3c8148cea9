package fact

// Holds reports whether a guard holds where current are the distinct objects of
// its subject and predicate (C-34).
func (g *Guard) Holds(current []Object) bool {
	switch g.Kind {
	case GuardAbsent:
		return len(current) == 0
	case GuardExpect:
		return len(current) == 1 && current[0].Equal(g.Object)
	}
	for _, o := range current {
		if o.Equal(g.Object) {
			return true
		}
	}
	return false
}

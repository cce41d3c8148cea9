package fsm

import "abagraph/fact"

// oneFact is the predicate of the keys of single facts: no name holds such a character.
const oneFact = "\x00"

// factKey is the key of a single fact.
func factKey(s space, id fact.ID) lineKey { return lineKey{s, string(id[:]), oneFact} }

// hotFact returns the current row of a fact, if it is in memory for the state that
// this view sees.
func (v *View) hotFact(s space, id fact.ID) *fact.Fact {
	e := v.hotLine(factKey(s, id))
	if e == nil {
		return nil
	}
	f := e.active[0]
	return &f
}

// keepFact keeps the current row of a fact, unless the machine has moved on.
func (v *View) keepFact(s space, f *fact.Fact) {
	v.m.mu.RLock()
	defer v.m.mu.RUnlock()
	if v.m.state.Index == v.state.Index {
		v.m.hot.put(factKey(s, f.ID), &hotLine{active: []fact.Fact{*f}})
	}
}

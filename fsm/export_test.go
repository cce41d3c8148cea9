package fsm

// SetEntryBytes lowers what the requests of one entry may touch together.
func (m *Machine) SetEntryBytes(n int) { m.entryBytes = n }

// SetHeads lowers how many lists an unfiltered read merges.
func (m *Machine) SetHeads(n int) { m.heads = n }

// SetPatience sets how long a list may be that is always read to its end, and how many
// subjects in a row may have had nothing before the next that had something is looked for.
func (v *View) SetPatience(list, misses int) { v.m.shortList, v.m.misses = list, misses }

// What they are otherwise.
const (
	ShortList = shortList
	MaxMisses = maxMisses
)

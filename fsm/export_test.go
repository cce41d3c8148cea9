package fsm

// SetEntryBytes lowers what the requests of one entry may touch together.
func (m *Machine) SetEntryBytes(n int) { m.entryBytes = n }

// SetHeads lowers how many lists an unfiltered read merges.
func (m *Machine) SetHeads(n int) { m.heads = n }

// SetShortList sets how long a list may be that is always read to its end.
func (v *View) SetShortList(n int) { v.m.shortList = n }

// ShortList is how long it may be otherwise.
const ShortList = shortList

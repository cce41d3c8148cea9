package fsm

// SetEntryBytes lowers what the requests of one entry may touch together.
func (m *Machine) SetEntryBytes(n int) { m.entryBytes = n }

// SetHeads lowers how many lists an unfiltered read merges.
func (m *Machine) SetHeads(n int) { m.heads = n }

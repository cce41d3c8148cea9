package fsm

// SetEntryBytes lowers what the requests of one entry may touch together.
func (m *Machine) SetEntryBytes(n int) { m.entryBytes = n }

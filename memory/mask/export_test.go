package mask

// Found is one span, for the tests.
type Found struct {
	From, To int
	Kind     Kind
}

// Find tells what is personal in a text.
func (m *Masker) Find(text string) []Found {
	var list []Found
	for _, s := range m.find(text) {
		list = append(list, Found{s.from, s.to, s.kind})
	}
	return list
}

package memory

// KeepLinks bounds how many edges a look at the graph keeps in mind.
func (s *Service) KeepLinks(n int) { s.links = n }

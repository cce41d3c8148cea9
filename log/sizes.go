package log

// sizes keeps the length in bytes of each entry that the log holds, so that the
// log can be measured and trimmed by bytes; Raft counts entries only. It is as
// long as the log, four bytes an entry.
type sizes struct {
	first  uint64 // index of lengths[0]
	length []uint32
	total  uint64
}

// put records an entry. An index that does not follow the last one starts over
// from there, as the log itself does then.
func (s *sizes) put(index uint64, bytes int) {
	if len(s.length) == 0 || index != s.first+uint64(len(s.length)) {
		s.length, s.first, s.total = s.length[:0], index, 0
	}
	s.length = append(s.length, uint32(bytes))
	s.total += uint64(bytes)
}

// drop forgets the entries from lo to hi, which lie at one end of the log.
func (s *sizes) drop(lo, hi uint64) {
	if len(s.length) == 0 {
		return
	}
	last := s.first + uint64(len(s.length)) - 1
	if hi < s.first || lo > last {
		return
	}
	if lo <= s.first {
		n := min(hi, last) - s.first + 1
		s.total -= sum(s.length[:n])
		s.length = append(s.length[:0], s.length[n:]...)
		s.first += n
		return
	}
	keep := lo - s.first
	s.total -= sum(s.length[keep:])
	s.length = s.length[:keep]
}

// after returns the bytes and the number of the entries behind an index.
func (s *sizes) after(index uint64) (bytes, entries uint64) {
	if index < s.first {
		return s.total, uint64(len(s.length))
	}
	skip := index - s.first + 1
	if skip >= uint64(len(s.length)) {
		return 0, 0
	}
	rest := s.length[skip:]
	return sum(rest), uint64(len(rest))
}

// within returns how many entries at the end of the log fit into a number of
// bytes.
func (s *sizes) within(bytes uint64) uint64 {
	var n, used uint64
	for i := len(s.length) - 1; i >= 0; i-- {
		used += uint64(s.length[i])
		if used > bytes {
			break
		}
		n++
	}
	return n
}

func sum(lengths []uint32) uint64 {
	var total uint64
	for _, n := range lengths {
		total += uint64(n)
	}
	return total
}

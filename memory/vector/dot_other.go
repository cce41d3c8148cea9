//go:build !amd64

package vector

// dot sums products of codes.
func dot(a []int16, b []int8) int32 { return dotPlain(a, b) }

// Ahead tells the processor that Near will be asked for a row soon; this one finds
// out for itself.
func (t *Table) Ahead(uint32) {}

func (t *Table) tally(q *Query, rows []int32, to []tally) { t.tallyPlain(q.planes, rows, to) }

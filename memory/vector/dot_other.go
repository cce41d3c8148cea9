//go:build !amd64

package vector

func (t *Table) dots(q *Query, list []int32, to []int32) { t.dotsPlain(q, list, to) }

func (t *Table) tally(q *Query, list []int32, to []tally) { t.tallyPlain(q.planes, list, to) }

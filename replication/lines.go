package replication

import "sync"

// lines are the writes that wait on the leader, a line for each tenant. They are
// taken in turn, one of each tenant, so that a tenant that sends very many waits for
// itself: another's write waits for one of each tenant in front of it. A tenant's own
// are taken in the order in which they came.
type lines struct {
	most      int
	mostBytes int64
	some      chan struct{} // holds one token while something may wait

	mu      sync.Mutex
	count   int
	bytes   int64
	tenants map[string]*line
	turns   []*line // that hold something; the first is next
}

type line struct {
	tenant string
	writes []*proposal
	bytes  int64
}

func newLines(most int, mostBytes int64) *lines {
	return &lines{most: most, mostBytes: mostBytes, some: make(chan struct{}, 1), tenants: map[string]*line{}}
}

// push puts a write into its tenant's line; false = there is no place. One tenant may
// hold three times what is left for others, alone three quarters.
func (l *lines) push(tenant string, q *proposal) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	size := int64(len(q.data))
	mine := l.tenants[tenant]
	if l.bytes+size > l.mostBytes || l.count >= l.most {
		return false
	}
	if mine == nil {
		mine = &line{tenant: tenant}
		l.tenants[tenant] = mine
	} else if len(mine.writes) >= 3*(l.most-l.count) || mine.bytes+size > 3*(l.mostBytes-l.bytes-size) {
		return false
	}
	if len(mine.writes) == 0 {
		l.turns = append(l.turns, mine)
	}
	mine.writes = append(mine.writes, q)
	mine.bytes += size
	l.count++
	l.bytes += size
	select {
	case l.some <- struct{}{}:
	default:
	}
	return true
}

// pop takes the next write; nil = none waits.
func (l *lines) pop() *proposal {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.turns) == 0 {
		return nil
	}
	mine := l.turns[0]
	q := mine.writes[0]
	mine.writes[0] = nil
	mine.writes = mine.writes[1:]
	mine.bytes -= int64(len(q.data))
	l.count--
	l.bytes -= int64(len(q.data))
	copy(l.turns, l.turns[1:])
	l.turns[len(l.turns)-1] = mine
	if len(mine.writes) == 0 {
		l.turns[len(l.turns)-1] = nil
		l.turns = l.turns[:len(l.turns)-1]
		delete(l.tenants, mine.tenant)
	}
	return q
}

// len is how many writes wait.
func (l *lines) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

package embed

import (
	"sync"
	"time"
)

// Bounds of the pause after a failure.
const (
	firstPause = time.Second
	lastPause  = time.Minute
)

// pause keeps a provider that has just failed from being asked by every write:
// for a second, then for twice as long after each further failure, up to a
// minute.
type pause struct {
	now   func() time.Time
	told  func(error)
	mu    sync.Mutex
	until time.Time
	next  time.Duration
}

// check refuses while the pause lasts. It does not tell for how long: what it says
// is part of answers that are the same bytes each time.
func (p *pause) check() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now().Before(p.until) {
		return failure("has failed, and is left alone for a while")
	}
	return nil
}

// failed begins a pause, up to half as long again by chance, so that nodes do not
// ask in step.
func (p *pause) failed(err error, jitter float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next == 0 && p.told != nil {
		p.told(err)
	}
	p.next = min(max(firstPause, 2*p.next), lastPause)
	p.until = p.now().Add(p.next + time.Duration(jitter/2*float64(p.next)))
}

func (p *pause) worked() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next > 0 && p.told != nil {
		p.told(nil)
	}
	p.until, p.next = time.Time{}, 0
}

package memory

import (
	"context"
	"sync"
	"time"
)

// limited is a context as context.WithTimeout makes it, but for its price: a timer, and a
// place among the children of the context above. It takes them only when somebody waits
// for its end, and a request that is answered at once waits for nothing.
type limited struct {
	context.Context // above
	until           time.Time

	mu      sync.Mutex
	over    bool
	waited  context.Context // that of context.WithDeadline; nil = nobody has waited
	release context.CancelFunc
}

// within returns a context that ends after a time, or when it is cancelled.
func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	l := &limited{Context: ctx, until: time.Now().Add(limit)}
	return l, l.cancel
}

func (l *limited) cancel() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	if l.waited != nil {
		l.release()
	}
}

// Deadline implements context.Context.
func (l *limited) Deadline() (time.Time, bool) {
	if above, ok := l.Context.Deadline(); ok && above.Before(l.until) {
		return above, true
	}
	return l.until, true
}

// Done implements context.Context.
func (l *limited) Done() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waited == nil {
		l.waited, l.release = context.WithDeadline(l.Context, l.until)
		if l.over {
			l.release()
		}
	}
	return l.waited.Done()
}

// Err implements context.Context.
func (l *limited) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waited != nil {
		return l.waited.Err()
	}
	if err := l.Context.Err(); err != nil {
		return err
	}
	switch {
	case l.over:
		return context.Canceled
	case !time.Now().Before(l.until):
		return context.DeadlineExceeded
	}
	return nil
}

// Value implements context.Context. It is how a context below this one, which has waited,
// finds what to hang on to.
func (l *limited) Value(key any) any {
	l.mu.Lock()
	waited := l.waited
	l.mu.Unlock()
	if waited != nil {
		return waited.Value(key)
	}
	return l.Context.Value(key)
}

package rounds

import (
	"context"
	"time"
)

// Options are what rounds need.
type Options struct {
	// Every is the time from one round to the next. A round that takes longer holds up
	// the next one, and nothing else.
	Every time.Duration
	// Leads tells whether this node leads: only then a round begins.
	Leads func() bool
	// Round is one round. Its context ends with Stop.
	Round func(context.Context)
	// Follows is called in place of a round while another node leads; nil = nothing is.
	Follows func()
}

// Rounds begin rounds until Stop.
type Rounds struct {
	o    Options
	stop context.CancelFunc
	done chan struct{}
}

// Start begins the first round after the time of one.
func Start(o Options) *Rounds {
	ctx, stop := context.WithCancel(context.Background())
	r := &Rounds{o: o, stop: stop, done: make(chan struct{})}
	go r.run(ctx)
	return r
}

// Stop ends the rounds, and waits for the one that is under way.
func (r *Rounds) Stop() {
	r.stop()
	<-r.done
}

func (r *Rounds) run(ctx context.Context) {
	defer close(r.done)
	ticker := time.NewTicker(r.o.Every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		switch {
		case ctx.Err() != nil:
			return
		case r.o.Leads():
			r.o.Round(ctx)
		case r.o.Follows != nil:
			r.o.Follows()
		}
	}
}

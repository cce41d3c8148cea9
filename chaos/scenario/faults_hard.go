package scenario

import (
	"context"
	"time"

	"abagraph/chaos"
	"abagraph/client"
)

// minority kills one node and cuts the other two apart: nobody can have a majority.
func (f *fault) minority() error {
	nodes := among(f.rng, f.Nodes)
	f.tell("%s is down, %s is cut off", nodes[0].Name, nodes[1].Name)
	if err := f.ends(nodes[0]); err != nil {
		return err
	}
	f.Isolate(nodes[1], f.mode())
	f.stay()
	return nil
}

// thawLate stops the leader, cuts off the next one, and lets the first go on: it must
// not think that it leads still, and two that once led are there at once.
func (f *fault) thawLate() error {
	first, err := f.leader()
	if err != nil {
		return err
	}
	if err := first.Freeze(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(f.ctx, back)
	defer cancel()
	second, err := f.Leader(ctx, f.Others(first)...)
	if err != nil {
		_ = first.Thaw()
		return err
	}
	f.tell("%s, then %s", first.Name, second.Name)
	f.Isolate(second, f.mode())
	f.wait(f.hold / 2)
	if err := first.Thaw(); err != nil {
		return err
	}
	f.stay()
	return nil
}

// crashLoop kills one node again and again, soon after each start: while it reads its
// log, restores, or catches up.
func (f *fault) crashLoop() error {
	n := f.some()
	f.tell("%s", n.Name)
	if err := f.ends(n); err != nil {
		return err
	}
	for range 6 {
		if err := n.Launch(); err != nil {
			return err
		}
		f.wait(time.Duration(20+f.rng.IntN(500)) * time.Millisecond)
		if err := n.Kill(); err != nil {
			return err
		}
	}
	return nil
}

// churn hands the leadership round and round.
func (f *fault) churn() error {
	rounds := 0
	for end := time.Now().Add(f.hold); time.Now().Before(end); rounds++ {
		err := f.admin(f.some(), func(ctx context.Context, c *client.Client) error {
			_, err := c.Transfer(ctx, f.some().Name)
			return err
		})
		if err != nil && !refused(err) {
			return err
		}
		f.wait(time.Duration(50+f.rng.IntN(300)) * time.Millisecond)
	}
	f.tell("%d times", rounds)
	return nil
}

// snapshots has every node take one after another, and kills one while it does.
func (f *fault) snapshots() error {
	n := f.some()
	f.tell("%s is killed meanwhile", n.Name)
	taken := make(chan struct{})
	go func() {
		defer close(taken)
		for range 3 {
			for _, one := range f.Nodes {
				// A node that is killed, or has nothing to put into one, says so.
				_ = f.admin(one, func(ctx context.Context, c *client.Client) error {
					ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
					defer cancel()
					_, err := c.Snapshot(ctx)
					return err
				})
			}
		}
	}()
	f.wait(time.Duration(f.rng.IntN(300)) * time.Millisecond)
	err := f.ends(n)
	f.stay()
	<-taken
	return err
}

// lag cuts a follower off until the log behind it is gone, so that it has to be sent
// the state, and kills it in the middle of that.
func (f *fault) lag() error {
	n, err := f.follower()
	if err != nil {
		return err
	}
	f.tell("%s", n.Name)
	f.Isolate(n, chaos.Refused)
	f.stay()
	for _, other := range f.Others(n) {
		for range 2 {
			_ = f.admin(other, func(ctx context.Context, c *client.Client) error {
				_, err := c.Snapshot(ctx)
				return err
			})
		}
	}
	f.Network.Heal()
	for range 3 {
		f.wait(time.Duration(f.rng.IntN(400)) * time.Millisecond)
		if err := f.ends(n); err != nil {
			return err
		}
		if err := n.Launch(); err != nil {
			return err
		}
	}
	return nil
}

// swizzle cuts the nodes off one by one, and lets them back in another order.
func (f *fault) swizzle() error {
	f.tell("all")
	for _, n := range among(f.rng, f.Nodes) {
		f.Isolate(n, chaos.Silent)
		f.wait(f.hold / 6)
	}
	for _, n := range among(f.rng, f.Nodes) {
		f.Isolate(n, chaos.Clear)
		f.wait(f.hold / 6)
	}
	return nil
}

// lostAnswers lets all that clients send arrive, and no answer come back, and then
// breaks every connection: what was done is not known until it is asked for again.
func (f *fault) lostAnswers() error {
	f.tell("all")
	for round := range 3 {
		for _, n := range f.Nodes {
			f.Network.Set(n.Name, chaos.Street, chaos.Silent)
		}
		f.wait(f.hold / 6)
		for _, n := range f.Nodes {
			f.Network.Set(n.Name, chaos.Street, chaos.Refused)
		}
		f.wait(time.Duration(20*(round+1)) * time.Millisecond)
		for _, n := range f.Nodes {
			f.Network.Set(n.Name, chaos.Street, chaos.Clear)
		}
		f.wait(f.hold / 6)
	}
	return nil
}

package scenario

import (
	"context"
	"time"

	"abagraph/chaos"
	"abagraph/client"
)

// admin does one thing as the administrator on a node, and again for as long as the
// cluster only asks to wait.
func (f *fault) admin(n *chaos.Node, do func(context.Context, *client.Client) error) error {
	c, err := n.Client(client.WithRetry(10, 100*time.Millisecond), client.WithTimeout(20*time.Second))
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(f.ctx, back)
	defer cancel()
	return do(ctx, c)
}

// refused is an answer that an operator reads and acts upon; the attack goes on.
func refused(err error) bool {
	status := client.StatusOf(err)
	return status == 409 || status == 503 || status == 504
}

func (f *fault) transfer() error {
	to := f.some()
	f.tell("to %s", to.Name)
	err := f.admin(f.some(), func(ctx context.Context, c *client.Client) error {
		_, err := c.Transfer(ctx, to.Name)
		return err
	})
	if refused(err) {
		f.tell("to %s: refused: %v", to.Name, err)
		err = nil
	}
	f.stay()
	return err
}

// demote takes a follower's vote and gives it back.
func (f *fault) demote() error {
	n, err := f.follower()
	if err != nil {
		return err
	}
	f.tell("%s", n.Name)
	vote := func(voter bool) error {
		return f.admin(f.Others(n)[0], func(ctx context.Context, c *client.Client) error { return c.SetVoter(ctx, n.Name, voter) })
	}
	if err := vote(false); refused(err) {
		f.tell("%s: refused: %v", n.Name, err)
		return nil
	} else if err != nil {
		return err
	}
	f.stay()
	err = vote(true)
	for range 20 {
		if !refused(err) {
			return err
		}
		f.wait(500 * time.Millisecond)
		err = vote(true)
	}
	return err
}

// remove takes a follower out of the cluster, and has it join again with an empty disk.
func (f *fault) remove() error {
	n, err := f.follower()
	if err != nil {
		return err
	}
	f.tell("%s", n.Name)
	if err := f.ends(n); err != nil {
		return err
	}
	err = f.admin(f.Others(n)[0], func(ctx context.Context, c *client.Client) error { return c.RemovePeer(ctx, n.Name) })
	if err != nil && !refused(err) && client.StatusOf(err) != 404 {
		return err
	}
	f.stay()
	return f.anew(n)
}

// wipe has a node come back with an empty disk and the name it had.
func (f *fault) wipe() error {
	n := f.some()
	f.tell("%s", n.Name)
	if err := f.ends(n); err != nil {
		return err
	}
	f.stay()
	return f.anew(n)
}

// removeRunning takes a follower out of the cluster and leaves it running: it may not
// disturb the others. Then it joins again with an empty disk.
func (f *fault) removeRunning() error {
	n, err := f.follower()
	if err != nil {
		return err
	}
	f.tell("%s", n.Name)
	f.mayEnd[n] = true // it may end for that
	err = f.admin(f.Others(n)[0], func(ctx context.Context, c *client.Client) error { return c.RemovePeer(ctx, n.Name) })
	if err != nil && !refused(err) && client.StatusOf(err) != 404 {
		return err
	}
	f.stay()
	if err := f.ends(n); err != nil {
		return err
	}
	return f.anew(n)
}

// wipeAlone has a node come back with an empty disk and the name it had while a second
// one is down: its old vote must not make a majority with the third.
func (f *fault) wipeAlone() error {
	nodes := among(f.rng, f.Nodes)
	f.tell("%s, while %s is down", nodes[0].Name, nodes[1].Name)
	if err := f.ends(nodes[:2]...); err != nil {
		return err
	}
	if err := nodes[0].Wipe(); err != nil {
		return err
	}
	if err := nodes[0].Launch(); err != nil {
		return err
	}
	f.stay()
	ctx, cancel := context.WithTimeout(f.ctx, 2*back)
	defer cancel()
	if err := nodes[1].Start(ctx); err != nil {
		return err
	}
	return f.Voter(ctx, nodes[0])
}

// anew empties a node that does not run, starts it, and waits until it has a vote.
func (f *fault) anew(n *chaos.Node) error {
	if err := n.Wipe(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(f.ctx, 2*back)
	defer cancel()
	if err := n.Start(ctx); err != nil {
		return err
	}
	return f.Voter(ctx, n)
}

// installCut has a node that is sent the state from the others lose its connection
// and its process in the middle, at a moment that differs each time.
func (f *fault) installCut() error {
	n, err := f.follower()
	if err != nil {
		return err
	}
	f.tell("%s", n.Name)
	if err := f.ends(n); err != nil {
		return err
	}
	if err := n.Wipe(); err != nil {
		return err
	}
	for i := range 3 {
		if err := n.Launch(); err != nil {
			return err
		}
		f.wait(time.Duration(100+f.rng.IntN(700)) * time.Millisecond)
		if i == 1 {
			f.Isolate(n, f.mode())
			f.wait(f.hold / 4)
			f.Network.Heal()
			f.wait(time.Duration(f.rng.IntN(300)) * time.Millisecond)
		}
		if err := n.Kill(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(f.ctx, 2*back)
	defer cancel()
	if err := n.Start(ctx); err != nil {
		return err
	}
	return f.Voter(ctx, n)
}

// rolling restarts every node in order, one after the other, as a deployment does.
func (f *fault) rolling() error {
	f.tell("all")
	for _, n := range among(f.rng, f.Nodes) {
		ctx, cancel := context.WithTimeout(f.ctx, back)
		f.mayEnd[n] = true
		err := n.Stop(ctx)
		if err == nil {
			err = n.Start(ctx)
		}
		if err == nil {
			err = n.Ready(ctx)
		}
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

package scenario

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"abagraph/chaos"
)

// back is how long a cluster may take to serve on every node after a fault is over.
const back = 45 * time.Second

// attack makes one fault after another, and sees that the cluster comes back.
func (r *run) attack(episodes []episode) {
	for len(episodes) == 0 && r.since() < r.Length && !r.enough() {
		r.wait(50 * time.Millisecond)
	}
	for i := range episodes {
		if r.enough() {
			return
		}
		if r.ctx.Err() != nil || r.since() > r.Length+limit/4 {
			r.say("the rest of the plan is left out: the machine is slow")
			return
		}
		r.episode(&episodes[i])
	}
}

// enough reports whether what was looked for was found.
func (r *run) enough() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.First && len(r.violations) > 0
}

// settle ends every fault and waits until all is well. It returns false where it
// never is, so that nothing can be judged.
func (r *run) settle() bool {
	r.Network.Heal()
	whole := r.recover("the end")
	r.wait(time.Second)
	return whole
}

func (r *run) episode(e *episode) {
	kind, known := faults[e.Kind]
	switch {
	case !known:
		r.violate("harness", "there is no fault %q", e.Kind)
		return
	case kind.disks && !r.Disks, kind.clocks && !r.Clocks, kind.cluster && r.Size < 3:
		r.moment(e.Kind+" (left out)", r.since(), "this machine or program cannot do it")
		return
	}
	begin := r.since()
	f := &fault{run: r, rng: rand.New(rand.NewPCG(e.Pick, 1)), hold: e.Hold}
	r.say("%s for %s", e.Kind, e.Hold.Round(time.Millisecond))
	clear(r.mayEnd)
	if err := kind.make(f); err != nil && r.ctx.Err() == nil {
		r.violate("harness", "%s: %v", e.Kind, err)
	}
	r.Network.Heal()
	r.recover(e.Kind)
	r.moment(e.Kind, begin, f.note)
	r.say("%s is over: %s", e.Kind, f.note)
	r.wait(e.Quiet)
}

// recover starts what does not run and waits until every node serves. A node that
// ended without having been made to has broken its promise. It returns false where they
// do not all serve in time.
func (r *run) recover(after string) bool {
	ctx, cancel := context.WithTimeout(r.ctx, back)
	defer cancel()
	for _, n := range r.Nodes {
		if n.Running() {
			continue
		}
		if !r.mayEnd[n] {
			text, _ := n.Log(false)
			r.violate("nodes", "%s ended by itself during %s:\n%s", n.Name, after, lastLines(text))
		}
		if err := n.Start(ctx); err != nil && r.ctx.Err() == nil {
			text, _ := n.Log(false)
			r.violate("recovery", "%s does not start again after %s: %v\n%s", n.Name, after, err, lastLines(text))
		}
	}
	for _, n := range r.Nodes {
		if err := n.Ready(ctx); err != nil && r.ctx.Err() == nil {
			r.violate("recovery", "%s after %s was over: %v\n%s", back, after, err, r.Logs(15))
			return false
		}
	}
	return true
}

func lastLines(text string) string {
	const most = 1500
	return text[max(0, len(text)-most):]
}

// fault is one fault under way.
type fault struct {
	*run
	rng  *rand.Rand
	hold time.Duration
	note string // what was done, to whom
}

// stay keeps the fault up for its time.
func (f *fault) stay() { f.wait(f.hold) }

// leader is the node that leads, if one does.
func (f *fault) leader() (*chaos.Node, error) {
	ctx, cancel := context.WithTimeout(f.ctx, back)
	defer cancel()
	return f.Leader(ctx)
}

// follower is one of the others.
func (f *fault) follower() (*chaos.Node, error) {
	leader, err := f.leader()
	if err != nil {
		return nil, err
	}
	others := f.Others(leader)
	if len(others) == 0 {
		return leader, nil
	}
	return others[f.rng.IntN(len(others))], nil
}

func (f *fault) some() *chaos.Node { return f.Nodes[f.rng.IntN(len(f.Nodes))] }

func (f *fault) tell(format string, args ...any) { f.note = fmt.Sprintf(format, args...) }

// ends kills nodes, which may so be down when the fault is over.
func (f *fault) ends(nodes ...*chaos.Node) error {
	for _, n := range nodes {
		f.mayEnd[n] = true
		if err := n.Kill(); err != nil {
			return err
		}
	}
	return nil
}

package scenario

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// sets are the scenarios: which faults each is made of.
var sets = map[string][]string{
	"calm":    {},
	"kill":    {"kill-leader", "kill-follower", "kill-all", "freeze-leader", "freeze-follower", "minority", "crash-loop", "thaw-late"},
	"network": {"isolate-leader", "isolate-follower", "one-way-out", "one-way-in", "bridge", "delay", "loss", "lost-answers", "swizzle", "thaw-late"},
	"power":   {"power-cut-all"},
	"clock":   {"clock-ahead", "clock-behind", "clock-apart", "kill-leader", "transfer"},
	"members": {"transfer", "demote", "remove", "remove-running", "wipe", "wipe-alone", "install-cut", "rolling", "churn", "snapshots", "lag"},
	"disk":    {"power-cut", "power-cut-all", "slow-disk", "full-disk", "flip-store", "flip-log", "flip-journal", "flip-snapshot", "torn"},
}

// mixed is everything but Upgrade.
const mixed = "mixed"

// Upgrade is the scenario that begins with a former program on all nodes: one node after
// the other is given the present one, one goes back in between, and other faults come
// after each step.
const Upgrade = "upgrade"

var (
	upgradeSteps  = []string{"upgrade", "upgrade-next", "back", "upgrade-rest"}
	upgradeFaults = []string{"kill-leader", "kill-follower", "transfer", "freeze-leader", "isolate-leader", "snapshots", "lag"}
)

// Names are the scenarios that there are.
func Names() []string {
	names := []string{mixed, Upgrade}
	for name := range sets {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func kindsOf(scenario string) ([]string, error) {
	if kinds, known := sets[scenario]; known {
		return kinds, nil
	}
	if scenario == Upgrade {
		return upgradeFaults, nil
	}
	if scenario != mixed {
		return nil, fmt.Errorf("there is no scenario %q: there are %s", scenario, strings.Join(Names(), ", "))
	}
	var all []string
	for _, kinds := range sets {
		all = append(all, kinds...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// episode is one fault of a plan: what, for how long, and how long it is quiet after it.
// Pick decides about the rest: which node, which way.
type episode struct {
	Kind  string
	Hold  time.Duration
	Quiet time.Duration
	Pick  uint64
}

// plan lays down faults for a length of time. The same seed makes the same plan,
// whatever the machine can do. No kind comes again before all have come.
func plan(scenario string, seed uint64, length time.Duration) ([]episode, error) {
	kinds, err := kindsOf(scenario)
	if err != nil || len(kinds) == 0 {
		return nil, err
	}
	r := rand.New(rand.NewPCG(seed, 0x5eed))
	var episodes []episode
	var left, steps []string
	if scenario == Upgrade {
		steps = upgradeSteps
	}
	for total := time.Duration(0); total < length || len(steps) > 0; {
		if len(left) == 0 {
			left = slices.Clone(kinds)
			r.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
		}
		next := &left
		if len(steps) > 0 && len(episodes)%2 == 0 {
			next = &steps
		}
		e := episode{
			Kind: (*next)[0], Pick: r.Uint64(),
			Hold:  time.Duration(500+r.IntN(4000)) * time.Millisecond,
			Quiet: time.Duration(300+r.IntN(1500)) * time.Millisecond,
		}
		*next = (*next)[1:]
		episodes = append(episodes, e)
		total += e.Hold + e.Quiet
	}
	return episodes, nil
}

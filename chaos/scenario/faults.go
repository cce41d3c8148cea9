package scenario

import (
	"math/rand/v2"
	"time"

	"abagraph/chaos"
)

// faultKind is one way to attack. It returns when the fault is over; links are healed
// and nodes started again after it.
type faultKind struct {
	// What it needs: disks of their own, clocks that can be set, three nodes.
	disks, clocks, cluster bool
	make                   func(*fault) error
}

// faults are all there are, by name.
var faults = map[string]faultKind{
	"kill-leader":      {make: (*fault).killLeader},
	"kill-follower":    {make: (*fault).killFollower},
	"kill-all":         {make: (*fault).killAll},
	"freeze-leader":    {make: (*fault).freezeLeader},
	"freeze-follower":  {make: (*fault).freezeFollower},
	"isolate-leader":   {cluster: true, make: (*fault).isolateLeader},
	"isolate-follower": {cluster: true, make: (*fault).isolateFollower},
	"one-way-out":      {cluster: true, make: (*fault).oneWayOut},
	"one-way-in":       {cluster: true, make: (*fault).oneWayIn},
	"bridge":           {cluster: true, make: (*fault).bridge},
	"delay":            {cluster: true, make: (*fault).delay},
	"loss":             {cluster: true, make: (*fault).loss},
	"clock-ahead":      {clocks: true, make: (*fault).clockAhead},
	"clock-behind":     {clocks: true, make: (*fault).clockBehind},
	"clock-apart":      {clocks: true, make: (*fault).clockApart},
	"transfer":         {cluster: true, make: (*fault).transfer},
	"demote":           {cluster: true, make: (*fault).demote},
	"remove":           {cluster: true, make: (*fault).remove},
	"remove-running":   {cluster: true, make: (*fault).removeRunning},
	"wipe-alone":       {cluster: true, make: (*fault).wipeAlone},
	"wipe":             {cluster: true, make: (*fault).wipe},
	"install-cut":      {cluster: true, make: (*fault).installCut},
	"lost-answers":     {make: (*fault).lostAnswers},
	"minority":         {cluster: true, make: (*fault).minority},
	"thaw-late":        {cluster: true, make: (*fault).thawLate},
	"crash-loop":       {make: (*fault).crashLoop},
	"churn":            {cluster: true, make: (*fault).churn},
	"snapshots":        {make: (*fault).snapshots},
	"lag":              {cluster: true, make: (*fault).lag},
	"swizzle":          {cluster: true, make: (*fault).swizzle},
	"rolling":          {cluster: true, make: (*fault).rolling},
	"upgrade":          {make: (*fault).upgrade},
	"upgrade-next":     {make: (*fault).upgrade},
	"upgrade-rest":     {make: (*fault).upgradeRest},
	"back":             {make: (*fault).back},
	"power-cut":        {disks: true, make: (*fault).powerCut},
	"power-cut-all":    {disks: true, make: (*fault).powerCutAll},
	"slow-disk":        {disks: true, make: (*fault).slowDisk},
	"full-disk":        {disks: true, make: (*fault).fullDisk},
	"flip-store":       {cluster: true, make: (*fault).flipStore},
	"flip-log":         {cluster: true, make: (*fault).flipLog},
	"flip-journal":     {cluster: true, make: (*fault).flipJournal},
	"flip-snapshot":    {cluster: true, make: (*fault).flipSnapshot},
	"torn":             {make: (*fault).torn},
}

func (f *fault) killLeader() error   { return f.on((*fault).leader, f.killed) }
func (f *fault) killFollower() error { return f.on((*fault).follower, f.killed) }

// on does something to the node that another function names.
func (f *fault) on(who func(*fault) (*chaos.Node, error), do func(*chaos.Node) error) error {
	n, err := who(f)
	if err != nil {
		return err
	}
	return do(n)
}

func (f *fault) killed(n *chaos.Node) error {
	f.tell("%s", n.Name)
	err := f.ends(n)
	f.stay()
	return err
}

func (f *fault) killAll() error {
	f.tell("all")
	err := f.ends(f.Nodes...)
	f.wait(f.hold / 4)
	return err
}

func (f *fault) freezeLeader() error   { return f.on((*fault).leader, f.frozen) }
func (f *fault) freezeFollower() error { return f.on((*fault).follower, f.frozen) }

func (f *fault) frozen(n *chaos.Node) error {
	f.tell("%s", n.Name)
	if err := n.Freeze(); err != nil {
		return err
	}
	f.stay()
	return n.Thaw()
}

// mode is one of the two ways in which a link can fail.
func (f *fault) mode() chaos.Mode {
	if f.rng.IntN(2) == 0 {
		return chaos.Silent
	}
	return chaos.Refused
}

func (f *fault) isolateLeader() error   { return f.on((*fault).leader, f.isolated) }
func (f *fault) isolateFollower() error { return f.on((*fault).follower, f.isolated) }

func (f *fault) isolated(n *chaos.Node) error {
	f.tell("%s", n.Name)
	f.Isolate(n, f.mode())
	f.stay()
	return nil
}

// oneWayOut: nothing that the leader sends arrives, but it hears the others.
func (f *fault) oneWayOut() error {
	return f.on((*fault).leader, func(n *chaos.Node) error { return f.oneWay(n, true) })
}

// oneWayIn: the leader hears nobody, but all hear it.
func (f *fault) oneWayIn() error {
	return f.on((*fault).leader, func(n *chaos.Node) error { return f.oneWay(n, false) })
}

func (f *fault) oneWay(n *chaos.Node, out bool) error {
	f.tell("%s, out: %v", n.Name, out)
	for _, other := range f.Others(n) {
		from, to := other.Name, n.Name
		if out {
			from, to = to, from
		}
		f.Network.Set(from, to, chaos.Silent)
	}
	f.stay()
	return nil
}

// bridge: two nodes do not see each other, and the third sees both.
func (f *fault) bridge() error {
	a := f.some()
	others := f.Others(a)
	b := others[f.rng.IntN(len(others))]
	f.tell("%s and %s", a.Name, b.Name)
	f.Network.Cut(f.mode(), a.Name, b.Name)
	f.stay()
	return nil
}

func (f *fault) delay() error {
	d := time.Duration(5+f.rng.IntN(100)) * time.Millisecond
	f.tell("%s between all", d)
	f.worsen(chaos.Quality{Delay: d, Jitter: d})
	return nil
}

func (f *fault) loss() error {
	share := 0.02 + f.rng.Float64()/8
	f.tell("%.2f between all", share)
	f.worsen(chaos.Quality{Loss: share, Resend: 200 * time.Millisecond})
	return nil
}

func (f *fault) worsen(q chaos.Quality) {
	for i, n := range f.Nodes {
		for _, other := range f.Nodes[i+1:] {
			f.Network.Worsen(q, n.Name, other.Name)
		}
	}
	f.stay()
}

// hour is how far clocks step.
const hour = time.Hour

func (f *fault) clockAhead() error  { return f.clocks(hour) }
func (f *fault) clockBehind() error { return f.clocks(-hour) }

// clocks has the leader's clock step, and back again.
func (f *fault) clocks(by time.Duration) error {
	n, err := f.leader()
	if err != nil {
		return err
	}
	f.tell("%s by %s", n.Name, by)
	if err := n.SetClock(by); err != nil {
		return err
	}
	f.stay()
	return n.SetClock(0)
}

// clockApart has each node go by its own clock from now on.
func (f *fault) clockApart() error {
	f.tell("all")
	for _, n := range f.Nodes {
		if err := n.SetClock(time.Duration(f.rng.Int64N(int64(2*hour))) - hour); err != nil {
			return err
		}
	}
	f.stay()
	return nil
}

// among shuffles nodes.
func among(r *rand.Rand, nodes []*chaos.Node) []*chaos.Node {
	mixed := append([]*chaos.Node(nil), nodes...)
	r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	return mixed
}

package replication

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"abagraph/fact"

	"github.com/hashicorp/raft"
)

// wrappedThree starts three nodes, each with something of its own around its state machine.
func wrappedThree(t *testing.T, tune func(*Options), wrap func(id string, m StateMachine) StateMachine) *cluster {
	t.Helper()
	c := newCluster(t, tune)
	for _, id := range []string{"n1", "n2", "n3"} {
		c.wrap = func(m StateMachine) StateMachine { return wrap(id, m) }
		join := ""
		if id != "n1" {
			join = c.members["n1"].address
		}
		c.start(id, c.disk(id), join)
	}
	c.waitVoters(3)
	return c
}

// gatedThree starts three nodes with a gate in front of each state machine.
func gatedThree(t *testing.T, tune func(*Options)) (*cluster, map[string]*gatedMachine) {
	t.Helper()
	gates := map[string]*gatedMachine{}
	c := wrappedThree(t, tune, func(id string, m StateMachine) StateMachine {
		gates[id] = &gatedMachine{StateMachine: m}
		return gates[id]
	})
	return c, gates
}

// hold stops a state machine until what it returns is called, at the latest when the
// test ends.
func (g *gatedMachine) hold(t *testing.T) (release func()) {
	g.gate.Lock()
	release = sync.OnceFunc(g.gate.Unlock)
	t.Cleanup(release)
	return release
}

// TestLeaderRefusesWhileItsStateStandsStill: a write that is taken is not lost, what
// comes after is refused and not written, and all is well once apply goes on.
func TestLeaderRefusesWhileItsStateStandsStill(t *testing.T) {
	gate := &gatedMachine{}
	c := newCluster(t, func(o *Options) { o.LagTime = 100 * time.Millisecond })
	c.wrap = func(m StateMachine) StateMachine { gate.StateMachine = m; return gate }
	m := c.start("n1", c.disk("n1"), "")
	m.mustWrite(t, write("Lamp:l", 1))
	release := gate.hold(t)
	taken := make(chan error, 1)
	go func() {
		_, err := m.Propose(soon(t), write("Lamp:l", 2))
		taken <- err
	}()
	eventually(t, "writes are refused", func() bool { return m.behind() != nil })
	_, err := m.Propose(soon(t), write("Lamp:other", 1))
	if fact.CodeOf(err) != fact.RateLimited || !strings.Contains(err.Error(), "n1, which leads, stands still") {
		t.Errorf("a write beside a state that stands still: %v", err)
	}
	release()
	if err := <-taken; err != nil {
		t.Errorf("the write before it: %v", err)
	}
	// That one is answered before the store has it: until then the state has not moved on.
	eventually(t, "writes are taken", func() bool { return m.behind() == nil })
	m.mustWrite(t, write("Lamp:l", 3))
	if got := m.mustRead(t, "Lamp:other"); got != "" {
		t.Errorf("what was refused was written: %q", got)
	}
}

// TestLeaderThatIsBehindHandsOver: a follower whose state is slow holds up no commit; as
// the leader it takes no writes, and hands over to one that is farther.
func TestLeaderThatIsBehindHandsOver(t *testing.T) {
	c, gates := gatedThree(t, func(o *Options) { o.LagEntries, o.LagTime = 20, time.Hour })
	slow := c.follower()
	release := gates[slow.id].hold(t)
	taken := func(i int) { // by one that is not behind: an election may make the slow one lead at any time
		t.Helper()
		eventually(t, "a write", func() bool {
			result, err := c.leader().Propose(soon(t), keyed(write("Lamp:l", i), fmt.Sprint(i)))
			return err == nil && result.Err == nil
		})
	}
	for i := range 40 {
		taken(i)
	}
	// It may have handed on before the old leader saw it lead, which waits for that in vain.
	if err := c.leader().Transfer(soon(t), slow.id); err != nil && fact.CodeOf(err) != fact.Timeout {
		t.Fatal(err)
	}
	eventually(t, "another one leads", func() bool { return slow.raft.State() != raft.Leader && c.leader() != slow })
	taken(40)
	release()
	if got := slow.mustRead(t, "Lamp:l"); got != "40" {
		t.Errorf("the slow one reads %q", got)
	}
	c.equalDigests()
}

// TestBehindCountsEntries: the leader's own refusal, before it has handed over.
func TestBehindCountsEntries(t *testing.T) {
	c := newCluster(t, func(o *Options) { o.LagEntries, o.LagBytes = 5, 100_000 })
	m := c.start("n1", c.disk("n1"), "")
	for i := range 10 {
		m.mustWrite(t, write("Lamp:l", i))
	}
	at := m.raft.CommitIndex()
	eventually(t, "the last one is in the store", func() bool { return m.adapter.seen.Load() == at && m.backlog.bytes(at) == 0 })
	m.adapter.seen.Store(at - 6)
	if _, err := m.Propose(soon(t), write("Lamp:l", 11)); fact.CodeOf(err) != fact.RateLimited || !strings.Contains(err.Error(), "6 committed entries") {
		t.Errorf("six entries behind: %v", err)
	}
	m.adapter.seen.Store(at)
	m.backlog.mu.Lock()
	m.backlog.held = []heldEntry{{at, m.backlog.before + 100_001}}
	m.backlog.mu.Unlock()
	if _, err := m.Propose(soon(t), write("Lamp:l", 12)); fact.CodeOf(err) != fact.RateLimited {
		t.Errorf("100,001 bytes behind: %v", err)
	}
	m.backlog.applied(at)
	m.mustWrite(t, write("Lamp:l", 13))
}

// TestSlowFollowerTakesNoMoreThanItCanHold: it slows no commit meanwhile.
func TestSlowFollowerTakesNoMoreThanItCanHold(t *testing.T) {
	c, gates := gatedThree(t, func(o *Options) { o.LagBytes = 32 << 10 })
	leader, slow := c.leader(), c.follower()
	release := gates[slow.id].hold(t)
	big := func(i int) *fact.Request {
		r := write(fmt.Sprintf("Lamp:%d", i), i)
		r.Write.Asserts[0].Object = fact.TextObject(strings.Repeat("x", 8<<10))
		return r
	}
	for i := range 40 {
		leader.mustWrite(t, big(i))
	}
	if behind := leader.raft.LastIndex() - slow.raft.LastIndex(); behind < 10 {
		t.Errorf("the slow follower is %d entries behind in its log: it has taken too many", behind)
	}
	if held := slow.backlog.bytes(slow.raft.CommitIndex()); held > 3*32<<10 {
		t.Errorf("it holds %d bytes", held)
	}
	release()
	if got := slow.mustRead(t, "Lamp:39"); len(got) != 8<<10 {
		t.Errorf("it reads %d bytes in the end", len(got))
	}
	c.equalDigests()
}

// TestStopOfAFollowerThatWaits: nothing is left waiting when it is shut down.
func TestStopOfAFollowerThatWaits(t *testing.T) {
	n := &Node{backlog: newBacklog(), stopped: make(chan struct{}), options: Options{LagBytes: 1}}
	c := newCluster(t, nil)
	n.raft = c.start("n1", "", "").raft
	n.backlog.stored([]*raft.Log{{Index: 1, Data: []byte("two")}})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		n.awaitApplied()
		cancel()
	}()
	close(n.stopped)
	<-ctx.Done()
}

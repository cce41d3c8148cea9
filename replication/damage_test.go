package replication

import (
	"strings"
	"sync/atomic"
	"testing"

	"abagraph/fact"
)

// damagedMachine finds its store damaged when a test says so.
type damagedMachine struct {
	StateMachine
	found atomic.Bool
}

func (d *damagedMachine) Damage() string {
	if d.found.Load() {
		return "a checksum of the test"
	}
	return ""
}

// damageable starts three nodes whose stores can be found damaged.
func damageable(t *testing.T) (*cluster, map[string]*damagedMachine) {
	c, machines := newCluster(t, nil), make(map[string]*damagedMachine)
	for _, id := range []string{"n1", "n2", "n3"} {
		d := &damagedMachine{}
		machines[id] = d
		c.wrap = func(m StateMachine) StateMachine { d.StateMachine = m; return d }
		join := ""
		if id != "n1" {
			join = c.members["n1"].address
		}
		c.start(id, c.disk(id), join)
	}
	c.waitVoters(3)
	return c, machines
}

// all asks of each member but one, with the name of the other that is left.
func (c *cluster) all(but *member, ask func(m *member, other string) bool) bool {
	for id, m := range c.members {
		for other := range c.members {
			if id != but.id && other != but.id && other != id && !ask(m, other) {
				return false
			}
		}
	}
	return true
}

// told is what the others have told of themselves.
func (m *member) told() map[string]peerStatus {
	m.seenMu.Lock()
	defer m.seenMu.Unlock()
	return m.seen
}

// TestADamagedMemberLeavesItToTheOthers: it stops with the reason, also where it leads,
// and the others go on.
func TestADamagedMemberLeavesItToTheOthers(t *testing.T) {
	c, machines := damageable(t)
	c.leader().mustWrite(t, write("Lamp:l", 1))
	m := c.leader()
	machines[m.id].found.Store(true)
	<-m.Failed()
	if err := m.Err(); fact.CodeOf(err) != fact.Closed || !strings.Contains(err.Error(), "the store is damaged: a checksum of the test; empty") {
		t.Errorf("it stopped with %v", err)
	}
	m.stop(t)
	c.leader().mustWrite(t, write("Lamp:l", 2))
}

// TestDamagedMembersStayWhereTheyAreNeeded: two of three, and a node alone, go on with
// what is whole, and tell of it.
func TestDamagedMembersStayWhereTheyAreNeeded(t *testing.T) {
	c, machines := damageable(t)
	c.leader().mustWrite(t, write("Lamp:l", 1))
	left := c.follower()
	left.stop(t)
	eventually(t, "nobody hears of the one that is gone", func() bool { return c.all(left, func(m *member, _ string) bool { return len(m.told()) == 1 }) })
	for id, d := range machines {
		d.found.Store(id != left.id)
	}
	for id, m := range c.members {
		if id != left.id {
			m.leaveDamaged()
			m.mustWrite(t, write("Lamp:l", 2))
			if said := m.Status().Problem; said != "the store is damaged: a checksum of the test" {
				t.Errorf("%s says %q", id, said)
			}
		}
	}
	eventually(t, "each of the two knows of the other", func() bool {
		return c.all(left, func(m *member, other string) bool { return m.told()[other].Damaged })
	})
	c.wrap = func(m StateMachine) StateMachine { machines[left.id].StateMachine = m; return machines[left.id] }
	c.start(left.id, left.path, "")
	c.waitVoters(3)
	eventually(t, "both hear of the third", func() bool { return c.all(left, func(m *member, _ string) bool { return len(m.told()) == 2 }) })
	for _, m := range c.members {
		m.leaveDamaged()
	}
	c.leader().mustWrite(t, write("Lamp:l", 3))

	d := &damagedMachine{}
	d.found.Store(true)
	alone := newCluster(t, func(o *Options) { o.Bind, o.dial = "", nil })
	alone.wrap = func(m StateMachine) StateMachine { d.StateMachine = m; return d }
	m := alone.start("n1", "", "")
	m.leaveDamaged()
	m.mustWrite(t, write("Lamp:l", 1))
}

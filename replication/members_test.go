package replication

import (
	"os"
	"strings"
	"testing"
	"time"

	"abagraph/fact"
)

// CLU-03: a member that comes back without its data neither votes nor counts
// until it has been removed and added again.
func TestCLU03EmptyMemberIsReadmitted(t *testing.T) {
	c := three(t, nil)
	for i := range 10 {
		c.leader().mustWrite(t, write("Lamp:l", i))
	}
	wiped := c.members["n3"]
	other := c.members["n2"]
	wiped.stop(t)
	other.stop(t)
	if err := os.RemoveAll(wiped.path); err != nil {
		t.Fatal(err)
	}
	// With n2 down, n1 and the emptied n3 must not make a majority.
	c.start("n3", wiped.path, c.members["n1"].address)
	eventually(t, "n1 not to lead", func() bool { return c.members["n1"].raft.State().String() != "Leader" })
	time.Sleep(time.Second)
	for _, id := range []string{"n1", "n3"} {
		if s := c.members[id].Status(); s.State == "Leader" {
			t.Fatalf("%s leads with the vote of a node that has lost its data", id)
		}
	}
	if s := c.members["n3"].Status(); s.State != "Joining" || s.Problem == "" {
		t.Fatalf("n3 says %q, %q", s.State, s.Problem)
	}
	c.start("n2", other.path, "")
	eventually(t, "n3 to be a member again", func() bool { return c.members["n3"].Status().State == "Follower" })
	c.waitVoters(3)
	if v := c.members["n3"].mustRead(t, "Lamp:l"); v != "9" {
		t.Fatalf("n3 read %q", v)
	}
	c.equalDigests()
}

// A founder that has lost its data founds another cluster. Where it learns that
// the old one still counts on it, it stops rather than answer with an empty store.
func TestCLU03EmptyFounderStops(t *testing.T) {
	c := three(t, nil)
	c.leader().mustWrite(t, write("Lamp:l", 1))
	founder := c.members["n1"]
	founder.stop(t)
	if err := os.RemoveAll(founder.path); err != nil {
		t.Fatal(err)
	}
	empty := c.start("n1", founder.path, "")
	<-empty.Failed()
	if err := empty.Err(); err == nil || !strings.Contains(err.Error(), "counts on this one") || !strings.Contains(err.Error(), "--join") {
		t.Fatalf("the reason is %v", err)
	}
	empty.stop(t)
	if err := os.RemoveAll(founder.path); err != nil {
		t.Fatal(err)
	}
	c.start("n1", founder.path, c.members["n2"].address)
	c.waitVoters(3)
	if v := c.members["n1"].mustRead(t, "Lamp:l"); v != "1" {
		t.Fatalf("n1 read %q", v)
	}
}

// Where it has been written to before it learns of the old cluster, it goes on
// and says so; the old one is not disturbed.
func TestCLU03EmptyFounderStaysOutside(t *testing.T) {
	c := three(t, nil)
	c.leader().mustWrite(t, write("Lamp:l", 1))
	founder := c.members["n1"]
	founder.stop(t)
	if err := os.RemoveAll(founder.path); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"n2", "n3"} {
		c.wires.set("n1", other, true)
	}
	c.start("n1", founder.path, "")
	c.members["n1"].mustWrite(t, write("Lamp:l", 100))
	for _, other := range []string{"n2", "n3"} {
		c.wires.set("n1", other, false)
	}
	eventually(t, "the stranger to say so", func() bool {
		return strings.Contains(c.members["n1"].Status().Problem, "counts on this one")
	})
	eventually(t, "a member to say why that one does not answer", func() bool {
		_, members := c.members["n2"].Report(soon(t))
		return !members[0].Reachable && members[0].Problem == "it belongs to another cluster"
	})
	c.members["n2"].mustWrite(t, write("Lamp:l", 2))
	if v := c.members["n3"].mustRead(t, "Lamp:l"); v != "2" {
		t.Fatalf("n3 read %q", v)
	}
	if v := c.members["n1"].mustRead(t, "Lamp:l"); v != "100" {
		t.Fatalf("the stranger read %q", v)
	}
}

// A claim that is made no more is told no more, at once where who made it has joined.
func TestClaimsAreForgotten(t *testing.T) {
	n := new(Node)
	for what, c := range map[string]struct {
		at   time.Time
		seen map[string]peerStatus
		kept bool
	}{
		"made just now": {time.Now(), map[string]peerStatus{"n3": {}}, true},
		"made long ago": {time.Now().Add(-2 * claimKept), nil, false},
		"by a member":   {time.Now(), map[string]peerStatus{"n2": {}}, false},
	} {
		n.problem.Store(&problem{what: "claimed", by: "n2", at: c.at})
		n.forgetClaim(c.seen)
		if kept := n.problem.Load() != nil; kept != c.kept {
			t.Errorf("%s: told is %v", what, kept)
		}
	}
}

// Founding again on a directory that has data does nothing.
func TestCLU03FoundingTwiceIsIgnored(t *testing.T) {
	c := three(t, nil)
	m := c.members["n1"]
	cluster := m.Status().Cluster
	m.stop(t)
	m = c.start("n1", m.path, "")
	c.waitVoters(3)
	if got := m.Status().Cluster; got != cluster {
		t.Fatalf("cluster %s became %s", cluster, got)
	}
}

func TestRemovedNodeDoesNotDisturb(t *testing.T) {
	c := three(t, func(o *Options) { o.LeaderWait = time.Second })
	stays := c.leader()
	removed := c.members["n3"]
	if removed == stays {
		removed = c.members["n2"]
	}
	if err := removed.Remove(soon(t), removed.id); err != nil {
		t.Fatal(err)
	}
	eventually(t, "two voters on the leader", func() bool { return len(stays.otherVoters()) == 1 })
	// It stands for election again and again, and is told no before it raises
	// the term: the others need not hear of it.
	term := removed.raft.CurrentTerm()
	time.Sleep(1500 * time.Millisecond) // some election time-outs of the removed node
	if got := removed.raft.CurrentTerm(); got != term {
		t.Fatalf("the removed node went from term %d to %d", term, got)
	}
	c.members["n1"].mustWrite(t, write("Lamp:l", 1))
	if _, err := removed.Basis(soon(t), fact.Linearizable, 0); fact.CodeOf(err) != fact.NoLeader {
		t.Fatalf("read on the removed node: %v, want NoLeader", err)
	}
	says := func() bool {
		s := removed.Status()
		return s.State == "Removed" && strings.Contains(s.Problem, "was removed from the cluster")
	}
	eventually(t, "the removed node to say so", says)
	path := removed.path
	removed.stop(t)
	removed = c.start(removed.id, path, "")
	eventually(t, "the removed node to say so after a restart", says)
	if err := stays.Remove(soon(t), "n9"); fact.CodeOf(err) != fact.NotFound {
		t.Fatalf("remove a stranger: %v", err)
	}
}

func TestLeaderCanBeRemoved(t *testing.T) {
	c := three(t, nil)
	old := c.leader()
	eventually(t, "it is removed", func() bool { // which is refused while the others do not answer in time
		err := old.Remove(soon(t), old.id)
		if err != nil && fact.CodeOf(err) != fact.Conflict {
			t.Fatal(err)
		}
		return err == nil
	})
	eventually(t, "two voters", func() bool {
		for _, m := range c.members {
			if m != old && m.raft.State().String() == "Leader" {
				return len(m.otherVoters()) == 1
			}
		}
		return false
	})
}

// Two operators who each remove a member at the same time leave a majority that
// answers: the second one is judged by what the first has left.
func TestTwoRemovalsAtOnce(t *testing.T) {
	c := three(t, nil)
	c.start("n4", "", c.members["n1"].address)
	c.waitVoters(4)
	leader, up := c.leader(), []string(nil)
	down := ""
	for _, id := range []string{"n1", "n2", "n3", "n4"} {
		switch {
		case id == leader.id:
		case down == "":
			down = id
		default:
			up = append(up, id)
		}
	}
	c.members[down].stop(t)
	done := make(chan error, len(up))
	for _, id := range up {
		go func() { done <- leader.Remove(soon(t), id) }()
	}
	first, second := <-done, <-done
	if first == nil {
		first, second = second, first
	}
	if fact.CodeOf(first) != fact.Conflict || second != nil {
		t.Fatalf("removing two of three that answer, of four: %v and %v", first, second)
	}
	leader.mustWrite(t, write("Lamp:l", 1))
}

func TestLastVoterIsNotRemoved(t *testing.T) {
	c := newCluster(t, nil)
	m := c.start("n1", "", "")
	m.mustWrite(t, write("Lamp:l", 1))
	if err := m.Remove(soon(t), "n1"); fact.CodeOf(err) != fact.Conflict {
		t.Fatalf("got %v, want Conflict", err)
	}
}

func TestSecondNodeOfTheSameNameIsRefused(t *testing.T) {
	c := three(t, nil)
	o := testOptions("n2")
	o.Bind, o.Join = freeAddress(t), c.members["n1"].address
	double := &member{id: "n2"}
	if err := double.open(o); err != nil {
		t.Fatal(err)
	}
	defer double.stop(t)
	eventually(t, "the refusal", func() bool { return strings.Contains(double.Status().Problem, "in use by a running member") })
	c.members["n2"].mustWrite(t, write("Lamp:l", 1))
	c.equalDigests()
}

func TestWrongSecretIsRefused(t *testing.T) {
	c := newCluster(t, nil)
	m := c.start("n1", "", "")
	m.mustWrite(t, write("Lamp:l", 1))
	for name, secret := range map[string]string{"another": "another secret of sixteen", "none": ""} {
		t.Run(name, func(t *testing.T) {
			o := testOptions("n2")
			o.Bind, o.Join, o.Secret = freeAddress(t), m.address, secret
			stranger := &member{id: "n2"}
			if err := stranger.open(o); err != nil {
				t.Fatal(err)
			}
			defer stranger.stop(t)
			eventually(t, "a failed join", func() bool { return stranger.Status().Problem != "" })
			if s := stranger.Status(); s.State != "Joining" {
				t.Fatalf("state %s", s.State)
			}
			if len(m.otherVoters()) != 0 || len(m.servers()) != 1 {
				t.Fatal("the stranger became a member")
			}
		})
	}
}

func TestAddressChangeIsAnnounced(t *testing.T) {
	c := three(t, nil)
	m := c.follower()
	m.stop(t)
	m.address = freeAddress(t)
	c.start(m.id, m.path, "")
	eventually(t, "the new address on every node", func() bool {
		for _, other := range c.members {
			for _, p := range other.Status().Peers {
				if p.ID == m.id && p.Address != m.address {
					return false
				}
			}
		}
		return true
	})
	c.members[m.id].mustWrite(t, write("Lamp:l", 5))
	c.equalDigests()
}

func TestStatusTellsOfPeers(t *testing.T) {
	c := three(t, nil)
	c.leader().mustWrite(t, write("Lamp:l", 1))
	eventually(t, "peers that answer and have caught up", func() bool {
		s := c.follower().Status()
		for _, p := range s.Peers {
			if !p.Reachable || p.Tx != 1 || p.Lag != 0 {
				return false
			}
		}
		return len(s.Peers) == 3 && s.LeaderID == c.leader().id
	})
	down := c.follower()
	down.stop(t)
	eventually(t, "the stopped peer to be unreachable", func() bool {
		for _, p := range c.leader().Status().Peers {
			if p.ID == down.id {
				return !p.Reachable
			}
		}
		return false
	})
}

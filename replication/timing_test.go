package replication

import (
	"strings"
	"testing"
	"time"
)

// TestTimingsFollowTheElectionTimeout: one figure sets all of them.
func TestTimingsFollowTheElectionTimeout(t *testing.T) {
	for election, want := range map[time.Duration]Options{
		0:               {Election: 500 * time.Millisecond, Heartbeat: 500 * time.Millisecond, Lease: 500 * time.Millisecond, LeaderWait: time.Second},
		5 * time.Second: {Election: 5 * time.Second, Heartbeat: 5 * time.Second, Lease: 5 * time.Second, LeaderWait: 10 * time.Second},
	} {
		got := Options{Election: election}.withDefaults()
		if got.Election != want.Election || got.Heartbeat != want.Heartbeat || got.Lease != want.Lease || got.LeaderWait != want.LeaderWait {
			t.Errorf("of %s came %s, %s, %s, %s", election, got.Election, got.Heartbeat, got.Lease, got.LeaderWait)
		}
	}
}

// TestOtherTimingsAreTold: nodes whose election time-outs differ say so, each in its
// own status and to the others.
func TestOtherTimingsAreTold(t *testing.T) {
	c := newCluster(t, func(o *Options) {
		if o.NodeID == "n2" {
			o.Election, o.Heartbeat = 1500*time.Millisecond, 1500*time.Millisecond
		}
	})
	first := c.start("n1", "", "")
	c.start("n2", "", first.address)
	c.waitVoters(2)
	eventually(t, "both tell of it", func() bool {
		return strings.Contains(first.Status().Problem, "500 ms here and 1500 ms on n2") &&
			strings.Contains(c.members["n2"].Status().Problem, "1500 ms here and 500 ms on n1")
	})
}

package http_test

import (
	"net/http"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/memory"
)

// How a node sees its cluster is told to every caller with a key, in full; why it
// is not ready to anyone, in words that name nobody.
func TestClusterIsTold(t *testing.T) {
	view := memory.Cluster{
		NodeID: "n2", State: "Follower", LeaderID: "n1", Term: 7, CommitIndex: 41, AppliedIndex: 40,
		At: fact.Position{Index: 39, Tx: 12, Epoch: "e1", Digest: [32]byte{0xab, 0xcd}},
		Members: []memory.Member{
			{ID: "n1", Voter: true, Leader: true, Known: true, Tx: 12},
			{ID: "n2", Voter: true, Known: true, Tx: 12, Lag: 1},
			{ID: "n3"},
		},
	}
	r, f := startFaulty(t, func(o *memory.Options) { o.AdminKey, o.Cluster = "root-key", func() memory.Cluster { return view } })
	anyone := *r
	r.key = "root-key"
	r.post("/api/tenants", `{"id":"acme","name":"Acme"}`).status(http.StatusCreated)
	reader := *r
	reader.key = r.post("/api/tenants/acme/keys", `{"name":"reader","role":"read"}`).status(http.StatusCreated).object().text("key")
	const want = `"cluster":{"node_id":"n2","state":"Follower","leader_id":"n1","term":7,"commit_index":41,"applied_index":40,"tx":12,` +
		`"digest":"abcd000000000000000000000000000000000000000000000000000000000000","epoch":"e1","members":[` +
		`{"id":"n1","voter":true,"leader":true,"reachable":true,"tx":12,"lag":0},` +
		`{"id":"n2","voter":true,"leader":false,"reachable":true,"tx":12,"lag":1},` +
		`{"id":"n3","voter":false,"leader":false,"reachable":false,"tx":null,"lag":null}]}}`
	for _, caller := range []*rig{r, &reader} {
		if got := caller.get("/api/observability").status(http.StatusOK).Body; !strings.HasSuffix(got, want) {
			t.Errorf("observability: %s", got)
		}
	}
	anyone.get("/api/observability").status(http.StatusNotFound)

	down := error(fact.Errorf(fact.NoLeader, "no leader at 10.1.2.3:9080"))
	f.err.Store(&down)
	for _, c := range []struct{ state, leader, why string }{
		{"Follower", "n1", "does not confirm"}, {"Candidate", "", "knows of no leader"}, {"Joining", "", "still to join"}, {"Stopped", "", "has stopped"},
		{"Removed", "", "it was removed from its cluster"},
	} {
		view.State, view.LeaderID = c.state, c.leader
		got := anyone.get("/api/ready").fails(http.StatusServiceUnavailable, "NoLeader").text("message")
		if !strings.Contains(got, c.why) || strings.Contains(got, "10.1.2.3") || strings.Contains(got, "n1") {
			t.Errorf("%s, leader %q: %s", c.state, c.leader, got)
		}
	}
	view.LeaderID = ""
	if got := r.get("/api/observability").Body; !strings.Contains(got, `"leader_id":null`) {
		t.Errorf("a leader that is not known: %s", got)
	}
}

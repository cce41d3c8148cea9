package ops_test

import (
	"fmt"
	"strings"
	"testing"

	"abagraph/client"
	"abagraph/ops"
)

func ptr[T any](v T) *T { return &v }

// sound is a cluster of three in which nothing is wrong.
func sound() *client.Nodes {
	n := &client.Nodes{NodeID: "n1", LeaderID: ptr("n1")}
	for _, id := range []string{"n1", "n2", "n3"} {
		n.Members = append(n.Members, client.NodeStatus{
			ID: id, Address: ptr("10.0.0." + id[1:] + ":9080"), Voter: true, Leader: id == "n1", Answers: true, Tx: ptr(uint64(7)), Digest: ptr("aa"),
			Lag: ptr(uint64(0)), LogBytes: ptr(uint64(1)), DataBytes: ptr(uint64(1)), FreeBytes: ptr(uint64(50)), DiskBytes: ptr(uint64(100)),
		})
	}
	return n
}

// What is wrong with a cluster is told, one line each, and nothing where nothing is.
func TestProblems(t *testing.T) {
	for says, harm := range map[string]func(n *client.Nodes){
		"": func(*client.Nodes) {},
		"no leader is known: nothing can be written":                func(n *client.Nodes) { n.LeaderID = nil },
		"n2 does not answer; no voter more may fail: 2 of 3 answer": func(n *client.Nodes) { n.Members[1] = client.NodeStatus{ID: "n2", Voter: true} },
		"n3: it is on fire":                        func(n *client.Nodes) { n.Members[2].Problem = ptr("it is on fire") },
		"at tx 7 n2 and n3 have different digests": func(n *client.Nodes) { n.Members[2].Digest = ptr("bb") },
		"n1 has less than 5 % of its disk free":    func(n *client.Nodes) { n.Members[0].FreeBytes = ptr(uint64(4)) },
		"n2 is 10001 entries behind":               func(n *client.Nodes) { n.Members[1].Lag = ptr(uint64(10001)) },
		"the log of n2 has 2048 MiB":               func(n *client.Nodes) { n.Members[1].LogBytes = ptr(uint64(2 << 30)) },
		"no voter more may fail: 2 of 2 answer":    func(n *client.Nodes) { n.Members = n.Members[:2] },
		"n1: this node was removed from the cluster": func(n *client.Nodes) {
			n.LeaderID, n.Problem = nil, ptr("this node was removed from the cluster")
		},
		"n4: this node was removed from the cluster": func(n *client.Nodes) {
			n.LeaderID, n.NodeID, n.Problem = nil, "n4", ptr("this node was removed from the cluster")
		},
		"n2 does not answer n1: it belongs to another cluster; no voter more may fail: 2 of 3 answer": func(n *client.Nodes) {
			n.Members[1] = client.NodeStatus{ID: "n2", Voter: true, Problem: ptr("it belongs to another cluster")}
		},
	} {
		n := sound()
		harm(n)
		if got := strings.Join(ops.Problems(n), "; "); got != says {
			t.Errorf("told %q, not %q", got, says)
		}
	}
	behind := sound()
	behind.Members[2].Tx, behind.Members[2].Digest = ptr(uint64(6)), ptr("bb")
	if got := ops.Problems(behind); len(got) > 0 {
		t.Errorf("at another tx another digest is told: %q", got)
	}
}

// What is proposed harms nobody who pastes it: it names this cluster, and where a node
// only is of another one, or was removed, no recovery is spoken of, nor that the node
// whose data is right be emptied.
func TestRemedies(t *testing.T) {
	n := sound()
	n.Members[1] = client.NodeStatus{ID: "n2", Voter: true}
	all := fmt.Sprint(ops.Findings(n, "http://10.0.0.1:8080"))
	for _, want := range []string{"abagraph ops peers remove n2 --url http://10.0.0.1:8080}", "abagraph ops peers add ID HOST:PORT --url http://10.0.0.1:8080}"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in %s", want, all)
		}
	}
	n.LeaderID, n.Members[2] = nil, client.NodeStatus{ID: "n3", Voter: true}
	if all := fmt.Sprint(ops.Findings(n, "")); !strings.Contains(all, "abagraph ops recover --data DIR") || strings.Contains(all, "peers remove") {
		t.Errorf("most are lost: %s", all)
	}
	n.Members[2].Problem = ptr("it belongs to another cluster")
	if all := fmt.Sprint(ops.Findings(n, "")); strings.Contains(all, "recover --data") || !strings.Contains(all, "one of n1 and n3 was restored") {
		t.Errorf("one is of another cluster: %s", all)
	}
	for why, whose := range map[string]string{
		"its peer certificate is not accepted here: x509: certificate has expired":                 "n3",
		"it does not accept the peer certificate of this node: tls: unknown certificate authority": "n1",
	} {
		n.Members[2].Problem = &why
		if all := fmt.Sprint(ops.Findings(n, "")); strings.Contains(all, "recover --data") || !strings.Contains(all, "abagraph ops certs node "+whose+" --host HOST --renew") || strings.Contains(all, "remove n3") {
			t.Errorf("certificates: %s", all)
		}
	}
	n = sound()
	n.LeaderID, n.NodeID, n.Problem = nil, "n4", ptr("this node was removed from the cluster")
	if all := fmt.Sprint(ops.Findings(n, "")); strings.Contains(all, "recover") || !strings.Contains(all, "--node-id n4 --join 10.0.0.1:9080,10.0.0.2:9080,10.0.0.3:9080") {
		t.Errorf("removed: %s", all)
	}
	n = sound()
	n.Members[0].Problem = ptr("the node n9 counts on this one as a member of another cluster")
	if all := fmt.Sprint(ops.Findings(n, "")); !strings.Contains(all, "stop that other node") {
		t.Errorf("claimed: %s", all)
	}
}

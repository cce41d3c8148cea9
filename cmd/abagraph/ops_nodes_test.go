package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"abagraph/client"
)

// TestOperateACluster: every command that changes a cluster, through any node: who
// leads, who has a vote, who is a member; nothing that would leave no majority.
func TestOperateACluster(t *testing.T) {
	data := t.TempDir()
	cluster := make([]*process, 3)
	for i := range cluster {
		cluster[i] = member(t, "", data, i, cluster[0])
	}
	r := shellOf(t, cluster[1])
	assert(t, cluster[0].client(), "Person:alice", "likes", "tea")
	eventually(t, "the three vote and have the same", func(context.Context) bool {
		code, out, _ := r.run("ops", "status")
		return code == 0 && strings.Count(out, `"voter": true`) == 3 && strings.Count(out, `"lag": 0`) == 3
	})
	r.terminal = true
	if out := r.ok("ops", "status"); !strings.Contains(out, "node-0  leader") || !strings.Contains(out, "leader node-0, term ") || strings.Contains(out, "PROBLEM") {
		t.Errorf("status shows\n%s", out)
	}
	if out := r.ok("ops", "peers", "list"); strings.Count(out, "yes") != 3 || !strings.Contains(out, cluster[2].peers) {
		t.Errorf("peers are\n%s", out)
	}
	r.terminal = false

	if got := r.object("ops", "transfer", "node-2"); got["leader_id"] != "node-2" {
		t.Errorf("transferred to %v", got)
	}
	if got := r.object("ops", "transfer"); got["leader_id"] == "node-2" {
		t.Errorf("transferred to %v", got)
	}
	r.ok("ops", "transfer", "node-0")
	if said := r.fails("ops", "transfer", "nobody"); !strings.HasPrefix(said, "NotFound: ") {
		t.Errorf("to nobody: %s", said)
	}
	if got := r.object("ops", "snapshot"); got["snapshot_index"] == float64(0) {
		t.Errorf("snapshot %v", got)
	}

	r.ok("ops", "peers", "demote", "node-2")
	cluster[2].stop()
	cluster[2] = member(t, "", data, 2, nil)
	if said := r.fails("ops", "transfer", "node-2"); !strings.Contains(said, "has no vote") {
		t.Errorf("to a reader: %s", said)
	}
	eventually(t, "the reader is one after a restart, too, and follows", func(context.Context) bool {
		_, out, _ := r.run("ops", "peers", "list")
		return strings.Count(out, `"reader": true`) == 1 && strings.Count(out, `"voter": true`) == 2
	})
	if said := r.fails("ops", "peers", "demote", "node-0"); !strings.Contains(said, "hand the leadership over first") {
		t.Errorf("demoting the leader: %s", said)
	}
	r.ok("ops", "peers", "promote", "node-2")
	r.ok("ops", "peers", "promote", "node-2")

	cluster[2].kill()
	said := ""
	eventually(t, "taking another vote is refused while one does not answer", func(context.Context) bool {
		_, _, said = r.run("ops", "peers", "remove", "node-1")
		return strings.Contains(said, "would leave 2 voters, of which 1 answer")
	})
	eventually(t, "status tells of it", func(context.Context) bool { // who is asked may hear of the last change a moment later
		code, out, _ := r.run("ops", "status")
		return code == 1 && strings.Contains(out, "node-2 does not answer") && strings.Contains(out, "no voter more may fail: 2 of 3 answer")
	})
	r.ok("ops", "peers", "remove", "node-2")
	if said := r.fails("ops", "peers", "remove", "node-2"); !strings.HasPrefix(said, "NotFound: ") {
		t.Errorf("again: %s", said)
	}
	plan := r.object("ops", "peers", "add", "node-3", "127.0.0.1:9999")["command"].(string)
	if !strings.Contains(plan, "--node-id node-3 --peer-bind 127.0.0.1:9999 --join "+cluster[0].peers+","+cluster[1].peers) {
		t.Errorf("the plan is %s", plan)
	}
	if said := r.fails("ops", "peers", "add", "node-1", "127.0.0.1:9999"); !strings.Contains(said, "is a member already") {
		t.Errorf("adding a member: %s", said)
	}
	removed := member2(t, data)
	eventually(t, "the removed node says so, and the two have their leader", func(ctx context.Context) bool {
		seen, err := removed.client().Nodes(ctx)
		if err != nil {
			return false
		}
		return strings.Contains(fmt.Sprint(problemsOf(seen)), "removed from the cluster")
	})
	assert(t, cluster[1].client(), "Person:alice", "likes", "milk")
}

// member2 starts the third node again, which is no member any more.
func member2(t *testing.T, data string) *process {
	t.Helper()
	return launch(t, "--bind", "127.0.0.1:0", "--data", data+"/node-2", "--node-id", "node-2", "--peer-bind", free(t)).up()
}

func problemsOf(n *client.Nodes) (all []string) {
	for i := range n.Members {
		if p := n.Members[i].Problem; p != nil {
			all = append(all, *p)
		}
	}
	return all
}

// A node alone is operated as well; what needs others says so.
func TestOperateANodeAlone(t *testing.T) {
	p := launch(t, "--bind", "127.0.0.1:0", "--data", ":memory:", "--node-id", "n1").up()
	r := shellOf(t, p)
	assert(t, p.client(), "Person:alice", "likes", "tea")
	got := r.object("ops", "status")
	if got["leader_id"] != "n1" || len(got["problems"].([]any)) != 0 {
		t.Errorf("status %v", got)
	}
	for want, args := range map[string][]string{
		"is the only voter and cannot be removed": {"ops", "peers", "remove", "n1"},
		"there is no member":                      {"ops", "peers", "promote", "n2"},
		"hand the leadership over first":          {"ops", "peers", "demote", "n1"},
		"there is no other voter":                 {"ops", "transfer"},
		"no member has a peer port":               {"ops", "peers", "add", "n2", "127.0.0.1:9999"},
		"is not HOST:PORT":                        {"ops", "peers", "add", "n2", "here"},
	} {
		if said := r.fails(args...); !strings.Contains(said, want) {
			t.Errorf("%v says %q", args, said)
		}
	}
	r.ok("ops", "snapshot")
	// What lies in memory is backed up as well as what lies on disk.
	if got := r.object("ops", "backup", r.home, "--check"); got["checked"].(map[string]any)["facts"] != float64(1) {
		t.Errorf("backup %v", got)
	}
	p.stop()
}

// TestRecoverAsksForTheWords: a recovery tells what it would do, does nothing without
// the words, and leaves a node alone with all its data; a node that is alone already,
// and one that runs, are refused.
func TestRecoverAsksForTheWords(t *testing.T) {
	data := t.TempDir()
	first := member(t, "", data, 0, nil)
	second := member(t, "", data, 1, first)
	assert(t, second.client(), "Person:alice", "likes", "tea")
	eventually(t, "the second has its vote", func(ctx context.Context) bool {
		nodes, err := second.client().Nodes(ctx)
		return err == nil && len(nodes.Members) == 2 && nodes.Members[1].Voter
	})
	r, kept := shell(t), data+"/node-1"
	if said := r.fails("ops", "recover", "--data", kept, "--confirm", "recover node-1 alone"); !strings.Contains(said, "in use by another process") {
		t.Errorf("while it runs: %q", said)
	}
	first.kill()
	second.kill()
	if said := r.fails("ops", "recover", "--data", kept); !strings.Contains(said, `--confirm "recover node-1 alone"`) {
		t.Errorf("without the words: %q", said)
	}
	r.terminal, r.in = true, "yes\n"
	if _, _, said := r.run("ops", "recover", "--data", kept); !strings.Contains(said, "members besides itself: node-0") || !strings.Contains(said, "cannot be taken back") {
		t.Errorf("with other words: %q", said)
	}
	r.in = "recover node-1 alone\n"
	if out := r.ok("ops", "recover", "--data", kept); !strings.Contains(out, "node-1, alone") || !strings.Contains(out, "node-0") {
		t.Errorf("recovered: %s", out)
	}
	r.terminal, r.in = false, ""
	if said := r.fails("ops", "recover", "--data", kept, "--confirm", "recover node-1 alone"); !strings.Contains(said, "the only member already") {
		t.Errorf("again: %q", said)
	}
	if got := r.object("ops", "verify", kept); got["sound"] != true {
		t.Errorf("verified: %v", got)
	}
	second = launch(t, "--bind", "127.0.0.1:0", "--data", kept).up()
	list, err := second.client().Facts(t.Context(), client.FactQuery{Subject: "Person:alice"})
	if err != nil || len(list.Facts) != 1 {
		t.Errorf("the recovered node answers %+v, %v", list, err)
	}
	assert(t, second.client(), "Person:alice", "likes", "milk")
	second.stop()
}

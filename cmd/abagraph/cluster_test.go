package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"abagraph/client"
	"abagraph/fact"
)

// TestCLU_01_LeaderDiesAmongWrites: three processes; clients write through two
// of them while the leader is killed. Every write that was answered is there
// once, on every node alike, and the killed node comes back to the same.
func TestCLU_01_LeaderDiesAmongWrites(t *testing.T) {
	data := t.TempDir()
	cluster := make([]*process, 3)
	for i := range cluster {
		cluster[i] = member(t, "", data, i, cluster[0])
	}
	const writers, each = 4, 60
	var group sync.WaitGroup
	var half sync.WaitGroup
	half.Add(writers)
	for w := range writers {
		c := cluster[1+w%2].client()
		group.Go(func() {
			for i := range each {
				if i == each/2 {
					half.Done()
				}
				if _, err := c.Assert(t.Context(), client.Assert{
					Subject: fmt.Sprintf("Writer:%d", w), Predicate: "said", Object: fact.TextObject(fmt.Sprint(i)),
				}, client.Write{}); err != nil {
					t.Errorf("writer %d, write %d: %v", w, i, err)
				}
			}
		})
	}
	half.Wait()
	for _, p := range cluster[1:] {
		searched(t, p) // from here on their indexes follow what is written
	}
	cluster[0].kill() // it founded the cluster, so it leads
	group.Wait()
	cluster[0] = member(t, "", data, 0, cluster[1])

	want := ""
	for i, p := range cluster {
		checkWriters(t, p, writers, each)
		got := export(t, p)
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("node %d holds something else than node 0", i)
		}
	}
	checkStatus(t, cluster)
	want = searched(t, cluster[0]) // an index that was just made
	for i, p := range cluster {
		if got := searched(t, p); got != want {
			t.Errorf("node %d ranks\n%s\nand node 0\n%s", i, got, want)
		}
	}
	for i, p := range cluster {
		if len(eventsOf(t, p)) == 0 {
			t.Errorf("node %d told of no event", i)
		}
	}
}

// searched is what a node answers to some searches, of the present and of the past,
// byte for byte but for the time of day.
func searched(t *testing.T, p *process) string {
	t.Helper()
	c := p.client()
	var all strings.Builder
	for _, question := range []string{"what did writer 2 say", "said 17", "writers spoke of 3"} {
		for _, tx := range []string{"", "40"} {
			q := client.SearchQuery{Question: question, TopK: 20, Read: client.Read{Tx: tx}}
			got, err := c.Do(t.Context(), client.Call{Method: "GET", Path: "/api/search", Query: q.Values()})
			if err != nil {
				t.Fatal(err)
			}
			all.Write(got.Body)
			all.WriteByte('\n')
		}
	}
	return all.String()
}

// checkStatus wants every node to name one leader, three members and, now that
// nobody writes, one digest.
func checkStatus(t *testing.T, cluster []*process) {
	t.Helper()
	var first *client.Cluster
	for i, p := range cluster {
		c := p.client()
		eventually(t, fmt.Sprintf("node %d sees all members with nothing left to do", i), func(ctx context.Context) bool {
			seen, err := c.Observability(ctx)
			if err != nil || seen.Cluster == nil || seen.Cluster.LeaderID == nil || len(seen.Cluster.Members) != 3 {
				return false
			}
			for _, m := range seen.Cluster.Members {
				if !m.Reachable || !m.Voter || *m.Lag != 0 || *m.Tx != seen.Cluster.Tx {
					return false
				}
			}
			if first == nil {
				first = seen.Cluster
			}
			return seen.Cluster.AppliedIndex == seen.Cluster.CommitIndex && *seen.Cluster.LeaderID == *first.LeaderID
		})
		r := shell(t)
		r.env["ABAGRAPH_URL"] = p.url
		got := r.object("status")["cluster"].(map[string]any)
		if got["digest"] != first.Digest || got["tx"] != float64(first.Tx) || got["node_id"] == first.NodeID != (i == 0) {
			t.Errorf("node %d has status %v, node 0 %+v", i, got, first)
		}
		r.terminal = true
		if out := r.ok("status"); strings.Count(out, "member ") != 3 || !strings.Contains(out, *first.LeaderID+", leads, at tx ") || !strings.Contains(out, first.Digest) {
			t.Errorf("node %d shows\n%s", i, out)
		}
	}
}

func checkWriters(t *testing.T, p *process, writers, each int) {
	t.Helper()
	c := p.client()
	for w := range writers {
		list, err := c.Facts(t.Context(), client.FactQuery{Subject: fmt.Sprintf("Writer:%d", w), Status: "all", Limit: 1000, TxGt: "0"})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		for _, f := range list.Facts {
			seen[f.Object.Text]++
		}
		for i := range each {
			if n := seen[fmt.Sprint(i)]; n != 1 {
				t.Errorf("writer %d: write %d is there %d times", w, i, n)
			}
		}
	}
}

// TestCLU_07_StreamOfAFollower: a follower's stream tells what was written
// through another node, from where the reader left off.
func TestCLU_07_StreamOfAFollower(t *testing.T) {
	data := t.TempDir()
	first := member(t, "", data, 0, nil)
	second := member(t, "", data, 1, first)
	if line := nodeLineOf(first); !strings.HasPrefix(line, "node-0, alone, for other nodes at 127.0.0.1:") {
		t.Errorf("the founder says %q", line)
	}
	if line := nodeLineOf(second); !strings.HasPrefix(line, "node-1, one of 2, for") && !strings.HasPrefix(line, "node-1, of the cluster that it has joined, for") {
		t.Errorf("who joined says %q", line)
	}
	assert(t, second.client(), "a", "p", "1")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var seen []string
	writes := []string{"2", "3"}
	err := second.client().Stream(ctx, client.StreamQuery{TxGt: "0"}, func(e client.Event) error {
		seen = append(seen, e.Fact.Object.Text)
		if len(writes) > 0 {
			assert(t, first.client(), "a", "p", writes[0])
			writes = writes[1:]
		}
		if len(seen) == 3 {
			return errEnough
		}
		return nil
	})
	if err != errEnough || fmt.Sprint(seen) != "[1 2 3]" {
		t.Errorf("saw %v, %v", seen, err)
	}
}

// A node that has founded a cluster does not join another one by being told to: it says
// so, and not that it has joined.
func TestFounderThatIsToldToJoin(t *testing.T) {
	flags := []string{"--bind", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), "data"), "--node-id", "early", "--peer-bind", free(t)}
	launch(t, flags...).up().stop()
	p := launch(t, append(flags, "--join", free(t))...).up()
	if line := nodeLineOf(p); !strings.HasPrefix(line, "early, alone in a cluster of its own: join is passed over, for its data are a member's already, for other nodes at ") {
		t.Errorf("the banner says %q", line)
	}
	p.stop()
}

// nodeLineOf is what the banner says of the node's place.
func nodeLineOf(p *process) string {
	_, line, _ := strings.Cut(p.out.String(), "  node       ")
	line, _, _ = strings.Cut(line, "\n")
	return line
}

// A node that nobody lets in says what it waits for: in its banner, to anyone who
// asks whether it is ready, and to its operator.
func TestJoinerThatNobodyLetsIn(t *testing.T) {
	p := launch(t, "--bind", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), "data"), "--node-id", "late", "--peer-bind", free(t), "--join", free(t)).up()
	if line := nodeLineOf(p); !strings.HasPrefix(line, "late, joining a cluster, for other nodes at ") || !strings.Contains(line, "; not ready yet: ") {
		t.Errorf("the banner says %q", line)
	}
	r := shell(t)
	r.env["ABAGRAPH_URL"] = p.url
	code, out, _ := r.run("status")
	if code != 1 || !strings.Contains(out, `"ready": false`) || !strings.Contains(out, "it has still to join its cluster") || !strings.Contains(out, `"state": "Joining"`) {
		t.Errorf("status exits %d and says %s", code, out)
	}
	p.stop()
}

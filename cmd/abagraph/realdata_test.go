package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"abagraph/client"
)

// realFile is one of the shared files of real dated facts.
type realFile struct {
	name                                     string
	rows, refused, retractions, notRetracted int
}

var realFiles = []realFile{
	{"us-congress", 17067, 4, 3999, 4}, {"us-committees", 11608, 10, 5095, 5}, {"lifecycles", 20181, 0, 10055, 0},
}

// realData is where the shared files lie, or "" with a word in the test's
// output where they do not.
func realData(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("ABAGRAPH_SHARED_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	for _, f := range realFiles {
		if _, err := os.Stat(filepath.Join(dir, f.name+".jsonl")); err != nil {
			t.Logf("the real files are not beside the repository (%v): nothing to import", err)
			return ""
		}
	}
	return dir
}

// importReal imports one real file by the command line and checks its report.
func importReal(t *testing.T, r *rig, dir string, f realFile) {
	t.Helper()
	code, out, errs := r.run("import", filepath.Join(dir, f.name+".jsonl"), "--known-at", "recorded_at", "--retracted-at", "retracted_at",
		"--policy", "coexist", "--reason", "published history", "--state", filepath.Join(t.TempDir(), "state"))
	var got struct{ Rows, Written, Duplicates, Refused, Retractions, Retracted, Retractions_skipped int }
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("import wrote %q and %q", out, errs)
	}
	if got.Rows != f.rows || got.Refused != f.refused || got.Written+got.Duplicates != f.rows-f.refused ||
		got.Retractions != f.retractions || got.Retractions_skipped != f.notRetracted || got.Retracted != f.retractions-f.notRetracted {
		t.Errorf("counted %+v", got)
	}
	if want := min(f.refused, 1); code != want {
		t.Errorf("exit %d, want %d", code, want)
	}
	if n := strings.Count(errs, ": refused: SchemaInvalid: "); n != f.refused {
		t.Errorf("%d refusals were told, want %d: %s", n, f.refused, errs)
	}
	if n := strings.Count(errs, ": not retracted: "); n != f.notRetracted {
		t.Errorf("%d retractions were told as skipped, want %d", n, f.notRetracted)
	}
}

// question is one of the shared questions with its answer.
type question struct {
	ID, Subject, Predicate string
	ValidAt                string `json:"valid_at"`
	KnownAt                string `json:"known_at"`
	Objects                []string
}

func readQuestions(t *testing.T, dir, name string) []question {
	t.Helper()
	file, err := os.Open(filepath.Join(dir, name+".questions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var list []question
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		var q question
		if err := json.Unmarshal(scanner.Bytes(), &q); err != nil {
			t.Fatal(err)
		}
		list = append(list, q)
	}
	return list
}

// askAll asks a server every question of a file and returns how many there
// were; each wrong answer is an error of the test.
func askAll(t *testing.T, url, dir, name string) int {
	t.Helper()
	c, err := client.New(url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	list := readQuestions(t, dir, name)
	for _, q := range list {
		answer, err := c.Facts(t.Context(), client.FactQuery{
			Subject: q.Subject, Predicate: q.Predicate, Limit: 1000, Read: client.Read{AsOf: q.ValidAt, KnownAt: q.KnownAt},
		})
		if err != nil {
			t.Fatalf("%s %s: %v", name, q.ID, err)
		}
		got := map[string]bool{}
		for _, f := range answer.Facts {
			got[f.Object.Text] = true
		}
		if want := set(q.Objects); fmt.Sprint(sortedKeys(got)) != fmt.Sprint(sortedKeys(want)) {
			t.Errorf("%s %s: %s %s at %s as known at %s: got %q, want %q", name, q.ID, q.Subject, q.Predicate, q.ValidAt, q.KnownAt, sortedKeys(got), sortedKeys(want))
		}
	}
	return len(list)
}

func set(list []string) map[string]bool {
	got := map[string]bool{}
	for _, one := range list {
		got[one] = true
	}
	return got
}

func sortedKeys(m map[string]bool) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// TestRealFilesAreAnsweredExactly imports 48,856 real facts, each file through
// another node of a cluster, and asks the 900 questions that come with them:
// through other nodes, after a restart and a kill -9, and of a node that came
// late and was given a snapshot.
func TestRealFilesAreAnsweredExactly(t *testing.T) {
	dir := realData(t)
	if dir == "" {
		return
	}
	data, binary := t.TempDir(), built(t)
	cluster := make([]*process, 3)
	for i := range cluster {
		cluster[i] = member(t, binary, data, i, cluster[0])
	}
	for i, f := range realFiles {
		r := shell(t)
		r.env["ABAGRAPH_URL"] = cluster[(i+1)%3].url
		importReal(t, r, dir, f)
	}
	asked := 0
	for i, f := range realFiles {
		asked += askAll(t, cluster[(i+2)%3].url, dir, f.name)
	}
	if asked != 900 {
		t.Errorf("asked %d questions, want 900", asked)
	}

	whole := export(t, cluster[0])
	if rows := strings.Count(whole, "\n"); rows != 48856-14 {
		t.Errorf("%d facts, want %d", rows, 48856-14)
	}
	snapshots, err := os.ReadDir(filepath.Join(data, "node-0", "snapshots"))
	if err != nil || len(snapshots) == 0 {
		t.Errorf("no snapshot was taken: %v", err)
	}
	late := member(t, binary, data, 3, cluster[1])
	cluster[1].stop()
	cluster[1] = member(t, binary, data, 1, cluster[0])
	cluster[2].kill()
	cluster[2] = member(t, binary, data, 2, cluster[0])
	for i, p := range []*process{late, cluster[1], cluster[2]} {
		askAll(t, p.url, dir, realFiles[i].name)
		if p != cluster[1] && export(t, p) != whole {
			t.Errorf("node %d holds something else", i)
		}
	}
}

// member starts a node of a cluster, by number; the first one founds it, and
// the others join through one that is up. A node that was there before comes
// back as what it was. The binary is the test's own where it is "".
func member(t *testing.T, binary, data string, number int, through *process) *process {
	t.Helper()
	name := fmt.Sprintf("node-%d", number)
	address := filepath.Join(data, name+".peer")
	peers, err := os.ReadFile(address)
	if err != nil {
		peers = []byte(free(t))
		if err := os.WriteFile(address, peers, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// A machine that is busy with other tests shall not elect anew in the middle of one.
	args := []string{"--bind", "127.0.0.1:0", "--data", filepath.Join(data, name), "--node-id", name, "--peer-bind", string(peers),
		"--election-timeout-ms", "1500", "--snapshot-bytes", "4194304", "--trailing-bytes", "1048576"}
	if through != nil {
		args = append(args, "--join", through.peers)
	}
	command := program(t, append([]string{"serve"}, args...)...)
	if binary != "" {
		command.Path = binary
	}
	p := launchAs(t, command).up()
	c := p.client()
	eventually(t, name+" is ready", func(ctx context.Context) bool {
		_, err := c.Ready(ctx)
		return err == nil
	})
	return p
}

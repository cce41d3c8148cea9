//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"abagraph/client"
	"abagraph/fact"
)

// fileLimit, set in a program's environment, is how many bytes a file of its may
// have: what a full disk says to whoever writes, this says too.
const fileLimit = "ABAGRAPH_TEST_FILE_LIMIT"

func init() {
	text := os.Getenv(fileLimit)
	if text == "" {
		return
	}
	most, err := strconv.ParseUint(text, 10, 64)
	if err == nil {
		err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: most, Max: most})
	}
	if err != nil {
		panic(err)
	}
}

// launchWithin starts a server whose files may have so many bytes.
func launchWithin(t *testing.T, bytes int, args ...string) *process {
	t.Helper()
	command := program(t, append([]string{"serve", "--bind", "127.0.0.1:0"}, args...)...)
	command.Env = append(command.Env, fmt.Sprintf("%s=%d", fileLimit, bytes))
	return launchAs(t, command)
}

// TestServeOnAFullDisk: a node that can write no more says so in one line and
// ends, while it runs and when it starts; with room again it has everything that
// it acknowledged.
func TestServeOnAFullDisk(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	p := launchWithin(t, 20<<20, "--data", data).up()
	c, err := client.New(p.url, client.WithRetry(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	large, kept := strings.Repeat("0123456789abcdef", 60<<10), 0
	for ; ; kept++ {
		_, err := c.Assert(t.Context(), client.Assert{Subject: fmt.Sprint("Page:", kept), Predicate: "text", Object: fact.TextObject(large)}, client.Write{})
		if err != nil {
			break
		}
		if kept > 100 {
			t.Fatal("the disk never filled")
		}
	}
	if kept == 0 {
		t.Fatal("nothing was written before the disk was full")
	}
	if said := p.refused(); !strings.Contains(said, "file too large") || strings.Contains(said, "goroutine") {
		t.Errorf("a full disk while it runs: %q", said)
	}
	if said := launchWithin(t, 1<<10, "--data", data).refused(); !strings.Contains(said, "file too large") {
		t.Errorf("a full disk at the start: %q", said)
	}
	again := launch(t, "--bind", "127.0.0.1:0", "--data", data).up()
	for i := range kept {
		page, err := again.client().Facts(t.Context(), client.FactQuery{Subject: fmt.Sprint("Page:", i)})
		if err != nil || len(page.Facts) != 1 {
			t.Fatalf("acknowledged write %d of %d: %v, %v", i, kept, page, err)
		}
	}
	again.stop()
}

// TestServeReadOnlyForWantOfRoom: a node whose disk has less room than its reserve says
// so to whoever writes and to the operator, and answers reads; with another reserve it
// writes.
func TestServeReadOnlyForWantOfRoom(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	p := launch(t, "--bind", "127.0.0.1:0", "--data", data, "--disk-reserve-bytes", "0").up()
	lamp := client.Assert{Subject: "Lamp:l", Predicate: "is", Object: fact.TextObject("on")}
	if _, err := p.client().Assert(t.Context(), lamp, client.Write{}); err != nil {
		t.Fatal(err)
	}
	p.stop()
	p = launch(t, "--bind", "127.0.0.1:0", "--data", data, "--disk-reserve-bytes", "17592186044416").up()
	c, err := client.New(p.url, client.WithRetry(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	lamp.Object = fact.TextObject("off")
	_, err = c.Assert(t.Context(), lamp, client.Write{})
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Status != 503 || refused.Code != fact.ReadOnly || refused.RetryAfter == 0 {
		t.Fatalf("a write for which there is no room: %v", err)
	}
	list, err := c.Facts(t.Context(), client.FactQuery{Subject: "Lamp:l"})
	if err != nil || len(list.Facts) != 1 || list.Facts[0].Object.Text != "on" {
		t.Errorf("a read beside it: %v, %v", list, err)
	}
	nodes, err := c.Nodes(t.Context())
	if err != nil || nodes.Members[0].Problem == nil || !strings.Contains(*nodes.Members[0].Problem, "the reserve of 17592186044416") {
		t.Errorf("the operator is told %+v, %v", nodes, err)
	}
	p.stop()
}

// TestOfflineCommandsOnAFullDisk: each says in one line that it could not go on, leaves
// no copy of the facts behind, and is run again once there is room.
func TestOfflineCommandsOnAFullDisk(t *testing.T) {
	home := t.TempDir()
	data, saved, temp := filepath.Join(home, "data"), filepath.Join(home, "b.backup"), filepath.Join(home, "temp")
	if err := os.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	p := launch(t, "--bind", "127.0.0.1:0", "--data", data).up()
	large := strings.Repeat("0123456789abcdef", 20<<10)
	for i := range 8 {
		if _, err := p.client().Assert(t.Context(), client.Assert{Subject: fmt.Sprint("Page:", i), Predicate: "text", Object: fact.TextObject(large)}, client.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	shellOf(t, p).ok("ops", "backup", saved)
	p.stop()
	for _, args := range [][]string{
		{"ops", "compact", data},
		{"ops", "replay", data, "--temp", temp},
		{"ops", "restore", saved, "--data", filepath.Join(home, "restored")},
	} {
		for _, limit := range []int{1 << 10, 100 << 10} {
			command := program(t, args...)
			command.Env = append(command.Env, fmt.Sprintf("%s=%d", fileLimit, limit), "TMPDIR="+temp)
			said, err := command.CombinedOutput()
			if err == nil || !strings.Contains(string(said), "file too large") || strings.Count(string(said), "\n") != 1 {
				t.Errorf("%q with files of %d bytes: %v, %.800s", args, limit, err, said)
			}
		}
		command := program(t, args...)
		if said, err := command.CombinedOutput(); err != nil {
			t.Errorf("%q with room again: %v, %s", args, err, said)
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"abagraph/client"
)

// TestNothingIsLeftAfterShutdown runs a cluster of two in this process, uses what has
// goroutines and files of its own (streams, searches, backups, checks, snapshots, a
// transfer), and ends it while a stream is open: as many goroutines and open files are
// left as after the same before.
func TestNothingIsLeftAfterShutdown(t *testing.T) {
	files := func() int {
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(open)
	}
	lifeOfTwo(t) // what is made once a process is made now
	runtime.GC()
	routines, handles := runtime.NumGoroutine(), files()
	lifeOfTwo(t)
	var now, open int
	for range 200 { // what ends by itself may take a moment
		if now, open = runtime.NumGoroutine(), files(); now <= routines && open <= handles {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	stacks := make([]byte, 1<<20)
	t.Errorf("%d goroutines and %d files are left, of %d and %d before:\n%s", now, open, routines, handles, stacks[:runtime.Stack(stacks, true)])
}

// lifeOfTwo starts two nodes, works with them, and ends them.
func lifeOfTwo(t *testing.T) {
	t.Helper()
	home, peers := t.TempDir(), free(t)
	ctx, stop := context.WithCancel(t.Context())
	var ended sync.WaitGroup
	var said [2]bytes.Buffer
	var urls []string
	for i := range said {
		bind := free(t)
		urls = append(urls, "http://"+bind)
		args := []string{"serve", "--bind", bind, "--node-id", fmt.Sprintf("n%d", i+1), "--data", filepath.Join(home, fmt.Sprint(i)), "--peer-bind", peers}
		if i > 0 {
			args = append(args[:len(args)-1], free(t), "--join", peers)
		}
		r := shell(t)
		ended.Add(1)
		go func() {
			defer ended.Done()
			if code := run(ctx, r.world(new(bytes.Buffer), &said[i]), args); code != 0 {
				t.Errorf("node %d ended with %d: %s", i+1, code, said[i].String())
			}
		}()
	}
	defer ended.Wait()
	defer stop()
	second, err := client.New(urls[1])
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	r := shell(t)
	r.env["ABAGRAPH_URL"] = urls[1]
	eventually(t, "two voters", func(context.Context) bool {
		_, out, _ := r.run("ops", "peers", "list")
		return strings.Count(out, `"voter": true`) == 2
	})
	told := make(chan struct{}, 8)
	streaming := make(chan error, 1)
	go func() {
		streaming <- second.Stream(ctx, client.StreamQuery{TxGt: "0"}, func(client.Event) error {
			told <- struct{}{}
			return nil
		})
	}()
	r.ok("assert", "Person:alice", "likes", "tea")
	r.ok("search", "tea")
	r.ok("ops", "snapshot")
	r.ok("ops", "backup", home, "--check")
	r.ok("ops", "verify")
	r.ok("ops", "transfer")
	r.ok("assert", "Person:alice", "likes", "milk")
	for range 2 {
		<-told
	}
	stop()
	<-streaming
}

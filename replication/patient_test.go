package replication

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// TestWhoIsSlowIsWaitedFor: writing takes longer than the time limit, in pieces that do
// not; the answer has the limit to itself. Who reads nothing any more is not waited for.
func TestWhoIsSlowIsWaitedFor(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	go func() {
		piece := make([]byte, patientPiece)
		for range 10 {
			time.Sleep(150 * time.Millisecond)
			if _, err := io.ReadFull(far, piece); err != nil {
				return
			}
		}
		_, _ = far.Write([]byte("got it"))
	}()
	c := &patientConn{Conn: near}
	if err := c.SetDeadline(time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Write(make([]byte, 10*patientPiece)); n != 10*patientPiece || err != nil {
		t.Fatalf("%d bytes were written: %v", n, err)
	}
	answer := make([]byte, 6)
	if _, err := io.ReadFull(c, answer); err != nil {
		t.Errorf("the answer: %v", err)
	}
	if _, err := c.Write(make([]byte, patientPiece)); err == nil {
		t.Error("a piece that nobody reads was written")
	}
}

// TestRequestsAreBounded: large entries are sent a few at a time, and one alone.
func TestRequestsAreBounded(t *testing.T) {
	entries := func(sizes ...int) []*raft.Log {
		var out []*raft.Log
		for _, n := range sizes {
			out = append(out, &raft.Log{Data: make([]byte, n)})
		}
		return out
	}
	for _, c := range []struct {
		entries []*raft.Log
		sent    int
	}{
		{entries(), 0},
		{entries(1, 2, 3), 3},
		{entries(maxSentBytes, 1), 1},
		{entries(maxSentBytes+1, 1), 1},
		{entries(1, maxSentBytes), 1},
		{entries(maxSentBytes/2, maxSentBytes/2, 1), 2},
	} {
		args := &raft.AppendEntriesRequest{Entries: c.entries}
		if cut(args); len(args.Entries) != c.sent {
			t.Errorf("of %d entries %d are sent, want %d", len(c.entries), len(args.Entries), c.sent)
		}
	}
}

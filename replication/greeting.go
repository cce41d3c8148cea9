package replication

import (
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Every peer connection begins with a greeting: what it carries, from which
// cluster and node. The answer is one byte, and a reason where it is a refusal.
// The cluster id is what keeps strangers apart: a node whose data was lost and
// that founded a cluster of its own under an old address, and a node that has
// not yet been added (again), never reach each other's Raft.

// stream is what a connection carries.
type stream byte

const (
	streamRaft    stream = 'R' // the Raft library's own protocol
	streamWrites  stream = 'W' // calls that carry writes
	streamControl stream = 'C' // short calls, which must not wait behind writes
	streamGuest   stream = 'G' // calls of a node that is no member yet
)

const (
	greetingMagic   = "ABGP"
	greetingVersion = 1
	greetingSize    = len(greetingMagic) + 2 + len(clusterID{}) + 1
	greetingWait    = 5 * time.Second
)

// greeting is what the dialling side says.
type greeting struct {
	stream  stream
	cluster clusterID
	from    string
}

func (g *greeting) encode() []byte {
	b := append([]byte(greetingMagic), greetingVersion, byte(g.stream))
	b = append(b, g.cluster[:]...)
	b = append(b, byte(len(g.from)))
	return append(b, g.from...)
}

func readGreeting(r io.Reader) (greeting, error) {
	var g greeting
	b := make([]byte, greetingSize)
	if _, err := io.ReadFull(r, b); err != nil {
		return g, fmt.Errorf("read a peer's greeting: %w", err)
	}
	if string(b[:4]) != greetingMagic {
		return g, errors.New("what connected to the peer port is not a node")
	}
	if b[4] != greetingVersion {
		return g, fmt.Errorf("a peer speaks version %d of the peer protocol, this node version %d", b[4], greetingVersion)
	}
	g.stream = stream(b[5])
	copy(g.cluster[:], b[6:])
	from := make([]byte, b[greetingSize-1])
	if _, err := io.ReadFull(r, from); err != nil {
		return g, fmt.Errorf("read a peer's greeting: %w", err)
	}
	g.from = string(from)
	return g, nil
}

// refusal is why the other side does not talk to us.
type refusal struct{ reason string }

func (r *refusal) Error() string { return "the peer refused: " + r.reason }

// greet performs the dialling side's part.
func greet(conn net.Conn, g greeting) error {
	if _, err := conn.Write(g.encode()); err != nil {
		return fmt.Errorf("greet a peer: %w", err)
	}
	var b [1]byte
	if _, err := io.ReadFull(conn, b[:]); errors.Is(err, io.EOF) {
		return fmt.Errorf("greet a peer: it hung up without a word, as one does that is ending, or that asks for a cluster secret or a certificate: %w", err)
	} else if err != nil {
		return fmt.Errorf("greet a peer: %w", err)
	}
	if b[0] == 0 {
		return nil
	}
	reason := make([]byte, b[0])
	if _, err := io.ReadFull(conn, reason); err != nil {
		return fmt.Errorf("greet a peer: %w", err)
	}
	return &refusal{reason: string(reason)}
}

// answer performs the accepting side's part; reason "" welcomes.
func answer(conn net.Conn, reason string) error {
	if len(reason) > 255 {
		reason = reason[:255]
	}
	if _, err := conn.Write(append([]byte{byte(len(reason))}, reason...)); err != nil {
		return fmt.Errorf("answer a peer: %w", err)
	}
	return nil
}

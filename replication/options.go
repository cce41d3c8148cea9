package replication

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"abagraph/fact"
	"abagraph/internal/span"
	rlog "abagraph/log"

	"github.com/prometheus/client_golang/prometheus"
)

// Options configure a Node. Zero values mean the defaults named here.
type Options struct {
	// NodeID names the node in its cluster, for ever: 1 to 64 letters, digits,
	// dots, dashes and underscores.
	NodeID string
	// Dir is the claimed data directory, or nil if the machine is in memory:
	// then log and snapshots are so too.
	Dir     *rlog.Dir
	Machine StateMachine

	// Bind is the address of the peer port, HOST:PORT; "" opens none, and the
	// node stays alone. Advertise is the address that other nodes reach it by;
	// "" = Bind.
	Bind      string
	Advertise string
	// Join names members of a cluster, HOST:PORT and commas between them. A
	// node with an empty directory asks them to be added; one without Join
	// founds a cluster of its own. A node that has data is a member already
	// and ignores it.
	Join string
	// Bootstrap founds a cluster, and nothing else: a directory that is a member's already
	// is refused. Without it, and without Join, a member goes on as one.
	Bootstrap bool
	// Replica joins without ever asking for a vote: the node is sent everything and
	// answers reads, and counts for no majority. A member that has data is what it
	// was; a promotion makes it a voter.
	Replica bool
	// Secret authenticates and encrypts peer traffic: at least 16 characters,
	// the same on every node. TLS does it by files. One of them is needed
	// wherever an address is not loopback.
	Secret string
	TLS    *TLSFiles

	// Tracer keeps what other nodes ask of this one, where they trace it, and sweeps; nil
	// = nobody does.
	Tracer span.Tracer

	Logger     *slog.Logger          // nil discards
	Registerer prometheus.Registerer // nil = no metrics
	Clock      func() fact.Instant   // nil = the system's; for tests

	// A follower that hears nothing for Heartbeat starts an election, which it
	// repeats after Election (500 ms, or Heartbeat where that is longer); a leader that
	// reaches no majority for Lease stops leading. Heartbeat is Election unless given,
	// and Lease is Heartbeat. They are the same on every node. Commit is how soon a
	// follower learns of a commit when nothing follows it (5 ms).
	Heartbeat, Election, Lease, Commit time.Duration
	// LeaderWait is how long a request waits for a leader before NoLeader (1 s, or
	// two elections where that is longer); RequestLimit how long a write or read takes
	// at most (30 s).
	LeaderWait, RequestLimit time.Duration

	// QueueLength bounds the writes that wait for the log (4,096), QueueBytes
	// their bytes (256 MiB); beyond either a write is RateLimited.
	QueueLength int
	QueueBytes  int64

	// A snapshot is taken once this many bytes (64 MiB) or entries (100,000)
	// lie in the log behind the last one; TrailingBytes of entries before it
	// (16 MiB) are kept for followers that lag a little.
	SnapshotBytes, SnapshotEntries, TrailingBytes uint64

	// A leader takes no writes, and hands over to a member that is farther, while more
	// than LagEntries committed entries (10,000) or LagBytes (128 MiB) of them wait to be
	// applied on it, or its state machine has been at the same ones for LagTime (5 s). A
	// follower takes no more from the leader while LagBytes wait on it.
	LagEntries, LagBytes uint64
	LagTime              time.Duration

	// DiskReserve is how many bytes of the disk writes leave alone; with fewer free
	// the node takes none (0 = it does not look). See room.
	DiskReserve uint64

	// Alike are settings of the program that must be the same on every node.
	Alike []Alike

	// SweepInterval is how often the leader looks for expired facts and due
	// closes (30 s); CheckInterval how often it has the digests compared (60 s).
	// A negative one never does.
	SweepInterval, CheckInterval time.Duration

	// free replaces the look at the disk, so that tests can fill it.
	free func() (uint64, error)
	// dial replaces the network's, so that tests can cut wires.
	dial func(ctx context.Context, address string) (net.Conn, error)
	// knows tells which calls this node knows, so that tests have peers of an older
	// version; nil = all.
	knows func(method) bool
}

// TLSFiles are PEM files for mutual TLS between nodes: this node's certificate
// and key, and the authority that signed the certificates of all of them.
type TLSFiles struct {
	Cert, Key, CA string
}

// Limits that are not configured.
const (
	// maxGroup and maxGroupBytes bound the requests of one log entry; a single
	// larger request makes an entry of its own.
	maxGroup      = 1024
	maxGroupBytes = 1 << 20
	// maxRequestBytes bounds one request, encoded.
	maxRequestBytes = 64 << 20
	// shutdownWait bounds each step of a graceful stop.
	shutdownWait = 5 * time.Second
)

func (o Options) withDefaults() Options {
	setDefault(&o.Election, max(500*time.Millisecond, o.Heartbeat))
	setDefault(&o.Heartbeat, o.Election)
	setDefault(&o.Lease, o.Heartbeat)
	setDefault(&o.Commit, 5*time.Millisecond)
	setDefault(&o.LeaderWait, max(time.Second, 2*o.Election))
	setDefault(&o.RequestLimit, 30*time.Second)
	setDefault(&o.QueueLength, 4096)
	setDefault(&o.QueueBytes, 256<<20)
	setDefault(&o.SnapshotBytes, 64<<20)
	setDefault(&o.SnapshotEntries, 100_000)
	setDefault(&o.TrailingBytes, 16<<20)
	setDefault(&o.LagEntries, 10_000)
	setDefault(&o.LagBytes, 128<<20)
	setDefault(&o.LagTime, 5*time.Second)
	setDefault(&o.SweepInterval, 30*time.Second)
	setDefault(&o.CheckInterval, 60*time.Second)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = systemClock
	}
	if o.free == nil && o.Dir != nil {
		o.free = o.Dir.Free
	}
	if o.dial == nil {
		o.dial = func(ctx context.Context, address string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		}
	}
	return o
}

// transportLimit is how long Raft waits for a peer's answer.
func (o *Options) transportLimit() time.Duration { return max(10*o.Election, time.Second) }

func setDefault[T comparable](v *T, value T) {
	var zero T
	if *v == zero {
		*v = value
	}
}

func systemClock() fact.Instant { return fact.Instant(time.Now().UnixMilli()) }

// validate checks everything that can be checked before a file or a port is
// opened. The errors are one line each.
func (o *Options) validate() error {
	switch {
	case !validNodeID(o.NodeID):
		return fmt.Errorf("the node id %q is not 1 to 64 letters, digits, dots, dashes and underscores", o.NodeID)
	case o.Machine == nil:
		return errors.New("a node needs a state machine")
	case (o.Dir == nil) != o.Machine.InMemory():
		return errors.New("the log and the state machine must both be on disk or both in memory")
	case o.Secret != "" && o.TLS != nil:
		return errors.New("give a cluster secret or TLS files for the peer port, not both")
	case o.TLS != nil && (o.TLS.Cert == "" || o.TLS.Key == "" || o.TLS.CA == ""):
		return errors.New("mutual TLS between nodes needs all of --peer-tls-cert, --peer-tls-key and --peer-tls-ca")
	case o.Secret != "" && len(o.Secret) < 16:
		return errors.New("the cluster secret has fewer than 16 characters")
	case o.Bootstrap && o.Join != "":
		return errors.New("a node either founds a cluster (--bootstrap) or joins one (--join)")
	case o.Replica && o.Join == "":
		return errors.New("a replica needs members to join: it cannot found a cluster")
	case o.Bind == "" && (o.Join != "" || o.Advertise != ""):
		return errors.New("joining a cluster needs a peer address to listen on")
	}
	return o.validateAddresses()
}

func (o *Options) validateAddresses() error {
	addresses := map[string]string{"listen on": o.Bind, "be reached at": o.Advertise}
	for _, target := range o.joinTargets() {
		addresses["join "+target] = target
	}
	for what, address := range addresses {
		if address == "" {
			continue
		}
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return fmt.Errorf("the peer address %q is not HOST:PORT", address)
		}
		if o.Secret == "" && o.TLS == nil && !isLoopback(host) {
			return fmt.Errorf("refusing to %s %s without a cluster secret or TLS files: peer traffic would be open to anyone", strings.TrimSuffix(what, " "+address), address)
		}
	}
	return nil
}

func (o *Options) joinTargets() []string {
	var targets []string
	for _, t := range strings.Split(o.Join, ",") {
		if t = strings.TrimSpace(t); t != "" {
			targets = append(targets, t)
		}
	}
	return targets
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func validNodeID(id string) bool {
	if id == "" || len(id) > 64 {
		return false
	}
	for _, c := range id {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && c != '.' && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// clusterID tells clusters apart, so that a node of one never speaks Raft to a
// node of another, whatever their addresses.
type clusterID [16]byte

func newClusterID() (clusterID, error) {
	var id clusterID
	if _, err := rand.Read(id[:]); err != nil {
		return id, fmt.Errorf("make a cluster id: %w", err)
	}
	return id, nil
}

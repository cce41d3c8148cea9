package replication

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	rlog "abagraph/log"
	"abagraph/log/entry"

	"github.com/hashicorp/raft"
)

// Open starts a node. What is wrong with its options, its data directory or its
// peer address is one clear line, and nothing is changed then. A node that joins
// a cluster does so in the background; WaitReady waits for it.
func Open(options Options) (*Node, error) {
	options = options.withDefaults()
	if err := options.validate(); err != nil {
		return nil, err
	}
	n := newNode(options)
	if err := n.open(); err != nil {
		return nil, errors.Join(err, n.abandon())
	}
	return n, nil
}

func newNode(options Options) *Node {
	n := &Node{
		options: options, logger: options.Logger, machine: options.Machine,
		moved: newBroadcast(), backlog: newBacklog(), changing: make(chan struct{}, 1), backing: make(chan struct{}, 1),
		stopped: make(chan struct{}), raftDone: make(chan struct{}),
	}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.hasty, n.beHasty = context.WithCancel(n.ctx)
	n.proposer = newProposer(n)
	n.reads = &rounds{fetch: n.fetchPoint, start: n.spawn}
	n.metrics = newMetrics(n)
	return n
}

// abandon undoes a start that has failed.
func (n *Node) abandon() error {
	if n.raft != nil {
		return n.Close()
	}
	n.cancel()
	if n.port != nil {
		n.port.close()
	}
	if n.store != nil {
		return n.store.Close()
	}
	return nil
}

func (n *Node) open() error {
	if err := n.openStores(); err != nil {
		return err
	}
	id, err := n.identify()
	if err != nil {
		return err
	}
	if err := n.adapter.catchUp(); err != nil {
		return err
	}
	if err := n.store.Settle(n.snapshotIndex()); err != nil {
		return err
	}
	if err := n.checkLog(); err != nil {
		return err
	}
	transport, err := n.openTransport(id)
	if err != nil {
		return err
	}
	if err := n.startRaft(transport, id); err != nil {
		return err
	}
	if err := n.metrics.register(n.options.Registerer); err != nil {
		return err
	}
	n.begin(id)
	return nil
}

// openStores opens the log and the snapshots.
func (n *Node) openStores() error {
	root := "snapshots"
	if n.options.Dir == nil {
		n.store = rlog.OpenMemory()
	} else {
		store, err := rlog.Open(n.options.Dir)
		if err != nil {
			return err
		}
		n.store, root = store, n.options.Dir.Snapshots()
		if version, index := store.Newest(); version > entry.Version {
			return fmt.Errorf("entry %d of the log has format version %d, of a later release: this program knows version %d only", index, version, entry.Version)
		}
	}
	snaps, err := openSnapshots(n.machine.FS(), root, n.logger)
	if err != nil {
		return err
	}
	snaps.tight = n.room.tight.Load
	n.snaps = snaps
	n.adapter = &adapter{node: n, machine: n.machine, snaps: snaps}
	return nil
}

// identify finds out whose data this is, and decides whether the node founds a
// cluster, joins one, or is a member already. nil means that it has to join.
func (n *Node) identify() (*identity, error) {
	id, err := loadIdentity(n.options.Dir)
	if err != nil {
		return nil, err
	}
	has, err := raft.HasExistingState(n.store, n.store, n.snaps)
	if err != nil {
		return nil, fmt.Errorf("look for data of an earlier run: %w", err)
	}
	empty := !has && n.machine.Position().Index == 0
	switch {
	case n.options.Bootstrap && id != nil && id.stage == stageMember:
		return nil, fmt.Errorf("the data directory %s is a member's already, and no cluster is founded on it: start the node without --bootstrap", n.options.Dir.Path())
	case id != nil && id.node != n.options.NodeID:
		return nil, fmt.Errorf("the data directory %s belongs to the node %s, not %s", n.options.Dir.Path(), id.node, n.options.NodeID)
	case id == nil && !empty:
		return nil, fmt.Errorf("the data directory %s holds data but no node.json that says whose", n.options.Dir.Path())
	case id != nil && has:
		return id, nil
	case id != nil && !empty:
		return nil, fmt.Errorf("the data directory %s holds a state but no log: its log was removed", n.options.Dir.Path())
	case id != nil && id.stage == stageFounding:
		return id, nil
	case n.options.Join != "":
		return nil, nil
	case id != nil:
		return nil, fmt.Errorf("the data directory %s was a member's, and its log and state are gone: empty it and join the cluster again", n.options.Dir.Path())
	}
	return n.foundingIdentity()
}

func (n *Node) foundingIdentity() (*identity, error) {
	cluster, err := newClusterID()
	if err != nil {
		return nil, err
	}
	id := &identity{node: n.options.NodeID, cluster: cluster, stage: stageFounding}
	return id, saveIdentity(n.options.Dir, *id)
}

// openTransport opens the peer port, or makes a transport that reaches nobody.
func (n *Node) openTransport(id *identity) (raft.Transport, error) {
	if id != nil {
		n.alone = &id.cluster
		n.reader.Store(id.reader)
	} else {
		n.reader.Store(n.options.Replica)
	}
	if n.options.Bind == "" {
		_, transport := raft.NewInmemTransport(raft.ServerAddress(n.options.NodeID))
		return transport, nil
	}
	creds, err := loadCredentials(&n.options)
	if err != nil {
		return nil, err
	}
	if n.port, err = openPort(&n.options, creds); err != nil {
		return nil, err
	}
	n.port.cluster.Store(n.alone)
	n.port.serve, n.port.claimed = n.serveCalls, n.claimed
	n.calls = newCallers(n.port)
	return &peerTransport{
		NetworkTransport: raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
			Stream:                  raftStreams{n.port},
			MaxPool:                 3,
			Timeout:                 n.options.transportLimit(),
			Logger:                  newRaftLogger(n.logger),
			MsgpackUseNewTimeFormat: true,
		}),
		leads:   func() bool { return n.raft.State() == raft.Leader },
		hangs:   n.logHangs,
		short:   n.toldShort,
		stopped: n.stopped,
		reached: make(map[raft.ServerID]time.Time),
	}, nil
}

// startRaft founds the cluster, where that is to be done, and starts Raft.
func (n *Node) startRaft(transport raft.Transport, id *identity) error {
	notices := make(chan bool, 16)
	config := n.raftConfig(notices)
	if id != nil && id.stage == stageFounding {
		if err := n.found(config, transport, *id); err != nil {
			return err
		}
	}
	n.adapter.seen.Store(n.machine.Position().Index)
	guarded := &guardedLog{
		Store: n.store, fail: n.fail, room: &n.room, backlog: n.backlog, await: n.awaitApplied,
		leads: func() bool { return n.raft.State() == raft.Leader }, newest: n.snaps.newest, writing: newSpell(),
	}
	n.guarded = guarded
	r, err := raft.NewRaft(config, n.adapter, guarded, guarded, n.snaps, transport)
	if err != nil {
		return fmt.Errorf("start Raft: %w", err)
	}
	n.raft = r
	guarded.running.Store(true)
	seen := make(chan raft.Observation, 16)
	r.RegisterObserver(raft.NewObserver(seen, false, func(o *raft.Observation) bool {
		switch o.Data.(type) {
		case raft.LeaderObservation, raft.RaftState:
			return true
		}
		return false
	}))
	n.spawn(func() { n.watchLeadership(notices) })
	n.spawn(func() { n.watchLeader(seen) })
	return nil
}

func (n *Node) raftConfig(notices chan<- bool) *raft.Config {
	o := &n.options
	c := raft.DefaultConfig()
	c.LocalID = raft.ServerID(o.NodeID)
	c.Logger = newRaftLogger(n.logger)
	c.NotifyCh = notices
	// One millisecond more than wanted at first: see electAtOnce.
	c.HeartbeatTimeout = o.Heartbeat + time.Millisecond
	c.ElectionTimeout = max(o.Election, o.Heartbeat) + time.Millisecond
	c.LeaderLeaseTimeout = o.Lease
	c.CommitTimeout = o.Commit
	c.ShutdownOnRemove = false
	c.NoSnapshotRestoreOnStart = true
	c.NoLegacyTelemetry = true
	// Snapshots are taken by watchLog.
	c.SnapshotThreshold = math.MaxUint64
	c.SnapshotInterval = time.Hour
	return c
}

// found writes the first configuration: this node alone.
func (n *Node) found(config *raft.Config, transport raft.Transport, id identity) error {
	err := raft.BootstrapCluster(config, n.store, n.store, n.snaps, transport, raft.Configuration{
		Servers: []raft.Server{{ID: config.LocalID, Address: transport.LocalAddr()}},
	})
	if err != nil && !errors.Is(err, raft.ErrCantBootstrap) {
		return fmt.Errorf("found a cluster: %w", err)
	}
	id.stage = stageMember
	return saveIdentity(n.options.Dir, id)
}

// begin starts what runs beside Raft.
func (n *Node) begin(id *identity) {
	n.electAtOnce()
	n.spawn(n.proposer.run)
	n.spawn(n.proposer.beats)
	n.spawn(func() { n.watchLog(n.ctx) })
	if n.options.Dir != nil && n.options.DiskReserve > 0 {
		n.lookAtRoom()
		n.spawn(func() { n.watchRoom(n.ctx) })
	}
	if n.port == nil {
		return
	}
	n.port.start()
	n.spawn(func() { n.watchPeers(n.ctx) })
	if id == nil {
		n.spawn(func() { n.joinCluster(n.ctx) })
		return
	}
	n.spawn(func() { n.settle(n.ctx) })
}

// electAtOnce sets the heartbeat time-out to what is wanted. Raft answers a
// shorter one by looking at once whether it has to elect, so that a node that is
// alone need not sit out the time-out before it serves.
func (n *Node) electAtOnce() {
	if self, known := n.self(); !known || self.Suffrage != raft.Voter || len(n.otherVoters()) > 0 {
		return
	}
	reload := n.raft.ReloadableConfig()
	reload.HeartbeatTimeout -= time.Millisecond
	reload.ElectionTimeout -= time.Millisecond
	if err := n.raft.ReloadConfig(reload); err != nil {
		n.logger.Warn("abagraph.cluster.elect_error", "error", err)
	}
}

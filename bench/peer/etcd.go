package peer

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"abagraph/bench/proc"
)

// startTime is how long a cluster may take until it answers.
const startTime = 60 * time.Second

// Etcd is a running cluster of one version, of one node or three.
type Etcd struct {
	// Version is what the cluster says of itself.
	Version   string
	members   []member
	run       launch
	processes []*proc.Process
	leader    string // where it serves clients
	*Clients         // those that whoever needs no connections of its own shares
}

// member is one node of a cluster to be.
type member struct {
	name, dir         string
	clientURL         string
	peerURL, clusters string
	joins             bool // a cluster that is there
}

// state is what etcd calls that.
func (m member) state() string {
	if m.joins {
		return "existing"
	}
	return "new"
}

// launch starts one member.
type launch func(m member) (*proc.Process, error)

// Debian starts etcd as the distribution ships it.
func Debian(ctx context.Context, dir string, nodes int) (*Etcd, error) {
	return start(ctx, dir, "etcd34", nodes, func(m member) (*proc.Process, error) {
		return proc.Start(m.name, dir, nil, "etcd",
			"--name", m.name, "--data-dir", m.dir,
			"--listen-client-urls", m.clientURL, "--advertise-client-urls", m.clientURL,
			"--listen-peer-urls", m.peerURL, "--initial-advertise-peer-urls", m.peerURL,
			"--initial-cluster", m.clusters, "--initial-cluster-token", "bench", "--initial-cluster-state", m.state(),
			"--quota-backend-bytes", fmt.Sprint(quota), "--logger", "zap", "--log-level", "error", "--log-outputs", "stderr")
	})
}

// quota lets a long run keep every revision; the default ends writes at 2 GiB.
const quota = 8 << 30

// start runs the members of a cluster and connects a client to its leader, the
// node that both reads and writes are fastest on.
func start(ctx context.Context, dir, name string, nodes int, run launch) (*Etcd, error) {
	ports, err := proc.FreePorts(2 * nodes)
	if err != nil {
		return nil, err
	}
	e := &Etcd{run: run}
	members := make([]member, nodes)
	clusters, endpoints := make([]string, nodes), make([]string, nodes)
	for i := range members {
		m := &members[i]
		m.name = fmt.Sprintf("%s-%d", name, i+1)
		m.dir = filepath.Join(dir, m.name)
		m.clientURL = fmt.Sprintf("http://127.0.0.1:%d", ports[2*i])
		m.peerURL = fmt.Sprintf("http://127.0.0.1:%d", ports[2*i+1])
		clusters[i], endpoints[i] = m.name+"="+m.peerURL, strings.TrimPrefix(m.clientURL, "http://")
	}
	for i := range members {
		members[i].clusters = strings.Join(clusters, ",")
		process, err := run(members[i])
		if err != nil {
			e.Stop()
			return nil, err
		}
		e.processes = append(e.processes, process)
	}
	e.members = members
	if err := e.connect(ctx, endpoints); err != nil {
		e.Stop()
		return nil, err
	}
	return e, nil
}

// connect waits for a leader and opens the client to it.
func (e *Etcd) connect(ctx context.Context, endpoints []string) error {
	all, err := open(endpoints)
	if err != nil {
		return err
	}
	defer all.Close()
	leader := ""
	err = e.processes[0].Await(ctx, startTime, func() error {
		for _, endpoint := range endpoints {
			try, cancel := context.WithTimeout(ctx, time.Second)
			status, err := all.Status(try, endpoint)
			cancel()
			if err != nil {
				return err
			}
			if status.Header.MemberId == status.Leader {
				leader, e.Version = endpoint, status.Version
			}
		}
		if leader == "" {
			return errors.New("no leader yet")
		}
		return nil
	})
	if err != nil {
		return err
	}
	e.leader = leader
	e.Clients, err = e.Dial(Shared)
	return err
}

func open(endpoints []string) (*clientv3.Client, error) {
	client, err := clientv3.New(clientv3.Config{Endpoints: endpoints, DialTimeout: startTime, Logger: zap.NewNop()})
	if err != nil {
		return nil, fmt.Errorf("making etcd's client: %w", err)
	}
	return client, nil
}

// Processes are the cluster's servers.
func (e *Etcd) Processes() []*proc.Process { return e.processes }

// Stop ends the client and the servers.
func (e *Etcd) Stop() {
	if e.Clients != nil {
		e.Clients.Close()
	}
	for _, process := range e.processes {
		process.Stop()
	}
}

package peer

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"time"

	"go.etcd.io/etcd/server/v3/embed"

	"abagraph/bench/proc"
)

// EmbeddedCommand is the first argument that makes this program serve one node
// of etcd 3.7 instead, so that it runs in a process of its own like the others.
const EmbeddedCommand = "serve-embedded-etcd"

// nodeConfig is what the parent tells the child, as JSON.
type nodeConfig struct {
	Name, Dir, ClientURL, PeerURL, Clusters string
}

// Embedded starts the server module of etcd 3.7 in child processes.
func Embedded(ctx context.Context, dir string, nodes int) (*Etcd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	return start(ctx, dir, "etcd37", nodes, func(m member) (*proc.Process, error) {
		config, err := json.Marshal(nodeConfig{m.name, m.dir, m.clientURL, m.peerURL, m.clusters})
		if err != nil {
			return nil, fmt.Errorf("describing a node: %w", err)
		}
		return proc.Start(m.name, dir, nil, self, EmbeddedCommand, string(config))
	})
}

// ServeEmbedded runs one node of etcd 3.7 until the context ends.
func ServeEmbedded(ctx context.Context, described string) error {
	var node nodeConfig
	if err := json.Unmarshal([]byte(described), &node); err != nil {
		return fmt.Errorf("reading the node's description: %w", err)
	}
	config, err := node.etcd()
	if err != nil {
		return err
	}
	server, err := embed.StartEtcd(config)
	if err != nil {
		return fmt.Errorf("starting etcd: %w", err)
	}
	defer server.Close()
	select {
	case <-server.Server.ReadyNotify():
	case <-time.After(startTime):
		return fmt.Errorf("etcd was not ready within %v", startTime)
	case <-ctx.Done():
		return nil
	}
	select {
	case err := <-server.Err():
		return fmt.Errorf("etcd stopped: %w", err)
	case <-ctx.Done():
		return nil
	}
}

func (n nodeConfig) etcd() (*embed.Config, error) {
	client, err := url.Parse(n.ClientURL)
	if err != nil {
		return nil, fmt.Errorf("the client address: %w", err)
	}
	peer, err := url.Parse(n.PeerURL)
	if err != nil {
		return nil, fmt.Errorf("the peer address: %w", err)
	}
	config := embed.NewConfig()
	config.Name, config.Dir = n.Name, n.Dir
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{*client}, []url.URL{*client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{*peer}, []url.URL{*peer}
	config.InitialCluster, config.InitialClusterToken = n.Clusters, "bench"
	config.QuotaBackendBytes = quota
	config.LogLevel = "error"
	return config, nil
}

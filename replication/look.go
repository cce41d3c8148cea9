package replication

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/hashicorp/raft"
)

// Kept is what a data directory says of the node that keeps it.
type Kept struct {
	NodeID  string
	Cluster string // hexadecimal
	// Snapshots are those that are finished, newest first. Unreadable are the
	// names of those whose description is damaged, with the reason.
	Snapshots  []KeptSnapshot
	Unreadable []string
}

// KeptSnapshot is one finished snapshot.
type KeptSnapshot struct {
	Dir     string // of its state
	Index   uint64
	Term    uint64
	Servers []KeptServer
}

// KeptServer is a member, as a snapshot or an entry of the log names it.
type KeptServer struct {
	ID      string
	Address string
	Voter   bool
}

// Look reads who keeps a data directory, and its snapshots. It writes nothing.
func Look(dir string) (*Kept, error) {
	id, err := loadIdentityFile(filepath.Join(dir, "node.json"))
	if err != nil {
		return nil, err
	}
	if id == nil {
		return nil, fmt.Errorf("%s holds no node.json that says whose data it is", dir)
	}
	kept := &Kept{NodeID: id.node, Cluster: hex.EncodeToString(id.cluster[:])}
	root := filepath.Join(dir, "snapshots")
	entries, err := os.ReadDir(root)
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("list the snapshots: %w", err)
	}
	s := &snapshots{fs: vfs.Default, root: root}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == unfinished {
			continue
		}
		meta, err := s.describe(e.Name())
		if err != nil {
			kept.Unreadable = append(kept.Unreadable, fmt.Sprintf("%s: %v", e.Name(), err))
			continue
		}
		s.held = append(s.held, &snapshot{meta: meta})
	}
	s.sort()
	for _, h := range s.held {
		kept.Snapshots = append(kept.Snapshots, KeptSnapshot{
			Dir: filepath.Join(s.path(h.meta.Raft.ID), stateName), Index: h.meta.Raft.Index, Term: h.meta.Raft.Term,
			Servers: serversOf(h.meta.Raft.Configuration),
		})
	}
	return kept, nil
}

// describe reads what a snapshot's directory says of it.
func (s *snapshots) describe(name string) (snapMeta, error) {
	content, err := readFile(s.fs, s.fs.PathJoin(s.path(name), metaName))
	if err != nil {
		return snapMeta{}, err
	}
	return decodeMeta(content)
}

func serversOf(c raft.Configuration) []KeptServer {
	var all []KeptServer
	for _, s := range c.Servers {
		all = append(all, KeptServer{ID: string(s.ID), Address: string(s.Address), Voter: s.Suffrage == raft.Voter})
	}
	return all
}

// ServersIn reads the members out of a configuration entry of the log.
func ServersIn(l *raft.Log) ([]KeptServer, bool) {
	if l.Type != raft.LogConfiguration {
		return nil, false
	}
	return serversOf(raft.DecodeConfiguration(l.Data)), true
}

package replication

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	rlog "abagraph/log"
)

// The stages of a node's membership.
const (
	// stageFounding: the node is about to found a cluster. A crash in between
	// is finished by the next start.
	stageFounding = "founding"
	// stageMember: the node has been a member; if its log is missing, it has
	// lost votes and entries that others count on, and must not go on alone.
	stageMember = "member"
)

// identity says whose data a directory holds.
type identity struct {
	node    string
	cluster clusterID
	stage   string
	reader  bool // an operator has taken its vote: it asks for none
}

// identityFile is the form of node.json.
type identityFile struct {
	Node    string `json:"node_id"`
	Cluster string `json:"cluster_id"`
	Stage   string `json:"stage"`
	Reader  bool   `json:"reader,omitempty"`
}

// loadIdentity reads node.json; nil means that there is none.
func loadIdentity(dir *rlog.Dir) (*identity, error) {
	if dir == nil {
		return nil, nil
	}
	return loadIdentityFile(dir.Identity())
}

func loadIdentityFile(path string) (*identity, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read who this node is: %w", err)
	}
	var file identityFile
	if err := json.Unmarshal(content, &file); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", path, err)
	}
	id := &identity{node: file.Node, stage: file.Stage, reader: file.Reader}
	raw, err := hex.DecodeString(file.Cluster)
	if err != nil || len(raw) != len(id.cluster) || (file.Stage != stageFounding && file.Stage != stageMember) {
		return nil, fmt.Errorf("%s is damaged: its cluster id or stage is not one", path)
	}
	copy(id.cluster[:], raw)
	return id, nil
}

// saveIdentity writes node.json, whole or not at all.
func saveIdentity(dir *rlog.Dir, id identity) error {
	if dir == nil {
		return nil
	}
	content, err := json.Marshal(identityFile{Node: id.node, Cluster: hex.EncodeToString(id.cluster[:]), Stage: id.stage, Reader: id.reader})
	if err != nil {
		return fmt.Errorf("write who this node is: %w", err)
	}
	if err := writeWhole(dir.Identity(), append(content, '\n')); err != nil {
		return fmt.Errorf("write who this node is: %w", err)
	}
	return nil
}

// writeWhole replaces a file so that a crash leaves the old or the new content.
func writeWhole(path string, content []byte) error {
	next := path + ".tmp"
	f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(next, path); err != nil {
		return err
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

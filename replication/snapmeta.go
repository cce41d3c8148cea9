package replication

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/hashicorp/raft"
)

// snapMeta is what meta.json says of one snapshot.
type snapMeta struct {
	Raft raft.SnapshotMeta
	// Applied is the state machine's own index in it, which is below Raft's
	// where configuration entries came last; 0 = not known, as in a snapshot
	// that came from another node and was not yet restored.
	Applied uint64
}

// metaFile is the form of meta.json: the sum covers the bytes of Meta.
type metaFile struct {
	Meta json.RawMessage `json:"meta"`
	Sum  uint32          `json:"crc32c"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func encodeMeta(m snapMeta) ([]byte, error) {
	meta, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode a snapshot's description: %w", err)
	}
	return json.Marshal(metaFile{Meta: meta, Sum: crc32.Checksum(meta, castagnoli)})
}

func decodeMeta(b []byte) (snapMeta, error) {
	var m snapMeta
	var file metaFile
	if err := json.Unmarshal(b, &file); err != nil {
		return m, fmt.Errorf("its description is damaged: %w", err)
	}
	if crc32.Checksum(file.Meta, castagnoli) != file.Sum {
		return m, errors.New("its description is damaged: the checksum does not fit")
	}
	if err := json.Unmarshal(file.Meta, &m); err != nil {
		return m, fmt.Errorf("its description is damaged: %w", err)
	}
	return m, nil
}

// writeFile writes a file so that a crash leaves the old or the new content.
func writeFile(fs vfs.FS, dir, name string, content []byte) error {
	next := fs.PathJoin(dir, name+".tmp")
	f, err := fs.Create(next, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := fs.Rename(next, fs.PathJoin(dir, name)); err != nil {
		return err
	}
	return syncDir(fs, dir)
}

func readFile(fs vfs.FS, path string) ([]byte, error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(f, 1<<20))
	return content, errors.Join(err, f.Close())
}

func syncDir(fs vfs.FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

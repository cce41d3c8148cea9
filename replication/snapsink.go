package replication

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"abagraph/fsm"
)

// snapSink receives one snapshot: this node's own, as a checkpoint directory that
// is moved in, or another node's, as a stream that is unpacked and verified.
type snapSink struct {
	store *snapshots
	meta  snapMeta
	dir   string

	adopted  bool
	stream   *io.PipeWriter
	unpacked chan error
	once     sync.Once
	result   error
}

// ID names the snapshot.
func (k *snapSink) ID() string { return k.meta.Raft.ID }

// adopt moves a checkpoint directory in.
func (k *snapSink) adopt(checkpoint string, applied uint64) error {
	fs := k.store.fs
	if err := fs.Rename(checkpoint, fs.PathJoin(k.dir, stateName)); err != nil {
		return fmt.Errorf("keep a checkpoint as a snapshot: %w", err)
	}
	k.adopted, k.meta.Applied = true, applied
	return nil
}

// Write takes a piece of another node's snapshot, while there is room: what is kept free
// is for whatever cannot wait.
func (k *snapSink) Write(b []byte) (int, error) {
	if k.store.tight != nil && k.store.tight() {
		return 0, errTight
	}
	if k.stream == nil {
		k.begin()
	}
	return k.stream.Write(b)
}

// begin starts the goroutine that unpacks; Close and Cancel end it.
func (k *snapSink) begin() {
	reader, writer := io.Pipe()
	k.stream, k.unpacked = writer, make(chan error, 1)
	fs := k.store.fs
	go func() {
		err := fsm.ReadArchive(fs, reader, fs.PathJoin(k.dir, stateName))
		reader.CloseWithError(errors.Join(err, io.ErrClosedPipe))
		k.unpacked <- err
	}()
}

// Close finishes the snapshot; an error means that there is none.
func (k *snapSink) Close() error {
	k.once.Do(func() {
		if k.result = k.complete(); k.result != nil {
			k.result = errors.Join(k.result, k.store.fs.RemoveAll(k.dir))
		}
	})
	return k.result
}

func (k *snapSink) complete() error {
	if k.stream != nil {
		k.stream.Close()
		if err := <-k.unpacked; err != nil {
			return fmt.Errorf("unpack a snapshot: %w", err)
		}
		if err := syncDir(k.store.fs, k.store.fs.PathJoin(k.dir, stateName)); err != nil {
			return fmt.Errorf("unpack a snapshot: %w", err)
		}
	} else if !k.adopted {
		return errors.New("a snapshot without content")
	}
	return k.store.finish(k.dir, k.meta)
}

// Cancel gives the snapshot up.
func (k *snapSink) Cancel() error {
	k.once.Do(func() {
		if k.stream != nil {
			k.stream.CloseWithError(errors.New("the transfer was given up"))
			<-k.unpacked
		}
		k.result = errors.New("the snapshot was given up")
		if err := k.store.fs.RemoveAll(k.dir); err != nil {
			k.store.logger.Error("abagraph.snapshot.cleanup_error", "error", err)
		}
	})
	return nil
}

package replication

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	rlog "abagraph/log"

	"github.com/hashicorp/raft"
)

// guardedLog is the log as Raft uses it. Raft panics, in a goroutine of its own
// and so for the whole process, when it cannot read an entry that it needs or
// cannot write its term. Here the node is stopped with the reason instead, and
// the goroutine that asked is ended.
type guardedLog struct {
	*rlog.Store
	fail    func(error)
	running atomic.Bool // until then it is Open's own goroutine that asks
}

// GetLog reads an entry.
func (g *guardedLog) GetLog(index uint64, l *raft.Log) error {
	err := g.Store.GetLog(index, l)
	var damage *rlog.Damage
	if errors.As(err, &damage) {
		g.give(err)
	}
	return err
}

// SetUint64 writes a term.
func (g *guardedLog) SetUint64(key []byte, v uint64) error {
	err := g.Store.SetUint64(key, v)
	if err != nil {
		g.give(fmt.Errorf("write %s to the log: %w", key, err))
	}
	return err
}

// StoreLogs writes entries. A disk that refuses them refuses the next ones too,
// while votes may still fit: the node would lead without end and answer no write.
func (g *guardedLog) StoreLogs(logs []*raft.Log) error {
	err := g.Store.StoreLogs(logs)
	if err != nil && g.running.Load() {
		g.fail(err)
	}
	return err
}

func (g *guardedLog) give(err error) {
	if g.running.Load() {
		g.fail(err)
		runtime.Goexit()
	}
}

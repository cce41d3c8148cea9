package replication

import (
	"errors"
	"runtime"
	"sync/atomic"

	rlog "abagraph/log"

	"github.com/hashicorp/raft"
)

// guardedLog is the log as Raft reads it. Raft panics, in a goroutine of its own
// and so for the whole process, when it cannot read an entry that it needs. Where
// an entry turns out to be damaged while the node runs, the store has had the node
// stopped by then (fail), and the goroutine that asked is ended instead.
type guardedLog struct {
	*rlog.Store
	running atomic.Bool // until then it is Open's own goroutine that reads
}

// GetLog reads an entry.
func (g *guardedLog) GetLog(index uint64, l *raft.Log) error {
	err := g.Store.GetLog(index, l)
	var damage *rlog.Damage
	if errors.As(err, &damage) && g.running.Load() {
		runtime.Goexit()
	}
	return err
}

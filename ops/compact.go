package ops

import (
	"context"
	"errors"

	"abagraph/fsm"
	rlog "abagraph/log"
	"abagraph/replication"
)

// CompactReport tells what a compaction has freed, in bytes.
type CompactReport struct {
	Data       string `json:"data"`
	NodeID     string `json:"node_id"`
	DataBefore uint64 `json:"data_before"` // of the whole directory
	DataAfter  uint64 `json:"data_after"`
	LogBefore  int64  `json:"log_before"` // of raft.db
	LogAfter   int64  `json:"log_after"`
}

// Compact rewrites store and log of a node that does not run, so that what was
// deleted, replaced or trimmed takes no more room and can be found in neither. An
// interruption leaves the directory as it was or as it is to be.
type Compact struct {
	Data string
	// TrimAll leaves nothing in the log that the store holds, and makes that the only
	// snapshot, so that what was purged is in no file.
	TrimAll bool
	Fatal   Fatal
}

// Run compacts.
func (c *Compact) Run(ctx context.Context) (_ *CompactReport, err error) {
	data := c.Data
	kept, err := replication.Look(data)
	if err != nil {
		return nil, err
	}
	dir, err := rlog.Claim(data)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dir.Close(), handBack(data)) }()
	before, err := dir.Usage()
	if err != nil {
		return nil, err
	}
	report := &CompactReport{Data: data, NodeID: kept.NodeID, DataBefore: before.Used}
	if err := c.store(ctx, dir); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if report.LogBefore, report.LogAfter, err = rlog.Compact(dir); err != nil {
		return nil, err
	}
	after, err := dir.Usage()
	if err != nil {
		return nil, err
	}
	report.DataAfter = after.Used
	return report, nil
}

// store compacts the index store. Pebble names the edges of deleted tables in its list of
// files, and keeps what it has logged, until it was opened twice more.
func (c *Compact) store(ctx context.Context, dir *rlog.Dir) error {
	if err := c.with(dir, func(m *fsm.Machine) error { return m.Compact(ctx) }); err != nil || !c.TrimAll {
		return err
	}
	if err := c.with(dir, func(*fsm.Machine) error { return ctx.Err() }); err != nil {
		return err
	}
	return c.with(dir, func(m *fsm.Machine) error { return replication.Forget(dir, m) })
}

func (c *Compact) with(dir *rlog.Dir, do func(*fsm.Machine) error) (err error) {
	machine, err := fsm.Open(fsm.Options{Dir: dir.State(), CacheBytes: 32 << 20, Fatal: c.Fatal})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, machine.Close()) }()
	return do(machine)
}

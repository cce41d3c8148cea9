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
func Compact(ctx context.Context, data string, fatal Fatal) (_ *CompactReport, err error) {
	kept, err := replication.Look(data)
	if err != nil {
		return nil, err
	}
	dir, err := rlog.Claim(data)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	before, err := dir.Usage()
	if err != nil {
		return nil, err
	}
	report := &CompactReport{Data: data, NodeID: kept.NodeID, DataBefore: before.Used}
	if err := compactStore(ctx, dir.State(), fatal); err != nil {
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

func compactStore(ctx context.Context, dir string, fatal Fatal) (err error) {
	machine, err := fsm.Open(fsm.Options{Dir: dir, CacheBytes: 32 << 20, Fatal: fatal})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, machine.Close()) }()
	return machine.Compact(ctx)
}

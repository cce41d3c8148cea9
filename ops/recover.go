package ops

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"abagraph/fsm"
	rlog "abagraph/log"
	"abagraph/replication"

	"github.com/hashicorp/raft"
)

// Recover is one recovery of a cluster whose majority is lost for good, from the
// data of one member that does not run.
type Recover struct {
	Data string
	// Confirm holds the words that Plan asks for.
	Confirm string
	Fatal   Fatal
}

// RecoverPlan tells what a recovery of a directory would make of it.
type RecoverPlan struct {
	Data   string   `json:"data"`
	NodeID string   `json:"node_id"`
	Lost   []string `json:"lost"` // members that would be none any more
	Tx     uint64   `json:"tx"`   // of the state
	Index  uint64   `json:"index"`
	Last   uint64   `json:"last"` // entry of the log; those after Index would be applied
	Words  string   `json:"words"`
}

// RecoverReport tells what was done.
type RecoverReport struct {
	Data    string   `json:"data"`
	NodeID  string   `json:"node_id"`
	Lost    []string `json:"lost"`
	Applied uint64   `json:"applied"` // entries of the log that the state had not yet
	Tx      uint64   `json:"tx"`
	Epoch   string   `json:"epoch"` // the new one (C-35)
}

// Plan looks at the directory and changes nothing.
func (r *Recover) Plan() (*RecoverPlan, error) {
	kept, err := replication.Look(r.Data)
	if err != nil {
		return nil, err
	}
	lock, err := rlog.Lock(r.Data)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	plan := &RecoverPlan{Data: r.Data, NodeID: kept.NodeID, Words: "recover " + kept.NodeID + " alone", Lost: []string{}}
	var members []replication.KeptServer
	if len(kept.Snapshots) > 0 {
		members, plan.Last = kept.Snapshots[0].Servers, kept.Snapshots[0].Index
	}
	if err := r.readLog(plan, &members); err != nil {
		return nil, err
	}
	for _, m := range members {
		if m.ID != kept.NodeID {
			plan.Lost = append(plan.Lost, m.ID)
		}
	}
	machine, err := fsm.Open(fsm.Options{Dir: filepath.Join(r.Data, "state"), ReadOnly: true, CacheBytes: 8 << 20})
	if err != nil {
		return nil, err
	}
	at := machine.Position()
	plan.Tx, plan.Index = at.Tx, at.Index
	return plan, machine.Close()
}

// readLog finds the last entry, and the members that the log names last.
func (r *Recover) readLog(plan *RecoverPlan, members *[]replication.KeptServer) error {
	store, err := rlog.Look(r.Data)
	if err != nil {
		return err
	}
	snapshot := plan.Last
	err = store.Each(0, func(l *raft.Log) error {
		plan.Last = max(plan.Last, l.Index)
		if servers, ok := replication.ServersIn(l); ok && l.Index > snapshot {
			*members = servers
		}
		return nil
	})
	return errors.Join(err, store.Close())
}

// Run recovers: the node is alone then, in a new cluster and a new epoch, with all
// that its log and state hold. The words of the plan must be given.
func (r *Recover) Run(ctx context.Context) (_ *RecoverReport, err error) {
	plan, err := r.Plan()
	if err != nil {
		return nil, err
	}
	switch {
	case len(plan.Lost) == 0:
		return nil, fmt.Errorf("%s is the only member already: there is nothing to recover", plan.NodeID)
	case r.Confirm != plan.Words:
		return nil, fmt.Errorf("this gives up whatever %s has not got, and cannot be taken back; to go on give the words: --confirm %q", plan.NodeID, plan.Words)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	epoch, err := newEpoch()
	if err != nil {
		return nil, err
	}
	dir, err := rlog.Claim(r.Data)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dir.Close(), handBack(r.Data)) }()
	machine, err := fsm.Open(fsm.Options{Dir: dir.State(), CacheBytes: 32 << 20, Fatal: r.Fatal})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, machine.Close()) }()
	done, err := replication.Recover(dir, machine, epoch)
	if err != nil {
		return nil, err
	}
	report := &RecoverReport{Data: r.Data, NodeID: done.NodeID, Applied: done.Applied, Tx: done.Tx, Epoch: done.Epoch, Lost: []string{}}
	for _, m := range done.Lost {
		report.Lost = append(report.Lost, m.ID)
	}
	return report, nil
}

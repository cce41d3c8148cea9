package suite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"abagraph/bench/load"
	"abagraph/bench/report"
)

const recoveryText = `Three nodes with %s facts, and three of etcd %s with as many values of %d bytes, one cluster after the other; medians of %d, where a step takes long of %d. The leader is killed (kill -9),
and a write is sent to another node again and again until it is accepted. A hand-over is measured from the call until a write to another node is accepted. A follower is killed and, after %s more were written, started, until it answers with
all that was committed; another is removed, emptied and started, until it is caught up and has its vote (etcd: as a learner, until it can be promoted). The backup (` + "`abagraph ops backup` at its own rate of 32 MiB a second, `etcdctl snapshot save`" + `) is
taken beside sixteen writers, whose rate is compared with that right before it. Restored (` + "`abagraph ops restore`, `etcdctl snapshot restore`" + `) is into an empty directory. The timings of the nodes are
each program's own: an election after 500 ms, and of etcd after 1,000 ms.`

// life is a cluster in whose life things happen.
type life interface {
	// killed kills the leader and tells how long no write was accepted; whoever was
	// killed is back when it returns, here and in all that follows.
	killed(ctx context.Context) (time.Duration, error)
	handedOver(ctx context.Context) (time.Duration, error)
	restarted(ctx context.Context) (time.Duration, error)
	joined(ctx context.Context) (time.Duration, error)
	writers(ctx context.Context, n int) ([]load.Op, func(), error)
	// backup makes a file, restore a folder of it.
	backup(ctx context.Context, file string) error
	restore(ctx context.Context, file, dir string) error
}

// recovery measures what happens after a fault, and the operations of a node's life.
func recovery(ctx context.Context, env Env) (report.Section, error) {
	r := &recoveries{env: env, facts: 1_000_000, often: 10, seldom: 5}
	if env.Quick {
		r.facts, r.often, r.seldom = 5_000, 1, 1
	}
	ours, err := r.ours(ctx)
	if err != nil {
		return report.Section{}, err
	}
	theirs, version, err := r.theirs(ctx)
	if err != nil {
		return report.Section{}, err
	}
	s := report.Section{Title: "Recovery",
		Text: fmt.Sprintf(recoveryText, thousands(float64(r.facts)), version, valueSize, r.often, r.seldom, thousands(meanwhile))}
	tellRecovery(&s, ours, theirs, version)
	return s, nil
}

// recoveries says how much is measured.
type recoveries struct {
	env                  Env
	facts, often, seldom int
}

// happened is what was measured of one cluster, in nanoseconds or as a ratio, by name.
type happened map[string][]float64

const (
	wasKilled     = "leader killed, until a write is accepted"
	wasHandedOver = "leadership handed over, until a write is accepted"
	wasRestarted  = "follower killed and started, until it is caught up"
	wasJoined     = "empty node started, until it has its vote"
	wasBackedUp   = "backup"
	wasRestored   = "restore"
	writersBeside = "writers beside a backup, of their rate"
)

// measure has everything happen to a cluster.
func (r *recoveries) measure(ctx context.Context, name string, l life) (happened, error) {
	all := happened{}
	for _, step := range []struct {
		what   string
		rounds int
		run    func(context.Context) (time.Duration, error)
	}{
		{wasKilled, r.often, l.killed}, {wasHandedOver, r.often, l.handedOver},
		{wasRestarted, r.often, l.restarted}, {wasJoined, r.seldom, l.joined},
	} {
		for range step.rounds {
			took, err := step.run(ctx)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", name, step.what, err)
			}
			all[step.what] = append(all[step.what], float64(took))
		}
		r.env.progress("%-14s %-52s %s", name, step.what, asDuration(load.Median(all[step.what])))
	}
	for i := range r.seldom {
		if err := r.backedUp(ctx, l, i, all); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, what := range []string{wasBackedUp, wasRestored} {
		r.env.progress("%-14s %-52s %s", name, what, asDuration(load.Median(all[what])))
	}
	r.env.progress("%-14s %-52s %s", name, writersBeside, times(load.Median(all[writersBeside])))
	return all, nil
}

// backedUp takes a backup beside writers, and restores it.
func (r *recoveries) backedUp(ctx context.Context, l life, round int, all happened) error {
	ops, closer, err := l.writers(ctx, 16)
	if err != nil {
		return err
	}
	alone := load.Run(ctx, ops, r.env.Length)
	file := filepath.Join(r.env.Dir, fmt.Sprintf("%d.backup", round))
	during, err := besideWriters(ctx, ops, func() error {
		began := time.Now()
		err := l.backup(ctx, file)
		all[wasBackedUp] = append(all[wasBackedUp], float64(time.Since(began)))
		return err
	})
	closer()
	if err != nil {
		return err
	}
	if alone.Rate() > 0 {
		all[writersBeside] = append(all[writersBeside], during/alone.Rate())
	}
	dir := filepath.Join(r.env.Dir, fmt.Sprintf("restored-%d", round))
	began := time.Now()
	if err := l.restore(ctx, file, dir); err != nil {
		return err
	}
	all[wasRestored] = append(all[wasRestored], float64(time.Since(began)))
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing what was restored: %w", err)
	}
	if err := os.Remove(file); err != nil {
		return fmt.Errorf("removing a backup: %w", err)
	}
	return nil
}

// meanwhile is how many facts or values are written while a follower is down.
const meanwhile = 5_000

// slice is how long writers are watched at a time.
const slice = 200 * time.Millisecond

// besideWriters does something while writers write, and returns their rate meanwhile.
func besideWriters(ctx context.Context, ops []load.Op, do func() error) (rate float64, err error) {
	done := make(chan error, 1)
	go func() { done <- do() }()
	units, watched := uint64(0), time.Duration(0)
	for {
		sample := load.Run(ctx, ops, slice)
		units, watched = units+sample.Units, watched+sample.Elapsed
		select {
		case err := <-done:
			return float64(units) / watched.Seconds(), err
		default:
		}
	}
}

// tellRecovery puts both clusters side by side, and judges ours.
func tellRecovery(s *report.Section, ours, theirs happened, version string) {
	table := report.Table{Title: "medians (least to most)", Head: []string{"", "abagraph", "etcd " + version}}
	for _, one := range []struct {
		what string
		want time.Duration
	}{
		{wasKilled, 2 * time.Second}, {wasHandedOver, 300 * time.Millisecond}, {wasRestarted, 10 * time.Second},
		{wasJoined, time.Minute}, {wasBackedUp, 30 * time.Second}, {wasRestored, 30 * time.Second},
	} {
		table.Rows = append(table.Rows, []string{one.what, spread(ours[one.what], asDuration), spread(theirs[one.what], asDuration)})
		s.Goals = append(s.Goals, most(one.what, float64(one.want), load.Median(ours[one.what]), asDuration))
	}
	table.Rows = append(table.Rows, []string{writersBeside, spread(ours[writersBeside], times), spread(theirs[writersBeside], times)})
	s.Goals = append(s.Goals, least(writersBeside, 0.7, load.Median(ours[writersBeside]), times))
	s.Tables = append(s.Tables, table)
}

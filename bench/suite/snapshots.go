package suite

import (
	"context"
	"fmt"
	"time"

	"abagraph/bench/load"
	"abagraph/bench/node"
	"abagraph/bench/report"
)

// While snapshots are taken, a few clients write facts that are larger than
// elsewhere, so that the log soon has enough for the next snapshot.
const (
	snapshotClients = 16
	snapshotBody    = 2 << 10
)

// moment is a short run of writes.
type moment struct {
	p99      time.Duration
	snapshot bool // one was under way in it
}

// snapshots writes single facts until a few snapshots were taken, and compares
// the slowest commits of the moments with one and without.
func (b *big) snapshots(ctx context.Context, s *report.Section) error {
	limit, enough, length := 2*time.Minute, 5.0, 500*time.Millisecond
	if b.env.Quick {
		limit, enough, length = 2*time.Second, 1, 200*time.Millisecond
	}
	ops, closer, err := post(b.address, snapshotBody)(snapshotClients)
	if err != nil {
		return err
	}
	defer closer()
	var moments []moment
	taken, seconds := 0.0, 0.0
	for began := time.Now(); time.Since(began) < limit && taken < enough; {
		p99, n, took, err := b.moment(ctx, ops, length)
		if err != nil {
			return err
		}
		moments = append(moments, moment{p99: p99})
		if n > 0 {
			taken, seconds = taken+n, seconds+took
			mark(moments, 1+int(time.Duration(took*float64(time.Second))/length))
		}
	}
	with, without := apart(moments)
	if len(with) == 0 || len(without) == 0 {
		if b.env.Quick {
			return nil // too short a run to meet one
		}
		return fmt.Errorf("within %v of writing %v snapshots were taken, in %d of %d moments", limit, taken, len(with), len(moments))
	}
	during, alone := load.Median(with), load.Median(without)
	s.Tables = append(s.Tables, report.Table{
		Title: fmt.Sprintf("commits of %d clients, bodies of %d bytes: p99 of moments of %v, median", snapshotClients, snapshotBody, length),
		Head:  []string{"", "p99"},
		Rows: [][]string{
			{fmt.Sprintf("%d moments with one of %.0f snapshots (%s each)", len(with), taken, asDuration(seconds/taken*1e9)), asDuration(during)},
			{fmt.Sprintf("%d moments without", len(without)), asDuration(alone)},
		}})
	s.Goals = append(s.Goals, most("commit p99 during a snapshot against without", 3, during/alone, times))
	return nil
}

// moment writes for a while, and tells how many snapshots ended in it and how
// many seconds they took.
func (b *big) moment(ctx context.Context, ops []load.Op, length time.Duration) (p99 time.Duration, n, seconds float64, err error) {
	before, err := node.Scrape(b.address)
	if err != nil {
		return 0, 0, 0, err
	}
	sample := load.Run(ctx, ops, length)
	if err := ctx.Err(); err != nil {
		return 0, 0, 0, err
	}
	if err := sample.Err(); err != nil {
		return 0, 0, 0, err
	}
	after, err := node.Scrape(b.address)
	if err != nil {
		return 0, 0, 0, err
	}
	return sample.P99, after.Snapshots() - before.Snapshots(), after.SnapshotSeconds() - before.SnapshotSeconds(), nil
}

// mark says that a snapshot was under way in the last n moments.
func mark(moments []moment, n int) {
	for i := max(0, len(moments)-n); i < len(moments); i++ {
		moments[i].snapshot = true
	}
}

// apart gives the p99 of the moments with a snapshot and of those without.
func apart(moments []moment) (with, without []float64) {
	for _, m := range moments {
		if m.snapshot {
			with = append(with, float64(m.p99))
			continue
		}
		without = append(without, float64(m.p99))
	}
	return with, without
}

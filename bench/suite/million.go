package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"abagraph/bench/load"
	"abagraph/bench/node"
	"abagraph/bench/proc"
	"abagraph/bench/report"
	"abagraph/bench/rest"
)

const millionText = `One node with %s facts of %d bytes about %s subjects, written in transacts of a hundred by four clients. What does not depend on the
total must not: each page is read at %s facts and again at the end. The node is killed (kill -9) right after the last write.
"Settled" means that the store's size has stopped changing.`

// sizes are the steps of the run.
type sizes struct {
	few, all, step int
}

// big is a store on its way to a million facts.
type big struct {
	env     Env
	size    sizes
	cluster *node.Cluster
	address string
	next    atomic.Uint64
	written int
}

// million fills a store and measures what must stay true of a large one.
func million(ctx context.Context, env Env) (report.Section, error) {
	b := &big{env: env, size: sizes{few: 10_000, all: 1_000_000, step: 50_000}}
	if env.Quick {
		b.size = sizes{few: 2_000, all: 20_000, step: 2_000}
	}
	s := report.Section{
		Title: "A store of " + thousands(float64(b.size.all)) + " facts",
		Text:  fmt.Sprintf(millionText, thousands(float64(b.size.all)), valueSize, thousands(float64(b.size.all/factsASubject)), thousands(float64(b.size.few))),
	}
	var err error
	if b.cluster, err = node.Start(ctx, env.Server, env.Dir, 1); err != nil {
		return s, err
	}
	defer b.cluster.Stop()
	if b.address, err = b.cluster.Leader(ctx); err != nil {
		return s, err
	}
	for _, step := range []func(context.Context, *report.Section) error{b.grow, b.restart, b.settle, b.snapshots} {
		if err := step(ctx, &s); err != nil {
			return s, err
		}
	}
	return s, nil
}

// grow writes all facts, and reads the pages early and late.
func (b *big) grow(ctx context.Context, s *report.Section) error {
	if err := b.write(ctx, b.size.few); err != nil {
		return err
	}
	early, err := b.pages()
	if err != nil {
		return err
	}
	var rates []float64
	for b.written < b.size.all {
		began, n := time.Now(), min(b.size.step, b.size.all-b.written)
		if err := b.write(ctx, n); err != nil {
			return err
		}
		rates = append(rates, float64(n)/time.Since(began).Seconds())
		b.env.progress("%9s facts  %s facts/s", thousands(float64(b.written)), thousands(rates[len(rates)-1]))
	}
	memory, err := proc.MemoryOf(b.cluster.Processes()[0])
	if err != nil {
		return err
	}
	late, err := b.pages()
	if err != nil {
		return err
	}
	b.tellPages(s, early, late)
	third := max(1, len(rates)/6)
	start, end := load.Median(rates[:third]), load.Median(rates[len(rates)-third:])
	s.Tables = append(s.Tables, report.Table{Title: "writing", Head: []string{"", "figure"}, Rows: [][]string{
		{"facts a second at the start", thousands(start)},
		{"facts a second at the end", thousands(end)},
		{"resident memory, most", asMebibytes(float64(memory.Peak))},
		{"resident memory, at the end", asMebibytes(float64(memory.Resident))},
	}})
	s.Goals = append(s.Goals,
		least("write rate at the end against the start", 0.7, end/start, times),
		most("resident memory, at most", 1.5*(1<<30), float64(memory.Peak), asMebibytes))
	return nil
}

func (b *big) write(ctx context.Context, n int) error {
	if err := fill(ctx, b.address, "Bench:m", &b.next, n); err != nil {
		return fmt.Errorf("writing at %d facts: %w", b.written, err)
	}
	b.written += n
	return nil
}

// pageReads is how often each page is read.
const pageReads = 200

// page is a read whose cost should not depend on the total.
type page struct{ name, target string }

var pagesRead = []page{
	{"stats", "/api/stats"},
	{"a page of 100 entities", "/api/entities?limit=100&after=Bench:m15"},
	{"a page of 100 facts after a tx", "/api/facts?tx_gt=10&limit=100"},
	{"a subject's 10 facts", "/api/facts?subject=Bench:m17"},
}

// pages reads each page again and again from one client: the median latency.
func (b *big) pages() ([]time.Duration, error) {
	conn, err := rest.Dial(b.address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	var medians []time.Duration
	for _, p := range pagesRead {
		var h load.Histogram
		for range pageReads {
			began := time.Now()
			if _, err := expect(conn, "GET", p.target, nil); err != nil {
				return nil, err
			}
			h.Add(time.Since(began))
		}
		medians = append(medians, h.Percentile(0.5))
	}
	return medians, nil
}

// independent is how much slower a page may be that should not depend on the
// total: the room is for a deeper store and a colder cache.
const independent = 2.0

func (b *big) tellPages(s *report.Section, early, late []time.Duration) {
	few, all := thousands(float64(b.size.few)), thousands(float64(b.size.all))
	t := report.Table{Title: "one client, p50", Head: []string{"", "at " + few, "at " + all, "ratio"}}
	for i, p := range pagesRead {
		ratio := float64(late[i]) / float64(early[i])
		t.Rows = append(t.Rows, []string{p.name, short(early[i]), short(late[i]), times(ratio)})
		s.Goals = append(s.Goals, most(p.name+", at "+all+" against "+few, independent, ratio, times))
	}
	s.Tables = append(s.Tables, t)
}

// restart kills the node and counts what is there when it is back.
func (b *big) restart(ctx context.Context, s *report.Section) error {
	took, err := b.cluster.KillAndStart(ctx)
	if err != nil {
		return err
	}
	conn, err := rest.Dial(b.address)
	if err != nil {
		return err
	}
	defer conn.Close()
	answer, err := expect(conn, "GET", "/api/stats", nil)
	if err != nil {
		return err
	}
	var stats struct {
		Facts struct{ Active, Total int }
	}
	if err := json.Unmarshal(answer, &stats); err != nil {
		return fmt.Errorf("reading the stats: %w", err)
	}
	if stats.Facts.Active != b.written || stats.Facts.Total != b.written {
		return fmt.Errorf("%d facts were written, but after a kill the store counts %d, %d of them active", b.written, stats.Facts.Total, stats.Facts.Active)
	}
	memory, err := proc.MemoryOf(b.cluster.Processes()[0])
	if err != nil {
		return err
	}
	b.env.progress("ready %s after the start that followed kill -9", short(took))
	s.Tables = append(s.Tables, report.Table{Title: "after kill -9", Head: []string{"", "figure"}, Rows: [][]string{
		{"from start to ready", short(took)},
		{"facts found", thousands(float64(stats.Facts.Total))},
		{"resident memory when ready", asMebibytes(float64(memory.Resident))},
	}})
	s.Goals = append(s.Goals, most("start after kill -9", float64(5*time.Second), float64(took), asDuration))
	return nil
}

// settle waits until the store's size has stopped changing and tells it.
func (b *big) settle(ctx context.Context, s *report.Section) error {
	limit := time.Minute
	if b.env.Quick {
		limit = 2 * time.Second
	}
	var size node.Disk
	for began, same := time.Now(), 0; time.Since(began) < limit && same < 10; {
		now, err := b.cluster.Disk()
		if err != nil {
			return err
		}
		if same++; now.Store != size.Store {
			same = 0
		}
		size = now
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
	facts := float64(b.written)
	s.Tables = append(s.Tables, report.Table{Title: "on disk, settled", Head: []string{"", "size", "bytes a fact"}, Rows: [][]string{
		{"store", asMebibytes(float64(size.Store)), thousands(float64(size.Store) / facts)},
		{"log", asMebibytes(float64(size.Log)), thousands(float64(size.Log) / facts)},
		{"snapshots, beyond what they share with the store", asMebibytes(float64(size.Snapshots)), thousands(float64(size.Snapshots) / facts)},
	}})
	s.Goals = append(s.Goals, most("store, bytes a fact", 1536, float64(size.Store)/facts, asBytes))
	return nil
}

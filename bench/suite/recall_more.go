package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"abagraph/bench/load"
	"abagraph/bench/node"
	"abagraph/bench/report"
	"abagraph/bench/rest"
)

// allocMetric counts the bytes that the server's allocator has handed out.
const allocMetric = "go_memstats_alloc_bytes_total"

// allocated is what one request of a kind has the server allocate: the mean of a few,
// since the counter moves by steps, less what its reading takes, and of that the median.
func (r *recall) allocated(conn *rest.Conn, a asking) (float64, error) {
	const times, requests = 3, 10
	var list []float64
	for range times {
		var at [3]float64
		for i := range at {
			figures, err := node.Scrape(r.address)
			if err != nil {
				return 0, err
			}
			if !figures.Has(allocMetric) {
				return 0, fmt.Errorf("the node has no metric %s", allocMetric)
			}
			at[i] = figures.Sum(allocMetric)
			for n := 0; i == 1 && n < requests; n++ {
				if _, err := expect(conn, "GET", a.target(r), nil); err != nil {
					return 0, err
				}
			}
		}
		list = append(list, max(0, at[2]-at[1]-(at[1]-at[0]))/requests)
	}
	return load.Median(list), nil
}

// recallAtTen is the share of the ten nearest vectors that a search finds, against
// one that is pinned to the same tx and so compares with all of them.
func (r *recall) recallAtTen(conn *rest.Conn) (float64, error) {
	questions := 40
	if r.env.Quick {
		questions = 10
	}
	found, all := 0, 0
	for range questions {
		target := r.ask("vector")
		exact, err := scores(conn, target+"&tx="+strconv.Itoa(r.tx))
		if err != nil {
			return 0, err
		}
		got, err := scores(conn, target)
		if err != nil {
			return 0, err
		}
		all += len(exact)
		for _, score := range got {
			// Of equally near ones any is as good.
			if len(exact) > 0 && score >= exact[len(exact)-1]-1e-9 {
				found++
			}
		}
	}
	if all == 0 {
		return 0, fmt.Errorf("%d vector searches find nothing", questions)
	}
	return float64(found) / float64(all), nil
}

func scores(conn *rest.Conn, target string) ([]float64, error) {
	answer, err := expect(conn, "GET", target, nil)
	if err != nil {
		return nil, err
	}
	var got struct {
		Facts []struct {
			Score float64 `json:"score"`
		} `json:"answer_facts"`
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return nil, fmt.Errorf("reading hits: %w", err)
	}
	list := make([]float64, len(got.Facts))
	for i, f := range got.Facts {
		list[i] = f.Score
	}
	return list, nil
}

// beside are writes alone, and beside a client that asks the slowest question again
// and again.
type beside struct {
	facts       int
	alone, with load.Sample
	search      time.Duration // the median of the searches meanwhile
}

// writesBesideSearches writes for a run's length without searches and then with them.
func (r *recall) writesBesideSearches(ctx context.Context) (*beside, error) {
	b := &beside{facts: r.written}
	op, closer, err := r.writer()
	if err != nil {
		return nil, err
	}
	defer closer()
	b.alone = load.Run(ctx, []load.Op{op}, r.env.Length)
	if err := b.alone.Err(); err != nil {
		return nil, err
	}
	conn, err := rest.Dial(r.address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	var stop atomic.Bool
	var searches load.Histogram
	done := make(chan error, 1)
	go func() {
		for !stop.Load() {
			began := time.Now()
			if _, err := expect(conn, "GET", r.ask("hybrid")+"&tx="+strconv.Itoa(r.tx), nil); err != nil {
				done <- err
				return
			}
			searches.Add(time.Since(began))
		}
		done <- nil
	}()
	b.with = load.Run(ctx, []load.Op{op}, r.env.Length)
	stop.Store(true)
	if err := <-done; err != nil {
		return nil, fmt.Errorf("searching beside writes: %w", err)
	}
	b.search = searches.Percentile(0.5)
	return b, b.with.Err()
}

// writer makes a client that writes one fact at a time, with words of its own.
func (r *recall) writer() (load.Op, func(), error) {
	conn, err := rest.Dial(r.address)
	if err != nil {
		return nil, nil, err
	}
	n := 0
	op := func(context.Context) (int, error) {
		n++
		body := fmt.Appendf(nil, `{"subject":"Person:p%d","predicate":"noted","object":"note %d","policy":"coexist"}`, n%r.persons(), n)
		status, answer, err := conn.Do("POST", "/api/facts", body)
		if err == nil && status != 201 {
			err = fmt.Errorf("POST /api/facts answers %d: %.200s", status, answer)
		}
		return 1, err
	}
	return op, func() { _ = conn.Close() }, nil
}

func (b *beside) table() report.Table {
	row := func(name string, s load.Sample) []string { return []string{name, short(s.P50), short(s.P99)} }
	return report.Table{Title: "One client that writes single facts, at " + thousands(float64(b.facts)) + " facts", Head: []string{"", "p50", "p99"},
		Rows: [][]string{row("alone", b.alone), row("beside one that asks exact hybrid searches of the past again and again", b.with), {"such a search meanwhile", short(b.search), ""}}}
}

// goal: a write that waited for a search would take as long as one.
func (b *beside) goal() report.Goal {
	return most("a write beside slow searches, p99 against one such search", 1, float64(b.with.P99)/float64(b.search), times)
}

// recallGoals are those of the issue: 3 ms at 10,000 facts, 10 ms at 100,000, less
// than linear growth beyond; the past at most twice the present; recall.
func recallGoals(sizes []sized) []report.Goal {
	var goals []report.Goal
	bySize := map[int]sized{}
	for _, s := range sizes {
		bySize[s.facts] = s
	}
	few, many, all := bySize[10_000], bySize[100_000], bySize[1_000_000]
	for _, a := range askings() {
		if !a.bounded {
			continue
		}
		if few.facts > 0 {
			goals = append(goals, most(a.name+", p50 in process at 10,000", float64(3*time.Millisecond), few.inside[a.name], asDuration))
		}
		if many.facts > 0 {
			goals = append(goals, most(a.name+", p50 in process at 100,000", float64(10*time.Millisecond), many.inside[a.name], asDuration))
		}
		if many.facts > 0 && all.facts > 0 {
			goals = append(goals, most(a.name+", a million against 100,000", 10, all.inside[a.name]/many.inside[a.name], times))
		}
	}
	if all.facts > 0 {
		goals = append(goals, most(filtered+", against one without, at a million", 0.03, all.inside[filtered]/all.inside[vectorSearch], times))
	}
	for _, s := range sizes {
		where := ", at " + thousands(float64(s.facts))
		for _, a := range askings() {
			if a.of != "" && a.name != filtered {
				goals = append(goals, most(a.name+" against the present"+where, 2, s.inside[a.name]/s.inside[a.of], times))
			}
		}
		goals = append(goals, least("recall@10 of a vector search"+where, 0.95, s.recall, func(v float64) string { return fmt.Sprintf("%.3f", v) }))
	}
	return goals
}

package suite

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"time"

	"abagraph/bench/load"
	"abagraph/bench/node"
	"abagraph/bench/proc"
	"abagraph/bench/report"
	"abagraph/bench/rest"
)

const recallText = `One node with facts as real data has them: persons who know others, a few of them known by very many, and sentences of skewed words; one predicate in a
hundred is rare. Every fact has a vector of 256 numbers (the hash provider's; the time of a scan does not depend on what they mean). Each question is asked of one client, again and again
with other words and other starts. "In process" is what explain=1 tells of the same request; "over HTTP" is what the client waits.`

// The shape of the data.
const (
	recallDim     = 256
	recallBatch   = 500
	factsAPerson  = 10
	hub           = "Person:p0"
	recallReads   = 200
	rarePredicate = "audited_by"
)

// asking is one kind of request whose time is told.
type asking struct {
	name   string
	target func(r *recall) string
}

func (r *recall) walkFrom(start string) string {
	return "/api/walk?depth=2&start=" + url.QueryEscape(start)
}

func (r *recall) ask(mode, more string) string {
	question := fmt.Sprintf("who said %s about %s of Person:p%d", r.word(), r.word(), r.rnd.IntN(r.persons()))
	return "/api/search?top_k=8&mode=" + mode + more + "&question=" + url.QueryEscape(question)
}

var askings = []asking{
	{"walk of depth 2, an ordinary start", func(r *recall) string { return r.walkFrom(fmt.Sprintf("Person:p%d", 1+r.rnd.IntN(r.persons()-1))) }},
	{"walk of depth 2, from a hub", func(r *recall) string { return r.walkFrom(hub) }},
	{"vector search", func(r *recall) string { return r.ask("vector", "") }},
	{"vector search, a filter that leaves 1 %", func(r *recall) string { return r.ask("vector", "&predicate="+rarePredicate) }},
	{"vector search of the past, exact", func(r *recall) string { return r.ask("vector", "&tx="+strconv.Itoa(max(1, r.written/recallBatch/2))) }},
	{"hybrid search", func(r *recall) string { return r.ask("hybrid", "") }},
	{"lexical search", func(r *recall) string { return r.ask("lexical", "") }},
	{livePacket, func(r *recall) string { return r.brief("") }},
	{pastPacket, func(r *recall) string { return r.brief("&tx=" + strconv.Itoa(max(1, r.written/recallBatch/2))) }},
}

// The packets whose times are compared.
const (
	livePacket = "context packet of 64 facts, one hop"
	pastPacket = "context packet of the past"
)

// brief asks for a packet around an ordinary person.
func (r *recall) brief(more string) string {
	return "/api/context?max_facts=64&goal=" + url.QueryEscape(fmt.Sprintf("prepare %s and %s", r.word(), r.word())) + "&seeds=" +
		url.QueryEscape(fmt.Sprintf("Person:p%d", 1+r.rnd.IntN(r.persons()-1))) + more
}

// place returns where a kind of request stands in the list.
func place(name string) int {
	return slices.IndexFunc(askings, func(a asking) bool { return a.name == name })
}

// recall is a store on its way to its last size.
type recall struct {
	env     Env
	address string
	cluster *node.Cluster
	rnd     *rand.Rand
	words   *rand.Zipf
	known   *rand.Zipf
	written int
	total   int
}

func (r *recall) persons() int { return max(2, r.total/factsAPerson) }

func (r *recall) word() string { return "w" + strconv.FormatUint(r.words.Uint64(), 36) }

// recallSection measures walks, searches by vectors and context packets at several sizes.
func recallSection(ctx context.Context, env Env) (report.Section, error) {
	steps := []int{10_000, 100_000, 1_000_000}
	if env.Quick {
		steps = []int{1_000, 5_000}
	}
	s := report.Section{Title: "Walks, vectors and packets", Text: recallText}
	r := &recall{env: env, total: steps[len(steps)-1], rnd: rand.New(rand.NewPCG(1, 1))}
	r.words, r.known = rand.NewZipf(r.rnd, 1.2, 20, 20_000), rand.NewZipf(r.rnd, 1.3, 8, uint64(r.persons()-1))
	var err error
	r.cluster, err = node.Start(ctx, env.Server, env.Dir, 1, "ABAGRAPH_EMBEDDING=hash", "ABAGRAPH_EMBEDDING_DIM="+strconv.Itoa(recallDim))
	if err != nil {
		return s, err
	}
	defer r.cluster.Stop()
	if r.address, err = r.cluster.Leader(ctx); err != nil {
		return s, err
	}
	medians := make([][]float64, len(steps))
	for i, size := range steps {
		if err := r.grow(ctx, size); err != nil {
			return s, err
		}
		table, inside, err := r.measure(ctx)
		if err != nil {
			return s, err
		}
		s.Tables, medians[i] = append(s.Tables, table), inside
	}
	s.Goals = recallGoals(steps, medians)
	return s, nil
}

// grow writes up to a number of facts.
func (r *recall) grow(ctx context.Context, to int) error {
	conn, err := rest.Dial(r.address)
	if err != nil {
		return err
	}
	defer conn.Close()
	for r.written < to {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(recallBatch, to-r.written)
		if _, err := expect(conn, "POST", "/api/transact", r.batch(n)); err != nil {
			return fmt.Errorf("writing at %d facts: %w", r.written, err)
		}
		r.written += n
	}
	return nil
}

func (r *recall) batch(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"asserts":[`)
	for i := range n {
		at := r.written + i
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"subject":"Person:p%d","policy":"coexist",`, at%r.persons())
		switch {
		case at%100 == 1:
			fmt.Fprintf(&b, `"predicate":"%s","object":"%s %s %s"}`, rarePredicate, r.word(), r.word(), r.word())
		case at%4 == 0:
			fmt.Fprintf(&b, `"predicate":"knows","object":"Person:p%d"}`, r.known.Uint64())
		default:
			fmt.Fprintf(&b, `"predicate":"said","object":"%s %s %s %s %s"}`, r.word(), r.word(), r.word(), r.word(), r.word())
		}
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

// measure asks every question at the present size: medians and 99th percentiles.
func (r *recall) measure(ctx context.Context) (t report.Table, inside []float64, err error) {
	conn, err := rest.Dial(r.address)
	if err != nil {
		return t, nil, err
	}
	defer conn.Close()
	began := time.Now()
	if err := r.warm(ctx, conn); err != nil {
		return t, nil, err
	}
	built := time.Since(began)
	t = report.Table{Title: thousands(float64(r.written)) + " facts", Head: []string{"", "p50 in process", "p99 in process", "p50 over HTTP", "p99 over HTTP"}}
	reads := recallReads
	if r.env.Quick {
		reads = 20
	}
	for _, a := range askings {
		var process, wire load.Histogram
		for range reads {
			target := a.target(r)
			took, err := explained(conn, target)
			if err != nil {
				return t, nil, err
			}
			process.Add(took)
			began := time.Now()
			if _, err := expect(conn, "GET", target, nil); err != nil {
				return t, nil, err
			}
			wire.Add(time.Since(began))
		}
		t.Rows = append(t.Rows, []string{a.name, short(process.Percentile(0.5)), short(process.Percentile(0.99)), short(wire.Percentile(0.5)), short(wire.Percentile(0.99))})
		inside = append(inside, float64(process.Percentile(0.5)))
		r.env.progress("%9s facts  %-42s %s", thousands(float64(r.written)), a.name, short(process.Percentile(0.5)))
	}
	memory, err := proc.MemoryOf(r.cluster.Processes()[0])
	t.Rows = append(t.Rows, []string{"until the index is there", short(built), "", "", ""},
		[]string{"resident memory, most", asMebibytes(float64(memory.Peak)), "", "", ""})
	return t, inside, err
}

// warm searches until the index has followed all that was written.
func (r *recall) warm(ctx context.Context, conn *rest.Conn) error {
	for range 100 {
		status, answer, err := conn.Do("GET", r.ask("hybrid", ""), nil)
		switch {
		case err != nil:
			return err
		case status == 200:
			return nil
		case status != 504:
			return fmt.Errorf("a search answers %d: %.300s", status, answer)
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
	return errors.New("the index was never there")
}

// explained asks with explain=1 and returns how long the request took inside.
func explained(conn *rest.Conn, target string) (time.Duration, error) {
	answer, err := expect(conn, "GET", target+"&explain=1", nil)
	if err != nil {
		return 0, err
	}
	var got struct {
		Explain struct {
			Total float64 `json:"total_ms"`
		} `json:"explain"`
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return 0, fmt.Errorf("reading an explanation: %w", err)
	}
	return time.Duration(got.Explain.Total * float64(time.Millisecond)), nil
}

// recallGoals are those of the issue: 3 ms at 10,000 facts, 10 ms at 100,000, and
// less than linear growth beyond.
func recallGoals(steps []int, medians [][]float64) []report.Goal {
	var goals []report.Goal
	at := func(size, i int) (float64, bool) {
		for n, step := range steps {
			if step == size {
				return medians[n][i], true
			}
		}
		return 0, false
	}
	for i := 2; i < len(askings); i++ {
		name := askings[i].name
		few, has := at(10_000, i)
		if has && i != 4 {
			goals = append(goals, most(name+", p50 in process at 10,000", float64(3*time.Millisecond), few, asDuration))
		}
		many, has := at(100_000, i)
		if has && i != 4 {
			goals = append(goals, most(name+", p50 in process at 100,000", float64(10*time.Millisecond), many, asDuration))
		}
		if all, has := at(1_000_000, i); has {
			goals = append(goals, most(name+", a million against 100,000", 10, all/many, times))
		}
	}
	for n, step := range steps {
		ratio := medians[n][place(pastPacket)] / medians[n][place(livePacket)]
		goals = append(goals, most("a packet of the past against one of the present, at "+thousands(float64(step)), 2, ratio, times))
	}
	return goals
}

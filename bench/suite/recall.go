package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"

	"abagraph/bench/node"
	"abagraph/bench/report"
	"abagraph/bench/rest"
)

const recallText = `One node with facts as real data has them: persons who know others, a few of them known by very many, and sentences of skewed words; at each size there are ten facts a
person, more of those who came first; one predicate in a hundred is rare. Every fact has a vector of 256 numbers (the hash provider's; the time of a scan does not depend on what they mean). Each question is asked of one client, again and again
with other words and other starts, half a run's length for each in every round, all of them in turns; a read of the past is one at the tx by which half of the facts were written. "In process" is what
explain=1 tells of the same request; "over HTTP" is what the client waits. "Allocated" is what the server's allocator handed out for one request, by its own counter: a bound of what the request held at once.`

// The shape of the data.
const (
	recallDim     = 256
	recallBatch   = 500
	factsAPerson  = 10
	hub           = "Person:p0"
	rarePredicate = "audited_by"
)

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
	tx      int // of the last batch
	half    int // of the batch by which half of the present facts were there
}

// persons are those that there are at the present size.
func (r *recall) persons() int { return max(2, r.written/factsAPerson) }

func (r *recall) word() string { return "w" + strconv.FormatUint(r.words.Uint64(), 36) }

// recallSection measures walks, searches by vectors and context packets at several sizes.
func recallSection(ctx context.Context, env Env) (report.Section, error) {
	steps := []int{10_000, 100_000, 1_000_000}
	if env.Quick {
		steps = []int{1_000, 5_000}
	}
	s := report.Section{Title: "Walks, vectors and packets", Text: recallText}
	r := &recall{env: env, total: steps[len(steps)-1], rnd: rand.New(rand.NewPCG(1, 1))}
	r.words, r.known = rand.NewZipf(r.rnd, 1.2, 20, 20_000), rand.NewZipf(r.rnd, 1.3, 8, uint64(r.total/factsAPerson-1))
	var err error
	r.cluster, err = node.Start(ctx, env.Server, env.Dir, 1, "ABAGRAPH_EMBEDDING=hash", "ABAGRAPH_EMBEDDING_DIM="+strconv.Itoa(recallDim))
	if err != nil {
		return s, err
	}
	defer r.cluster.Stop()
	if r.address, err = r.cluster.Leader(ctx); err != nil {
		return s, err
	}
	sizes := make([]sized, len(steps))
	for i, size := range steps {
		if err := r.grow(ctx, size); err != nil {
			return s, err
		}
		table, err := r.measure(ctx, &sizes[i])
		if err != nil {
			return s, err
		}
		s.Tables = append(s.Tables, table)
	}
	beside, err := r.writesBesideSearches(ctx)
	if err != nil {
		return s, err
	}
	s.Tables = append(s.Tables, beside.table())
	s.Goals = recallGoals(sizes)
	if r.written >= 1_000_000 { // of a small store no search is slow
		s.Goals = append(s.Goals, beside.goal())
	}
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
		answer, err := expect(conn, "POST", "/api/transact", r.batch(n))
		if err != nil {
			return fmt.Errorf("writing at %d facts: %w", r.written, err)
		}
		if _, err := fmt.Sscanf(string(answer[:min(len(answer), 32)]), `{"tx":%d,`, &r.tx); err != nil {
			return fmt.Errorf("reading the tx of %.40s: %w", answer, err)
		}
		r.written += n
		if r.written <= to/2 || r.half == 0 {
			r.half = r.tx
		}
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
		fmt.Fprintf(&b, `{"subject":"Person:p%d","policy":"coexist",`, r.rnd.IntN(at/factsAPerson+1))
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

// warm searches until the index has followed all that was written, vectors included:
// until then words alone find.
func (r *recall) warm(ctx context.Context, conn *rest.Conn) error {
	for range 100 {
		status, answer, err := conn.Do("GET", r.ask("hybrid"), nil)
		switch {
		case err != nil:
			return err
		case status == 200 && bytes.Contains(answer, []byte(`"mode":"hybrid"`)):
			return nil
		case status != 200 && status != 504:
			return fmt.Errorf("a search answers %d: %.300s", status, answer)
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
	return errors.New("the index was never there")
}

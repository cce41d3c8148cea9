package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"abagraph/bench/load"
	"abagraph/bench/proc"
	"abagraph/bench/report"
	"abagraph/bench/rest"
)

// asking is one kind of request whose time is told.
type asking struct {
	name   string
	target func(r *recall) string
	// bounded are those that the issue sets a time.
	bounded bool
	// of is the name of the one that this is the past of, or a part of.
	of string
}

// The names that others refer to.
const (
	ordinaryWalk  = "walk of depth 2, an ordinary start"
	hubWalk       = "walk of depth 2, from a hub"
	lexicalSearch = "lexical search"
	vectorSearch  = "vector search"
	hybridSearch  = "hybrid search"
	filtered      = "vector search, a filter that leaves 1 %"
	livePacket    = "context packet of 64 facts, one hop"
	ofThePast     = ", of the past"
)

func askings() []asking {
	live := []asking{
		{name: ordinaryWalk, target: func(r *recall) string { return r.walkFrom(r.ordinary()) }},
		{name: hubWalk, target: func(r *recall) string { return r.walkFrom(hub) }},
		{name: lexicalSearch, target: func(r *recall) string { return r.ask("lexical") }, bounded: true},
		{name: vectorSearch, target: func(r *recall) string { return r.ask("vector") }, bounded: true},
		{name: hybridSearch, target: func(r *recall) string { return r.ask("hybrid") }, bounded: true},
		{name: livePacket, target: (*recall).brief, bounded: true},
	}
	list := append([]asking{}, live...)
	list = append(list, asking{name: filtered, target: func(r *recall) string { return r.ask("vector") + "&predicate=" + rarePredicate }, of: vectorSearch})
	for _, a := range live {
		list = append(list, asking{name: a.name + ofThePast, target: func(r *recall) string { return a.target(r) + "&tx=" + strconv.Itoa(r.half) }, of: a.name})
	}
	return list
}

// ordinary is a person whom few know, one who was there when half of the facts were.
func (r *recall) ordinary() string {
	return fmt.Sprintf("Person:p%d", 1+r.rnd.IntN(max(1, r.persons()/2-1)))
}

func (r *recall) walkFrom(start string) string {
	return "/api/walk?depth=2&start=" + url.QueryEscape(start)
}

func (r *recall) ask(mode string) string {
	question := fmt.Sprintf("who said %s about %s of Person:p%d", r.word(), r.word(), r.rnd.IntN(r.persons()))
	return "/api/search?top_k=10&mode=" + mode + "&question=" + url.QueryEscape(question)
}

// brief asks for a packet around an ordinary person.
func (r *recall) brief() string {
	return "/api/context?max_facts=64&goal=" + url.QueryEscape(fmt.Sprintf("prepare %s and %s", r.word(), r.word())) + "&seeds=" + url.QueryEscape(r.ordinary())
}

// timed are the times of one kind of request.
type timed struct{ process, wire load.Histogram }

// sized is what was measured at one size.
type sized struct {
	facts  int
	inside map[string]float64 // medians in process
	recall float64            // of ten hits
}

// leastReads is how often each question is asked in a round at least.
const leastReads = 10

// measure asks every question at the present size, in turns.
func (r *recall) measure(ctx context.Context, s *sized) (t report.Table, err error) {
	conn, err := rest.Dial(r.address)
	if err != nil {
		return t, err
	}
	defer conn.Close()
	began := time.Now()
	if err := r.warm(ctx, conn); err != nil {
		return t, err
	}
	built := time.Since(began)
	list := askings()
	times := make([]timed, len(list))
	for range r.env.Rounds {
		for i, a := range list {
			if err := r.sample(ctx, conn, a, &times[i]); err != nil {
				return t, fmt.Errorf("%s: %w", a.name, err)
			}
		}
	}
	*s = sized{facts: r.written, inside: map[string]float64{}}
	t = report.Table{Title: thousands(float64(r.written)) + " facts", Head: []string{"", "p50 in process", "p99 in process", "p50 over HTTP", "p99 over HTTP", "allocated"}}
	for i, a := range list {
		bytes, err := r.allocated(conn, a)
		if err != nil {
			return t, err
		}
		p, w := &times[i].process, &times[i].wire
		s.inside[a.name] = float64(p.Percentile(0.5))
		t.Rows = append(t.Rows, []string{a.name, short(p.Percentile(0.5)), short(p.Percentile(0.99)), short(w.Percentile(0.5)), short(w.Percentile(0.99)), asKibibytes(bytes)})
		r.env.progress("%9s facts  %-50s %s", thousands(float64(r.written)), a.name, short(p.Percentile(0.5)))
	}
	if s.recall, err = r.recallAtTen(conn); err != nil {
		return t, err
	}
	memory, err := proc.MemoryOf(r.cluster.Processes()[0])
	if err != nil {
		return t, err
	}
	t.Rows = append(t.Rows, []string{"recall@10 of a vector search, against an exact one", fmt.Sprintf("%.3f", s.recall), "", "", "", ""},
		[]string{"until the index is there", short(built), "", "", "", ""},
		[]string{"resident memory, most", asMebibytes(float64(memory.Peak)), "", "", "", ""})
	return t, nil
}

// sample asks one kind of question for half a run's length.
func (r *recall) sample(ctx context.Context, conn *rest.Conn, a asking, t *timed) error {
	end := time.Now().Add(r.env.Length / 2)
	for n := 0; n < leastReads || time.Now().Before(end); n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		target := a.target(r)
		took, err := explained(conn, target)
		if err != nil {
			return err
		}
		t.process.Add(took)
		began := time.Now()
		if _, err := expect(conn, "GET", a.target(r), nil); err != nil {
			return err
		}
		t.wire.Add(time.Since(began))
	}
	return nil
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

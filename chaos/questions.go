package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"

	"abagraph/client"
)

// Questions are random reads about what Weather wrote, each the same for every
// node.
type Questions struct {
	Seed    uint64
	Count   int
	Tenants []string
	IDs     []string
	// Tx is what each node must have come to; From and Until bound, in Unix
	// milliseconds, the record times that are asked about.
	Tx          uint64
	From, Until int64
}

// Question is one read and its answer.
type Question struct {
	Call   client.Call
	Status int
	Tx     uint64
	Body   string
}

func (q Question) String() string {
	return fmt.Sprintf("GET %s?%s: %d at tx %d: %s", q.Call.Path, q.Call.Query.Encode(), q.Status, q.Tx, q.Body)
}

// Ask has a node answer all questions by itself.
func (q *Questions) Ask(ctx context.Context, n *Node) ([]Question, error) {
	c, err := n.Client(client.WithRetry(5, pause))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	r := rand.New(rand.NewPCG(q.Seed, 1))
	answers := make([]Question, 0, q.Count)
	for range q.Count {
		asked := Question{Call: q.next(r)}
		answer, err := c.Do(ctx, asked.Call)
		var e *client.Error
		switch {
		case err == nil:
			asked.Status, asked.Tx, asked.Body = answer.Status, answer.Tx, string(answer.Body)
		case errors.As(err, &e) && e.Status < 500:
			asked.Status, asked.Body = e.Status, string(e.Body)
		default:
			return nil, fmt.Errorf("ask %s %s?%s: %w", n.Name, asked.Call.Path, asked.Call.Query.Encode(), err)
		}
		answers = append(answers, asked)
	}
	return answers, nil
}

func (q *Questions) next(r *rand.Rand) client.Call {
	v := url.Values{"consistency": {"stale"}, "min_tx": {strconv.FormatUint(q.Tx, 10)}}
	v.Set("tenant", q.Tenants[r.IntN(len(q.Tenants))])
	call := client.Call{Method: http.MethodGet, Query: v}
	switch k := r.IntN(16); {
	case k < 6:
		call.Path = "/api/facts"
		q.filter(r, v)
		q.when(r, v)
	case k == 6:
		call.Path = "/api/facts/" + q.IDs[r.IntN(len(q.IDs))]
	case k < 9:
		call.Path = client.HistoryPath(q.IDs[r.IntN(len(q.IDs))])
	case k == 9:
		call.Path = "/api/entities/" + url.PathEscape((&forecaster{r: r}).subject())
	case k == 10:
		call.Path = [...]string{"/api/entities", "/api/predicates"}[r.IntN(2)]
		q.when(r, v)
	case k == 11:
		call.Path = "/api/stats"
	case k == 12:
		call.Path = "/api/factcheck"
		q.when(r, v)
	case k == 13:
		call.Path = "/api/changes"
		span := q.Until - q.From + 1
		from := q.From + r.Int64N(span)
		v.Set("from", strconv.FormatInt(from, 10))
		v.Set("to", strconv.FormatInt(from+r.Int64N(q.Until-from+1), 10))
	default:
		call.Path = "/api/context"
		q.brief(r, v)
		q.when(r, v)
	}
	return call
}

func (q *Questions) filter(r *rand.Rand, v url.Values) {
	f := &forecaster{r: r}
	if r.IntN(2) == 0 {
		v.Set("subject", f.subject())
	}
	if r.IntN(3) == 0 {
		v.Set("predicate", f.predicate())
	}
	if r.IntN(4) == 0 {
		v.Set("object", [...]string{"Oslo", "true", "null", "Thing:3"}[r.IntN(4)])
	}
	if r.IntN(3) == 0 {
		v.Set("status", [...]string{"all", "active", "candidate", "superseded,retracted"}[r.IntN(4)])
	}
	if r.IntN(4) == 0 {
		v.Set("include_retracted", "1")
	}
	if r.IntN(4) == 0 {
		v.Set("tx_gt", strconv.FormatUint(r.Uint64N(q.Tx), 10))
	}
	v.Set("limit", strconv.Itoa(1+r.IntN(300)))
}

// brief asks for a packet, in one of its styles.
func (q *Questions) brief(r *rand.Rand, v url.Values) {
	f := &forecaster{r: r}
	v.Set("style", [...]string{"generic", "claude", "openai"}[r.IntN(3)])
	if r.IntN(2) == 0 {
		v.Set("seeds", f.subject())
	}
	if r.IntN(2) == 0 {
		v.Set("goal", "what is known of "+f.subject()+" and its "+f.predicate())
	}
	if r.IntN(2) == 0 {
		v.Set("token_budget", strconv.Itoa(100+r.IntN(900)))
	}
}

// when chooses a point on each axis of time, or none.
func (q *Questions) when(r *rand.Rand, v url.Values) {
	switch r.IntN(4) {
	case 0:
		v.Set("as_of", (&forecaster{r: r}).day())
	case 1:
		v.Set("as_of", strconv.FormatInt(q.From+r.Int64N(q.Until-q.From+1), 10))
	}
	switch r.IntN(4) {
	case 0:
		v.Set("tx", strconv.FormatUint(r.Uint64N(q.Tx+1), 10))
	case 1:
		v.Set("known_at", strconv.FormatInt(q.From+r.Int64N(q.Until-q.From+1), 10))
	case 2:
		v.Set("known_at", (&forecaster{r: r}).day())
		if r.IntN(2) == 0 {
			v.Set("backfill", "0")
		}
	}
}

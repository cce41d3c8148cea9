package http_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	httpd "abagraph/http"
	"abagraph/internal/onenode"
	"abagraph/mcp"
	"abagraph/memory"
)

// TestAPastAnswerStays asks every read of the API, and of MCP, at points of both
// times while a random history goes on, and again when it has gone on: of the same
// node, after all that is due, purges and new vectors, and of one that has nothing but
// a snapshot. Each answer is the same to the byte.
func TestAPastAnswerStays(t *testing.T) {
	seeds, steps, share := []uint64{1, 2}, 120, 24
	if text := os.Getenv("ABAGRAPH_SEED"); text != "" {
		first, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("ABAGRAPH_SEED=%q is not a whole number", text)
		}
		seeds, steps, share = nil, 300, 1
		for s := range uint64(30) {
			seeds = append(seeds, first+s)
		}
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			w := newPastWorld(t, seed)
			w.live(steps / 3)
			var kept []pinned
			for range 4 {
				kept = append(kept, w.pin(share)...)
				w.live(steps / 6)
			}
			w.again("later", w.reader, kept)
			w.night()
			w.again("after a night", w.reader, kept)
			for i := range kept {
				kept[i].answer = kept[i].ask(w.reader, kept[i].at)
			}
			w.fading = false // whatever has faded, nodes are alike
			w.again("on a node from a snapshot", servePast(t, w.node.Copy(t), w.door).as(w.reader.key), kept)
		})
	}
}

// pinned is a question that names its moment, and what it was answered.
type pinned struct {
	question
	at     string
	answer string
	steps  int // of history before it
}

// pin asks a share of everything at some moments. What is recorded from then on is
// recorded later, so that nothing of it can be known there.
func (w *pastWorld) pin(share int) []pinned {
	w.t.Helper()
	w.node.Advance(2 * time.Millisecond)
	var kept []pinned
	tx, now := w.present()
	ask := func(q question, at string) {
		if w.asking.IntN(share) == 0 {
			kept = append(kept, pinned{q, at, q.ask(w.reader, at), w.steps})
		}
	}
	for _, m := range w.moments(tx, now) {
		for _, q := range w.questions(m) {
			ask(q, m.query())
			w.sameMoment(&q, m, share)
		}
	}
	for _, q := range w.sealed(tx, now) {
		ask(q, "")
	}
	w.node.Advance(2 * time.Millisecond)
	return kept
}

// again asks everything once more.
func (w *pastWorld) again(when string, r *rig, kept []pinned) {
	w.t.Helper()
	wrong := map[string]int{}
	for i := range kept {
		k := &kept[i]
		if w.fading && !k.rows {
			continue // figures change with what expires
		}
		got, want := k.ask(r, k.at), k.answer
		if w.fading {
			got, want = lasting(got), lasting(want)
		}
		if got == want {
			continue
		}
		if wrong[k.name]++; wrong[k.name] == 1 {
			w.t.Errorf("%s: %s at %s (after %d steps): %s%s\nwas answered\n%s\nand now\n%s", when, k.name, k.at, k.steps, k.path, k.body, around(want, got), around(got, want))
		}
	}
	for name, n := range wrong {
		w.t.Logf("%s: %d answers to %s are others", when, n, name)
	}
}

// sameMoment names a moment in another way, which must be answered alike.
func (w *pastWorld) sameMoment(q *question, m moment, share int) {
	w.t.Helper()
	if m.asOf == "" || q.tool != "" || q.relative || w.asking.IntN(share) != 0 {
		return
	}
	one := q.ask(w.reader, m.query())
	if strings.HasPrefix(one, "400") || strings.HasPrefix(one, "403") {
		return
	}
	other := moment{tx: txOf(one), asOf: m.asOf}
	if m.knownAt == 0 {
		at, err := w.node.View(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		recorded, err := at.RecordTime(context.Background(), m.tx)
		at.Close()
		if err != nil {
			w.t.Fatal(err)
		}
		if other = (moment{knownAt: int64(recorded), asOf: m.asOf}); w.crowded(m.tx, other) {
			return // other txs have the same record time, and it means the last of them
		}
	}
	if two := q.ask(w.reader, other.query()); untimed(one) != untimed(two) {
		w.t.Errorf("%s: %s%s at %s is answered\n%s\nand at %s\n%s", q.name, q.path, q.body, m.query(), around(one, two), other.query(), around(two, one))
	}
}

// crowded tells whether a moment by the clock is another tx.
func (w *pastWorld) crowded(tx uint64, m moment) bool {
	return txOf(said(w.root.get("/api/facts?limit=1&tenant=a&"+m.query()))) != tx
}

func txOf(answer string) uint64 {
	_, rest, _ := strings.Cut(answer, "tx=")
	number, _, _ := strings.Cut(rest, " ")
	tx, _ := strconv.ParseUint(number, 10, 64)
	return tx
}

// untimed leaves out of an answer what "now" meant.
func untimed(answer string) string {
	head, rest, _ := strings.Cut(answer, " now=")
	_, rest, _ = strings.Cut(rest, " ")
	return head + " " + rest
}

// said is what counts of an answer.
func said(p *reply) string {
	h := p.Header
	if p.Status == 400 || p.Status == 403 || strings.HasPrefix(p.Body, `{"records":`) {
		return fmt.Sprint(p.Status, p.Body) // judged by the request alone; the trail is read now
	}
	return fmt.Sprint(p.Status, " tx=", h.Get("X-Abagraph-Tx"), " now=", h.Get("X-Abagraph-Now"), " next=", h.Get("X-Abagraph-Next"),
		" warning=", h.Get("X-Abagraph-Warning"), " backfilled=", h.Get("X-Abagraph-Backfilled"), "\n", p.Body)
}

// lasting leaves transient facts out of an answer that is a list of facts: of what
// expires nothing is left, in the past neither (C-22).
func lasting(answer string) string {
	head, body, _ := strings.Cut(answer, "\n")
	var rows []json.RawMessage
	if json.Unmarshal([]byte(body), &rows) != nil {
		return answer
	}
	rows = slices.DeleteFunc(rows, func(r json.RawMessage) bool { return strings.Contains(string(r), `"transient":true`) })
	head, _, _ = strings.Cut(head, " backfilled=")
	return head + fmt.Sprintf("%s", rows)
}

// around is the part of a text in which it differs from another.
func around(a, b string) string {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	return fmt.Sprintf("(%d bytes, from %d) %s", len(a), max(0, at-300), a[max(0, at-300):min(len(a), at+500)])
}

// servePast serves REST and MCP over a node, with models and with the job that embeds.
func servePast(t *testing.T, node *onenode.Node, door memory.Options) *rig {
	t.Helper()
	r := serveNode(t, node, door, withDesk(t), func(c *httpd.Config) {
		tools, err := mcp.NewServer(mcp.Options{Memory: c.Memory, Logger: c.Logger, Version: "test"})
		if err != nil {
			t.Fatal(err)
		}
		c.MCP = tools
	})
	r.unjudged = true // the description is held by other tests
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.door.KeepEmbedded(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return r
}

func newDice(seed, of uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, of)) }

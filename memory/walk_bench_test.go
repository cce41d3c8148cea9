package memory_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/internal/onenode"
	"abagraph/memory"
)

// crowd is a store of persons who know others and say things, a few of them known
// by very many.
type crowd struct {
	service *memory.Service
	caller  memory.Caller
	persons int
	half    uint64 // half of the store was written by then
}

func newCrowd(b *testing.B, facts int) *crowd {
	b.Helper()
	n := onenode.StartWith(b, fsm.Options{CacheBytes: 256 << 20, MemTableBytes: 64 << 20}) // as a server has it
	c := &crowd{service: n.Service(b, memory.Options{}), persons: facts / 10}
	var err error
	if c.caller, err = c.service.Resolve(b.Context(), ""); err != nil {
		b.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	words, known := rand.NewZipf(rnd, 1.2, 20, 20_000), rand.NewZipf(rnd, 1.3, 8, uint64(c.persons-1))
	for done := 0; done < facts; {
		req := &fact.Request{Tenant: memory.DefaultTenant, Branch: fact.MainBranch, Threshold: fact.DefaultThreshold, Write: &fact.Write{}}
		for range min(500, facts-done) {
			a := fact.Assert{Subject: fmt.Sprintf("Person:p%d", done%c.persons), Predicate: "said", Confidence: 1, ValidFrom: fact.NoInstant, ValidUntil: fact.Forever,
				KnownAt: fact.NoInstant, Policy: fact.Coexist}
			for i := range a.ID {
				a.ID[i] = byte(rnd.IntN(256))
			}
			text := ""
			for range 5 {
				text += " w" + strconv.FormatUint(words.Uint64(), 36)
			}
			a.Object = fact.TextObject(text[1:])
			if done%4 == 0 {
				a.Predicate, a.Object = "knows", fact.TextObject(fmt.Sprintf("Person:p%d", known.Uint64()))
			}
			if done%10 == 3 {
				a.Predicate, a.Policy = "status", fact.AutoSupersede
			}
			req.Write.Asserts = append(req.Write.Asserts, a)
			done++
		}
		got, err := n.Propose(b.Context(), req)
		if err != nil {
			b.Fatal(err)
		}
		if c.half == 0 && done >= facts/2 {
			c.half = got.Tx
			n.Advance(time.Hour)
		}
	}
	return c
}

// BenchmarkWalk walks two edges far, in the present and in the past.
func BenchmarkWalk(b *testing.B) {
	for _, size := range []int{10_000, 100_000} {
		b.Run("facts="+strconv.Itoa(size), func(b *testing.B) {
			c := newCrowd(b, size)
			for _, from := range []string{"ordinary", "hub", "unknown"} {
				for _, past := range []bool{false, true} {
					b.Run(fmt.Sprintf("%s/past=%v", from, past), func(b *testing.B) { c.bench(b, from, past) })
				}
			}
		})
	}
}

func (c *crowd) bench(b *testing.B, from string, past bool) {
	rnd := rand.New(rand.NewPCG(1, 1))
	var times []time.Duration
	spent := cpu(b)
	for b.Loop() {
		q := &memory.WalkQuery{Read: memory.NewRead(), Start: "Person:p0", Depth: 2}
		switch from {
		case "ordinary":
			q.Start = "Person:p" + strconv.Itoa(1+rnd.IntN(c.persons-1))
		case "unknown":
			q.Start = "Person:q" + strconv.Itoa(rnd.IntN(c.persons))
		}
		if past {
			q.Tx, q.Pinned = c.half, true
		}
		start := time.Now()
		if _, _, err := c.service.Walk(context.Background(), c.caller, q, nil); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(start))
	}
	spent = cpu(b) - spent
	slices.Sort(times)
	b.ReportMetric(float64(spent.Nanoseconds())/float64(len(times))/1000, "µs-cpu")
	b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1000, "µs-p50")
}

package memory_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/internal/embed"
	"abagraph/internal/onenode"
	"abagraph/memory"
)

// office is a store of people, companies and projects, skewed as real data is:
// few entities have many facts and many have few. It is the same for each size.
type office struct {
	service *memory.Service
	caller  memory.Caller
	people  int
	tx      uint64 // half of the store was written by then
	at      fact.Instant
}

var (
	officeVerbs = []string{"works_at", "role", "lives_in", "likes", "knows", "manages", "wrote", "status", "attended", "mentioned"}
	officeWords = []string{"quarterly", "roadmap", "release", "customer", "price", "contract", "renewal", "design", "review", "budget", "meeting",
		"engineer", "manager", "berlin", "london", "launch", "database", "support", "ticket", "invoice", "training", "hiring", "travel", "security"}
)

// newOffice fills a store. With vectors, each fact has one of 256 numbers.
func newOffice(b testing.TB, facts int, vectors bool) *office {
	b.Helper()
	n := onenode.StartWith(b, fsm.Options{CacheBytes: 256 << 20, MemTableBytes: 64 << 20}) // as a server has it
	var options memory.Options
	var err error
	if vectors {
		if options.Embedder, err = embed.New(embed.Options{Provider: embed.Hash, Dim: 256}); err != nil {
			b.Fatal(err)
		}
	}
	o := &office{service: n.Service(b, options), people: max(facts/12, 20)}
	if o.caller, err = o.service.Resolve(b.Context(), ""); err != nil {
		b.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(uint64(facts), 11))
	names := rand.NewZipf(rnd, 1.2, 8, uint64(o.people-1))
	for done := 0; done < facts; {
		req := &fact.Request{Tenant: memory.DefaultTenant, Branch: fact.MainBranch, Threshold: fact.DefaultThreshold, Write: &fact.Write{}}
		for range min(1000, facts-done) {
			req.Write.Asserts = append(req.Write.Asserts, officeFact(rnd, names, o.people))
			done++
		}
		if vectors {
			embedOffice(b, options.Embedder, req.Write)
		}
		got, err := n.Propose(b.Context(), req)
		if err != nil {
			b.Fatal(err)
		}
		if o.tx == 0 && done >= facts/2 {
			o.tx, o.at = got.Tx, got.RecordedAt
			n.Advance(time.Hour)
		}
	}
	return o
}

func embedOffice(b testing.TB, from memory.Embedder, w *fact.Write) {
	b.Helper()
	texts := make([]string, len(w.Asserts))
	for i := range w.Asserts {
		a := &w.Asserts[i]
		texts[i] = memory.EmbedText(a.Subject, a.Predicate, a.Object, a.Source)
	}
	list, err := from.Embed(b.Context(), texts)
	if err != nil {
		b.Fatal(err)
	}
	w.Model = from.Model()
	for i := range w.Asserts {
		w.Asserts[i].Vector = list[i]
	}
}

func officeFact(rnd *rand.Rand, names *rand.Zipf, people int) fact.Assert {
	subject := fmt.Sprintf("Person:p%d", rnd.IntN(people))
	if rnd.IntN(3) == 0 {
		subject = fmt.Sprintf("Person:p%d", names.Uint64())
	}
	verb := officeVerbs[rnd.IntN(len(officeVerbs))]
	source := fmt.Sprintf("system-%d", rnd.IntN(40))
	a := fact.Assert{Subject: subject, Predicate: verb, Confidence: 0.75 + float64(rnd.IntN(25))/100, ValidFrom: fact.NoInstant, ValidUntil: fact.Forever,
		KnownAt: fact.NoInstant, Source: &source, Policy: fact.Coexist}
	for i := range a.ID {
		a.ID[i] = byte(rnd.IntN(256))
	}
	switch verb {
	case "works_at":
		a.Object = fact.TextObject(fmt.Sprintf("Company:c%d", rnd.IntN(people/20+1)))
	case "knows", "manages":
		a.Object = fact.TextObject(fmt.Sprintf("Person:p%d", names.Uint64()))
	case "lives_in":
		a.Object = fact.TextObject(fmt.Sprintf("City:t%d", rnd.IntN(200)))
	default:
		text := ""
		for range 4 + rnd.IntN(8) {
			text += officeWords[rnd.IntN(len(officeWords))] + " "
		}
		a.Object = fact.TextObject(text + fmt.Sprint(rnd.IntN(10_000)))
	}
	return a
}

// BenchmarkContext builds packets of 64 facts around one seed, with a goal and a
// walk of one hop, in the present and in the past. The largest store takes a
// while to fill: choose by name.
func BenchmarkContext(b *testing.B) {
	for _, size := range []int{10_000, 100_000, 1_000_000} {
		for _, vectors := range []bool{false, true} {
			b.Run(fmt.Sprintf("facts=%d/vectors=%v", size, vectors), func(b *testing.B) {
				o := newOffice(b, size, vectors)
				for _, past := range []bool{false, true} {
					b.Run(fmt.Sprintf("past=%v", past), func(b *testing.B) {
						o.bench(b, past, func(rnd *rand.Rand) string { return fmt.Sprintf("Person:p%d", rnd.IntN(o.people)) })
					})
				}
				b.Run("hub", func(b *testing.B) { o.bench(b, false, func(*rand.Rand) string { return "Person:p0" }) })
			})
		}
	}
}

func (o *office) bench(b *testing.B, past bool, seed func(*rand.Rand) string) {
	rnd := rand.New(rand.NewPCG(1, 1))
	ask := func() {
		q := memory.NewContextQuery()
		q.Goal = "prepare the " + officeWords[rnd.IntN(len(officeWords))] + " " + officeWords[rnd.IntN(len(officeWords))] + " with the team"
		q.Seeds = []string{seed(rnd)}
		if past {
			q.Tx, q.Pinned, q.AsOf = o.tx, true, o.at
		}
		if _, _, err := o.service.Context(context.Background(), o.caller, q, nil); err != nil {
			b.Fatal(err)
		}
	}
	ask()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ask()
	runtime.ReadMemStats(&after)
	var times []time.Duration
	spent := cpu(b)
	for b.Loop() {
		start := time.Now()
		ask()
		times = append(times, time.Since(start))
	}
	spent = cpu(b) - spent
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "µs-p50")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "µs-p99")
	b.ReportMetric(float64(spent.Microseconds())/float64(len(times)), "µs-cpu")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc), "B-of-one")
}

// cpu is what the process has used, which a busy machine does not change much.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

package fsm_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/log/entry"
)

// The benchmarks behind the section "Inside the process" of docs/benchmarks.md.
// Stores are made once for all rounds of a run, and read only.

const (
	benchStart  = fact.Instant(1_700_000_000_000)
	benchStep   = 1000 // milliseconds between two versions of a timeline
	benchTenant = "default"
)

// benchStore is a machine that benchmarks fill and read.
type benchStore struct {
	m     *fsm.Machine
	index uint64
	ids   uint64
	now   fact.Instant
}

func newBenchStore(tb testing.TB, options fsm.Options) *benchStore {
	tb.Helper()
	m, err := fsm.Open(options)
	if err != nil {
		tb.Fatal(err)
	}
	return &benchStore{m: m, now: benchStart}
}

func (s *benchStore) id() fact.ID {
	s.ids++
	var random [10]byte
	binary.BigEndian.PutUint64(random[2:], s.ids)
	return fact.NewID(s.now, random)
}

// request is one undated assert, or a dated one if from is given.
func (s *benchStore) request(subject, predicate, object string, from fact.Instant) []byte {
	return entry.EncodeRequest(&fact.Request{Tenant: benchTenant, Branch: fact.MainBranch, Threshold: fact.DefaultThreshold, Write: &fact.Write{
		Asserts: []fact.Assert{{ID: s.id(), Subject: subject, Predicate: predicate, Object: fact.TextObject(object),
			ValidFrom: from, ValidUntil: fact.Forever, Confidence: 1, KnownAt: fact.NoInstant}}}})
}

// apply commits requests as one entry.
func (s *benchStore) apply(tb testing.TB, requests [][]byte) {
	tb.Helper()
	s.index++
	s.now++
	applied, err := s.m.Apply([]fsm.Committed{{Index: s.index, Term: 1, Data: entry.EncodeBatch(entry.Batch{ProposedAt: s.now, Requests: requests})}})
	if err != nil {
		tb.Fatal(err)
	}
	for _, result := range applied[0].Results {
		if result.Err != nil {
			tb.Fatal(result.Err)
		}
	}
}

// read asks for the facts of one subject and predicate, and wants just one.
func (s *benchStore) read(b *testing.B, q *fact.Query) {
	view, err := s.m.View()
	if err != nil {
		b.Fatal(err)
	}
	page, err := view.Facts(b.Context(), q)
	view.Close()
	if err != nil || len(page.Facts) != 1 {
		b.Fatalf("%v, %+v", err, page)
	}
}

func benchScope() fact.Scope { return fact.Scope{Tenant: benchTenant, Branch: fact.MainBranch} }

const benchSubjects = 1000

// liveStore holds a fact of each of benchSubjects subjects, written three times.
var liveStore = sync.OnceValues(func() (*benchStore, error) {
	m, err := fsm.Open(fsm.Options{})
	if err != nil {
		return nil, err
	}
	return &benchStore{m: m, now: benchStart}, nil
})

// BenchmarkLiveRead reads what holds now of one subject and predicate, hot, as a
// request does that reaches this node's memory.
func BenchmarkLiveRead(b *testing.B) {
	s, err := liveStore()
	if err != nil {
		b.Fatal(err)
	}
	for version := 0; s.index < 3; version++ {
		var requests [][]byte
		for i := range benchSubjects {
			requests = append(requests, s.request("Bench:s"+strconv.Itoa(i), "state", "value "+strconv.Itoa(version), fact.NoInstant))
		}
		s.apply(b, requests)
	}
	queries := make([]fact.Query, benchSubjects)
	for i := range queries {
		queries[i] = fact.Query{Scope: benchScope(), Subject: "Bench:s" + strconv.Itoa(i), Predicate: "state", At: fact.Present(s.now)}
	}
	random := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	for b.Loop() {
		page, _, ok := s.m.Live(&queries[random.IntN(benchSubjects)])
		if !ok || len(page.Facts) != 1 {
			b.Fatalf("not answered from memory: %+v", page)
		}
	}
}

// timelines are stores by the number of versions in their one timeline.
var timelines sync.Map

// shortVersions is the length of the timeline that stands beside each long one.
const shortVersions = 10

// timeline fills a store with one functional timeline of n versions, each of
// which supersedes the one before, and another one of few, spread over the same time.
func timeline(b *testing.B, n int) *benchStore {
	if s, found := timelines.Load(n); found {
		return s.(*benchStore)
	}
	s := newBenchStore(b, fsm.Options{})
	for at := 0; at < n; {
		var entries []fsm.Committed
		for ; at < n && len(entries) < 1000; at++ {
			s.index++
			s.now += benchStep
			requests := [][]byte{s.request("Bench:timeline", "state", "value "+strconv.Itoa(at), fact.NoInstant)}
			if n > shortVersions && at%(n/shortVersions) == 0 {
				requests = append(requests, s.request("Bench:short", "state", "value "+strconv.Itoa(at), fact.NoInstant))
			}
			entries = append(entries, fsm.Committed{Index: s.index, Term: 1,
				Data: entry.EncodeBatch(entry.Batch{ProposedAt: s.now, Requests: requests})})
		}
		if _, err := s.m.Apply(entries); err != nil {
			b.Fatal(err)
		}
	}
	s.settle(b)
	timelines.Store(n, s)
	return s
}

// settle waits until the store has nothing left to do in the background, which
// would take its time from what is measured.
func (s *benchStore) settle(b *testing.B) {
	for quiet := 0; quiet < 20; quiet++ {
		figures, err := s.m.Metrics()
		if err != nil {
			b.Fatal(err)
		}
		if figures.Flush.NumInProgress > 0 || figures.Compact.NumInProgress > 0 {
			quiet = 0
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// BenchmarkAsOf reads a functional timeline at instants all over it: a seek,
// not the length of its history. As many instants are read of a short timeline
// as of a long one, each once before the time is taken. A short one is read alone in its
// store, and beside a long one: what a store is large for costs the same there.
func BenchmarkAsOf(b *testing.B) {
	for _, c := range []struct {
		name, subject string
		versions      int
	}{
		{"versions=10", "Bench:timeline", 10},
		{"versions=1000", "Bench:timeline", 1000},
		{"versions=10,beside=1000000", "Bench:short", 1_000_000},
		{"versions=1000000", "Bench:timeline", 1_000_000},
	} {
		b.Run(c.name, func(b *testing.B) {
			n := c.versions
			s := timeline(b, n)
			random := rand.New(rand.NewPCG(1, 2))
			queries := make([]fact.Query, 1000)
			for i := range queries {
				queries[i] = fact.Query{Scope: benchScope(), Subject: c.subject, Predicate: "state", At: fact.Present(s.now)}
				queries[i].At.AsOf = benchStart + benchStep + fact.Instant(random.IntN(n*benchStep))
				s.read(b, &queries[i])
			}
			b.ReportAllocs()
			for b.Loop() {
				s.read(b, &queries[random.IntN(len(queries))])
			}
		})
	}
}

// BenchmarkApply applies superseding facts, as many in one entry as clients
// would be waiting; the time is that of one fact.
func BenchmarkApply(b *testing.B) {
	for _, group := range []int{1, 32, 500} {
		b.Run(fmt.Sprintf("group=%d", group), func(b *testing.B) {
			s := newBenchStore(b, fsm.Options{Dir: b.TempDir()})
			defer s.m.Close()
			random := rand.New(rand.NewPCG(1, 2))
			b.ReportAllocs()
			b.ResetTimer()
			for done := 0; done < b.N; {
				b.StopTimer()
				var requests [][]byte
				for ; len(requests) < group; done++ {
					requests = append(requests, s.request("Bench:s"+strconv.Itoa(random.IntN(10_000)), "state", "value "+strconv.Itoa(done), fact.NoInstant))
				}
				b.StartTimer()
				s.apply(b, requests)
			}
		})
	}
}

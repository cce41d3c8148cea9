package fsm_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/log/entry"
)

// TestReadersSeeWholeTransactions: while counters are superseded in groups, every
// view shows one state: its position, its facts and its stats belong together,
// and each counter has one value.
func TestReadersSeeWholeTransactions(t *testing.T) {
	const counters, rounds = 20, 60
	m, err := fsm.Open(fsm.Options{CacheBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	done := make(chan struct{})
	var readers sync.WaitGroup
	for r := range 3 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			for i := r; ; i++ {
				select {
				case <-done:
					return
				default:
					readCounters(t, m, fmt.Sprintf("Counter:%d", i%counters))
				}
			}
		}()
	}
	now := fact.Instant(1_700_000_000_000)
	for round := range rounds {
		now++
		group := make([][]byte, counters)
		for c := range group {
			group[c] = entry.EncodeRequest(&fact.Request{
				Tenant: "t", Branch: fact.MainBranch, Threshold: fact.DefaultThreshold,
				Write: &fact.Write{Asserts: []fact.Assert{{
					ID:      fact.NewID(now, [10]byte{byte(round >> 8), byte(round), byte(c), 1}),
					Subject: fmt.Sprintf("Counter:%d", c), Predicate: "count",
					Object:    fact.Object{Kind: fact.Number, Text: fmt.Sprint(round)},
					ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, Confidence: 1, KnownAt: fact.NoInstant,
				}}},
			})
		}
		_, err := m.Apply([]fsm.Committed{{Index: uint64(round + 1), Term: 1, Data: entry.EncodeBatch(entry.Batch{ProposedAt: now, Requests: group})}})
		if err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	readers.Wait()
}

func readCounters(t *testing.T, m *fsm.Machine, subject string) {
	v, err := m.View()
	if err != nil {
		t.Error(err)
		return
	}
	defer v.Close()
	ctx, scope, at := context.Background(), fact.Scope{Tenant: "t", Branch: fact.MainBranch}, v.Position()
	stats, err := v.Stats(ctx, scope)
	if err != nil {
		t.Error(err)
		return
	}
	if stats.Total() != at.Tx {
		t.Errorf("at tx %d the stats count %d facts", at.Tx, stats.Total())
	}
	for _, predicate := range []string{"count", ""} { // from the hot timelines, and from the store
		page, err := v.Facts(ctx, &fact.Query{Scope: scope, Subject: subject, Predicate: predicate, At: fact.Present(at.RecordedAt)})
		if err != nil {
			t.Error(err)
			return
		}
		if at.Tx > 0 && len(page.Facts) != 1 {
			t.Errorf("at tx %d %s has %d values", at.Tx, subject, len(page.Facts))
		}
		for _, f := range page.Facts {
			if f.Tx > at.Tx {
				t.Errorf("a view of tx %d shows tx %d", at.Tx, f.Tx)
			}
		}
	}
}

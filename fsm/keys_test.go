package fsm

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"abagraph/fact"

	"pgregory.net/rapid"
)

// hostile draws names that hold what keys are made of.
func hostile(t *rapid.T, label string) string {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{
		"\x00", "\x01", "\x00\x01", "\x00\xff", "\xff", "\x02", "/", "|", "~", ":", "\x1f", "a", "b", "T", "main", "",
	}), 0, 6).Draw(t, label)
	return strings.Join(parts, "")
}

// TestINJ04KeysKeepTuplesApart is INJ-04: strings that hold the separators of
// keys round-trip, keep their order as tuples, and are no prefix of a
// neighbour.
func TestINJ04KeysKeepTuplesApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := []string{hostile(t, "a0"), hostile(t, "a1")}
		b := []string{hostile(t, "b0"), hostile(t, "b1")}
		ka := appendString(appendString(nil, a[0]), a[1])
		kb := appendString(appendString(nil, b[0]), b[1])
		if got, want := sign(bytes.Compare(ka, kb)), sign(slices.Compare(a, b)); got != want {
			t.Fatalf("%q and %q compare as %d, their keys as %d", a, b, want, got)
		}
		first, rest, ok := cutString(ka)
		second, rest, ok2 := cutString(rest)
		if !ok || !ok2 || first != a[0] || second != a[1] || len(rest) != 0 {
			t.Fatalf("%q came back as %q, %q", a, first, second)
		}
		p := appendString(nil, a[0])
		if bytes.HasPrefix(kb, p) != (a[0] == b[0]) {
			t.Fatalf("the prefix of %q reaches %q", a[0], b)
		}
		if end := successor(p); bytes.Compare(kb, p) >= 0 && (end == nil || bytes.Compare(kb, end) < 0) != (a[0] == b[0]) {
			t.Fatalf("the range of %q holds %q", a[0], b)
		}
	})
}

// TestINJ04TenantsKeepApart: no tenant's or branch's range holds another's key,
// and none reaches the store's own keys.
func TestINJ04TenantsKeepApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		own := space{hostile(t, "tenant"), hostile(t, "branch")}
		other := space{hostile(t, "other tenant"), hostile(t, "other branch")}
		f := &fact.Fact{Subject: hostile(t, "subject"), Predicate: hostile(t, "predicate"), Status: fact.Active, ValidUntil: fact.Forever}
		for _, k := range [][]byte{other.row(f), appendByPredicate(other.prefix(famByPred), f), appendByObject(other.prefix(famByObject), f, hashOf(f.Object)),
			appendStatement(other.prefix(famTimeline), f, hashOf(f.Object)), other.id(f.ID), other.events(1)} {
			if bytes.HasPrefix(k, tenantPrefix(own.tenant)) != (own.tenant == other.tenant) {
				t.Fatalf("tenant %q reaches a key of %q", own.tenant, other.tenant)
			}
			if k[0] != spaceTenant {
				t.Fatalf("a tenant's key lies in the store's own space")
			}
		}
	})
}

// TestTIM06TimesSortWithTheirSign covers times before 1970 in keys.
func TestTIM06TimesSortWithTheirSign(t *testing.T) {
	times := []fact.Instant{
		fact.NoInstant, fact.MinInstant, -457056000001, -457056000000, -1, 0, 1, 1_700_000_000_000, fact.MaxInstant, fact.Forever,
	}
	for i, at := range times {
		k := appendTime(nil, at)
		if timeAt(k) != at {
			t.Errorf("%d came back as %d", at, timeAt(k))
		}
		if i > 0 && bytes.Compare(appendTime(nil, times[i-1]), k) >= 0 {
			t.Errorf("%d does not sort before %d", times[i-1], at)
		}
	}
}

// TestBucketsReachWhatHolds: an interval that holds at t starts within the reach
// of its bucket, whatever its length.
func TestBucketsReachWhatHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := fact.Instant(rapid.Int64Range(int64(fact.MinInstant), int64(fact.MaxInstant)-1).Draw(t, "from"))
		length := rapid.Int64Range(1, int64(fact.MaxInstant-from)).Draw(t, "length")
		if rapid.Bool().Draw(t, "short") {
			length = 1 + length%300
		}
		until := from + fact.Instant(length)
		at := from + fact.Instant(rapid.Int64Range(0, length-1).Draw(t, "at"))
		bucket := bucketOf(from, until)
		if bucket <= bucketEmpty || bucket >= bucketOpen {
			t.Fatalf("[%d, %d) lies in bucket %d", from, until, bucket)
		}
		if from < reach(bucket, at) {
			t.Fatalf("[%d, %d) holds at %d, but bucket %d reaches back to %d only", from, until, at, bucket, reach(bucket, at))
		}
	})
	if bucketOf(5, 5) != bucketEmpty || bucketOf(5, fact.Forever) != bucketOpen {
		t.Fatal("no time and no end have buckets of their own")
	}
}

// FuzzCutString feeds arbitrary bytes to the key decoder.
func FuzzCutString(f *testing.F) {
	f.Add([]byte("a\x00\x01"))
	f.Add([]byte("\x00\xff\x00\x01rest"))
	f.Add([]byte{0})
	f.Fuzz(func(t *testing.T, k []byte) {
		s, rest, ok := cutString(k)
		if ok && !bytes.Equal(append(appendString(nil, s), rest...), k) {
			t.Fatalf("%x was read as %q and %x", k, s, rest)
		}
	})
}

// FuzzDecodeStored feeds arbitrary bytes to the decoders of what the store
// keeps: they answer an error, never a panic.
func FuzzDecodeStored(f *testing.F) {
	f.Add(appendEvent(nil, effect{op: fact.OpAssert, row: &row{f: fact.Fact{Subject: "a", Predicate: "b"}}}))
	f.Add(append(make([]byte, versionTail), appendPast(nil, &fact.Fact{Status: fact.Active, SupersededBy: fact.ID{1}}, versionEnd{1, 2, 3})...))
	f.Add(appendTxRecord(nil, &txRecord{Kind: "write", Tenant: "t"}))
	f.Add((&state{Format: storeFormat, Index: 3, Term: 2, Tx: 1, Clock: fact.NoInstant, Epoch: "e"}).append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = decodeEvent(b)
		_, _ = decodeVersion(b[:min(len(b), versionTail)], b[min(len(b), versionTail):])
		_, _ = decodeTxRecord(b)
		_, _ = decodeOutcome(b)
		_, _ = decodeState(b)
	})
}

func sign(n int) int { return int(math.Copysign(min(1, math.Abs(float64(n))), float64(n))) }

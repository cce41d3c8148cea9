package entry_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"abagraph/fact"
	"abagraph/log/entry"
)

// TestRepeatsReadTheSame: facts read one after the other, whatever was met before, are
// those that are read alone, and what was read stays as it is when more is read from
// the same memory.
func TestRepeatsReadTheSame(t *testing.T) {
	pick := rand.New(rand.NewPCG(1, 2))
	name := func(kind string, n int) string { return fmt.Sprint(kind, pick.IntN(n)) }
	var repeats entry.Repeats
	var read, alone []fact.Fact
	var memory []byte // one for all, as an iterator has
	for i := range 5000 {
		f := fact.Fact{
			ID: fact.ID{byte(i), byte(i >> 8)}, Tenant: name("t", 2), Branch: fact.MainBranch, Subject: name("S:", 9), Predicate: name("p", 200),
			Object: fact.TextObject(name("o", 1000)), ValidFrom: fact.Instant(i), ValidUntil: fact.Forever, Confidence: 0.5, DeclaredKnownAt: fact.NoInstant,
		}
		switch source := name("s", 200); pick.IntN(4) {
		case 0:
		case 1:
			empty := ""
			f.Source = &empty
		default:
			f.Source = &source
		}
		memory = entry.AppendFact(memory[:0], &f)
		one, err := entry.DecodeFact(memory)
		if err != nil {
			t.Fatal(err)
		}
		same, err := repeats.DecodeFact(memory)
		if err != nil {
			t.Fatal(err)
		}
		read, alone = append(read, same), append(alone, one)
	}
	for i := range read {
		if !reflect.DeepEqual(read[i], alone[i]) {
			t.Fatalf("fact %d is %+v, want %+v", i, read[i], alone[i])
		}
	}
	if _, err := repeats.DecodeFact(memory[:len(memory)/2]); err == nil {
		t.Error("half a fact is one")
	}
}

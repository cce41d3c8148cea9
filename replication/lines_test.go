package replication

import (
	"fmt"
	"testing"
)

// TestATenantThatFloodsWaitsForItself fills the queue with one tenant's writes: each
// of another's still finds a place, and is next but one.
func TestATenantThatFloodsWaitsForItself(t *testing.T) {
	l := newLines(64, 1<<20)
	flood := 0
	for l.push("flood", &proposal{data: []byte("f")}) {
		flood++
	}
	if flood != 48 {
		t.Errorf("one tenant alone holds %d of 64 places", flood)
	}
	for i := range 12 {
		if !l.push("other", &proposal{data: []byte{'o', byte(i)}}) {
			t.Fatalf("the other tenant's write %d finds no place", i)
		}
	}
	if l.push("flood", &proposal{data: []byte("f")}) {
		t.Error("the tenant that floods takes the places that others need")
	}
	for i := range 12 {
		first, second := l.pop(), l.pop()
		if string(first.data) != "f" || string(second.data) != string([]byte{'o', byte(i)}) {
			t.Fatalf("turn %d went to %q and %q", i, first.data, second.data)
		}
	}
	for range flood - 12 {
		if q := l.pop(); q == nil || string(q.data) != "f" {
			t.Fatal("a write of the flood is lost")
		}
	}
	if q := l.pop(); q != nil || l.len() != 0 || l.bytes != 0 || len(l.tenants) != 0 {
		t.Errorf("an empty queue holds %v, %d bytes, %d tenants", q, l.bytes, len(l.tenants))
	}
}

// TestLinesBoundBytes holds the queue to its bytes, and one tenant to three quarters.
func TestLinesBoundBytes(t *testing.T) {
	l := newLines(1000, 1000)
	if !l.push("a", &proposal{data: make([]byte, 900)}) {
		t.Error("a single write that fits is refused")
	}
	if l.push("b", &proposal{data: make([]byte, 101)}) {
		t.Error("more bytes wait than may")
	}
	l.pop()
	for i := range 7 {
		if !l.push("a", &proposal{data: make([]byte, 100)}) {
			t.Fatalf("100 bytes beside %d00 are refused", i)
		}
	}
	if l.push("a", &proposal{data: make([]byte, 100)}) {
		t.Error("one tenant takes more than three quarters")
	}
	if !l.push("b", &proposal{data: make([]byte, 200)}) {
		t.Error("another tenant finds no place")
	}
}

// TestLinesAmongManyTenants: each of many tenants has its turn in each round.
func TestLinesAmongManyTenants(t *testing.T) {
	l := newLines(1000, 1<<20)
	for round := range 3 {
		for i := range 100 {
			l.push(fmt.Sprint("t", i), &proposal{data: fmt.Appendf(nil, "%d/%d", i, round)})
		}
	}
	for round := range 3 {
		for i := range 100 {
			if got, want := string(l.pop().data), fmt.Sprintf("%d/%d", i, round); got != want {
				t.Fatalf("%s came where %s was next", got, want)
			}
		}
	}
}

package memory_test

import (
	"fmt"
	"testing"

	"abagraph/fact"
	"abagraph/internal/onenode"
	"abagraph/memory"
)

// What the server keeps as facts is found among more facts of its predicate than a list
// has room for, and of the caller's tenant alone.
func TestKeptIsFoundAmongMany(t *testing.T) {
	s := onenode.Start(t).Service(t, memory.Options{})
	operator := resolve(t, s, "")
	in := func(tenant string) memory.Caller {
		t.Helper()
		c, err := operator.In(tenant)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	write := func(tenant string, subjects ...string) {
		t.Helper()
		w := &fact.Write{}
		for _, subject := range subjects {
			w.Asserts = append(w.Asserts, fact.Assert{
				Subject: subject, Predicate: "connector", Object: fact.TextObject("x"), Confidence: 1,
				ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, KnownAt: fact.NoInstant,
			})
		}
		if _, err := s.Transact(t.Context(), in(tenant), memory.WriteOptions{}, w, nil); err != nil {
			t.Fatal(err)
		}
	}
	write("ta", "Connector:a", "Connector:b")
	write("tb", "Connector:c")
	var ports []string
	for i := range fact.MaxLimit {
		ports = append(ports, fmt.Sprint("Port:", i))
	}
	write("ta", ports...)
	for tenant, want := range map[string]int{"ta": 2, "tb": 1, "tc": 0} {
		n := 0
		meta, err := s.Kept(t.Context(), in(tenant), memory.NewRead(), "Connector:", "connector", nil, func(f *fact.Fact) {
			if f.Tenant == tenant {
				n++
			}
		})
		if err != nil || n != want || meta.Tx != 3 {
			t.Errorf("%s: %d, %v at tx %d, want %d", tenant, n, err, meta.Tx, want)
		}
	}
}

package search

import (
	"slices"
	"sync"

	"abagraph/fact"
)

// oneFullIn is of how many vectors one may be kept in full: all of these together take a
// sixteenth of what the codes do.
const oneFullIn = 64

// fulls keeps the full vectors of a model that were read lately, by statement. A
// statement's vector never changes, so that they are right in every state in which the
// index knows of one. It is a cache, and safe for concurrent use.
type fulls struct {
	mu   sync.Mutex
	at   map[fact.ID]int // by statement, the place in ring
	ring []full
	hand int // goes round the ring, and drops what was not used since it came by
}

type full struct {
	statement fact.ID
	vector    []float32 // nobody changes it
	used      bool
}

func newFulls() *fulls { return &fulls{at: make(map[fact.ID]int)} }

// get returns a statement's vector; nil where it is not kept.
func (k *fulls) get(statement fact.ID) []float32 {
	k.mu.Lock()
	defer k.mu.Unlock()
	i, there := k.at[statement]
	if !there {
		return nil
	}
	k.ring[i].used = true
	return k.ring[i].vector
}

// keep keeps a copy of a statement's vector, among so many at most.
func (k *fulls) keep(statement fact.ID, vector []float32, most int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, there := k.at[statement]; there || most <= 0 {
		return
	}
	i := k.place(most)
	k.ring[i] = full{statement: statement, vector: slices.Clone(vector)}
	k.at[statement] = i
}

// place makes room for one more.
func (k *fulls) place(most int) int {
	if len(k.ring) < most {
		k.ring = append(k.ring, full{})
		return len(k.ring) - 1
	}
	for ; ; k.hand++ {
		k.hand %= len(k.ring)
		if one := &k.ring[k.hand]; one.used {
			one.used = false
			continue
		}
		delete(k.at, k.ring[k.hand].statement)
		k.hand++
		return k.hand - 1
	}
}

// drop forgets the vector of a statement.
func (k *fulls) drop(statement fact.ID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i, there := k.at[statement]; there {
		k.ring[i] = full{}
		delete(k.at, statement)
	}
}

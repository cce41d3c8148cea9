package words

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

func TestTheTableIsWhole(t *testing.T) {
	table, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	if table.Len() != 20_000 {
		t.Errorf("%d words", table.Len())
	}
	if rank, ok := table.Rank("the"); !ok || rank != 0 {
		t.Errorf("the has rank %d, %v", rank, ok)
	}
	if _, ok := table.Rank("Person:alice"); ok {
		t.Error("a word that nobody uses has a rank")
	}
}

func TestNeighboursAreUsedAlike(t *testing.T) {
	table, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]string{"doctor": "physician", "king": "queen", "employer": "employers"} {
		list := table.Neighbours(word)
		if !slices.ContainsFunc(list, func(n Neighbour) bool { return n.Word == want }) {
			t.Errorf("%s is not near %s: %v", want, word, list)
		}
		for i, n := range list {
			c, _ := table.Cosine(word, n.Word)
			if n.Word == word || c != n.Cosine || c < MinCosine || c > 1 || i > 0 && c > list[i-1].Cosine {
				t.Errorf("neighbour %d of %s: %+v, cosine %v", i, word, n, c)
			}
		}
		if again := table.Neighbours(word); !slices.Equal(again, list) {
			t.Errorf("the neighbours of %s change", word)
		}
	}
	if list := table.Neighbours("no such word"); list != nil {
		t.Errorf("an unknown word has neighbours: %v", list)
	}
}

// TestNeighboursAgainstASort: keeping the nearest while looking gives what
// sorting everything gives.
func TestNeighboursAgainstASort(t *testing.T) {
	table, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	var all []Neighbour
	for _, word := range table.words {
		if c, _ := table.Cosine("party", word); word != "party" && c >= MinCosine {
			all = append(all, Neighbour{word, c})
		}
	}
	slices.SortStableFunc(all, func(a, b Neighbour) int {
		switch {
		case a.Cosine > b.Cosine:
			return -1
		case a.Cosine < b.Cosine:
			return 1
		}
		return 0
	})
	if got := table.Neighbours("party"); !slices.Equal(got, all[:min(len(all), MaxNeighbours)]) {
		t.Errorf("got %v, want %v", got, all)
	}
}

func TestADamagedTableIsRefused(t *testing.T) {
	word := func(b []byte, name string, vector ...byte) []byte {
		b = append(append(b, byte(len(name))), name...)
		return append(binary.LittleEndian.AppendUint32(b, math.Float32bits(0.5)), vector...)
	}
	head := append([]byte(magic), 2, 0, 0, 0, 2, 0, 0, 0)
	whole := word(word(head, "a", 3, 4), "b", 3, 4)
	if table, err := parse(whole); err != nil || table.Len() != 2 {
		t.Fatalf("a whole table: %v", err)
	}
	for name, b := range map[string][]byte{
		"empty": nil, "cut": whole[:len(whole)-1], "longer": append(slices.Clone(whole), 0), "other magic": append([]byte("WVQ9"), whole[4:]...),
		"a word twice": word(word(head, "a", 3, 4), "a", 3, 4), "no dimensions": append([]byte(magic), 1, 0, 0, 0, 0, 0, 0, 0),
		"more words than bytes": append([]byte(magic), 255, 255, 255, 255, 1, 0, 0, 0),
	} {
		if _, err := parse(b); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func BenchmarkNearest(b *testing.B) {
	table, err := Load()
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		table.nearest(i % table.Len())
	}
}

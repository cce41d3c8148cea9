package words

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

//go:embed glove-100d-20k.bin
var embedded []byte

// magic begins a table: one scale and signed bytes for each word.
const magic = "WVQ8"

// MaxNeighbours is how many neighbours of a word are kept.
const MaxNeighbours = 32

// MinCosine is the cosine below which a word is no neighbour.
const MinCosine = 0.45

// Neighbour is a word that is used like another one.
type Neighbour struct {
	Word   string
	Cosine float64 // MinCosine … 1
}

// Table is the words with their vectors. It is safe for concurrent use.
type Table struct {
	words   []string
	rank    map[string]int32
	dim     int
	vectors []int8 // dim of them for each word
	norms   []float64
	near    []atomic.Pointer[[]Neighbour]
}

// Load returns the built-in table. It is read once.
var Load = sync.OnceValues(func() (*Table, error) { return parse(embedded) })

// parse reads a table: the magic, the number of words and of dimensions as
// little-endian uint32, and for each word its length in one byte, its letters, a
// float32 that scales its vector, and the vector in signed bytes.
func parse(b []byte) (*Table, error) {
	bad := errors.New("words: the table is damaged")
	if len(b) < 12 || string(b[:4]) != magic {
		return nil, bad
	}
	count, dim := int(binary.LittleEndian.Uint32(b[4:])), int(binary.LittleEndian.Uint32(b[8:]))
	b = b[12:]
	if dim < 1 || dim > 4096 || count > len(b)/(dim+6) {
		return nil, bad
	}
	t := &Table{
		words: make([]string, 0, count), rank: make(map[string]int32, count), dim: dim,
		vectors: make([]int8, 0, count*dim), norms: make([]float64, 0, count), near: make([]atomic.Pointer[[]Neighbour], count),
	}
	for i := range count {
		if len(b) < 1 || len(b) < 1+int(b[0])+4+dim {
			return nil, bad
		}
		word, rest := string(b[1:1+b[0]]), b[1+int(b[0])+4:]
		if _, twice := t.rank[word]; twice {
			return nil, fmt.Errorf("%w: %q is in it twice", bad, word)
		}
		t.words, t.rank[word] = append(t.words, word), int32(i)
		sum := 0
		for _, c := range rest[:dim] {
			v := int(int8(c))
			sum += v * v
			t.vectors = append(t.vectors, int8(c))
		}
		// The scale is one for the whole vector: a cosine does without it.
		t.norms = append(t.norms, math.Sqrt(float64(sum)))
		b = rest[dim:]
	}
	if len(b) > 0 {
		return nil, bad
	}
	return t, nil
}

// Len is how many words there are.
func (t *Table) Len() int { return len(t.words) }

// Rank is the place of a word by how often English uses it, 0 = most often; ok
// is false for a word that is not in the table.
func (t *Table) Rank(word string) (rank int, ok bool) {
	r, ok := t.rank[word]
	return int(r), ok
}

// Cosine is how alike two words are used, from -1 to 1; ok is false where the
// table lacks one of them.
func (t *Table) Cosine(a, b string) (cosine float64, ok bool) {
	i, there := t.rank[a]
	j, too := t.rank[b]
	if !there || !too {
		return 0, false
	}
	return t.cosine(int(i), int(j)), true
}

func (t *Table) cosine(i, j int) float64 {
	if t.norms[i] == 0 || t.norms[j] == 0 {
		return 0
	}
	return float64(dot(t.vectors[i*t.dim:(i+1)*t.dim], t.vectors[j*t.dim:(j+1)*t.dim])) / (t.norms[i] * t.norms[j])
}

// dot is the inner product of two vectors of one length. Four sums side by side
// keep the processor busy; whole numbers come out the same in any order.
func dot(a, b []int8) int32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 int32
	n := len(a) &^ 3
	for k := 0; k < n; k += 4 {
		x, y := a[k:k+4:k+4], b[k:k+4:k+4]
		s0 += int32(x[0]) * int32(y[0])
		s1 += int32(x[1]) * int32(y[1])
		s2 += int32(x[2]) * int32(y[2])
		s3 += int32(x[3]) * int32(y[3])
	}
	for k := n; k < len(a); k++ {
		s0 += int32(a[k]) * int32(b[k])
	}
	return s0 + s1 + s2 + s3
}

// Neighbours returns the words nearest to a word, the nearest first, itself left
// out; none for a word that is not in the table. They are kept: the slice is
// shared and only read.
func (t *Table) Neighbours(word string) []Neighbour {
	i, ok := t.rank[word]
	if !ok {
		return nil
	}
	if known := t.near[i].Load(); known != nil {
		return *known
	}
	list := t.nearest(int(i))
	t.near[i].Store(&list)
	return list
}

func (t *Table) nearest(i int) []Neighbour {
	list := make([]Neighbour, 0, MaxNeighbours+1)
	for j := range t.words {
		if j == i {
			continue
		}
		c := t.cosine(i, j)
		if c < MinCosine || len(list) == MaxNeighbours && c <= list[len(list)-1].Cosine {
			continue
		}
		// Equal cosines keep the order of the table.
		at, _ := slices.BinarySearchFunc(list, c, func(n Neighbour, c float64) int {
			if n.Cosine >= c {
				return -1
			}
			return 1
		})
		list = slices.Insert(list, at, Neighbour{t.words[j], c})
		list = list[:min(len(list), MaxNeighbours)]
	}
	return slices.Clip(list)
}

// Frequent returns the n most frequent words, the most frequent first.
func (t *Table) Frequent(n int) []string { return slices.Clone(t.words[:min(n, len(t.words))]) }

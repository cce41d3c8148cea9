package fact

import "math"

// Bounds of vectors.
const (
	// MaxVectorDim is the most numbers that a vector may have.
	MaxVectorDim = 8192
	// MaxModelBytes is the most bytes of a model's name.
	MaxModelBytes = 255
)

// Model names what made a vector. Vectors of different models, or of different
// lengths, never compare.
type Model struct {
	Name string
	Dim  int
}

// Given reports whether there is a model at all.
func (m Model) Given() bool { return m.Name != "" }

// Valid reports whether a model can be kept.
func (m Model) Valid() bool {
	return m.Name != "" && len(m.Name) <= MaxModelBytes && m.Dim >= 1 && m.Dim <= MaxVectorDim
}

// Vectors gives vectors to statements that have none of the model. It changes no
// fact: what the store holds is found differently afterwards, so it takes a tx.
type Vectors struct {
	Model Model
	Rows  []VectorRow
}

// VectorRow is the vector of one statement, named by the id of any of its pieces.
type VectorRow struct {
	ID     ID
	Vector []float32
}

// VectorAt names the vector of a statement and the tx at which it was set, 0 where
// that is not known.
type VectorAt struct {
	Statement ID
	Tx        uint64
}

// VectorCount tells how many facts of a scope have a vector of a model.
type VectorCount struct {
	Facts uint64 // facts of any status
	// Missing are the facts without one. Above MissingExact it may also count
	// continuations, which share the vector of their statement.
	Missing uint64
}

// MissingExact is up to where VectorCount.Missing tells continuations apart.
const MissingExact = 10_000

// Unit scales a vector to length 1, in place. It reports false for one that has
// no direction: empty, zero, or with a number that is not finite.
func Unit(v []float32) bool {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return false
	}
	scale := 1 / math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) * scale)
	}
	return true
}

// Dot is the inner product of two vectors of one length; of unit vectors, their
// cosine. The products of two float32 are exact in float64, so that every machine
// comes to the same sum.
func Dot(a, b []float32) float64 {
	b = b[:len(a)]
	sum := 0.0
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}

package embed

import (
	"context"
	"fmt"

	"abagraph/fact"
)

// hashed maps texts to vectors by a rolling hash: the same text always to the
// same vector, and texts that share runs of bytes to near ones. It knows nothing
// of meaning.
type hashed struct{ model fact.Model }

func newHash(dim int) (Provider, error) {
	if dim == 0 {
		dim = DefaultHashDim
	}
	m := fact.Model{Name: Hash, Dim: dim}
	if !m.Valid() {
		return nil, fmt.Errorf("the dimension of vectors must be from 1 to %d, not %d", fact.MaxVectorDim, dim)
	}
	return hashed{m}, nil
}

// Model names the hash.
func (h hashed) Model() fact.Model { return h.model }

// Embed never fails: a text without a direction points along the first axis.
func (h hashed) Embed(_ context.Context, texts []string) ([][]float32, error) {
	list := make([][]float32, len(texts))
	for i, text := range texts {
		list[i] = h.vector(text)
	}
	return list, nil
}

// window is how many bytes in a row are hashed together.
const window = 3

func (h hashed) vector(text string) []float32 {
	v := make([]float32, h.model.Dim)
	for at := 0; at == 0 || at+window <= len(text); at++ {
		sum := uint64(14695981039346656037) // FNV-1a
		for i := at; i < min(at+window, len(text)); i++ {
			sum = (sum ^ uint64(text[i])) * 1099511628211
		}
		sum ^= sum >> 29 // its low bits alone are few
		sign := float32(1)
		if sum>>63 == 1 {
			sign = -1
		}
		v[sum%uint64(len(v))] += sign
	}
	if !fact.Unit(v) {
		clear(v)
		v[0] = 1
	}
	return v
}

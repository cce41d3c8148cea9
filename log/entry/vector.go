package entry

import (
	"encoding/binary"
	"math"

	"abagraph/fact"
)

// A write may be followed by sections, each with a tag: what was added to it
// after its bytes were fixed. One without any has the bytes that it always had.
const (
	sectionVectors = 1
	sectionBlobs   = 2
)

// sections reads what follows a write.
func (r *reader) sections(b *fact.Write) {
	for r.err == nil && len(r.b) > 0 {
		switch r.byte() {
		case sectionVectors:
			r.embedded(b)
		case sectionBlobs:
			r.blobs(b)
		default:
			r.fail("a part of a write that this program does not know")
		}
	}
}

// embedded writes the vectors of the asserts that have one. One that is not of
// its model is left out: an entry must be readable on every node.
func (w *writer) embedded(b *fact.Write) {
	n := 0
	for i := range b.Asserts {
		if fits(b.Model, b.Asserts[i].Vector) {
			n++
		}
	}
	if n == 0 {
		return
	}
	w.byte(sectionVectors)
	w.model(b.Model)
	w.uint(uint64(n))
	for i := range b.Asserts {
		if v := b.Asserts[i].Vector; fits(b.Model, v) {
			w.uint(uint64(i))
			w.b = AppendVector(w.b, v)
		}
	}
}

func fits(m fact.Model, v []float32) bool { return len(v) > 0 && len(v) == m.Dim && m.Valid() }

func (r *reader) embedded(b *fact.Write) {
	if b.Model.Given() {
		r.fail("vectors that come twice")
		return
	}
	b.Model = r.model()
	for n := r.length(); n > 0 && r.err == nil; n-- {
		i := r.uint()
		v := r.vector(b.Model.Dim)
		switch {
		case r.err != nil:
		case i >= uint64(len(b.Asserts)) || b.Asserts[i].Vector != nil:
			r.fail("a vector of an assert that is not there")
		default:
			b.Asserts[i].Vector = v
		}
	}
}

func (w *writer) model(m fact.Model) {
	w.string(m.Name)
	w.uint(uint64(m.Dim))
}

func (r *reader) model() fact.Model {
	name, dim := r.string(), r.uint()
	m := fact.Model{Name: name, Dim: int(min(dim, fact.MaxVectorDim+1))}
	if r.err == nil && !m.Valid() {
		r.fail("bad model of vectors")
	}
	return m
}

func (w *writer) vectors(v *fact.Vectors) {
	var rows []fact.VectorRow
	for _, row := range v.Rows {
		if fits(v.Model, row.Vector) {
			rows = append(rows, row)
		}
	}
	w.model(v.Model)
	w.uint(uint64(len(rows)))
	for _, row := range rows {
		w.id(row.ID)
		w.b = AppendVector(w.b, row.Vector)
	}
}

func (r *reader) vectors() *fact.Vectors {
	v := &fact.Vectors{Model: r.model()}
	n := r.length()
	v.Rows = make([]fact.VectorRow, 0, min(n, 256))
	for i := 0; i < n && r.err == nil; i++ {
		v.Rows = append(v.Rows, fact.VectorRow{ID: r.id(), Vector: r.vector(v.Model.Dim)})
	}
	return v
}

func (r *reader) vector(dim int) []float32 {
	return DecodeVector(r.take(4 * dim))
}

// AppendVector appends the numbers of a vector, four bytes each.
func AppendVector(dst []byte, v []float32) []byte {
	for _, x := range v {
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
	}
	return dst
}

// DecodeVector reads the numbers of a vector.
func DecodeVector(b []byte) []float32 { return AppendDecoded(make([]float32, 0, len(b)/4), b) }

// AppendDecoded appends the numbers of a vector.
func AppendDecoded(v []float32, b []byte) []float32 {
	for ; len(b) >= 4; b = b[4:] {
		v = append(v, math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return v
}

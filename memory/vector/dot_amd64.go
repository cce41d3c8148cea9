package vector

import "golang.org/x/sys/cpu"

// atOnce is how many codes the processor's vector unit takes in one turn.
const atOnce = 32

// dot sums products of codes. The sum is of whole numbers, and so the same
// however it is added up.
func dot(a []int16, b []int8) int32 {
	n := len(b) &^ (atOnce - 1)
	if n == 0 || !cpu.X86.HasAVX2 {
		return dotPlain(a, b)
	}
	a = a[:len(b)]
	return dotAVX2(&a[0], &b[0], n) + dotPlain(a[n:], b[n:])
}

// dotAVX2 sums n products, n being a multiple of atOnce and not 0.
//
//go:noescape
func dotAVX2(a *int16, b *int8, n int) int32

//go:build !amd64

package vector

// dot sums products of codes.
func dot(a []int16, b []int8) int32 { return dotPlain(a, b) }

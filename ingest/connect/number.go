package connect

import "math/big"

// compareNumbers compares two numbers as they are written.
func compareNumbers(a, b string) int {
	x, okX := new(big.Float).SetPrec(256).SetString(a)
	y, okY := new(big.Float).SetPrec(256).SetString(b)
	if !okX || !okY {
		return 0
	}
	return x.Cmp(y)
}

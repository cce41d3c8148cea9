package load

import "slices"

// Median returns the middle of the values, the mean of the two in the middle of
// an even number, and 0 of none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// Of maps samples to one of their figures.
func Of(samples []Sample, figure func(Sample) float64) []float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = figure(s)
	}
	return values
}

// Ratio returns the median of the ratios of rates, each round of a divided by
// the same round of b: what both met in that round cancels out.
func Ratio(a, b []Sample) float64 {
	var ratios []float64
	for i := range min(len(a), len(b)) {
		if rate := b[i].Rate(); rate > 0 {
			ratios = append(ratios, a[i].Rate()/rate)
		}
	}
	return Median(ratios)
}

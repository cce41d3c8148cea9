package main

import "strconv"

// number and fraction read settings whose checks have passed; a setting
// without a value is 0.

func (s settings) number(name string) int64 {
	n, err := strconv.ParseInt(s.get(name), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (s settings) fraction(name string) float64 {
	f, err := strconv.ParseFloat(s.get(name), 64)
	if err != nil {
		return 0
	}
	return f
}

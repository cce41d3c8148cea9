//go:build plant_twice

package planted

// Bug is the one that this program has.
const Bug = ApplyTwice

//go:build plant_sync

package planted

// Bug is the one that this program has.
const Bug = SkipSync

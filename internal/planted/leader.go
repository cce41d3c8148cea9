//go:build plant_leader

package planted

// Bug is the one that this program has.
const Bug = StaleLeader

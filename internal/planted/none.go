//go:build !plant_sync && !plant_leader && !plant_twice && !plant_tenant

package planted

// Bug is the one that this program has.
const Bug = None

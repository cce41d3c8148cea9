//go:build plant_tenant

package planted

// Bug is the one that this program has.
const Bug = ForgetTenant

package mask

import (
	"fmt"
	"slices"
	"strings"
)

// Regions is a set of countries whose own way of writing a telephone number, with
// spaces alone and no sign that tells it from any other number, is looked for too.
type Regions uint32

// EveryRegion is the set of all of them.
const EveryRegion = ^Regions(0)

// plan is how the numbers of a country are grouped, and the digits that they may
// begin with.
type plan struct {
	region string
	first  string
	groups []int
}

// plans is sorted by region; what it holds is a table of docs/masking.md.
var plans = [...]plan{
	{"br", "123456789", []int{2, 5, 4}}, {"br", "123456789", []int{2, 4, 4}},
	{"cn", "1", []int{3, 4, 4}}, {"cn", "1", []int{11}},
	{"dk", "23456789", []int{2, 2, 2, 2}}, {"dk", "23456789", []int{4, 4}},
	{"es", "6789", []int{3, 3, 3}}, {"es", "6789", []int{3, 2, 2, 2}},
	{"in", "6789", []int{5, 5}}, {"in", "6789", []int{10}},
	{"it", "3", []int{3, 3, 4}}, {"it", "3", []int{3, 7}},
	{"mx", "123456789", []int{2, 4, 4}}, {"mx", "123456789", []int{3, 3, 4}},
	{"no", "23456789", []int{2, 2, 2, 2}}, {"no", "49", []int{3, 2, 3}},
	{"pl", "45678", []int{3, 3, 3}}, {"pl", "1234567", []int{2, 3, 2, 2}},
	{"pt", "29", []int{3, 3, 3}},
	{"sg", "3689", []int{4, 4}},
	{"us", "23456789", []int{3, 3, 4}},
}

// regions lists the names of the regions that are known, in order.
func regions() []string {
	var names []string
	for i := range plans {
		if !slices.Contains(names, plans[i].region) {
			names = append(names, plans[i].region)
		}
	}
	return names
}

// ParseRegions reads a comma list of regions; "" is none. One that is not known is an
// error that lists them: a rule must never be off because of a letter.
func ParseRegions(text string) (Regions, error) {
	var set Regions
	names := regions()
	for _, one := range strings.Split(text, ",") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		i := slices.Index(names, strings.ToLower(one))
		if i < 0 {
			return 0, fmt.Errorf("%q is no region that is known (%s; the numbers of other countries need no naming)", one, strings.Join(names, ", "))
		}
		set |= 1 << i
	}
	return set, nil
}

// isRegional judges all groups from i on by the plans of some regions.
func (c *chain) isRegional(set Regions, i int) bool {
	n, first := c.n-i, c.digits[c.groups[i].first]
	if n > 5 || !c.joined(i, n, space) || !c.ends(i+n-1) {
		return false
	}
	at, name := -1, ""
	for k := range plans {
		p := &plans[k]
		if p.region != name {
			at, name = at+1, p.region
		}
		if set&(1<<at) != 0 && len(p.groups) == n && strings.IndexByte(p.first, first) >= 0 && c.shaped(i, p.groups...) {
			return true
		}
	}
	return false
}

package packet

import (
	"strconv"
	"strings"

	"abagraph/fact"
)

// Evidence writes facts as numbered lines for a model that answers from them:
// quoted, cut and cleaned as in a plain prompt, so that no stored text leaves its
// line.
func Evidence(facts []fact.Fact) string {
	var b strings.Builder
	for i := range facts {
		c := claim{Candidate: Candidate{Fact: &facts[i]}, corroboration: Corroboration{Agree: 1}}
		b.WriteString(strconv.Itoa(i+1) + ". " + strings.TrimPrefix(forms[Generic].factLine(&c, false), forms[Generic].fact[0]))
	}
	return b.String()
}

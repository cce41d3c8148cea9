package search

import "strings"

// common are the words of English that hold sentences together and say little of
// what they are about. A question is full of them and facts are not, so that
// their rarity among facts says nothing.
var common = func() map[string]bool {
	set := make(map[string]bool)
	for _, word := range strings.Fields(commonWords) {
		set[word] = true
	}
	return set
}()

const commonWords = `
	a about above after again against all also am an and any are as at be because been before being
	below between both but by can could did do does doing done down during each either else for from
	further get give given had has have having he her here hers him his how however i if in into is it
	its itself just let may me might mine more most must my neither no nor not of off on once only or
	other our ours out over own please same shall she should since so some such tell than that the
	their theirs them then there these they this those through to too under until up upon us very was
	we were what when where which while who whom whose why will with would yet you your yours
`

package packet

import "abagraph/fact"

// Limits of a request and of what a packet holds.
const (
	MaxFacts        = 1_000    // facts of one packet
	MaxPages        = 100      // pages of one packet
	MaxSeeds        = 64       // seeds of one request
	MaxGoalBytes    = 16 << 10 // the goal, of which the prompt shows the first maxShownGoal
	MaxRoleBytes    = 16 << 10
	MaxValueBytes   = 2_000 // of one stored text in a packet; beyond it, it is cut
	maxShownGoal    = 1_000
	maxSnippetBytes = 400
)

// Unit is one, in the whole numbers that scores are counted in.
const Unit = 1_000_000

// Request is what a packet is made for, apart from what was read for it.
type Request struct {
	Goal     string
	Role     string
	Style    Style
	Seeds    []string // those that exist, the project first
	MaxFacts int      // 0 = none
	MaxPages int      // 0 = none
	Budget   int      // tokens; 0 = no budget
	Cluster  float64  // least cosine at which near-duplicates count as one; 0 = off
	// Conflicts keeps facts that others contradict.
	Conflicts bool
	// Fold keeps room for a digest of what is dropped; Digest is it, once it is
	// there.
	Fold   bool
	Digest *Digest
	// Target returns the entity that a fact's object names, or "".
	Target func(*fact.Fact) (string, error)
}

// Distance is how far from the seeds a fact lies.
type Distance uint8

// The distances: a fact that mentions a seed, one of a seed's neighbour, and one
// that no walk reached.
const (
	AtSeed Distance = iota
	NextToSeed
	Unreached
)

// Candidate is a fact that the packet may hold, or one that only speaks against
// another: of those of status candidate none is ever kept.
type Candidate struct {
	Fact     *fact.Fact
	Distance Distance
	// Relevance to the goal, from 0 to Unit, and what it comes from.
	Relevance int
	Why       string
}

// Page is a page that the packet may hold.
type Page struct {
	ID      string // the page's entity
	Subject string // what it is about
	Title   string
	Body    string // as it was saved
	Plain   string // with links as their text
	Source  *string
}

// Warning says what a reader of the packet should know.
type Warning struct {
	Code    string
	Message string
}

// Counter counts tokens.
type Counter interface {
	// Tokens returns the larger count of the vocabularies that budgets go by, and
	// each of them, so that lines can be added up.
	Tokens(text string) (Tokens, error)
}

// Tokens counts a text by two vocabularies.
type Tokens [2]int

func (t Tokens) add(u Tokens) Tokens { return Tokens{t[0] + u[0], t[1] + u[1]} }

func (t Tokens) most() int { return max(t[0], t[1]) }

package search

import (
	"math"

	"abagraph/fact"
	"abagraph/internal/words"
)

// Mode says which parts of a ranking count.
type Mode uint8

// The modes.
const (
	Hybrid Mode = iota
	Lexical
	Vector
)

var modeNames = [...]string{"hybrid", "lexical", "vector"}

// String returns the word that answers carry.
func (m Mode) String() string { return modeNames[m] }

// ParseMode reads a mode.
func ParseMode(field, text string) (Mode, error) {
	for m, name := range modeNames {
		if text == name {
			return Mode(m), nil
		}
	}
	return 0, fact.Invalid(field, "has no such value: "+shown(text)+" (hybrid, lexical or vector)")
}

func shown(s string) string {
	const most = 64
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// Filter says which documents may be answered, and at what point of both times
// (C-20 to C-22).
type Filter struct {
	Moment      Moment
	Statuses    fact.StatusSet
	StatusGiven bool // the statuses were named, and are no kind of read's default
	// From and Until are the window that the valid time must overlap; From is
	// NoInstant where it may be any.
	From, Until fact.Instant
	// Retracted lets retracted facts pass whatever their time.
	Retracted     bool
	Subject       string // "" = any
	Predicate     string // "" = any
	MinConfidence float64
}

// passes tells whether a version is within the window and of a status asked for.
func (f *Filter) passes(v version) bool {
	if !f.Statuses.Has(v.status) {
		return false
	}
	return !f.From.Given() || v.from < f.Until && v.until > f.From && v.from < v.until || f.Retracted && v.status == fact.Retracted
}

// Query asks for the documents that match best.
type Query struct {
	Filter
	Text string
	Mode Mode
	// Near are facts that lie near the seeds of a search, each with its proximity
	// in (0, 1].
	Near []Near
	// Words tells which words are used like others; nil = none.
	Words *words.Table
	// Dense ranks by stored vectors; nil = none.
	Dense *Dense
	// Alone ranks each document without the conversation that it is of.
	Alone bool
	Top   int
	// MinScore is the least score that is answered; -Inf = any.
	MinScore float64
}

// Near is a fact with how near it is to the seeds.
type Near struct {
	ID        fact.ID
	Proximity float64
}

// Hit is one document of an answer.
type Hit struct {
	fact.Place
	Score float64
	Why   Why
}

// Why tells what each part gave to a score. Where the score is a fused one, each
// part is standardised: so many standard deviations above its mean over the
// corpus.
type Why struct {
	Lexical, Words, Vector, Graph float64
	// Turns and Session are what the conversation adds that a fact is of: the turns
	// beside it and what else its own says, and its session as a whole.
	Turns, Session float64
	Matches        []Match // in the order of the question
}

// Match is a term of a document that a word of the question met.
type Match struct {
	Part   string  // lexical or words
	Word   string  // as asked
	Found  string  // the word that met: another one where the word table led to it
	Cosine float64 // of the two; 1 for the word itself
	Gain   float64 // what it gave to the score
}

// The constants of BM25: how soon further occurrences of a term stop counting,
// and how much long documents are held back. Facts are short, and most of what
// makes one longer is no reason to doubt it.
const (
	saturation = 1.2
	lengthBias = 0.4
)

// rarity is BM25's inverse document frequency of a term that df of count
// documents have, and 1 more: what most facts say, as a predicate does, still
// tells which of one entity's facts is meant.
func rarity(df, count int) float64 {
	return 1 + math.Log1p((float64(count-df)+0.5)/(float64(df)+0.5))
}

// impact is what a term gives for its frequency in a document.
func impact(frequency, burden float64) float64 {
	return frequency * (saturation + 1) / (frequency + burden)
}

// burden is what frequencies are held against in a document of a length.
func burden(length, average float64) float64 {
	return saturation * (1 - lengthBias + lengthBias*length/average)
}

// Term is a word of a text, in lower case and without accents, and the form in
// which it is compared.
type Term struct{ Word, Term string }

// Terms cuts a text into its terms, in order, as facts and questions are cut.
func Terms(text string) []Term {
	var list []Term
	t := tokenizer{emit: func(k token) { list = append(list, Term{string(k.surface), string(k.term)}) }}
	t.text(text)
	return list
}

// Common tells whether a word of English says little by itself.
func Common(word string) bool { return common[word] }

package search

import (
	"cmp"
	"math"
	"slices"

	"abagraph/internal/words"
)

// part is one of the rankings that a score is made of.
type part uint8

const (
	partLexical part = iota
	partWords
	partGraph
	parts
)

var partNames = [parts]string{"lexical", "words", "graph"}

// clause is one term that documents are scored by.
type clause struct {
	part   part
	word   string // of the question
	found  string // the word itself, or one that is used like it
	term   string
	list   *postings
	cosine float64
	weight float64 // rarity, cosine and the scale of its part
}

// plan is a query made ready for one state of an index.
type plan struct {
	corpus
	filter  *Filter
	clauses []clause
	near    []nearDoc
	// shift is the same for every document: the sum of the parts' means, each in
	// standard deviations.
	shift [parts]float64
	scale [parts]float64
}

// question cuts a question into its words, each once, in order.
type asked struct {
	word, term string
	english    bool // one of the most common words of English
}

// questionWords lists the words of a question; at most maxWords count.
func questionWords(text string) []asked {
	var list []asked
	seen := map[string]bool{}
	t := tokenizer{emit: func(k token) {
		if len(list) < maxWords && !seen[string(k.term)] {
			seen[string(k.term)] = true
			list = append(list, asked{word: string(k.surface), term: string(k.term), english: common[string(k.surface)]})
		}
	}}
	t.text(text)
	return list
}

// maxWords bounds the words of a question that count.
const maxWords = 128

// commonWeight is what a word counts for that says little by itself.
const commonWeight = 0.1

func (a *asked) weight() float64 {
	if a.english {
		return commonWeight
	}
	return 1
}

// prepare makes a query ready. Callers hold mu.
func (x *Index) prepare(q *Query) *plan {
	p := &plan{corpus: x.at(q.Moment), filter: &q.Filter}
	list := questionWords(q.Text)
	if q.Mode != Vector {
		for i := range list {
			a := &list[i]
			p.add(partLexical, a.word, a.word, a.term, 1, a.weight())
		}
	}
	if q.Mode != Lexical && q.Words != nil {
		p.expand(list, q.Words)
	}
	p.place(q.Near)
	p.standardise(q.Mode)
	return p
}

// place looks up the documents near the seeds.
func (p *plan) place(near []Near) {
	for _, n := range near {
		if ord, there := p.x.byID[n.ID]; there && ord < p.bound {
			p.near = append(p.near, nearDoc{ord, n.Proximity})
		}
	}
	slices.SortFunc(p.near, func(a, b nearDoc) int { return cmp.Compare(a.ord, b.ord) })
}

// add adds a clause for a term that the corpus has.
func (p *plan) add(of part, word, found, term string, cosine, weight float64) {
	list := p.x.terms.find(term)
	df := p.frequency(list)
	if df == 0 {
		return
	}
	p.clauses = append(p.clauses, clause{part: of, word: word, found: found, term: term, list: list, cosine: cosine, weight: weight * rarity(df, p.count)})
}

// The words that an expansion takes over: so many for each word of the question,
// each counting by its cosine to this power.
const (
	maxExpansions  = 12
	expansionPower = 2
)

// expand adds the words that are used like those of the question. A term that
// several of them lead to counts once, by the nearest.
func (p *plan) expand(list []asked, table *words.Table) {
	at := map[string]int{}
	add := func(a *asked, word string, cosine float64) bool {
		term := stemmed(word)
		if i, there := at[term]; there {
			if c := &p.clauses[i]; cosine > c.cosine {
				c.weight *= math.Pow(cosine/c.cosine, expansionPower)
				c.cosine, c.word, c.found = cosine, a.word, word
			}
			return false
		}
		n := len(p.clauses)
		p.add(partWords, a.word, word, term, cosine, a.weight()*math.Pow(cosine, expansionPower))
		if len(p.clauses) > n {
			at[term] = n
		}
		return len(p.clauses) > n
	}
	for i := range list {
		if _, known := table.Rank(list[i].word); known {
			add(&list[i], list[i].word, 1)
		}
	}
	for i := range list {
		if list[i].english {
			continue
		}
		n := 0
		for _, near := range table.Neighbours(list[i].word) {
			if n == maxExpansions {
				break
			}
			if !common[near.Word] && add(&list[i], near.Word, near.Cosine) {
				n++
			}
		}
	}
}

func stemmed(word string) string { return string(stem([]byte(word))) }

// standardise works out what each part's score would be on average, and how far
// it would spread, if its terms fell into the documents independently: that is
// known from how many documents have each term. Fused scores are measured in
// these.
func (p *plan) standardise(mode Mode) {
	p.scale = [parts]float64{1, 1, 1}
	if mode != Hybrid {
		return
	}
	var mean, spread [parts]float64
	for i := range p.clauses {
		c := &p.clauses[i]
		share := float64(p.frequency(c.list)) / float64(p.count)
		mean[c.part] += c.weight * share
		spread[c.part] += c.weight * c.weight * share * (1 - share)
	}
	if len(p.near) > 0 {
		each, squares := 1/float64(p.count), 0.0
		for _, n := range p.near {
			mean[partGraph] += n.gain * each
			squares += n.gain * n.gain * each
		}
		spread[partGraph] = squares - mean[partGraph]*mean[partGraph]
	}
	for of := range parts {
		if spread[of] > 0 {
			p.scale[of] = 1 / math.Sqrt(spread[of])
			p.shift[of] = mean[of] * p.scale[of]
		}
	}
	for i := range p.clauses {
		p.clauses[i].weight *= p.scale[p.clauses[i].part]
	}
	for i := range p.near {
		p.near[i].gain *= p.scale[partGraph]
	}
}

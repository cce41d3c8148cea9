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
	group  int    // the place in the question of the word that it stands for
	word   string // of the question
	found  string // the word itself, or one that is used like it
	term   string
	list   *postings
	df     int // documents of the corpus that have the term
	cosine float64
	weight float64 // rarity, cosine and the scale of its part
}

// plan is a query made ready for one state of an index.
type plan struct {
	corpus
	filter  *Filter
	clauses []clause
	groups  []group
	near    []nearDoc
	// shift is the same for every document: the sum of the parts' means, each in
	// standard deviations.
	shift [parts]float64
	scale [parts]float64
}

// group is a part's clauses for one word of the question. The best of them counts:
// a document is not better for saying one thing in several words. The documents
// near the seeds are a group too.
type group struct {
	first, last int
	near        bool
}

// asked is a word of a question.
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
	var list []asked
	if q.Mode != Vector || q.Words != nil {
		list = questionWords(q.Text)
	}
	if q.Mode != Vector {
		for i := range list {
			a := &list[i]
			p.add(clause{part: partLexical, group: i, word: a.word, found: a.word, term: a.term, cosine: 1}, a.weight(), math.Inf(1))
		}
	}
	if q.Mode != Lexical && q.Words != nil {
		p.expand(list, q.Words)
	}
	p.place(q.Near)
	p.arrange()
	p.standardise(q.Mode)
	return p
}

// arrange puts the clauses of each group together, in the order of the parts and
// then of the question.
func (p *plan) arrange() {
	slices.SortStableFunc(p.clauses, func(a, b clause) int { return cmp.Or(cmp.Compare(a.part, b.part), cmp.Compare(a.group, b.group)) })
	for i := range p.clauses {
		if c := &p.clauses[i]; i == 0 || c.part != p.clauses[i-1].part || c.group != p.clauses[i-1].group {
			p.groups = append(p.groups, group{first: i, last: i})
		}
		p.groups[len(p.groups)-1].last++
	}
	if len(p.near) > 0 {
		p.groups = append(p.groups, group{near: true})
	}
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

// add adds a clause for a term that the corpus has. Of a term that there is one
// for already, the heavier counts. It tells whether there is a new one.
func (p *plan) add(c clause, weight, most float64) bool {
	c.list = p.x.terms.find(c.term)
	df := p.frequency(c.list)
	if df == 0 {
		return false
	}
	c.df, c.weight = df, weight*min(rarity(df, p.count), most)
	for i := range p.clauses {
		if old := &p.clauses[i]; old.part == c.part && old.term == c.term {
			if c.weight > old.weight {
				*old = c
			}
			return false
		}
	}
	p.clauses = append(p.clauses, c)
	return true
}

// How the words count that are used like one of the question: at most so many for
// each, by their cosine to this power, and less where the facts use the word
// itself.
const (
	maxExpansions  = 12
	expansionPower = 2
	expansionUsed  = 0.5
)

// expand adds the words of the question that the table has, and those that are
// used like them. None counts as rarer than the word that it stands for.
func (p *plan) expand(list []asked, table *words.Table) {
	for i := range list {
		a := &list[i]
		if _, known := table.Rank(a.word); known {
			p.add(clause{part: partWords, group: i, word: a.word, found: a.word, term: a.term, cosine: 1}, a.weight(), math.Inf(1))
		}
	}
	for i := range list {
		if !list[i].english {
			p.expandWord(i, &list[i], table)
		}
	}
}

func (p *plan) expandWord(group int, a *asked, table *words.Table) {
	weight, most := 1.0, math.Inf(1)
	if df := p.frequency(p.x.terms.find(a.term)); df > 0 {
		weight, most = expansionUsed, rarity(df, p.count)
	}
	n := 0
	for _, near := range table.Neighbours(a.word) {
		if n == maxExpansions {
			return
		}
		if common[near.Word] {
			continue
		}
		c := clause{part: partWords, group: group, word: a.word, found: near.Word, term: single(near.Word), cosine: near.Cosine}
		if p.add(c, weight*math.Pow(near.Cosine, expansionPower), most) {
			n++
		}
	}
}

// single returns the term of a word of the table; "" where a text would be cut
// into several, or into none.
func single(word string) string {
	if plain := []byte(word); plainLetters(plain) && len(plain) <= maxTermBytes {
		return string(stem(plain))
	}
	term := ""
	n := 0
	t := tokenizer{emit: func(k token) { term, n = string(k.term), n+1 }}
	t.text(word)
	if n != 1 {
		return ""
	}
	return term
}

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
	for _, g := range p.groups {
		if g.near {
			continue
		}
		of := p.clauses[g.first].part
		m, squares := p.expect(g)
		mean[of] += m
		spread[of] += squares - m*m
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

// expect returns what a group gives on average, and the average of its square:
// the best of its clauses counts in a document that has several.
func (p *plan) expect(g group) (mean, squares float64) {
	list := slices.Clone(p.clauses[g.first:g.last])
	slices.SortStableFunc(list, func(a, b clause) int { return cmp.Compare(b.weight, a.weight) })
	none := 1.0
	for i := range list {
		c := &list[i]
		share := float64(c.df) / float64(p.count)
		mean += c.weight * share * none
		squares += c.weight * c.weight * share * none
		none *= 1 - share
	}
	return mean, squares
}

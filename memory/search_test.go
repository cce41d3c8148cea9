package memory_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/internal/words"
	"abagraph/memory"
	"abagraph/memory/search"
)

// What search worlds are told, beside names: sentences that share words, numbers,
// and words that the table knows to be near others.
var searchTexts = []string{
	"the price is too high for our budget", "pays by invoice", "price", "works in sales", "a customer of Org:x since 2019",
	"prices of version 3.5.2", "budgets and costs", "東京都", "Zoë likes sales calls", "doctor", "physician of P:a", "high price high price",
}

var searchQuestions = []string{
	"price", "who knows P:a?", "what is too expensive for the budget", "high prices", "works_at Org:x", "version 3.5", "doctor",
	"zoe", "京都", "likes", "the", "sales customer budget price doctor knows", "nothing of this kind zzz", "",
	"a medical physician", "costs",
}

// chat makes n steps of history with texts to be searched.
func (w *world) chat(n int) {
	w.Helper()
	for range n {
		w.clock += fact.Instant(w.rnd.IntN(4))
		if w.oneIn(25) {
			w.sweep()
			continue
		}
		req := w.request()
		for i := range req.Write.Asserts {
			a := &req.Write.Asserts[i]
			if w.oneIn(2) {
				a.Object = fact.TextObject(pick(w, searchTexts))
			}
			if w.oneIn(4) {
				source := pick(w, []string{"crm/export", "call-2026", "doctor"})
				a.Source = &source
			}
			if w.oneIn(4) {
				a.Properties = []byte(`{"note":"` + pick(w, searchTexts) + `","n":[1,{"deep":"price"}]}`)
			}
		}
		w.write(req)
	}
}

// purge erases a subject of one tenant from the store, and from the model.
func (w *world) purge() {
	w.Helper()
	w.write(&fact.Request{Tenant: pick(w, worldTenants), Branch: fact.MainBranch, Purge: &fact.Purge{Subject: pick(w, worldNames)}})
}

// texts lists the texts of a fact with the weights that docs/search.md gives
// them.
func texts(f *fact.Fact) (list []string, weights []int) {
	say := func(text string, weight int) { list, weights = append(list, text), append(weights, weight) }
	say(f.Subject, 3)
	say(f.Predicate, 2)
	switch f.Object.Kind {
	case fact.Text, fact.Number:
		say(f.Object.Text, 2)
	case fact.Bool:
		say(strconv.FormatBool(f.Object.Bool), 2)
	}
	if f.Source != nil {
		say(*f.Source, 1)
	}
	var inside func(v jsonx.Value)
	inside = func(v jsonx.Value) {
		if v.Kind == jsonx.String {
			say(v.Text, 1)
		}
		for _, kid := range v.Kids {
			inside(kid)
		}
	}
	if v, err := jsonx.Parse(f.Properties); err == nil {
		inside(v)
	}
	return list, weights
}

// plainDoc is a fact as a bag of terms.
type plainDoc struct {
	counts map[string]float64
	length float64
}

func docOf(f *fact.Fact) plainDoc {
	d := plainDoc{counts: map[string]float64{}}
	list, weights := texts(f)
	for i, text := range list {
		for _, t := range search.Terms(text) {
			d.counts[t.Term] += float64(weights[i])
			d.length += float64(weights[i])
		}
	}
	return d
}

// plainSearch is one ranking, made by looking at every fact of one tenant.
type plainSearch struct {
	docs    []plainDoc
	average float64
	terms   [2][]plainTerm // of the lexical part, and of that of the word table
	scale   [2]float64
	shift   float64
}

// plainTerm is a term with the word of the question that it stands for.
type plainTerm struct {
	word   int
	term   string
	weight float64
}

var dull = map[string]bool{"the": true, "who": true, "what": true, "is": true, "too": true, "for": true, "of": true, "in": true, "a": true, "this": true, "by": true, "at": true}

func newPlainSearch(corpus []fact.Fact, question string, mode memory.SearchMode, table *words.Table) *plainSearch {
	p := &plainSearch{scale: [2]float64{1, 1}}
	total := 0.0
	for i := range corpus {
		d := docOf(&corpus[i])
		p.docs = append(p.docs, d)
		total += d.length
	}
	p.average = total / float64(len(corpus))
	var asked []search.Term
	seen := map[string]bool{}
	for _, t := range search.Terms(question) {
		if !seen[t.Term] {
			seen[t.Term] = true
			asked = append(asked, t)
		}
	}
	weight := func(word string) float64 {
		if dull[word] {
			return 0.1
		}
		return 1
	}
	if mode != memory.VectorSearch {
		for i, t := range asked {
			p.want(0, i, t.Term, weight(t.Word), math.Inf(1))
		}
	}
	if mode != memory.LexicalSearch && table != nil {
		p.expand(asked, table, weight)
	}
	if mode == memory.HybridSearch {
		p.standardise(len(asked))
	}
	return p
}

// want has a term counted in a part, by the greater of its weights.
func (p *plainSearch) want(part, word int, term string, weight, most float64) bool {
	if p.frequency(term) == 0 {
		return false
	}
	weight *= min(p.rarity(term), most)
	for i := range p.terms[part] {
		if old := &p.terms[part][i]; old.term == term {
			if weight > old.weight {
				old.word, old.weight = word, weight
			}
			return false
		}
	}
	p.terms[part] = append(p.terms[part], plainTerm{word, term, weight})
	return true
}

func (p *plainSearch) expand(asked []search.Term, table *words.Table, weight func(string) float64) {
	for i, t := range asked {
		if _, known := table.Rank(t.Word); known {
			p.want(1, i, t.Term, weight(t.Word), math.Inf(1))
		}
	}
	for i, t := range asked {
		if dull[t.Word] {
			continue
		}
		factor, most := 1.0, math.Inf(1)
		if p.frequency(t.Term) > 0 {
			factor, most = 0.5, p.rarity(t.Term)
		}
		n := 0
		for _, near := range table.Neighbours(t.Word) {
			if cut := search.Terms(near.Word); n < 12 && len(cut) == 1 && !search.Common(near.Word) && p.want(1, i, cut[0].Term, factor*near.Cosine*near.Cosine, most) {
				n++
			}
		}
	}
}

func (p *plainSearch) frequency(term string) int {
	n := 0
	for _, d := range p.docs {
		if d.counts[term] > 0 {
			n++
		}
	}
	return n
}

func (p *plainSearch) rarity(term string) float64 {
	df := float64(p.frequency(term))
	return 1 + math.Log1p((float64(len(p.docs))-df+0.5)/(df+0.5))
}

// standardise measures each part by what it would be if its terms fell
// independently: for each word of the question, the heaviest term that is there.
func (p *plainSearch) standardise(asked int) {
	for part := range p.terms {
		mean, spread := 0.0, 0.0
		for word := range asked {
			m, squares, none := 0.0, 0.0, 1.0
			for _, t := range p.heaviest(part, word) {
				share := float64(p.frequency(t.term)) / float64(len(p.docs))
				m += none * share * t.weight
				squares += none * share * t.weight * t.weight
				none *= 1 - share
			}
			mean += m
			spread += squares - m*m
		}
		if spread > 0 {
			p.scale[part] = 1 / math.Sqrt(spread)
			p.shift += mean * p.scale[part]
		}
	}
}

// heaviest lists the terms for one word, the heaviest first.
func (p *plainSearch) heaviest(part, word int) []plainTerm {
	var list []plainTerm
	for _, t := range p.terms[part] {
		if t.word == word {
			list = append(list, t)
		}
	}
	slices.SortStableFunc(list, func(a, b plainTerm) int { return cmp.Compare(b.weight, a.weight) })
	return list
}

// score returns what a fact scores; ok is false where it has no word in question.
func (p *plainSearch) score(f *fact.Fact) (score float64, ok bool) {
	d := docOf(f)
	for part := range p.terms {
		byWord := map[int]float64{}
		for _, t := range p.terms[part] {
			if n := min(d.counts[t.term], 255); n > 0 {
				ok = true
				byWord[t.word] = max(byWord[t.word], p.scale[part]*t.weight*n*2.2/(n+1.2*(0.6+0.4*d.length/p.average)))
			}
		}
		for _, gain := range byWord {
			score += gain
		}
	}
	return score - p.shift, ok
}

// ranked is a fact with its score.
type ranked struct {
	fact  fact.Fact
	score float64
}

// plainRanking ranks every fact that a search may answer.
func (w *world) plainRanking(c memory.Caller, q *memory.SearchQuery, table *words.Table) []ranked {
	at := w.at(q.Read)
	whole := at
	whole.AsOf = fact.NoInstant
	var list []ranked
	for _, tenant := range []string{"ta", "tb"} {
		if scope := c.Scope(q.Branch); !scope.All && scope.Tenant != tenant {
			continue
		}
		scope := memory.Caller{Tenant: tenant}.Scope(q.Branch)
		corpus := w.Facts(&fact.Query{Scope: scope, At: whole, Statuses: fact.AllStatuses, StatusGiven: true, Limit: 1 << 30})
		p := newPlainSearch(corpus, q.Question, q.Mode, table)
		for _, f := range w.Facts(&fact.Query{Scope: scope, At: at, Subject: q.Subject, Predicate: q.Predicate, Statuses: q.Statuses,
			StatusGiven: q.StatusGiven, IncludeRetracted: q.IncludeRetracted, Limit: 1 << 30}) {
			score, ok := p.score(&f)
			if ok && f.Confidence >= q.MinConfidence && (!q.MinScoreGiven || score >= q.MinScore) {
				list = append(list, ranked{f, score})
			}
		}
	}
	return list
}

const closeEnough = 1e-9

// before tells whether a fact is listed before another one of the same score.
func before(a, b *fact.Fact) bool {
	if a.FirstTx != b.FirstTx {
		return a.FirstTx > b.FirstTx
	}
	return slices.Compare(a.ID[:], b.ID[:]) < 0
}

// sameFact compares what a fact tells; the model does not keep what the engine
// notes for itself.
func sameFact(a, b fact.Fact) bool {
	for _, f := range []*fact.Fact{&a, &b} {
		f.Promoted, f.Pending = false, false
	}
	return shown(a) == shown(b)
}

// checkSearch compares one search with looking at everything.
func (w *world) checkSearch(s *memory.Service, c memory.Caller, q *memory.SearchQuery, table *words.Table) *memory.SearchAnswer {
	w.Helper()
	got, _, err := s.Search(w.Context(), c, q, nil)
	if err != nil {
		w.Fatalf("%+v: %v", q, err)
	}
	all := w.plainRanking(c, q, table)
	if want := min(q.Top, len(all)); len(got.Hits) != want {
		w.Fatalf("%+v as %+v: %d hits, want %d", q, c, len(got.Hits), want)
	}
	listed := map[fact.ID]bool{}
	for i, h := range got.Hits {
		listed[h.Fact.ID] = true
		at := slices.IndexFunc(all, func(r ranked) bool { return r.fact.ID == h.Fact.ID })
		if at < 0 || math.Abs(all[at].score-h.Score) > closeEnough || !sameFact(all[at].fact, h.Fact) {
			w.Fatalf("%+v: hit %d is %+v, want one of %+v", q, i, h, all)
		}
		if sum := h.Why.Lexical + h.Why.Words + h.Why.Graph; math.Abs(sum-h.Score) > closeEnough {
			w.Errorf("%+v: the parts of hit %d add up to %v, not to %v", q, i, sum, h.Score)
		}
		if i == 0 {
			continue
		}
		b := &got.Hits[i-1]
		if h.Score > b.Score || h.Score == b.Score && before(&h.Fact, &b.Fact) {
			w.Errorf("%+v: hit %d belongs before the one before it", q, i)
		}
	}
	if len(got.Hits) == 0 {
		return got
	}
	last := got.Hits[len(got.Hits)-1]
	for _, r := range all {
		if !listed[r.fact.ID] && (r.score > last.Score+closeEnough || math.Abs(r.score-last.Score) < 1e-13 && before(&r.fact, &last.Fact)) {
			w.Errorf("%+v: %+v (%v) is missing before %+v (%v)", q, r.fact, r.score, last.Fact, last.Score)
		}
	}
	return got
}

// searchQuery asks for something at a random point of both times.
func (w *world) searchQuery() *memory.SearchQuery {
	q := &memory.SearchQuery{Read: w.read(), Question: pick(w, searchQuestions), Top: 1 + w.rnd.IntN(12), Mode: memory.SearchMode(w.rnd.IntN(3))}
	switch w.rnd.IntN(6) {
	case 0:
		q.Subject = pick(w, worldNames)
	case 1:
		q.Predicate = pick(w, worldVerbs)
	case 2:
		q.MinConfidence = 0.95
	case 3:
		q.StatusGiven, q.Statuses = true, pick(w, []fact.StatusSet{fact.AllStatuses, fact.StatusSet(0).With(fact.Candidate), fact.StatusSet(0).With(fact.Superseded)})
	case 4:
		q.IncludeRetracted = true
	}
	if w.oneIn(5) {
		q.MinScoreGiven, q.MinScore = true, w.rnd.Float64()*3
	}
	return q
}

// TestSearchAgainstBruteForce: on random histories of two tenants, at random
// instants of both axes, with filters and in every mode, a search answers what
// scoring every fact that the caller may see gives; an index that has followed
// the store all along answers as one that was just made.
func TestSearchAgainstBruteForce(t *testing.T) {
	table, err := words.Load()
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(2) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 100+seed)
			follows := w.door(memory.Options{Words: table})
			for round := range 8 {
				w.chat(20)
				if round%4 == 3 {
					w.purge()
				}
				fresh := w.door(memory.Options{Words: table})
				for range 15 {
					c, q := w.caller(), w.searchQuery()
					got := w.checkSearch(follows, c, q, table)
					again, _, err := fresh.Search(t.Context(), c, q, nil)
					if err != nil || shown(again) != shown(got) {
						t.Fatalf("%+v: a new index answers %s (%v), the one that followed %s", q, shown(again), err, shown(got))
					}
				}
			}
		})
	}
}

// door opens another service on the world.
func (w *world) door(o memory.Options) *memory.Service {
	w.Helper()
	o.Engine, o.View, o.Timeout = w, w.view, time.Minute
	s, err := memory.New(o)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(s.Close)
	return s
}

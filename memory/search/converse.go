package search

import (
	"cmp"
	"math"
	"slices"

	"abagraph/fact"
)

// Bounds of what conversations may add to a ranking.
const (
	// leastPool is how many of the best facts are ranked by their conversations.
	leastPool = 128
	// mostFollowed is of how many of them the turns beside them are looked at.
	mostFollowed = 32
	// mostBeside is how many facts are looked at in that.
	mostBeside = 1_024
	// voices is how many facts speak for their session.
	voices = 3
)

// The weights of what conversations add. It is measured as scores are, in standard
// deviations: a weight below 1 never turns two neighbours round.
const (
	weightBeside  = 0.7 // the best of what is said right before or after it
	weightSame    = 0.8 // the best of what else its turn says: facts that were extracted from it
	weightSession = 1.0 // its session: the mean of its best three
)

// heard is a document of a ranking on its way, with its score.
type heard struct {
	ord   uint32
	score float64
	why   Why
}

func (h heard) better(g heard) int {
	return cmp.Or(cmp.Compare(g.score, h.score), cmp.Compare(g.ord, h.ord))
}

// converses tells whether conversations count for a query.
func (x *Index) converses(q *Query) bool {
	return x.spoken != nil && q.Mode == Hybrid && q.Top > 0 && !q.Alone
}

// pool is how many of the best documents a query needs: more than it asks for where
// conversations count.
func (x *Index) pool(q *Query) int {
	if !x.converses(q) {
		return q.Top
	}
	return max(q.Top, leastPool)
}

// converse ranks documents by the conversations that they are of, too. The list is
// in order, the best first; nothing is what a document scores of which no part says
// anything, and judge scores one that is not in the list, where it passes the filters.
func (x *Index) converse(q *Query, list []heard, nothing float64, judge func(ords []uint32) ([]heard, error)) ([]heard, error) {
	if !x.converses(q) || !slices.ContainsFunc(list, func(h heard) bool { return x.place(h.ord).session > 0 }) {
		return list, nil
	}
	more, err := judge(x.beside(list))
	if err != nil {
		return nil, err
	}
	list = append(list, more...)
	strength := make([]float64, len(list))
	for i := range list {
		strength[i] = max(0, list[i].score-nothing)
	}
	t := newTalk(x, list, strength)
	beside, same, session := centred(t.beside), centred(t.same), centred(t.session)
	for i := range list {
		w := &list[i].why
		w.Turns = float64(weightBeside*beside[i]) + float64(weightSame*same[i])
		w.Session = float64(weightSession * session[i])
		list[i].score += w.Turns + w.Session
	}
	slices.SortFunc(list, heard.better)
	return list, nil
}

// beside lists the documents that were said in the turns of the best ones, or right
// before or after them, and are not in the list.
func (x *Index) beside(list []heard) []uint32 {
	type turn struct {
		session uint32
		turn    int32
	}
	near, in := map[turn]bool{}, map[uint32]bool{}
	var sessions []uint32
	for i := range list {
		in[list[i].ord] = true
		p := x.place(list[i].ord)
		if i >= mostFollowed || p.session == 0 || p.turn == noTurn {
			continue
		}
		if !slices.Contains(sessions, p.session) {
			sessions = append(sessions, p.session)
		}
		for d := int32(-1); d <= 1; d++ {
			near[turn{p.session, p.turn + d}] = true
		}
	}
	var found []uint32
	for _, session := range sessions {
		for _, ord := range x.sessions.lists[session-1].ords {
			if p := x.spoken[ord]; p.turn != noTurn && near[turn{session, p.turn}] && !in[ord] {
				if found = append(found, ord); len(found) == mostBeside {
					return found
				}
			}
		}
	}
	return found
}

// talkOf is what is heard around each document of a list; NaN where there is nothing
// that it could be heard from.
type talkOf struct{ beside, same, session []float64 }

func newTalk(x *Index, list []heard, strength []float64) *talkOf {
	t := &talkOf{make([]float64, len(list)), make([]float64, len(list)), make([]float64, len(list))}
	members := map[uint32][]int{} // by session
	for i := range list {
		t.beside[i], t.same[i], t.session[i] = math.NaN(), math.NaN(), math.NaN()
		if p := x.place(list[i].ord); p.session > 0 {
			members[p.session] = append(members[p.session], i)
		}
	}
	for i := range list {
		p := x.place(list[i].ord)
		of := members[p.session]
		if p.session == 0 || of[0] != i {
			continue
		}
		t.hear(x, list, strength, of)
	}
	return t
}

// hear works out what the members of one session say of each other.
func (t *talkOf) hear(x *Index, list []heard, strength []float64, members []int) {
	loudest := make([]float64, 0, len(members))
	for _, i := range members {
		loudest = append(loudest, strength[i])
	}
	slices.SortFunc(loudest, func(a, b float64) int { return cmp.Compare(b, a) })
	sum := 0.0
	for _, one := range loudest[:min(voices, len(loudest))] {
		sum += one
	}
	turns := map[int32]*loud{}
	for _, i := range members {
		t.session[i] = sum / voices
		if p := x.place(list[i].ord); p.turn != noTurn {
			if turns[p.turn] == nil {
				turns[p.turn] = &loud{}
			}
			turns[p.turn].hear(i, strength[i])
		}
	}
	for _, i := range members {
		p := x.place(list[i].ord)
		if p.turn == noTurn {
			continue
		}
		t.same[i], t.beside[i] = turns[p.turn].but(i), 0
		for _, next := range [...]int32{p.turn - 1, p.turn + 1} {
			if at := turns[next]; at != nil {
				t.beside[i] = max(t.beside[i], at.most)
			}
		}
	}
}

// loud keeps the two greatest strengths of a turn, and whose the greatest is.
type loud struct {
	whose        int
	most, second float64
}

func (l *loud) hear(who int, strength float64) {
	if strength > l.most {
		l.whose, l.most, l.second = who, strength, l.most
		return
	}
	l.second = max(l.second, strength)
}

// but is the greatest strength of all others.
func (l *loud) but(who int) float64 {
	if who == l.whose && l.most > 0 {
		return l.second
	}
	return l.most
}

// centred measures values from their mean; what has none counts as an average one.
func centred(values []float64) []float64 {
	sum, n := 0.0, 0.0
	for _, v := range values {
		if v == v {
			sum += v
			n++
		}
	}
	for i, v := range values {
		if v != v {
			values[i] = 0
		} else {
			values[i] = v - sum/n
		}
	}
	return values
}

// lies tells where the present version of a document's fact lies.
func (x *Index) lies(ord uint32) fact.Place {
	d := &x.docs[ord]
	return fact.Place{
		ID: x.ids[ord], Subject: x.subjects.names[d.subject], Predicate: x.predicates.names[d.predicate], Status: d.status, ValidFrom: d.from, ValidUntil: d.until,
	}
}

// hits makes an answer's hits of the best of a list.
func (x *Index) hits(q *Query, list []heard) []Hit {
	list = list[:min(q.Top, len(list))]
	hits := make([]Hit, 0, len(list))
	for _, h := range list {
		if h.score < q.MinScore {
			break
		}
		hits = append(hits, Hit{Place: x.lies(h.ord), Score: h.score, Why: h.why})
	}
	return hits
}

package model

import (
	"slices"
	"testing"

	"abagraph/fact"
)

const (
	horizon = 14 // the instants 0 … 13; an open end is 14
	open    = horizon
)

// told is one event of a small world.
type told struct {
	object, source string
	from           int // -1 = undated
	length         int // 0 = open
	coexist        bool
}

// holder is who holds at one instant.
type holder struct {
	object, source string
	since          int
	dated          bool
}

type saying struct {
	object, source string
	from, until    int
}

// pointwise is C-10 to C-13 without any interval: what holds is decided at
// each instant by itself.
type pointwise struct {
	at   [horizon][]holder
	said map[saying]bool
}

func newPointwise() *pointwise { return &pointwise{said: map[saying]bool{}} }

func (p *pointwise) copy() *pointwise {
	q := newPointwise()
	for t := range p.at {
		q.at[t] = slices.Clone(p.at[t])
	}
	for s := range p.said {
		q.said[s] = true
	}
	return q
}

func (e told) span(now int) (from, until int) {
	from, until = e.from, open
	if e.from < 0 {
		from = now
	}
	if e.length > 0 {
		until = from + e.length
	}
	return from, until
}

// put lays one event; it reports false for a duplicate.
func (p *pointwise) put(e told, now int) bool {
	from, until := e.span(now)
	n := holder{e.object, e.source, from, e.from >= 0}
	same := func(h holder) bool { return h.object == n.object && h.source == n.source }
	foe := func(h holder) bool { return !e.coexist && (h.object != n.object || h.source == n.source) }
	stronger := func(h holder) bool { return foe(h) && h.dated && h.since > from }

	news, empty := false, false
	for t := from; t < until; t++ {
		empty = empty || len(p.at[t]) == 0
		if !slices.ContainsFunc(p.at[t], stronger) && !slices.ContainsFunc(p.at[t], same) {
			news = true
		}
	}
	s := saying{e.object, e.source, from, until}
	repeated := p.said[s] && (e.coexist || !empty)
	if !n.dated {
		repeated = !news
		if e.coexist {
			repeated = slices.ContainsFunc(p.at[now], same)
		}
	}
	if repeated {
		return false
	}
	for t := from; t < until; t++ {
		if slices.ContainsFunc(p.at[t], stronger) {
			continue
		}
		p.at[t] = append(slices.DeleteFunc(p.at[t], foe), n)
	}
	p.said[s] = true
	return true
}

// view counts who holds at each instant: a byte for each object and source.
type view [horizon]uint32

var who = []string{"Ax", "Ay", "Bx", "By"}

func (v *view) add(t int, object, source string) {
	v[t] += 1 << (8 * slices.Index(who, object+source))
}

func (p *pointwise) view() view {
	var v view
	for t := range p.at {
		for _, h := range p.at[t] {
			v.add(t, h.object, h.source)
		}
	}
	return v
}

// objects tells which objects hold at each instant, from whatever source.
func (v view) objects() [horizon]string {
	var list [horizon]string
	for t, counts := range v {
		if counts&0xffff != 0 {
			list[t] += "A"
		}
		if counts>>16 != 0 {
			list[t] += "B"
		}
	}
	return list
}

// line is a model with a single subject and predicate.
type line struct {
	*Model
	count byte
}

func (l *line) copy() *line {
	m := *l.Model
	m.versions, m.times, m.events = slices.Clip(m.versions), slices.Clip(m.times), slices.Clip(m.events)
	return &line{&m, l.count}
}

func (l *line) put(e told, now int) fact.AssertResult {
	l.count++
	a := fact.Assert{
		ID: fact.NewID(1, [10]byte{9: l.count}), Subject: "s", Predicate: "p",
		Object: fact.TextObject(e.object), Source: &e.source, Confidence: 1,
		ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, KnownAt: fact.NoInstant,
	}
	from, until := e.span(now)
	if e.from >= 0 {
		a.ValidFrom = fact.Instant(from)
	}
	if e.length > 0 {
		a.ValidUntil = fact.Instant(until)
	}
	if e.coexist {
		a.Policy = fact.Coexist
	}
	return l.Apply(fact.Instant(now), request(&fact.Write{Asserts: []fact.Assert{a}})).Asserts[0]
}

func (l *line) view() view {
	var v view
	for _, f := range only(l.current(), stands) {
		for t := range v {
			if f.Holds(fact.Instant(t)) {
				v.add(t, f.Object.Text, *f.Source)
			}
		}
	}
	return v
}

// Every sequence of three events over an alphabet of dated, undated, bounded,
// open and coexisting ones gives the timeline that C-13 says, instant by
// instant.
func TestTimeline_EverySequenceOfThree(t *testing.T) {
	t.Parallel()
	var alphabet []told
	for _, name := range who[:3] {
		object, source := name[:1], name[1:]
		for _, shape := range [][2]int{{0, 0}, {0, 5}, {2, 0}, {2, 3}, {4, 0}, {4, 3}, {-1, 0}, {-1, 2}} {
			alphabet = append(alphabet, told{object, source, shape[0], shape[1], false})
		}
	}
	alphabet = append(alphabet, told{"A", "x", 2, 0, true}, told{"B", "y", -1, 0, true}, told{"B", "y", 3, 2, true})
	var walk func(done []told, l *line, p *pointwise)
	walk = func(done []told, l *line, p *pointwise) {
		if len(done) == 3 || t.Failed() {
			return
		}
		for _, e := range alphabet {
			now := 2 + 2*len(done)
			l, p := l.copy(), p.copy()
			compare(t, append(done, e), l, p, e, now)
			walk(append(done, e), l, p)
		}
	}
	walk(nil, &line{Model: New()}, newPointwise())
}

func compare(t *testing.T, story []told, l *line, p *pointwise, e told, now int) {
	t.Helper()
	got := l.put(e, now)
	if wrote := p.put(e, now); wrote == got.Duplicate {
		t.Errorf("%v: duplicate is %v", story, got.Duplicate)
	}
	if g, w := l.view(), p.view(); g != w {
		t.Errorf("%v: got %x, want %x", story, g, w)
	}
	if !got.Duplicate && got.Fact.ValidFrom != got.Fact.StatedFrom {
		t.Errorf("%v: a new fact begins at %d, later than it states", story, got.Fact.ValidFrom)
	}
}

// orders calls visit with each order of events.
func orders(events []told, visit func([]told)) {
	var walk func(done, left []told)
	walk = func(done, left []told) {
		if len(left) == 0 {
			visit(done)
		}
		for i := range left {
			walk(append(done, left[i]), without(left, i))
		}
	}
	walk(make([]told, 0, len(events)), events)
}

func without(events []told, i int) []told { return slices.Concat(events[:i], events[i+1:]) }

// worlds calls visit with five events for each way to give them one of two
// objects, the first always A; the source changes with the event's place, so
// that some corroborate.
func worlds(shapes [5][2]int, visit func([]told)) {
	for pattern := 0; pattern < 1<<5; pattern += 2 {
		var events []told
		for i, s := range shapes {
			object := string("AB"[pattern>>i&1])
			events = append(events, told{object, string("xyxxy"[i]), s[0], s[1], false})
		}
		visit(events)
	}
}

// Dated events with distinct starts give one timeline of objects in every
// order of arrival, the one where at each instant the latest start holds, and
// saying them again changes nothing (C-13). Who corroborates an object may
// depend on the order, what is so does not.
func TestTimeline_DatedEventsInEveryOrder(t *testing.T) {
	t.Parallel()
	for _, shapes := range [][5][2]int{
		{{0, 0}, {2, 3}, {4, 1}, {6, 0}, {8, 3}},
		{{0, 3}, {2, 9}, {4, 0}, {6, 3}, {8, 2}},
	} {
		worlds(shapes, func(events []told) {
			want := latestStart(events)
			orders(events, func(order []told) {
				if t.Failed() {
					return
				}
				l := &line{Model: New()}
				for _, e := range order {
					l.put(e, 13)
				}
				once := l.view()
				if got := once.objects(); got != want {
					t.Errorf("%v: got %q, want the latest start at each instant, %q", order, got, want)
				}
				for _, e := range order {
					l.put(e, 13)
				}
				if again := l.view(); again != once {
					t.Errorf("%v: saying it again gives %x after %x", order, again, once)
				}
			})
		})
	}
}

// latestStart says the timeline of dated events with distinct starts without
// any order of arrival.
func latestStart(events []told) [horizon]string {
	var list [horizon]string
	var since [horizon]int
	for _, e := range events {
		from, until := e.span(0)
		for t := from; t < until; t++ {
			if list[t] == "" || from > since[t] {
				list[t], since[t] = e.object, from
			}
		}
	}
	return list
}

// Dated and undated events together, in every order of five: as C-13 says,
// instant by instant, after each of them.
func TestTimeline_MixedEventsInEveryOrder(t *testing.T) {
	t.Parallel()
	for _, shapes := range [][5][2]int{
		{{0, 0}, {4, 3}, {6, 0}, {-1, 0}, {9, 2}},
		{{2, 0}, {-1, 0}, {6, 3}, {-1, 2}, {5, 0}},
		{{-1, 0}, {-1, 3}, {-1, 0}, {5, 0}, {3, 4}},
	} {
		worlds(shapes, func(events []told) { mixed(t, nil, events, &line{Model: New()}, newPointwise()) })
	}
}

// mixed lays what is left in every order after what is done.
func mixed(t *testing.T, done, left []told, l *line, p *pointwise) {
	if len(left) == 0 {
		oneObjectEach(t, l)
	}
	for i, e := range left {
		if t.Failed() {
			return
		}
		l, p, story := l.copy(), p.copy(), append(slices.Clone(done), e)
		compare(t, story, l, p, e, 3+len(done))
		mixed(t, story, without(left, i), l, p)
	}
}

func oneObjectEach(t *testing.T, l *line) {
	t.Helper()
	for at, objects := range l.view().objects() {
		if len(objects) > 1 {
			t.Errorf("at %d several objects hold: %s", at, objects)
		}
	}
}

// The spans that are left are just the instants that no cut covers.
func TestLess(t *testing.T) {
	var all []span
	for from := range fact.Instant(6) {
		for until := from + 1; until <= 6; until++ {
			all = append(all, span{from, until})
		}
	}
	for _, s := range all {
		for _, a := range all {
			for _, b := range all {
				rest := less([]span{s}, []span{a, b})
				for at := range fact.Instant(6) {
					within := func(s span) bool { return s.from <= at && at < s.until }
					want := within(s) && !within(a) && !within(b)
					if got := slices.ContainsFunc(rest, within); got != want {
						t.Fatalf("%v less %v and %v is %v: at %d it is %v", s, a, b, rest, at, got)
					}
				}
			}
		}
	}
}

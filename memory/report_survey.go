package memory

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"abagraph/fact"
	"abagraph/memory/report"
)

// survey passes once over the facts of every subject, for those sections of a report
// that each look at all of them.
type survey struct {
	teller  *teller
	narrow  Narrow
	entity  []report.Row
	created int // entities that are new

	candidates, doubtful, stale shortlist

	sources map[string]*sourced
	unnamed sourced // of no source
	more    bool    // sources were left out
}

// sourced is what one source has said.
type sourced struct{ facts, recent uint64 }

// shortlist keeps the first facts of an order, and counts all.
type shortlist struct {
	limit int
	order func(a, b *fact.Fact) int
	list  []fact.Fact
	total int
}

func (l *shortlist) add(f *fact.Fact) {
	l.total++
	if len(l.list) == l.limit && l.compare(f, &l.list[l.limit-1]) > 0 {
		return
	}
	at, _ := slices.BinarySearchFunc(l.list, f, func(a fact.Fact, b *fact.Fact) int { return l.compare(&a, b) })
	l.list = slices.Insert(l.list, at, *f)
	l.list = l.list[:min(len(l.list), l.limit)]
}

func (l *shortlist) compare(a, b *fact.Fact) int {
	return cmp.Or(l.order(a, b), bytes.Compare(a.ID[:], b.ID[:]))
}

// section is a shortlist as a section.
func (l *shortlist) section(name string, full bool) *report.Section {
	s := &report.Section{Limited: full || l.total > len(l.list), Counts: []report.Count{{Name: name, N: l.total}}}
	for i := range l.list {
		s.Rows = append(s.Rows, report.Row(nil).Fact(&l.list[i]))
	}
	return s
}

func (v *survey) run() error {
	limit := v.teller.rule.Limit
	oldest := func(a, b *fact.Fact) int { return cmp.Compare(a.RecordedAt, b.RecordedAt) }
	v.candidates = shortlist{limit: limit, order: func(a, b *fact.Fact) int { return cmp.Compare(b.FirstTx, a.FirstTx) }}
	v.doubtful = shortlist{limit: limit, order: func(a, b *fact.Fact) int { return cmp.Compare(a.Confidence, b.Confidence) }}
	v.stale = shortlist{limit: limit, order: oldest}
	v.sources = map[string]*sourced{}
	r := v.teller.r
	all := v.narrow.query(r.at)
	all.Statuses, all.StatusGiven, all.At.AsOf = fact.AllStatuses, true, fact.NoInstant
	return r.view.EachSubject(r.ctx, v.narrow.subjects(r, v.narrow.query(r.at), all), func(s *fact.SubjectFacts) (bool, error) {
		if !v.narrow.admit(s) {
			return false, nil
		}
		v.subject(s.Subject, s.Lists[0], s.Lists[1])
		return true, nil
	})
}

// subject looks at what holds of a subject, and at all that was said of it.
func (v *survey) subject(name string, holding, all []fact.Fact) {
	t := v.teller
	known := slices.ContainsFunc(all, func(f fact.Fact) bool { return f.FirstTx <= t.before })
	if len(holding) > 0 && !known {
		if v.created++; len(v.entity) < t.rule.Limit {
			v.entity = append(v.entity, report.Row(nil).Text("subject", name).Int("facts", uint64(len(holding))))
		}
	}
	for i := range holding {
		f := &holding[i]
		if f.Confidence < t.rule.LowConfidence {
			v.doubtful.add(f)
		}
		if f.RecordedAt < t.doc.To-fact.Instant(t.rule.Stale*1000) {
			v.stale.add(f)
		}
		if of := v.of(f); of != nil {
			of.facts++
		}
	}
	for i := range all {
		f := &all[i]
		if f.Status == fact.Candidate && f.ValidUntil > t.doc.To {
			v.candidates.add(f)
		}
		if f.FirstTx > t.before && f.Continues.IsZero() {
			if of := v.of(f); of != nil {
				of.recent++
			}
		}
	}
}

// of returns the figures of a fact's source; nil where there are too many of them.
func (v *survey) of(f *fact.Fact) *sourced {
	if f.Source == nil {
		return &v.unnamed
	}
	s := v.sources[*f.Source]
	if s == nil {
		if len(v.sources) >= maxReportNames {
			v.more = true
			return nil
		}
		s = &sourced{}
		v.sources[strings.Clone(*f.Source)] = s
	}
	return s
}

func (v *survey) section(name string) *report.Section {
	full := v.narrow.full
	switch name {
	case report.NewEntities:
		return &report.Section{Rows: v.entity, Limited: full || v.created > len(v.entity), Counts: []report.Count{{Name: "new", N: v.created}}}
	case report.Candidates:
		return v.candidates.section("held", full)
	case report.LowConfidence:
		return v.doubtful.section("doubtful", full)
	case report.Stale:
		return v.stale.section("old", full)
	}
	return v.told(full)
}

// told are the sources, those with the most news first.
func (v *survey) told(full bool) *report.Section {
	limit := v.teller.rule.Limit
	names := ranked(v.sources, func(a, b *sourced) int {
		return cmp.Or(cmp.Compare(b.recent, a.recent), cmp.Compare(b.facts, a.facts))
	})
	s := &report.Section{Limited: full || v.more || len(names) > limit, Counts: []report.Count{{Name: "sources", N: len(names)}}}
	for _, name := range names[:min(len(names), limit)] {
		s.Rows = append(s.Rows, report.Row(nil).Text("source", name).Int("facts", v.sources[name].facts).Int("new", v.sources[name].recent))
	}
	if u := v.unnamed; u != (sourced{}) {
		s.Rows = append(s.Rows, report.Row(nil).Optional("source", nil).Int("facts", u.facts).Int("new", u.recent))
	}
	return s
}

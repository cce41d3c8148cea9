package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"abagraph/fact"
	"abagraph/memory/check"
	"abagraph/memory/page"
	"abagraph/memory/report"
)

const (
	// maxReportFacts is how many facts one section looks at.
	maxReportFacts = 2_000_000
	// maxReportTxs is how many records of the audit trail one looks at.
	maxReportTxs = 200_000
	// maxReportNames bounds the sources and the actors that one tells apart.
	maxReportNames = 10_000
)

// maxReportObjects is how many of the values that contradict each other a row shows.
const maxReportObjects = 5

// teller makes one edition of a report. It reads one view at one tx, so that all
// sections tell of the same state, and the same edition can be made again.
type teller struct {
	s      *Service
	r      *reading
	caller Caller
	rule   *Report
	doc    *report.Document
	// before is the newest tx that was recorded before the window.
	before uint64

	surveyed *survey // what the sections that look at every fact have found
}

// tell makes the edition of a report whose window ends at an instant, as it was known
// then; NoInstant = now. The caller sees what its policy shows. purge is the tx of the
// last purge that it has heard of.
func (s *Service) tell(ctx context.Context, c Caller, rule *Report, to fact.Instant, trace *Trace) (doc *report.Document, purge uint64, err error) {
	r, done, err := s.lookingFor(ctx, reportTime, c, NewRead(), trace)
	if err != nil {
		return nil, 0, err
	}
	defer done()
	tx := r.current.Tx
	if !to.Given() {
		to = r.at.Now
	} else if tx, err = r.view.TxAt(r.ctx, to); err != nil {
		return nil, 0, fmt.Errorf("find the tx of a report: %w", err)
	}
	if err := r.pin(tx); err != nil {
		return nil, 0, err
	}
	r.at.AsOf, r.at.Now = to, to
	t := &teller{s: s, r: r, caller: c, rule: rule}
	t.doc = &report.Document{Report: rule.Name, Title: rule.Title, From: to - fact.Instant(rule.Window*1000), To: to, Tx: tx, Subject: rule.Subject, Predicate: rule.Predicate}
	if t.before, err = r.view.TxAt(r.ctx, t.doc.From); err != nil {
		return nil, 0, fmt.Errorf("find the tx where a report begins: %w", err)
	}
	for _, name := range rule.Sections {
		section, err := t.section(name)
		if err != nil {
			return nil, 0, fmt.Errorf("report %s: %w", name, err)
		}
		section.Name = name
		t.doc.Sections = append(t.doc.Sections, *section)
	}
	trace.Step("execute", "by_subject")
	trace.Name("report", "by_subject index, by_tx index → count → rows")
	return t.doc, r.view.Position().Purge, nil
}

func (t *teller) section(name string) (*report.Section, error) {
	switch name {
	case report.Changes:
		return t.changes()
	case report.Contradictions:
		return t.contradictions()
	case report.Agents:
		return t.agents()
	case report.Alerts:
		return t.alerts()
	}
	if t.surveyed == nil {
		t.surveyed = &survey{teller: t, narrow: t.narrow()}
		if err := t.surveyed.run(); err != nil {
			return nil, err
		}
	}
	return t.surveyed.section(name), nil
}

// narrow is what all sections about facts look at: not what the server writes for
// itself, and not more than a bound.
func (t *teller) narrow() Narrow {
	return Narrow{Subject: t.rule.Subject, Predicate: t.rule.Predicate, Limit: t.rule.Limit, omit: ofServer, most: maxReportFacts}
}

// ofServer tells of a fact that it is how the server works, and not what a tenant
// knows.
func ofServer(f *fact.Fact) bool {
	if fact.IsGoverned(f.Subject, f.Predicate) {
		return true
	}
	switch f.Predicate {
	case page.Of, page.Title, page.Body:
		return f.Source != nil && *f.Source == fact.ReportSource
	case "connector_state":
		return strings.HasPrefix(f.Subject, "Connector:")
	case "trigger_state":
		return strings.HasPrefix(f.Subject, "Trigger:")
	case LeasePredicate:
		return strings.HasPrefix(f.Subject, LeasePrefix)
	}
	return false
}

// changes are what came and went within the window.
func (t *teller) changes() (*report.Section, error) {
	q := &ChangesQuery{Read: NewRead(), Narrow: t.narrow(), From: t.doc.From, To: t.doc.To}
	q.NoBackfill = true // what was told within the window is news, whatever it declares
	d := &differ{r: t.r, q: q, page: listing{limit: t.rule.Limit}, found: &Changes{}}
	if err := d.run(); err != nil {
		return nil, err
	}
	f := d.found
	section := &report.Section{Limited: q.full || f.Next != ""}
	why := map[fact.ID]string{}
	for _, id := range f.Retracted {
		why[id] = "retracted"
	}
	for _, id := range f.Expired {
		why[id] = "expired"
	}
	add := func(list []fact.Fact, what string) {
		for i := range list {
			one := &list[i]
			section.Rows = append(section.Rows, report.Row(nil).Text("what", cmp.Or(why[one.ID], what)).Fact(one))
		}
	}
	add(f.Added, "added")
	add(f.Superseded, "superseded")
	if len(section.Rows) > t.rule.Limit {
		section.Rows, section.Limited = section.Rows[:t.rule.Limit], true
	}
	section.Counts = []report.Count{{Name: "added", N: f.AddedTotal}, {Name: "ended", N: f.SupersededTotal}, {Name: "unchanged", N: f.StillValid}}
	return section, nil
}

// contradictions are those that hold at the end of the window.
func (t *teller) contradictions() (*report.Section, error) {
	q := &FactcheckQuery{Read: NewRead(), Narrow: t.narrow(), Rules: check.Rules{Kinds: check.AllKinds}}
	k := &checker{r: t.r, q: q, g: newGrapher(t.r, nil), page: listing{limit: t.rule.Limit}, found: &Factcheck{}}
	if err := k.run(); err != nil {
		return nil, err
	}
	section := &report.Section{Limited: q.full || k.found.Total > t.rule.Limit, Counts: []report.Count{{Name: "found", N: k.found.Total}}}
	for i := range k.found.Contradictions[:min(len(k.found.Contradictions), t.rule.Limit)] {
		one := &k.found.Contradictions[i]
		var objects []string
		var ids []fact.ID
		for j := range one.Facts[:min(len(one.Facts), maxReportObjects)] {
			objects = append(objects, value(one.Facts[j].Object))
			ids = append(ids, one.Facts[j].ID)
		}
		row := report.Row(nil).Text("kind", one.Kind.String()).Text("subject", one.Subject).Text("predicate", one.Predicate)
		section.Rows = append(section.Rows, row.Texts("objects", objects).Int("facts", uint64(one.Total)).IDs("ids", ids))
	}
	return section, nil
}

// written is what one actor did within the window.
type written struct{ txs, asserted, superseded, retracted uint64 }

// agents are those who wrote within the window, by the audit trail.
func (t *teller) agents() (*report.Section, error) {
	section, of, total := &report.Section{}, map[string]*written{}, 0
	q := &fact.AuditQuery{Scope: t.r.scope, After: t.before, Before: t.doc.Tx + 1, Forward: true, Limit: fact.MaxLimit}
	for {
		page, err := t.r.view.Audit(t.r.ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range page.Records {
			a := &page.Records[i]
			if a.Tenant != t.r.scope.Tenant {
				continue
			}
			total++
			w := of[a.Actor]
			if w == nil {
				if len(of) >= maxReportNames {
					section.Limited = true
					continue
				}
				w = &written{}
				of[a.Actor] = w
			}
			w.txs++
			if a.Counted {
				w.asserted, w.superseded, w.retracted = w.asserted+a.Asserted, w.superseded+a.Superseded, w.retracted+a.Retracted
			}
		}
		if q.After = page.Next; page.Next == 0 {
			break
		}
		if total >= maxReportTxs {
			section.Limited = true
			break
		}
	}
	names := ranked(of, func(a, b *written) int { return cmp.Compare(b.txs, a.txs) })
	section.Counts = []report.Count{{Name: "actors", N: len(names)}, {Name: "txs", N: total}}
	for _, name := range names[:min(len(names), t.rule.Limit)] {
		w := of[name]
		row := report.Row(nil)
		if name == "" {
			row = row.Optional("actor", nil) // the store itself: sweeps
		} else {
			row = row.Text("actor", name)
		}
		section.Rows = append(section.Rows, row.Int("txs", w.txs).Int("asserted", w.asserted).Int("superseded", w.superseded).Int("retracted", w.retracted))
	}
	section.Limited = section.Limited || len(names) > t.rule.Limit
	return section, nil
}

// ranked returns the names of figures in their order, and else by name.
func ranked[T any](of map[string]T, by func(a, b T) int) []string {
	names := make([]string, 0, len(of))
	for name := range of {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(by(of[a], of[b]), strings.Compare(a, b)) })
	return names
}

// alerts are what alerts have said within the window, the newest first.
func (t *teller) alerts() (*report.Section, error) {
	at := t.r.at
	at.AsOf = fact.NoInstant
	said := shortlist{limit: t.rule.Limit, order: func(a, b *fact.Fact) int { return cmp.Compare(b.FirstTx, a.FirstTx) }}
	firing := 0
	q := &fact.Query{Scope: t.r.scope, Predicate: fact.AlertState, Statuses: fact.AllStatuses, StatusGiven: true, At: at}
	err := t.r.view.Each(t.r.ctx, q, func(f *fact.Fact) bool {
		if f.FirstTx > t.before && strings.HasPrefix(f.Subject, fact.AlertKind) && f.Object.Kind == fact.Text {
			if said.add(f); f.Object.Text == AlertFiring {
				firing++
			}
		}
		return said.total < maxReportFacts
	})
	if err != nil {
		return nil, err
	}
	section := &report.Section{Limited: said.total > len(said.list)}
	section.Counts = []report.Count{{Name: "changes", N: said.total}, {Name: "firing", N: firing}}
	for i := range said.list {
		f := &said.list[i]
		row := report.Row(nil).Text("alert", strings.TrimPrefix(f.Subject, fact.AlertKind)).Object("state", f.Object)
		section.Rows = append(section.Rows, row.Time("since_at", f.RecordedAt).ID("id", f.ID))
	}
	return section, nil
}

package memory

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory/mask"
	"abagraph/memory/page"
	"abagraph/memory/report"
)

// Reports are facts of the tenant they tell of: `Report:x report {…}` is what was
// declared, `Report:x report_state {…}` how the last run went, and `Report:x
// report_edition {…}` the newest edition, which the page Page:Report:x shows. So they
// are told on the stream, have a history, and any node shows them.

// SetReport makes or changes a report of the caller's tenant.
func (s *Service) SetReport(ctx context.Context, c Caller, o WriteOptions, r *Report, trace *Trace) (*Report, *fact.Result, error) {
	if err := c.mayReport(o.Branch); err != nil {
		return nil, nil, err
	}
	wanted, known, err := s.wantedReport(ctx, c, r)
	if err != nil {
		return nil, nil, err
	}
	if known != nil && known.kept() == wanted.kept() && o.Idem == nil {
		return known, nil, nil
	}
	return s.saveReport(ctx, c, o, wanted, known, trace)
}

// DraftReport returns a report as SetReport would keep it, and writes nothing.
func (s *Service) DraftReport(ctx context.Context, c Caller, branch string, r *Report) (*Report, error) {
	if err := c.mayReport(branch); err != nil {
		return nil, err
	}
	wanted, _, err := s.wantedReport(ctx, c, r)
	return wanted, err
}

// wantedReport returns a report as it is kept, and the one that is there; nil = none.
func (s *Service) wantedReport(ctx context.Context, c Caller, r *Report) (wanted, known *Report, err error) {
	if wanted, err = s.settle(c, r); err != nil {
		return nil, nil, err
	}
	list, _, err := s.Reports(ctx, c, NewRead(), nil)
	if err != nil {
		return nil, nil, err
	}
	if known = findReport(list, wanted.Name); known == nil && len(list) >= MaxReports {
		return nil, nil, fact.Errorf(fact.SchemaInvalid, "a tenant may have at most %d reports", MaxReports)
	}
	return wanted, known, nil
}

// settle is a report as it is kept: by whom, and without personal data. Its subject is
// named as the facts of that subject have it.
func (s *Service) settle(c Caller, r *Report) (*Report, error) {
	masker := s.Masker(c, mask.Unsaid)
	for _, part := range [...][2]string{{"name", r.Name}, {"predicate", r.Predicate}} {
		if _, n := masker.Text(part[1]); n > 0 {
			return nil, fact.Invalid(part[0], "looks like personal data, which is not stored")
		}
	}
	wanted := *r
	wanted.By = c.declares()
	wanted.Title, _ = masker.Text(r.Title)
	wanted.Subject, _ = masker.Name(r.Subject)
	if len(wanted.Title) > report.MaxText {
		return nil, fact.Invalid("title", "is longer than "+strconv.Itoa(report.MaxText)+" bytes once personal data in it is masked")
	}
	if wanted.Subject == "" {
		return &wanted, nil
	}
	return &wanted, fact.CheckName("subject", wanted.Subject)
}

// declares is the name of the key as which a report reads that the caller declares.
func (c Caller) declares() string {
	if c.key == nil {
		return ""
	}
	return c.key.name
}

func findReport(list []*Report, name string) *Report {
	if i := slices.IndexFunc(list, func(r *Report) bool { return r.Name == name }); i >= 0 {
		return list[i]
	}
	return nil
}

// saveReport writes a declaration over the one that is known.
func (s *Service) saveReport(ctx context.Context, c Caller, o WriteOptions, r, known *Report, trace *Trace) (*Report, *fact.Result, error) {
	var shown []fact.Fact
	if known != nil {
		shown = []fact.Fact{known.fact}
	}
	o.Mask = mask.Off // the declaration must stay as it is
	w := &fact.Write{
		Guards:  []fact.Guard{fact.SameGuard(r.subject(), fact.ReportRule, shown)},
		Asserts: []fact.Assert{reportFact(r.subject(), fact.ReportRule, r.kept())},
	}
	result, err := s.Transact(ctx, c, o, w, trace)
	if overtaken(err) {
		err = fact.Errorf(fact.Conflict, "the report was changed by others at the same time: try again")
	}
	if err != nil {
		return nil, result, err
	}
	trace.Name("set_report", "guard → assert, in one tx")
	made := reportOf(&result.Asserts[0].Fact)
	if made == nil {
		return nil, result, fact.Errorf(fact.Conflict, "the report was not kept as it was declared")
	}
	if known != nil {
		made.State = known.State
	}
	return made, result, nil
}

func reportFact(subject, predicate, text string) fact.Assert {
	source := fact.ReportSource
	return fact.Assert{
		Subject: subject, Predicate: predicate, Object: fact.TextObject(text), Source: &source, Confidence: 1,
		ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, KnownAt: fact.NoInstant,
	}
}

// mayReport refuses who may not declare reports, and where there are none.
func (c Caller) mayReport(branch string) error {
	if err := c.Require(fact.RoleAdmin); err != nil {
		return err
	}
	return c.hasReports(branch)
}

func (c Caller) hasReports(branch string) error {
	if branch != "" && branch != fact.MainBranch {
		return fact.Invalid("branch", "cannot be named here: reports are of the main branch")
	}
	if c.Tenant == "" {
		return fact.Invalid("tenant", "is required here: a report is a tenant's")
	}
	return nil
}

// PauseReport stops the scheduled runs of a report, or lets it run again. What was
// missed meanwhile is not made up for.
func (s *Service) PauseReport(ctx context.Context, c Caller, o WriteOptions, name string, paused bool, trace *Trace) (*Report, *fact.Result, error) {
	if err := c.mayReport(o.Branch); err != nil {
		return nil, nil, err
	}
	known, _, err := s.Report(ctx, c, NewRead(), name, nil)
	if err != nil {
		return nil, nil, err
	}
	if known.Paused == paused && o.Idem == nil {
		return known, nil, nil
	}
	r := *known
	r.Paused = paused
	return s.saveReport(ctx, c, o, &r, known, trace)
}

// DeleteReport ends a report, and takes down its page. Earlier states show both.
func (s *Service) DeleteReport(ctx context.Context, c Caller, o WriteOptions, name string, trace *Trace) (*fact.Result, error) {
	if err := c.mayReport(o.Branch); err != nil {
		return nil, err
	}
	known, _, err := s.Report(ctx, c, NewRead(), name, nil)
	if fact.CodeOf(err) == fact.NotFound {
		if result, failed := s.Repeated(ctx, c, o, fact.ReportKind+name, fact.ReportRule); result != nil || failed != nil {
			return result, failed
		}
	}
	if err != nil {
		return nil, err
	}
	w := &fact.Write{}
	r, err := s.beginOwn(ctx, reporting(c.Tenant), NewRead(), nil)
	if err != nil {
		return nil, err
	}
	defer r.close()
	for _, part := range [...][2]string{
		{known.subject(), fact.ReportRule}, {known.subject(), fact.ReportState}, {known.subject(), fact.ReportEdition},
		{known.subject(), page.Of}, {known.Page(), page.Title}, {known.Page(), page.Body},
	} {
		got, err := r.view.Facts(r.ctx, &fact.Query{Scope: r.scope, Subject: part[0], Predicate: part[1], At: r.at})
		if err != nil {
			return nil, fmt.Errorf("look for what a report has written: %w", err)
		}
		for i := range got.Facts {
			if f := &got.Facts[i]; f.Source != nil && *f.Source == fact.ReportSource {
				w.Retracts = append(w.Retracts, fact.Retract{ID: f.ID, KnownAt: fact.NoInstant})
			}
		}
	}
	result, err := s.Transact(ctx, c, o, w, trace)
	trace.Name("delete_report", "retracts, in one tx")
	return result, err
}

// Report returns one report.
func (s *Service) Report(ctx context.Context, c Caller, read Read, name string, trace *Trace) (*Report, Meta, error) {
	list, meta, err := s.Reports(ctx, c, read, trace)
	if err != nil {
		return nil, meta, err
	}
	if r := findReport(list, name); r != nil {
		return r, meta, nil
	}
	return nil, meta, &fact.Error{Code: fact.NotFound, Message: "no report: " + shorten(name)}
}

// Reports lists the reports of the caller's tenant by name, as far as its policy lets
// the caller see them.
func (s *Service) Reports(ctx context.Context, c Caller, read Read, trace *Trace) ([]*Report, Meta, error) {
	if err := c.hasReports(read.Branch); err != nil {
		return nil, Meta{}, err
	}
	r, err := s.begin(ctx, c, read, 0, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer r.close()
	list, err := r.reports()
	if err != nil {
		return nil, r.meta, err
	}
	trace.Step("execute", "by_predicate")
	trace.Name("reports", "pick by_predicate index")
	trace.Int("results", len(list))
	return list, r.meta, nil
}

// reports reads the reports of a scope with their states.
func (r *reading) reports() ([]*Report, error) {
	var list []*Report
	of := map[[2]string]*Report{} // by tenant and subject
	for _, predicate := range [...]string{fact.ReportRule, fact.ReportState} {
		err := r.view.Each(r.ctx, &fact.Query{Scope: r.scope, Predicate: predicate, At: r.at}, func(f *fact.Fact) bool {
			if !strings.HasPrefix(f.Subject, fact.ReportKind) || f.Object.Kind != fact.Text {
				return true
			}
			if predicate == fact.ReportRule {
				if one := reportOf(f); one != nil && of[[2]string{f.Tenant, f.Subject}] == nil {
					list, of[[2]string{f.Tenant, f.Subject}] = append(list, one), one
				}
				return true
			}
			if one := of[[2]string{f.Tenant, f.Subject}]; one != nil {
				state := *f
				one.State = readReportState(&state)
			}
			return true
		})
		if err != nil {
			return nil, fmt.Errorf("list reports: %w", err)
		}
	}
	slices.SortFunc(list, func(a, b *Report) int {
		if by := strings.Compare(a.fact.Tenant, b.fact.Tenant); by != 0 {
			return by
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list, nil
}

// Edition returns a report with its newest edition as JSON, nil where there is none or
// none that the caller may see.
func (s *Service) Edition(ctx context.Context, c Caller, read Read, name string, trace *Trace) (*Report, []byte, Meta, error) {
	one, meta, err := s.Report(ctx, c, read, name, trace)
	if err != nil {
		return nil, nil, meta, err
	}
	read.Level, read.MinTx = fact.Stale, meta.Tx
	r, err := s.begin(ctx, c, read, 0, nil)
	if err != nil {
		return nil, nil, meta, err
	}
	defer r.close()
	got, err := r.view.Facts(r.ctx, &fact.Query{Scope: r.scope, Subject: one.subject(), Predicate: fact.ReportEdition, At: r.at, Limit: 1})
	if err != nil {
		return nil, nil, meta, fmt.Errorf("read the edition of a report: %w", err)
	}
	if len(got.Facts) == 0 {
		return one, nil, meta, nil
	}
	text := []byte(got.Facts[0].Object.Text)
	if _, err := jsonx.Parse(text); err != nil {
		return one, nil, meta, nil // written by hand: no edition
	}
	return one, text, meta, nil
}

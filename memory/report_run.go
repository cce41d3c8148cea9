package memory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"abagraph/fact"
	"abagraph/memory/mask"
	"abagraph/memory/page"
	"abagraph/memory/report"
)

const (
	// reportTime bounds the making of one edition.
	reportTime = time.Minute
	// reportActor is who writes what reports say.
	reportActor = "reports"
)

// ReportTime bounds how long a run may take: the making of it, and its writing.
const ReportTime = reportTime + DefaultTimeout

func reporting(tenant string) Caller {
	return Caller{Operator: true, Tenant: tenant, Role: fact.RoleAdmin, Actor: reportActor}
}

// as returns the caller as which a report reads: whoever declared it, under the policy
// as it is now. A key that is gone reads nothing.
func (s *Service) as(ctx context.Context, tenant string, r *Report) (Caller, error) {
	c := reporting(tenant)
	if r.By == "" {
		return c, nil
	}
	view, err := s.view(ctx)
	if err != nil {
		return c, fmt.Errorf("open a view: %w", err)
	}
	defer view.Close()
	keys, err := view.Keys(ctx, tenant)
	if err != nil {
		return c, fmt.Errorf("look for the key of a report: %w", err)
	}
	living := newLiving(view)
	for i := range keys {
		if k := &keys[i]; living.has(ctx, tenant) && k.Name == r.By && k.Role >= fact.RoleAdmin && !k.RevokedAt.Given() {
			c.deputy = r.By
			return c, nil
		}
	}
	return c, fact.Errorf(fact.Forbidden, "the key %s, which declared the report, is no valid key of role admin any more: declare the report anew", shorten(r.By))
}

// PreviewReport makes an edition of a report as it would be now, and writes nothing.
// It shows what the caller may see.
func (s *Service) PreviewReport(ctx context.Context, c Caller, r *Report, trace *Trace) ([]byte, error) {
	if err := c.mayReport(""); err != nil {
		return nil, err
	}
	doc, _, err := s.tell(ctx, c, r, fact.NoInstant, trace)
	if err != nil {
		return nil, err
	}
	text, _, err := doc.Fit()
	return text, err
}

// RunReport makes an edition of a report now, whatever its schedule says, also while
// it is paused.
func (s *Service) RunReport(ctx context.Context, c Caller, o WriteOptions, name string, trace *Trace) (*Report, *fact.Result, error) {
	if err := c.mayReport(o.Branch); err != nil {
		return nil, nil, err
	}
	if err := s.confirm(ctx, c); err != nil {
		return nil, nil, err
	}
	for range maxReportTries {
		known, _, err := s.Report(ctx, c, NewRead(), name, nil)
		if err != nil {
			return nil, nil, err
		}
		result, err := s.runReport(ctx, c.Tenant, known, fact.NoInstant, o.Idem, trace)
		if overtaken(err) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		trace.Name("run_report", "by_subject index, by_tx index → guards → asserts, in one tx")
		return known, result, nil
	}
	return nil, nil, fact.Errorf(fact.Conflict, "the report was changed by others each time it was about to be kept: try again")
}

// maxReportTries is how often an edition is made anew because another one came between.
const maxReportTries = 4

// runReport makes an edition and keeps it, in one tx: the edition, the page, and that
// the time of the schedule is done, so that it is done once, whoever leads.
func (s *Service) runReport(ctx context.Context, tenant string, r *Report, slot fact.Instant, idem *fact.Idempotency, trace *Trace) (*fact.Result, error) {
	c, err := s.as(ctx, tenant, r)
	if err != nil {
		return nil, err
	}
	doc, purge, err := s.tell(ctx, c, r, slot, trace)
	if err != nil {
		return nil, err
	}
	text, markdown, err := doc.Fit()
	if err != nil {
		return nil, fmt.Errorf("write a report: %w", err)
	}
	is := ReportState{Slot: r.State.Slot, Outcome: ReportOK, From: doc.From, To: doc.To, Tx: doc.Tx}
	if slot.Given() {
		is.Slot = slot
	}
	w, err := s.reportPage(ctx, tenant, r, doc, markdown)
	if err != nil {
		return nil, err
	}
	if s.Position().Purge != purge {
		return nil, errPurged
	}
	w.Guards = append(w.Guards, r.guards()...)
	w.Asserts = append(w.Asserts, reportFact(r.subject(), fact.ReportEdition, string(text)), is.assert(r))
	result, err := s.Transact(ctx, reporting(tenant), WriteOptions{Mask: mask.Off, Idem: idem}, w, nil)
	if err == nil {
		r.State = is
		r.State.Since = result.RecordedAt
	}
	return result, err
}

// errPurged is the error of an edition that may quote what was erased while it was made.
var errPurged = fact.Errorf(fact.CompareFailed, "something was purged while the report was made")

// reportPage is what makes the page of a report show an edition.
func (s *Service) reportPage(ctx context.Context, tenant string, r *Report, doc *report.Document, markdown string) (*fact.Write, error) {
	source := fact.ReportSource
	in := &PageInput{Name: r.subject(), Title: r.Title, Body: markdown, Source: &source}
	if in.Title == "" {
		in.Title = doc.Report
	}
	c := reporting(tenant)
	m := s.Masker(c, mask.Off) // what facts say has been masked
	was, draft, err := s.draft(ctx, c, WriteOptions{}, in, r.subject(), &m, nil)
	if err != nil {
		return nil, err
	}
	return page.Plan(was, draft), nil
}

// guards hold while the report and its state are what they were read as.
func (r *Report) guards() []fact.Guard {
	var state []fact.Fact
	if r.State.fact != nil {
		state = []fact.Fact{*r.State.fact}
	}
	return []fact.Guard{
		fact.SameGuard(r.subject(), fact.ReportRule, []fact.Fact{r.fact}),
		fact.SameGuard(r.subject(), fact.ReportState, state),
	}
}

func (st *ReportState) assert(r *Report) fact.Assert {
	return reportFact(r.subject(), fact.ReportState, string(append(st.Append(nil), '}')))
}

// DueReport is a time of a report's schedule that nobody has run.
type DueReport struct {
	Tenant string
	Name   string
	Slot   fact.Instant
}

// DueReports lists what is due by a clock, of the tenants that are not deleted. What was
// missed is one run, the last one.
func (s *Service) DueReports(ctx context.Context, now fact.Instant) ([]DueReport, error) {
	r, err := s.begin(ctx, Caller{Operator: true, Role: fact.RoleAdmin, Actor: reportActor}, NewRead(), 0, nil)
	if err != nil {
		return nil, err
	}
	defer r.close()
	list, err := r.reports()
	if err != nil {
		return nil, err
	}
	var due []DueReport
	living := newLiving(r.view)
	for _, one := range list {
		if slot, comes := one.due(now); comes && one.fact.Tenant != "" && living.has(r.ctx, one.fact.Tenant) {
			due = append(due, DueReport{Tenant: one.fact.Tenant, Name: one.Name, Slot: slot})
		}
	}
	return due, living.err
}

func (r *Report) due(now fact.Instant) (fact.Instant, bool) {
	if r.Paused || r.times == nil {
		return fact.NoInstant, false
	}
	return r.times.Due(max(r.fact.RecordedAt, r.State.Slot), now)
}

// RunDueReport runs a report if its time has still not been run. A run that fails is
// noted with its time, and the next one comes at the next time; where the cluster
// cannot be asked now, the time stays due.
func (s *Service) RunDueReport(ctx context.Context, due DueReport, now fact.Instant) (ran bool, err error) {
	known, _, err := s.Report(ctx, reporting(due.Tenant), NewRead(), due.Name, nil)
	if err != nil {
		return false, err
	}
	slot, comes := known.due(now)
	if !comes {
		return false, nil
	}
	_, err = s.runReport(ctx, due.Tenant, known, slot, nil, nil)
	switch {
	case err == nil:
		return true, nil
	case overtaken(err):
		return false, nil
	case ctx.Err() != nil, passing(err):
		return false, err
	}
	is := ReportState{Slot: slot, Outcome: ReportFailed, Problem: s.problem(due.Tenant, err), From: known.State.From, To: known.State.To, Tx: known.State.Tx}
	w := &fact.Write{Guards: known.guards(), Asserts: []fact.Assert{is.assert(known)}}
	_, failed := s.Transact(ctx, reporting(due.Tenant), WriteOptions{Mask: mask.Off}, w, nil)
	switch {
	case overtaken(failed):
		return false, nil // another node was first
	case failed != nil:
		return false, errors.Join(err, failed)
	}
	return true, err
}

// passing tells of an error that it is the cluster's, and goes by.
func passing(err error) bool {
	switch fact.CodeOf(err) {
	case fact.NoLeader, fact.Closed, fact.RateLimited, fact.ReadOnly:
		return true
	}
	return false
}

func (s *Service) problem(tenant string, err error) string {
	m := s.Masker(Caller{Tenant: tenant}, mask.Unsaid)
	text, _ := m.Text(err.Error())
	return text
}

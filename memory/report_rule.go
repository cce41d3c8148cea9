package memory

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/internal/schedule"
	"abagraph/memory/report"
)

// Report is what a report of a tenant's main branch tells of, and when.
type Report struct {
	Name  string
	Title string // "" = none
	// Schedule is a cron expression, read in Zone, "" = UTC; without one the report is
	// made only when it is asked for.
	Schedule string
	Zone     string
	// Window is how far back it looks, in seconds.
	Window int64
	// Sections are what it has, in their order.
	Sections []string
	// Limit is the most rows of a section.
	Limit int
	// Subject and Predicate narrow it; "" = everything.
	Subject   string
	Predicate string
	// LowConfidence is the confidence below which a fact is told, and Stale the age in
	// seconds beyond which one is.
	LowConfidence float64
	Stale         int64
	Paused        bool
	// By is the name of the key that declared it, as which it reads; "" = the operator.
	By        string
	CreatedAt fact.Instant
	Tx        uint64

	// State is what became of the last run.
	State ReportState

	times *schedule.Schedule
	fact  fact.Fact
}

// Bounds of a report.
const (
	// MaxReports is the most reports of one tenant.
	MaxReports = 100

	maxReportRows     = 50
	defaultReportRows = 20
	defaultDoubt      = 0.8
	defaultStale      = 90 * 86_400
	maxStale          = 10 * 366 * 86_400
)

// ParseReport reads a declaration. Fields that every body may carry have been read by
// others.
func ParseReport(v jsonx.Value) (*Report, error) {
	f := jsonx.Open(v, "")
	r := readReport(f)
	f.Ignore("branch")
	f.Ignore("tenant")
	if err := f.Done(); err != nil {
		return nil, err
	}
	if err := r.compile(); err != nil {
		return nil, err
	}
	if r.times.Faster(minReportPace) {
		return nil, fact.Invalid("schedule", "comes more often than each minute")
	}
	return r, nil
}

// minReportPace is the shortest time between two editions: each one stays for good.
const minReportPace = time.Minute

// readReport reads what a declaration and a kept report have in common.
func readReport(f *jsonx.Fields) *Report {
	r := &Report{Name: f.Required("name"), Window: defaultWindow, Limit: defaultReportRows, LowConfidence: defaultDoubt, Stale: defaultStale}
	if err := checkSecretName("name", r.Name); err != nil {
		f.Fail(err)
	}
	if r.Title, _ = f.Text("title"); len(r.Title) > report.MaxText {
		f.Fail(fact.Invalid("title", "is longer than "+strconv.Itoa(report.MaxText)+" bytes"))
	}
	r.Schedule, _ = f.Text("schedule")
	r.Zone, _ = f.Text("timezone")
	if n, given := f.Integer("window_secs", 1, maxWindow); given {
		r.Window = n
	}
	if n, given := f.Integer("limit", 1, maxReportRows); given {
		r.Limit = int(n)
	}
	if n, given := f.Integer("stale_secs", 1, maxStale); given {
		r.Stale = n
	}
	if n, given := number(f, "low_confidence"); given {
		if r.LowConfidence = n; !(n >= 0 && n <= 1) {
			f.Fail(fact.Invalid("low_confidence", "must be from 0 to 1"))
		}
	}
	r.Subject, r.Predicate = reportName(f, "subject"), reportName(f, "predicate")
	r.Sections = sections(f)
	r.Paused = f.Flag("paused")
	return r
}

func reportName(f *jsonx.Fields, field string) string {
	text, given := f.Text(field)
	if !given {
		return ""
	}
	name, err := Name(field, text)
	if err != nil {
		f.Fail(err)
	}
	return name
}

// sections reads which sections a report has: all, where none is named.
func sections(f *jsonx.Fields) []string {
	all := report.Names()
	list := f.Array("sections")
	if len(list) == 0 {
		return all
	}
	named := make([]bool, len(all))
	for i, v := range list {
		place, known := report.Place(v.Text)
		switch {
		case v.Kind != jsonx.String || !known:
			f.Fail(fact.Invalid(jsonx.Index("sections", i), "must be one of "+strings.Join(all, ", ")))
		case named[place]:
			f.Fail(fact.Invalid(jsonx.Index("sections", i), "is named twice"))
		default:
			named[place] = true
		}
	}
	return slices.DeleteFunc(all, func(name string) bool {
		place, _ := report.Place(name)
		return !named[place]
	})
}

// compile reads the schedule, and refuses one that cannot be.
func (r *Report) compile() error {
	if r.Schedule == "" {
		if r.Zone != "" {
			return fact.Invalid("timezone", "is for a schedule")
		}
		return nil
	}
	var err error
	r.times, err = schedule.Parse(r.Schedule, r.Zone)
	return err
}

// Next is when the report is due after an instant; NoInstant while it is paused, and
// without a schedule.
func (r *Report) Next(after fact.Instant) fact.Instant {
	if r.Paused {
		return fact.NoInstant
	}
	return r.times.Next(after)
}

// Page is the id of the page that shows the newest edition.
func (r *Report) Page() string { return "Page:" + r.subject() }

func (r *Report) subject() string { return fact.ReportKind + r.Name }

// Append writes what was declared as JSON, without the closing brace.
func (r *Report) Append(b []byte) []byte {
	b = jsonx.AppendString(append(b, `{"name":`...), r.Name)
	for _, part := range [...][2]string{{"title", r.Title}, {"schedule", r.Schedule}, {"timezone", r.Zone}, {"subject", r.Subject}, {"predicate", r.Predicate}} {
		if part[1] != "" {
			b = append(jsonx.AppendString(append(b, ','), part[0]), ':')
			b = jsonx.AppendString(b, part[1])
		}
	}
	b = strconv.AppendInt(append(b, `,"window_secs":`...), r.Window, 10)
	b = jsonx.AppendStrings(append(b, `,"sections":`...), r.Sections)
	b = strconv.AppendInt(append(b, `,"limit":`...), int64(r.Limit), 10)
	b = append(append(b, `,"low_confidence":`...), formatNumber(r.LowConfidence)...)
	b = strconv.AppendInt(append(b, `,"stale_secs":`...), r.Stale, 10)
	return jsonx.AppendBool(append(b, `,"paused":`...), r.Paused)
}

// kept is a report as the text of its fact.
func (r *Report) kept() string {
	b := r.Append(nil)
	if r.By != "" {
		b = jsonx.AppendString(append(b, `,"by":`...), r.By)
	}
	return string(append(b, '}'))
}

// reportOf reads a report from its fact; nil where that is none.
func reportOf(f *fact.Fact) *Report {
	v, err := jsonx.Parse([]byte(f.Object.Text))
	if err != nil {
		return nil
	}
	fields := jsonx.Open(v, "")
	r := readReport(fields)
	r.By, _ = fields.Text("by")
	if fields.Done() != nil || r.compile() != nil || f.Subject != r.subject() {
		return nil
	}
	r.fact, r.CreatedAt, r.Tx = *f, f.RecordedAt, f.Tx
	r.State = ReportState{Slot: fact.NoInstant, From: fact.NoInstant, To: fact.NoInstant, Since: fact.NoInstant}
	return r
}

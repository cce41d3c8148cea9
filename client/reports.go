package client

import (
	"encoding/json"
	"net/url"
)

// NewReport is a report to declare.
type NewReport struct {
	Name          string   `json:"name"`
	Title         string   `json:"title,omitempty"`
	Schedule      string   `json:"schedule,omitempty"` // "" = made only when it is asked for
	Timezone      string   `json:"timezone,omitempty"`
	WindowSecs    int64    `json:"window_secs,omitempty"`
	Sections      []string `json:"sections,omitempty"` // none = all
	Limit         int      `json:"limit,omitempty"`
	Subject       string   `json:"subject,omitempty"`
	Predicate     string   `json:"predicate,omitempty"`
	LowConfidence *float64 `json:"low_confidence,omitempty"`
	StaleSecs     int64    `json:"stale_secs,omitempty"`
	Paused        bool     `json:"paused,omitempty"`
}

// Report is a report, and what became of its last run.
type Report struct {
	NewReport
	By   *string    `json:"by"` // the key that declared it; nil = an operator
	Page string     `json:"page"`
	Next *int64     `json:"next"`
	Last *ReportRun `json:"last"`
}

// ReportRun is what became of the last run of a report.
type ReportRun struct {
	Slot    *int64  `json:"slot"` // the time of the schedule that was run last
	Outcome string  `json:"outcome"`
	Problem *string `json:"problem"`
	From    *int64  `json:"from"`
	To      *int64  `json:"to"`
	Tx      *uint64 `json:"tx"`
	Since   int64   `json:"since"`
}

// ReportAnswer is a report with an edition of it.
type ReportAnswer struct {
	Report   Report   `json:"report"`
	Edition  *Edition `json:"edition"` // nil = there is none yet
	DryRun   bool     `json:"dry_run"`
	Warnings []string `json:"warnings"`
}

// Edition is what a report says.
type Edition struct {
	Report   string           `json:"report"`
	Title    string           `json:"title"`
	From     int64            `json:"from"`
	To       int64            `json:"to"`
	Tx       uint64           `json:"tx"`
	Limited  bool             `json:"limited"`
	Sections []EditionSection `json:"sections"`
}

// EditionSection is one part of an edition.
type EditionSection struct {
	Name    string                       `json:"name"`
	Counts  map[string]int               `json:"counts"`
	Limited bool                         `json:"limited"`
	Rows    []map[string]json.RawMessage `json:"rows"`
}

// ReportsPath is where reports are declared and listed.
const ReportsPath = "/api/reports"

// ReportPath is the path of a report.
func ReportPath(name string) string { return ReportsPath + "/" + url.PathEscape(name) }

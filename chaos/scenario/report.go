package scenario

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Report is what came of an attack.
type Report struct {
	Scenario string         `json:"scenario"`
	Seed     uint64         `json:"seed"`
	Length   time.Duration  `json:"length_ns"`
	Took     time.Duration  `json:"took_ns"`
	Again    string         `json:"again"`          // the command that makes this attack again
	From     string         `json:"from,omitempty"` // what the nodes began with, in an upgrade
	Judges   map[string]int `json:"judges"`         // how much each judge has looked at
	// LeftOut are faults that this machine cannot make.
	LeftOut    []string    `json:"left_out"`
	Violations []Violation `json:"violations"`
	Moments    []Moment    `json:"moments"`
	Kinds      []Kind      `json:"kinds"`
	Seconds    []Second    `json:"seconds"`
	// LongestGap is the longest time in which no write was acknowledged.
	LongestGap time.Duration `json:"longest_gap_ns"`
	Plan       []episode     `json:"plan"`
}

// Kind sums up the calls of one kind.
type Kind struct {
	Name     string         `json:"name"`
	Outcomes map[string]int `json:"outcomes"`
	P50      time.Duration  `json:"p50_ns"` // of those that were answered well
	P99      time.Duration  `json:"p99_ns"`
	Max      time.Duration  `json:"max_ns"`
}

// Second sums up the calls that ended in one second of the attack.
type Second struct {
	OK     int           `json:"ok"`
	Failed int           `json:"failed"`
	P50    time.Duration `json:"p50_ns"`
	P99    time.Duration `json:"p99_ns"`
}

// Failed reports whether a promise was broken.
func (r *Report) Failed() bool { return len(r.Violations) > 0 }

func (r *run) report(episodes []episode) *Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	minutes := fmt.Sprintf("%g", r.Length.Minutes())
	out := &Report{
		Scenario: r.Scenario, Seed: r.Seed, Length: r.Length, Took: r.since(), Judges: r.checked,
		Again:      fmt.Sprintf("make chaos SCENARIO=%s SEED=%d MINUTES=%s", r.Scenario, r.Seed, minutes),
		Violations: r.violations, Moments: r.moments, Plan: episodes,
	}
	if r.Former != nil {
		out.From = r.Former.What
		out.Again = fmt.Sprintf("make chaos-upgrade FROM=%s SEED=%d MINUTES=%s", r.Former.Revision, r.Seed, minutes)
	}
	if r.Size != 3 {
		out.Again += fmt.Sprintf(" NODES=%d", r.Size)
	}
	for _, e := range episodes {
		if kind := faults[e.Kind]; kind.disks && !r.Disks || kind.clocks && !r.Clocks || kind.cluster && r.Size < 3 {
			out.LeftOut = append(out.LeftOut, e.Kind)
		}
	}
	slices.Sort(out.LeftOut)
	out.LeftOut = slices.Compact(out.LeftOut)
	out.Kinds, out.Seconds, out.LongestGap = kindsIn(r.calls), secondsIn(r.calls), longestGap(r.calls)
	return out
}

func kindsIn(calls []Call) []Kind {
	byName := make(map[string]*Kind)
	took := make(map[string][]time.Duration)
	for _, c := range calls {
		k := byName[c.Kind]
		if k == nil {
			k = &Kind{Name: c.Kind, Outcomes: make(map[string]int)}
			byName[c.Kind] = k
		}
		k.Outcomes[c.Outcome]++
		if c.Outcome == "ok" {
			took[c.Kind] = append(took[c.Kind], c.End-c.Begin)
		}
	}
	var kinds []Kind
	for name, k := range byName {
		k.P50, k.P99, k.Max = share(took[name], 50), share(took[name], 99), share(took[name], 100)
		kinds = append(kinds, *k)
	}
	slices.SortFunc(kinds, func(a, b Kind) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return kinds
}

// share is the duration that so many of a hundred do not exceed.
func share(all []time.Duration, percent int) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[min(len(all)*percent/100, len(all)-1)]
}

func secondsIn(calls []Call) []Second {
	var seconds []Second
	var took [][]time.Duration
	for _, c := range calls {
		at := int(c.End / time.Second)
		for len(seconds) <= at {
			seconds, took = append(seconds, Second{}), append(took, nil)
		}
		if c.Outcome != "ok" {
			seconds[at].Failed++
			continue
		}
		seconds[at].OK++
		took[at] = append(took[at], c.End-c.Begin)
	}
	for i := range seconds {
		seconds[i].P50, seconds[i].P99 = share(took[i], 50), share(took[i], 99)
	}
	return seconds
}

func longestGap(calls []Call) (longest time.Duration) {
	var ends []time.Duration
	for _, c := range calls {
		if c.Outcome == "ok" && (c.Kind == "assert" || c.Kind == "transact" || c.Kind == "swap") {
			ends = append(ends, c.End)
		}
	}
	slices.Sort(ends)
	for i := 1; i < len(ends); i++ {
		longest = max(longest, ends[i]-ends[i-1])
	}
	return longest
}

//go:embed report.html
var page string

// Write puts the report into a folder, as report.json and as report.html, which needs
// nothing else to be read.
func (r *Report) Write(dir string) error {
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "report.json"), append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, "report.html"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	drawn, err := template.New("report").Parse(page)
	if err == nil {
		err = drawn.Execute(file, r.drawing())
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

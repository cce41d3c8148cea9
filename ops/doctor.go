package ops

import (
	"context"
	"errors"
	"strings"

	"abagraph/client"
)

// Doctor looks for what is wrong: with a running cluster, through one of its nodes,
// or with the data of a node that does not run. It changes nothing.
type Doctor struct {
	Client *client.Client // of a running node
	Data   string         // or a data directory
}

// DoctorReport tells what was found. Healthy is set where there is nothing.
type DoctorReport struct {
	Of       string    `json:"of"`
	Healthy  bool      `json:"healthy"`
	Findings []Finding `json:"findings"`
}

// Run looks.
func (d *Doctor) Run(ctx context.Context) (*DoctorReport, error) {
	report := &DoctorReport{Findings: []Finding{}}
	var err error
	if d.Data != "" {
		err = d.data(ctx, report)
	} else {
		err = d.cluster(ctx, report)
	}
	if err != nil {
		return nil, err
	}
	report.Healthy = len(report.Findings) == 0
	return report, nil
}

func (r *DoctorReport) found(what, do string) { r.Findings = append(r.Findings, Finding{what, do}) }

func (d *Doctor) cluster(ctx context.Context, report *DoctorReport) error {
	report.Of = d.Client.Base()
	if _, err := d.Client.Ready(ctx); err != nil {
		var e *client.Error
		if !errors.As(err, &e) {
			report.found("the node does not answer: "+err.Error(), "start it: abagraph serve; its last line on stderr says why it ended")
			return nil
		}
		report.found("the node is not ready: "+e.Error(), "look at what is told of the cluster below")
	}
	nodes, err := d.Client.Nodes(ctx)
	if err != nil {
		return err
	}
	report.Findings = append(report.Findings, findings(nodes, d.Client.Base())...)
	return nil
}

// remedies are what mends the problems of a data directory, by words of theirs.
var remedies = []struct{ words, do string }{
	{"its description is damaged", "a member: empty the directory and join it anew. A node alone: start it, and have it take two snapshots (abagraph ops snapshot after writes), which replace it"},
	{"the snapshot at entry", "a member: empty the directory and join it anew. A node alone whose state is whole: start it, and have it take two snapshots, which replace it"},
	{"is damaged", "a member: empty the directory and join it anew. A node alone: abagraph ops restore FILE --data DIR --replace"},
	{"a part of the log is missing", "a member: empty the directory and join it anew. A node alone: abagraph ops restore FILE --data DIR --replace"},
	{"neither in the log nor in a snapshot", "a member: empty the directory and join it anew. A node alone: abagraph ops restore FILE --data DIR --replace"},
	{"no such file", "a member: empty the directory and join it anew. A node alone: abagraph ops restore FILE --data DIR --replace"},
	{"format version", "run the release that wrote it"},
	{"of a later release", "run that release: abagraph version tells which one this is. The data is whole; empty nothing"},
	{"the store has format 1", "abagraph export of the build that wrote it, and abagraph import into an empty directory"},
}

const anyRemedy = "a member: empty the directory and join it anew. A node alone: abagraph ops restore FILE --data DIR --replace; and report it"

func (d *Doctor) data(ctx context.Context, report *DoctorReport) error {
	report.Of = d.Data
	seen, err := (&Verify{Path: d.Data}).Run(ctx)
	if err != nil {
		return err
	}
	for _, problem := range seen.Problems {
		report.found(problem, strings.ReplaceAll(remedy(problem), "DIR", d.Data))
	}
	return nil
}

func remedy(problem string) string {
	for _, r := range remedies {
		if strings.Contains(problem, r.words) {
			return r.do
		}
	}
	return anyRemedy
}

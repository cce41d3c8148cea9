package ingest

import (
	"abagraph/fact"
)

// IDs lists the facts of one outcome.
func (r *Receipt) IDs(outcome Outcome) []fact.ID {
	list := []fact.ID{}
	for i := range r.Items {
		if r.Items[i].Outcome == outcome {
			list = append(list, r.Items[i].Fact.ID)
		}
	}
	return list
}

// Told is what the log says of a digest: counts, and never what was said.
func (d *Digest) Told(r *Receipt, tenant string) []any {
	mode := "facts"
	switch {
	case d.Extract.Given():
		mode = "content"
	case !d.FromFacts:
		mode = "links"
	}
	fields := []any{"mode", mode, "records", len(r.Items), "written", r.Counts[Written], "candidates", r.Counts[Candidate],
		"refused", r.Counts[Refused], "superseded", len(r.Superseded), "pii_masked", r.Masked, "tenant", tenant}
	if !d.FromFacts {
		fields = append(fields, "content_type", d.Kind)
	}
	if d.Extract.Given() {
		fields = append(fields, "extract_model", d.Extract.Config, "judge_model", d.Judge.Config, "chunks", r.Chunks)
	}
	return fields
}

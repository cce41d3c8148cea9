package memory

import (
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

// ReportState is what became of a report's last run.
type ReportState struct {
	// Slot is the time of the schedule that was run last; NoInstant = none.
	Slot fact.Instant
	// Outcome is ok or failed; "" = it has not run.
	Outcome string
	// Problem says why it failed.
	Problem string
	// From, To and Tx are those of the newest edition; NoInstant and 0 = there is none.
	From, To fact.Instant
	Tx       uint64
	// Since is when this state was recorded.
	Since fact.Instant

	fact *fact.Fact // that tells it; nil = there is none
}

// The outcomes of a run.
const (
	ReportOK     = "ok"
	ReportFailed = "failed"
)

// Append writes a state as JSON, without the closing brace.
func (st *ReportState) Append(b []byte) []byte {
	b = jsonx.AppendInstant(append(b, `{"slot":`...), st.Slot)
	for _, part := range [...][2]string{{"outcome", st.Outcome}, {"problem", st.Problem}} {
		b = append(jsonx.AppendString(append(b, ','), part[0]), ':')
		if part[1] == "" {
			b = append(b, "null"...)
		} else {
			b = jsonx.AppendString(b, part[1])
		}
	}
	b = jsonx.AppendInstant(append(b, `,"from":`...), st.From)
	b = jsonx.AppendInstant(append(b, `,"to":`...), st.To)
	b = append(b, `,"tx":`...)
	if !st.To.Given() {
		return append(b, "null"...)
	}
	return strconv.AppendUint(b, st.Tx, 10)
}

// readReportState reads what it can of a state.
func readReportState(f *fact.Fact) ReportState {
	st := ReportState{Slot: fact.NoInstant, From: fact.NoInstant, To: fact.NoInstant, Since: f.RecordedAt, fact: f}
	v, err := jsonx.Parse([]byte(f.Object.Text))
	if err != nil {
		return st
	}
	g := jsonx.Open(v, "")
	st.Outcome, _ = g.Text("outcome")
	st.Problem, _ = g.Text("problem")
	st.Slot, st.From, st.To = g.Time("slot"), g.Time("from"), g.Time("to")
	n, _ := g.Integer("tx", 0, 1<<53)
	st.Tx = uint64(n)
	return st
}

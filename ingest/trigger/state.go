package trigger

import (
	"context"
	"strconv"
	"time"

	"abagraph/fact"
	"abagraph/ingest/connect"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// State is what became of a trigger's last run.
type State struct {
	// Slot is the time of the schedule that was run last; NoInstant = none.
	Slot fact.Instant
	// Outcome is running, ok, unchanged or failed; "" = it has not run.
	Outcome string
	// Attempts is how often the time was begun, where that is more than once.
	Attempts int
	// Problem says why it failed.
	Problem  string
	Records  int
	Asserted int
	Skipped  int
	// Since is when this state was recorded.
	Since fact.Instant
}

// The outcomes of a run.
const (
	Running   = "running"
	OK        = "ok"
	Unchanged = "unchanged"
	Failed    = "failed"
)

// stated is a state with the fact that tells it.
type stated struct {
	State
	fact *fact.Fact // nil = there is none
}

func (s *Service) state(ctx context.Context, c memory.Caller, t *Trigger) (*stated, error) {
	page, _, err := s.memory.Facts(ctx, c, &memory.FactsQuery{Read: memory.NewRead(), Subject: Prefix + t.Name, Predicate: statePredicate}, nil)
	if err != nil {
		return nil, err
	}
	for i := range page.Facts {
		if f := &page.Facts[i]; f.Tenant == c.Tenant {
			return &stated{readState(f), f}, nil
		}
	}
	return &stated{State: State{Slot: fact.NoInstant, Since: fact.NoInstant}}, nil
}

// readState reads what it can of a state: one that was written by hand is none.
func readState(f *fact.Fact) State {
	st := State{Slot: fact.NoInstant, Since: f.RecordedAt}
	v, err := jsonx.Parse([]byte(f.Object.Text))
	if err != nil {
		return st
	}
	g := jsonx.Open(v, "")
	st.Slot = g.Time("slot")
	st.Outcome, _ = g.Text("outcome")
	st.Problem, _ = g.Text("problem")
	for _, count := range [...]struct {
		name string
		into *int
	}{{"records", &st.Records}, {"asserted", &st.Asserted}, {"skipped", &st.Skipped}, {"attempts", &st.Attempts}} {
		n, _ := g.Integer(count.name, 0, 1<<53)
		*count.into = int(n)
	}
	return st
}

// Append writes a state without the closing brace.
func (st *State) Append(b []byte) []byte {
	b = append(b, `{"slot":`...)
	if st.Slot.Given() {
		b = jsonx.AppendInstant(b, st.Slot)
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"outcome":`...)
	b = optional(b, st.Outcome)
	b = append(b, `,"problem":`...)
	b = optional(b, st.Problem)
	b = strconv.AppendInt(append(b, `,"records":`...), int64(st.Records), 10)
	b = strconv.AppendInt(append(b, `,"asserted":`...), int64(st.Asserted), 10)
	b = strconv.AppendInt(append(b, `,"skipped":`...), int64(st.Skipped), 10)
	if st.Attempts > 1 {
		b = strconv.AppendInt(append(b, `,"attempts":`...), int64(st.Attempts), 10)
	}
	return b
}

// A run ends within two pulls, since it waits for the one that is under way. One whose
// end is not recorded by then has no node left that runs it, and is begun again, a few
// times at most: what it wrote already changes nothing.
const (
	abandonedAfter = 2*connect.PullTimeout + 40*time.Second
	maxAttempts    = 3
)

func (st *State) abandoned(now fact.Instant) bool {
	return st.Outcome == Running && st.Attempts < maxAttempts && now-st.Since > fact.Instant(abandonedAfter.Milliseconds())
}

func optional(b []byte, text string) []byte {
	if text == "" {
		return append(b, "null"...)
	}
	return jsonx.AppendString(b, text)
}

package http_test

import (
	"encoding/json"
	"strings"
	"testing"

	"abagraph/internal/jsonx"
)

// TestExplainSaysWhatWasDone asks every route that explains itself how it did what its
// example asks for: by an operation and a plan of its own, not those of a read that it
// made on its way, and with each figure once.
func TestExplainSaysWhatWasDone(t *testing.T) {
	for _, o := range described(t).document.Operations {
		if o.Example == nil || !o.Explains || !answersJSON(o) {
			continue
		}
		mark := "?"
		if strings.Contains(o.ExampleTarget(), "?") {
			mark = "&"
		}
		got := sendExample(t, o, o.ExampleTarget()+mark+"explain=1")
		var wrapped struct {
			Result  json.RawMessage
			Explain struct {
				Op, Plan string
				Stats    map[string]any
				Steps    []struct{ Phase string }
				TotalMs  *float64 `json:"total_ms"`
			}
		}
		if err := json.Unmarshal([]byte(got.Body), &wrapped); err != nil || got.Status >= 300 || wrapped.Result == nil {
			t.Errorf("%s: %d %v %s", o.Key(), got.Status, err, got.Body)
			continue
		}
		e := wrapped.Explain
		if e.Op == "" || e.Plan == "" || len(e.Steps) == 0 || e.TotalMs == nil {
			t.Errorf("%s explains itself by %+v", o.Key(), e)
		}
		if e.Op == "query_facts" && o.Key() != "GET /api/facts" {
			t.Errorf("%s says that it is a query for facts", o.Key())
		}
		if _, err := jsonx.Parse([]byte(got.Body)); err != nil {
			t.Errorf("%s: %v: %s", o.Key(), err, got.Body)
		}
	}
}

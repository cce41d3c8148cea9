package main

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"abagraph/client"
)

func explainCommand(a *app) *cobra.Command {
	return aboutFactCommand(a, "explain ID", "Show why a fact is believed, or is not any more", client.ExplainPath, explanationTable)
}

func explanationTable(t *table, raw []byte) error {
	var got client.Explanation
	if err := json.Unmarshal(raw, &got); err != nil {
		return err
	}
	factRows(t, []client.Fact{got.Fact})
	for _, part := range []struct {
		name  string
		facts []client.Fact
	}{
		{"HISTORY", got.History}, {"AGREES", got.Corroboration.Facts}, {"DISAGREES", got.Conflicts}, {"ENDED BY IT", got.Superseded},
	} {
		if len(part.facts) > 0 {
			t.row("")
			t.row(part.name)
			factRows(t, part.facts)
		}
	}
	if by := got.SupersededBy; by != nil {
		t.line("ended by %s: %s %s %s", by.ID, by.Subject, by.Predicate, objectText(by.Object))
	}
	t.line("%s: %s", count(got.Corroboration.Sources, "source", "sources"), strings.Join(got.Corroboration.SourceNames, ", "))
	limits(t, false, got.Hints)
	return nil
}

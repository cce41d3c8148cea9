package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"abagraph/client"
)

func searchCommand(a *app) *cobra.Command {
	var q client.SearchQuery
	var least float64
	var explain bool
	c := &cobra.Command{
		Use:   "search QUESTION",
		Short: "Find the facts that answer a question best",
		Long: `Ranks facts by their words, and by words that are used like those of the
question. A date in the question ("on 2019-09-21", "in March 2020", "before 2018")
is the time that is searched, unless --as-of names another. Like every read it can
be of another record time: --known-at, --tx.`,
		Example: `  abagraph search "where does alice work?"
  abagraph search "who led the team in March 2020" --top-k 3 --mode lexical
  abagraph search budget --seeds Company:acme --min-confidence 0.9`,
		Args: exactArgs("QUESTION"),
		RunE: func(c *cobra.Command, args []string) error {
			q.Question = args[0]
			if c.Flags().Changed("min-score") {
				q.MinScore = &least
			}
			return a.read(c.Context(), "/api/search", q.Values(), explain, searchTable)
		},
	}
	flags := c.Flags()
	flags.IntVar(&q.TopK, "top-k", 0, "facts to find, up to 1,000 (default 8)")
	flags.StringVar(&q.Mode, "mode", "", "hybrid, lexical or vector (default hybrid)")
	flags.StringVar(&q.Order, "order", "", "score, desc (newest first) or asc (default score)")
	flags.Float64Var(&least, "min-score", 0, "leave out facts of a lower score")
	flags.Float64Var(&q.MinConfidence, "min-confidence", 0, "leave out facts of a lower confidence")
	flags.StringVar(&q.Subject, "subject", "", "search the facts of this subject only")
	flags.StringVar(&q.Predicate, "predicate", "", "search the facts of this predicate only")
	flags.StringVar(&q.Status, "status", "", "search facts of these statuses: a comma list, or all")
	flags.BoolVar(&q.IncludeRetracted, "include-retracted", false, "search retracted facts too")
	flags.StringSliceVar(&q.Seeds, "seeds", nil, "entities near which facts count more")
	flags.BoolVar(&explain, "explain", false, "show how the search went")
	readFlags(flags, &q.Read)
	return c
}

func searchTable(t *table, raw []byte) error {
	var got client.SearchAnswer
	if err := json.Unmarshal(raw, &got); err != nil {
		return err
	}
	if len(got.Hits) > 0 {
		t.row("SCORE", "SUBJECT", "PREDICATE", "OBJECT", "SINCE", "SOURCE", "MET")
	}
	for i := range got.Hits {
		h := &got.Hits[i]
		source := ""
		if h.Source != nil {
			source = *h.Source
		}
		t.row(fmt.Sprintf("%.2f", h.Score), h.Subject, h.Predicate, objectText(h.Object), instantText(h.ValidFrom), source, met(h.Why.Matches))
	}
	t.line("%s, %s ranking%s", count(len(got.Hits), "fact", "facts"), got.Mode, searchedTime(got.Time))
	limits(t, false, got.Hints)
	return nil
}

// met lists the words that met, each once, another one than that of the question
// with both.
func met(matches []client.Match) string {
	var list []string
	seen := map[string]bool{}
	for _, m := range matches {
		word := m.Word
		if m.Found != m.Word {
			word += "→" + m.Found
		}
		if !seen[word] {
			seen[word] = true
			list = append(list, word)
		}
	}
	return strings.Join(list, " ")
}

func searchedTime(t *client.SearchTime) string {
	if t == nil {
		return ""
	}
	return ", searched " + strings.TrimSpace(t.Text)
}

package main

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"abagraph/client"
	"abagraph/fact"
)

// contextFlags are what the flags of context say, before those that were not
// given are left out.
type contextFlags struct {
	q                     client.ContextQuery
	facts, pages          int
	noRecent, noConflicts bool
	prompt, explain       bool
}

func contextCommand(a *app) *cobra.Command {
	var f contextFlags
	c := &cobra.Command{
		Use:   "context [GOAL]",
		Short: "Gather what a task should know, as one packet with a prompt",
		Long: `Gathers what GOAL and the seeds lead to: facts with who agrees and who
contradicts, pages, and a system prompt that is ready to paste, within a budget of
tokens. Like every read it can be of another time: --as-of, --known-at, --tx.`,
		Example: `  abagraph context "prepare the renewal call" --seed Org:acme --budget 2000 --style claude
  abagraph context --seed Person:alice --prompt`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			f.q.Goal = strings.Join(args, "")
			return f.run(a, c)
		},
	}
	flags := c.Flags()
	flags.StringArrayVar(&f.q.Seeds, "seed", nil, "entity to start from; may be given several times")
	flags.StringVar(&f.q.Project, "project", "", "one more seed, and the only one that is walked from")
	flags.IntVar(&f.q.TokenBudget, "budget", 0, "tokens that the prompt may take")
	flags.IntVar(&f.facts, "max-facts", 0, "at most this many facts, up to 1,000 (default 64)")
	flags.IntVar(&f.pages, "max-pages", 0, "at most this many pages, up to 100 (default 8)")
	flags.Float64Var(&f.q.ClusterThreshold, "cluster-threshold", 0, "count texts as one whose words have this cosine, 0 to 1 (default 0, off)")
	flags.BoolVar(&f.noRecent, "no-recent", false, "leave out what was asserted last and matches no seed")
	flags.BoolVar(&f.noConflicts, "no-conflicts", false, "leave out facts that others contradict")
	flags.BoolVar(&f.q.IncludeRetracted, "include-retracted", false, "with --as-of, show what was retracted since")
	flags.StringVar(&f.q.Style, "style", "", "of the prompt: claude, openai or generic (the default)")
	flags.StringVar(&f.q.Role, "role", "", "who the model is; it opens the prompt")
	flags.BoolVar(&f.prompt, "prompt", false, "write the prompt alone, as text")
	flags.BoolVar(&f.explain, "explain", false, "show how each fact came to its rank")
	readFlags(flags, &f.q.Read)
	return c
}

// query returns the request, without what was not given.
func (f *contextFlags) query(c *cobra.Command) client.ContextQuery {
	q, no := f.q, false
	if c.Flags().Changed("max-facts") {
		q.MaxFacts = &f.facts
	}
	if c.Flags().Changed("max-pages") {
		q.MaxPages = &f.pages
	}
	if f.noRecent {
		q.IncludeRecent = &no
	}
	if f.noConflicts {
		q.IncludeConflicts = &no
	}
	return q
}

func (f *contextFlags) run(a *app, c *cobra.Command) error {
	q := f.query(c)
	if c.Flags().Changed("budget") && q.TokenBudget == 0 {
		return fact.Invalid("--budget", "must be a whole number of tokens from 1 on")
	}
	body, err := q.Body()
	if err != nil {
		return err
	}
	if !f.prompt {
		return a.call(c.Context(), client.Call{Method: "POST", Path: "/api/context", Query: q.Values(), Body: body}, f.explain, contextTable)
	}
	to, err := a.client()
	if err != nil {
		return err
	}
	defer to.Close()
	packet, err := to.Context(c.Context(), q)
	if err != nil {
		return a.explainDenial(err)
	}
	for _, w := range packet.Notes {
		a.warn([]string{w.Message})
	}
	_, err = io.WriteString(a.out, packet.SystemPrompt)
	return err
}

func contextTable(t *table, raw []byte) error {
	var got client.ContextPacket
	if err := json.Unmarshal(raw, &got); err != nil {
		return err
	}
	for i, f := range got.Facts {
		object, err := client.EncodeObject(f.Object)
		if err != nil {
			return err
		}
		note := ""
		if i < len(got.Corroboration) {
			k := got.Corroboration[i]
			note = strconv.Itoa(k.Agree) + " agree, " + strconv.Itoa(k.Conflict) + " contradict"
		}
		t.row(f.Subject, f.Predicate, strings.Trim(string(object), `"`), strconv.FormatFloat(f.Confidence, 'g', 3, 64), note)
	}
	for _, p := range got.Pages {
		t.line("page %s: %s", p.ID, p.Snippet)
	}
	t.line("%s", got.Summary)
	t.line("the prompt takes %d tokens; --prompt writes it, --json writes the packet", got.PromptTokens)
	for _, w := range got.Notes {
		t.line("warning: %s", w.Message)
	}
	return nil
}

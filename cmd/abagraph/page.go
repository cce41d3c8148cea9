package main

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"abagraph/client"
)

func pageCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "page",
		Short: "Read and save pages: text about an entity, with links and citations",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(pageGetCommand(a), pagePutCommand(a))
	return c
}

func pageGetCommand(a *app) *cobra.Command {
	var q client.FactQuery
	var explain bool
	c := &cobra.Command{
		Use:   "get SUBJECT",
		Short: "Read the page about an entity",
		Example: `  abagraph page get Person:ada
  abagraph page get Person:ada --known-at 2024-06-19`,
		Args: exactArgs("SUBJECT"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.read(c.Context(), client.PagePath(args[0]), q.Values(), explain, pageTable)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&q.IncludeRetracted, "include-retracted", false, "with --as-of: what has been removed since, too")
	flags.BoolVar(&explain, "explain", false, "show how the read went")
	readFlags(flags, &q.Read)
	return c
}

func pagePutCommand(a *app) *cobra.Command {
	var w client.Write
	var draft client.PageDraft
	var source, file string
	var cites []string
	var explain bool
	c := &cobra.Command{
		Use:   "put SUBJECT",
		Short: "Save the page about an entity, whole",
		Long: `Saves a page. [[Target]] and [[Target|text]] in the body become references.
What the page had and has not any more (a link, a citation, the title) is
retracted, and the answer says so.`,
		Example: `  abagraph page put Person:ada --title Ada --body 'Friend of [[Person:charles|Babbage]].'
  abagraph page put Person:ada --file ada.md --cite 'https://a.example/ada the first programmer'`,
		Args: exactArgs("SUBJECT"),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("source") {
				draft.Source = &source
			}
			if file != "" {
				text, err := a.readInput(file, "page")
				if err != nil {
					return err
				}
				draft.Body = string(text)
			}
			for _, cite := range cites {
				draft.Citations = append(draft.Citations, citation(cite))
			}
			body, err := json.Marshal(draft)
			if err != nil {
				return err
			}
			call := client.Call{Method: "PUT", Path: client.PagePath(args[0]), Body: body, IdempotencyKey: w.IdempotencyKey}
			return a.write(c.Context(), call, w.Branch, explain, savedPageTable)
		},
	}
	flags := c.Flags()
	flags.StringVar(&draft.Title, "title", "", "the title")
	flags.StringVar(&draft.Body, "body", "", "the text")
	flags.StringVar(&file, "file", "", "read the text from this file, or from stdin with -")
	flags.StringVar(&source, "source", "", "where it comes from (default wiki:Page:SUBJECT)")
	flags.StringArrayVar(&cites, "cite", nil, "a URL and, after a space, what it says; may be given again")
	flags.StringVar(&w.Branch, "branch", "", "branch to write to")
	flags.StringVar(&w.IdempotencyKey, "idempotency-key", "", "name of this write: repeated under it, it is written once")
	flags.BoolVar(&explain, "explain", false, "show how the write went")
	c.MarkFlagsMutuallyExclusive("body", "file")
	c.MarkFlagsOneRequired("body", "file")
	return c
}

// citation reads a URL and, after a space, what it says.
func citation(text string) client.Citation {
	url, quote, _ := strings.Cut(text, " ")
	return client.Citation{URL: url, Quote: strings.TrimSpace(quote)}
}

func pageTable(t *table, raw []byte) error {
	var got client.Page
	if err := json.Unmarshal(raw, &got); err != nil {
		return err
	}
	pageLines(t, &got)
	return nil
}

func savedPageTable(t *table, raw []byte) error {
	var got client.SavedPage
	if err := json.Unmarshal(raw, &got); err != nil {
		return err
	}
	what := "saved"
	if got.Created {
		what = "created"
	}
	t.line("%s: %s written, %s superseded, %s retracted", what, count(len(got.Written), "fact", "facts"), count(got.Superseded, "fact", "facts"), count(len(got.Retracted), "fact", "facts"))
	for _, gone := range got.Removed.Links {
		t.line("link removed: %s", gone)
	}
	for _, gone := range got.Removed.Citations {
		t.line("citation removed: %s", gone)
	}
	limits(t, false, got.Hints)
	return nil
}

func pageLines(t *table, p *client.Page) {
	title := p.ID
	if p.Title != nil {
		title = *p.Title + " (" + p.ID + ")"
	}
	t.line("%s", title)
	for line := range strings.Lines(p.Body) {
		t.line("%s", strings.TrimRight(line, "\r\n"))
	}
	for _, l := range p.Links {
		t.line("links to %s", l.Target)
	}
	for _, c := range p.Citations {
		quote := ""
		if c.Quote != nil {
			quote = ": " + *c.Quote
		}
		t.line("cites %s%s", c.URL, quote)
	}
	if p.Source != nil {
		t.line("source %s", *p.Source)
	}
	limits(t, false, p.Hints)
}

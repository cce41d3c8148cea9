package main

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"abagraph/client"
)

// completionTime is how long a shell waits for names from the server.
const completionTime = 2 * time.Second

// kind is a kind of thing that the server keeps by name. The commands that are the
// same for all of them are made here.
type kind struct {
	path  string // where they are listed
	rows  string // field of the answer that holds the list; "" = it is the list
	field string // of each: what it is named by
	times bool   // reads go to any point of both times
	list  func(*table, []byte) error
	one   func(*table, []byte) error
}

func (k *kind) argument() string { return strings.ToUpper(k.field) }

func (k *kind) of(name string) string { return k.path + "/" + url.PathEscape(name) }

// group makes the command that the others of a kind hang below.
func group(use, short, long, example string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Long: long, Example: example, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(commands...)
	return c
}

// filter is a parameter of a list.
type filter struct{ name, usage string }

// listCommand lists all of a kind; pages says that the list has pages.
func (k *kind) listCommand(a *app, short string, pages bool, filters ...filter) *cobra.Command {
	var q client.Listing
	var explain bool
	values := make([]string, len(filters))
	c := &cobra.Command{
		Use:   "list",
		Short: short,
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			query := q.Values()
			for i, value := range values {
				if value != "" {
					query.Set(filters[i].name, value)
				}
			}
			return a.read(c.Context(), k.path, query, explain, k.list)
		},
	}
	flags := c.Flags()
	for i, f := range filters {
		flags.StringVar(&values[i], f.name, "", f.usage)
	}
	if pages {
		flags.StringVar(&q.After, "after", "", "those of greater names")
		flags.IntVar(&q.Limit, "limit", 0, "at most this many (default 200, at most 10,000)")
	}
	k.reads(flags, &q.Read, &explain)
	return c
}

// getCommand shows one of a kind.
func (k *kind) getCommand(a *app, short string) *cobra.Command {
	var q client.Read
	var explain bool
	c := &cobra.Command{
		Use:               "get " + k.argument(),
		Short:             short,
		Args:              exactArgs(k.argument()),
		ValidArgsFunction: k.names(a),
		RunE: func(c *cobra.Command, args []string) error {
			return a.read(c.Context(), k.of(args[0]), q.Values(), explain, k.one)
		},
	}
	k.reads(c.Flags(), &q, &explain)
	return c
}

// action is what is done to one of a kind.
type action struct {
	verb, method string
	suffix       string // of its path
	once         bool   // a repetition would do it again
	takesTwo     bool   // it may need an approval
	show         func(*table, []byte) error
}

// doCommand does something to one of a kind that needs no more than its name.
func (k *kind) doCommand(a *app, short string, do action) *cobra.Command {
	var w client.Write
	var explain bool
	c := &cobra.Command{
		Use:               do.verb + " " + k.argument(),
		Short:             short,
		Args:              exactArgs(k.argument()),
		ValidArgsFunction: k.names(a),
		RunE: func(c *cobra.Command, args []string) error {
			call := client.Call{Method: do.method, Path: k.of(args[0]) + do.suffix, Query: approved(w.Approval), IdempotencyKey: w.IdempotencyKey, Once: do.once}
			return a.call(c.Context(), call, explain, do.show)
		},
	}
	if do.takesTwo {
		approvable(c.Flags(), &w.Approval)
	}
	if do.once {
		c.Flags().BoolVar(&explain, "explain", false, "show how it went")
	} else {
		retriable(c.Flags(), &w, &explain)
	}
	return c
}

func (k *kind) deleteCommand(a *app, short string) *cobra.Command {
	return k.doCommand(a, short, action{verb: "delete", method: "DELETE"})
}

// reads adds the flags of reads.
func (k *kind) reads(flags *pflag.FlagSet, q *client.Read, explain *bool) {
	if k.times {
		travels(flags, q)
	}
	freshness(flags, q, explain)
}

// travels adds the flags of a read that goes to any point of both times.
func travels(flags *pflag.FlagSet, q *client.Read) {
	flags.StringVar(&q.AsOf, "as-of", "", "valid time: as it held then (Unix milliseconds, 2024-06-19 or RFC 3339)")
	flags.StringVar(&q.KnownAt, "known-at", "", "record time: as it was known then")
	flags.StringVar(&q.Tx, "tx", "", "record time by number: as the store stood at this tx")
}

// names completes the name of one of a kind by asking the server; where it does not
// answer there is nothing to offer.
func (k *kind) names(a *app) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(c.Context(), completionTime)
		defer cancel()
		return k.namesFrom(ctx, a, begun), cobra.ShellCompDirectiveNoFileComp
	}
}

func (k *kind) namesFrom(ctx context.Context, a *app, begun string) []string {
	server, err := a.client()
	if err != nil {
		return nil
	}
	defer server.Close()
	got, err := server.Do(ctx, client.Call{Method: "GET", Path: k.path, Once: true})
	if err != nil {
		return nil
	}
	var names []string
	for _, one := range listed(got.Body, k.rows) {
		var name string
		if json.Unmarshal(one[k.field], &name) == nil && strings.HasPrefix(name, begun) {
			names = append(names, name)
		}
	}
	return names
}

// listed returns the rows of a list; key is the field that holds it, "" the answer itself.
func listed(raw []byte, key string) []map[string]json.RawMessage {
	if key != "" {
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) != nil {
			return nil
		}
		raw = fields[key]
	}
	var rows []map[string]json.RawMessage
	if json.Unmarshal(raw, &rows) != nil {
		return nil
	}
	return rows
}

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"abagraph/client"
	"abagraph/fact"
	"abagraph/internal/imports"
)

// importFlags are the options of an import and where it remembers how far it
// came.
type importFlags struct {
	imports.Options
	format, delimiter, state string
	rename, prefixes         []string
	noState, again, quiet    bool
	inFlight                 int
}

func importCommand(a *app) *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:   "import FILE|-",
		Short: "Write a file of facts: JSON Lines, CSV, N-Triples or N-Quads",
		Long: `Writes the rows of a file as facts, in batches. Fields (of JSON objects) and
columns (of CSV with a header) are subject, predicate, object, valid_from,
valid_until, confidence, source, properties, policy and transient; --map renames
others. Rows that the server refuses are reported by line; all others are
written.

With --known-at FIELD the file's history is told as such: FIELD says when each
row was known, --retracted-at FIELD when it was taken back, and --reason why this
is declared. Rows then go in the order of those times, retractions first.

An import that was interrupted goes on where it stopped when the same command is
run again, and writes nothing twice. It remembers in a small file beside FILE
(--state names another, --no-state keeps none).

A file may have 20 million rows, and a row 16 MiB; about 90 bytes of memory are
needed for each row. Exit code 1 tells that rows were refused.`,
		Example: `  abagraph import people.csv --map Name=subject --map Notes=
  abagraph import history.jsonl --known-at recorded_at --retracted-at retracted_at \
      --reason "the archive" --policy coexist
  curl -s https://example.org/data.nt | abagraph import - --format ntriples`,
		Args: exactArgs("FILE"),
		RunE: func(c *cobra.Command, args []string) error { return a.importFile(c.Context(), &f, args[0]) },
	}
	flags := c.Flags()
	flags.StringVar(&f.format, "format", "", "jsonl, csv, ntriples or nquads (default: by the file's name)")
	flags.StringVar(&f.delimiter, "delimiter", "", "one character between CSV cells, or tab (default comma; tab for .tsv)")
	flags.StringArrayVar(&f.rename, "map", nil, "COLUMN=FIELD reads a column as a field, COLUMN= leaves it out; may be repeated")
	flags.BoolVar(&f.Typed, "typed", false, "read CSV objects that are numbers, true, false or null as such, not as text")
	flags.StringArrayVar(&f.prefixes, "prefix", nil, "NAME=IRI shortens IRIs of N-Triples to NAME:rest; may be repeated")
	flags.StringVar(&f.KnownAt, "known-at", "", "field that says when a row was known")
	flags.StringVar(&f.RetractedAt, "retracted-at", "", "field that says when a row was retracted")
	flags.StringVar(&f.Reason, "reason", "", "why rows are declared as known earlier; kept with the facts")
	flags.StringVar(&f.Policy, "policy", "", "auto_supersede, coexist or reject, for all rows")
	flags.StringVar(&f.Source, "source", "", "source of rows that name none")
	flags.StringVar(&f.Branch, "branch", "", "branch to write to")
	flags.IntVar(&f.Batch, "batch", imports.DefaultBatch, "rows in one write, 1 to 10,000")
	flags.IntVar(&f.inFlight, "in-flight", imports.DefaultInFlight, "writes under way at a time, 1 to 64; order is kept where it matters")
	flags.StringVar(&f.state, "state", "", "file that remembers how far the import came")
	flags.BoolVar(&f.noState, "no-state", false, "remember nothing")
	flags.BoolVar(&f.again, "again", false, "import a file that was imported before once more")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "show no progress")
	c.MarkFlagsMutuallyExclusive("state", "no-state")
	return c
}

// An import outlives a restart of the server or a change of the leader: it
// repeats a batch for about half a minute before it stops.
const (
	importAttempts = 12
	importWait     = 200 * time.Millisecond
)

func (a *app) importFile(ctx context.Context, f *importFlags, name string) error {
	if err := f.complete(name); err != nil {
		return err
	}
	f.Tenant = a.tenant
	if err := f.Check(); err != nil {
		return err
	}
	epoch, err := a.epoch(ctx, f.Branch)
	if err != nil {
		return err // better now than after reading a large file
	}
	c, err := a.client(client.WithRetry(importAttempts, importWait))
	if err != nil {
		return err
	}
	defer c.Close()
	source, err := a.openImport(name)
	if err != nil {
		return err
	}
	defer source.Close()
	return a.runImport(ctx, f, c, source, epoch)
}

// epoch asks which store the server holds, and whether it can be written to at
// all.
func (a *app) epoch(ctx context.Context, branch string) (string, error) {
	c, err := a.client()
	if err != nil {
		return "", err
	}
	defer c.Close()
	at, err := standing(ctx, c, branch)
	if err != nil {
		return "", a.explainDenial(err)
	}
	return at.Epoch, nil
}

// standing asks where the store stands, and whether it has the branch.
func standing(ctx context.Context, c *client.Client, branch string) (client.Meta, error) {
	if branch == "" || branch == fact.MainBranch {
		stats, err := c.Stats(ctx, client.Read{})
		if err != nil {
			return client.Meta{}, err
		}
		return stats.Meta, nil
	}
	b, err := c.Branch(ctx, branch, client.Read{})
	if err != nil {
		return client.Meta{}, err
	}
	return b.Meta, nil
}

func (a *app) openImport(name string) (*imports.Source, error) {
	if name == "-" {
		return imports.Spool("standard input", a.in)
	}
	return imports.OpenFile(name)
}

func (a *app) runImport(ctx context.Context, f *importFlags, c *client.Client, source *imports.Source, epoch string) error {
	bar := newBar(a, f.quiet)
	note := func(r imports.Refusal) {
		bar.clear()
		fmt.Fprintln(a.err, refusalText(r))
	}
	plan, err := imports.Make(ctx, source, f.Options, note, bar.reading)
	bar.clear()
	if err != nil {
		return err
	}
	report, err := plan.Run(ctx, imports.Config{
		Writer: c, Epoch: epoch, State: f.statePath(source.Name, plan.ID, epoch), Again: f.again, InFlight: f.inFlight,
		Known: func(ctx context.Context, id string) (bool, error) { return a.holds(ctx, c, f, id) },
		Note:  note, Progress: bar.writing,
	})
	bar.clear()
	if errors.Is(err, imports.ErrDone) {
		fmt.Fprintf(a.err, "%s was imported before; --again imports it once more\n", source.Name)
		err = nil
	} else if err != nil {
		fmt.Fprintf(a.err, "stopped after %d of %d rows and %d of %d retractions; the same command goes on from here\n",
			report.Written+report.Duplicates+report.Refused+report.Skipped, report.Rows, report.Retracted+report.RetractionsSkipped, report.Retractions)
		return err
	}
	if err := a.importReport(report); err != nil {
		return err
	}
	if report.Refused > 0 {
		fmt.Fprintf(a.err, "%d of %d rows were refused\n", report.Refused, report.Rows)
		return errTold
	}
	return nil
}

func (a *app) holds(ctx context.Context, c *client.Client, f *importFlags, id string) (bool, error) {
	_, err := c.Fact(ctx, id, client.Read{Branch: f.Branch})
	if client.StatusOf(err) == 404 {
		return false, nil
	}
	return err == nil, err
}

func (a *app) importReport(r imports.Report) error {
	if !a.readable() {
		return writeValue(a.out, r)
	}
	t := newTable(a.width())
	t.row("rows", fmt.Sprint(r.Rows))
	t.row("  written", fmt.Sprint(r.Written))
	t.row("  stood already", fmt.Sprint(r.Duplicates))
	t.row("  refused", fmt.Sprint(r.Refused))
	t.row("  left out", fmt.Sprint(r.Skipped))
	if r.Retractions > 0 {
		t.row("retractions", fmt.Sprint(r.Retractions))
		t.row("  retracted", fmt.Sprint(r.Retracted))
		t.row("  not retracted", fmt.Sprint(r.RetractionsSkipped))
	}
	t.row("last tx", fmt.Sprint(r.Tx))
	return t.write(a.out)
}

func refusalText(r imports.Refusal) string {
	what := "refused"
	switch {
	case r.Retraction:
		what = "not retracted"
	case r.Skipped:
		what = "left out"
	}
	return plain(fmt.Sprintf("line %d: %s: %s", r.Line, what, r.Reason))
}

// complete reads the flags that need reading.
func (f *importFlags) complete(name string) (err error) {
	if f.format == "" {
		if name == "-" {
			return errors.New("the format of standard input cannot be told: give --format jsonl, csv, ntriples or nquads")
		}
		f.Format, err = imports.FormatOf(name)
	} else {
		f.Format, err = imports.ParseFormat(f.format)
	}
	if err != nil {
		return err
	}
	if f.inFlight < 1 || f.inFlight > 64 {
		return fmt.Errorf("--in-flight must be 1 to 64, not %d", f.inFlight)
	}
	if err := f.completeDelimiter(name); err != nil {
		return err
	}
	if f.Map, err = pairs("--map", f.rename, true); err != nil {
		return err
	}
	f.Prefixes, err = pairs("--prefix", f.prefixes, false)
	return err
}

func (f *importFlags) completeDelimiter(name string) error {
	switch {
	case f.delimiter == "tab" || f.delimiter == `\t` || f.delimiter == "" && (f.format == "tsv" || strings.HasSuffix(strings.ToLower(name), ".tsv")):
		f.Delimiter = '\t'
	case f.delimiter != "":
		r, size := utf8.DecodeRuneInString(f.delimiter)
		if size != len(f.delimiter) || r == utf8.RuneError || strings.ContainsRune("\"\r\n", r) {
			return fmt.Errorf("--delimiter must be one character, not %q", f.delimiter)
		}
		f.Delimiter = r
	}
	if f.delimiter != "" && f.Format != imports.CSV {
		return errors.New("--delimiter belongs to CSV")
	}
	return nil
}

func pairs(flag string, list []string, emptyValue bool) (map[string]string, error) {
	got := make(map[string]string, len(list))
	for _, one := range list {
		name, value, found := strings.Cut(one, "=")
		if !found || name == "" || value == "" && !emptyValue {
			return nil, fmt.Errorf("%s must be NAME=VALUE, not %q", flag, one)
		}
		if before, twice := got[name]; twice && before != value {
			return nil, fmt.Errorf("%s says two things of %q: %q and %q", flag, name, before, value)
		}
		got[name] = value
	}
	return got, nil
}

// statePath is where an import remembers: beside its file, under a name that
// is its own and its store's.
func (f *importFlags) statePath(name, id, epoch string) string {
	switch {
	case f.noState:
		return ""
	case f.state != "":
		return f.state
	case name == "standard input":
		return ""
	}
	return fmt.Sprintf("%s.%.8s%.8s.import", name, id, epoch)
}

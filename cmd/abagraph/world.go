package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// world is what the process sees of its surroundings; tests bring their own.
type world struct {
	in       io.Reader
	out, err io.Writer
	// lookupEnv tells the value of an environment variable, and whether it is set.
	lookupEnv func(string) (string, bool)
	home      func() (string, error)
	// outTerminal and errTerminal tell whether a person reads there, and width
	// how many columns they see.
	outTerminal bool
	errTerminal bool
	width       func() int
	// private makes whatever the process writes from now on its owner's alone; nil =
	// nothing has to be.
	private func()
	// exit ends the process from a goroutine that cannot return.
	exit func(code int)
	told sync.Once
}

// getenv is the value of an environment variable; "" = none.
func (w *world) getenv(name string) string {
	value, _ := w.lookupEnv(name)
	return value
}

// last writes the line that says why the process ends: the first one counts.
func (w *world) last(line string) {
	w.told.Do(func() { fmt.Fprintln(w.err, line) })
}

// die ends the process with that line.
func (w *world) die(line string) {
	w.last(line)
	w.exit(1)
}

func osWorld() *world {
	return &world{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, lookupEnv: os.LookupEnv, home: os.UserHomeDir, exit: os.Exit, private: ownersOnly,
		outTerminal: term.IsTerminal(int(os.Stdout.Fd())), errTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		width: func() int {
			width, _, err := term.GetSize(int(os.Stdout.Fd()))
			if err != nil || width < 40 {
				return 80
			}
			return width
		},
	}
}

// run runs one command line and returns the exit code.
func run(ctx context.Context, w *world, args []string) int {
	if w.private != nil {
		w.private()
	}
	root := newRoot(w)
	root.SetArgs(args)
	root.SetIn(w.in)
	root.SetOut(w.out)
	refuseUnknownTopics(root) // completion keeps where it writes
	root.SetErr(w.err)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil, enough(err):
		return 0
	case errors.Is(err, errTold):
		return 1
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(w.err, "interrupted")
		return 130
	}
	w.last(oneLine(err))
	return 1
}

// enough reports whether a command ended because the reader of its output has seen
// enough. A connection that broke is something else.
func enough(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path) && path.Path == os.Stdout.Name() && errors.Is(path, syscall.EPIPE)
}

// errTold ends a command with exit code 1 after it has said why.
var errTold = errors.New("told")

// oneLine writes an error as one line, errors that were joined too.
func oneLine(err error) string {
	return strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
}

// app is what the commands of one run share.
type app struct {
	*world
	url, key, tenant string
	json             bool
}

func newRoot(w *world) *cobra.Command {
	a := &app{world: w}
	root := &cobra.Command{
		Use:   "abagraph",
		Short: "A bitemporal, source-backed memory database for AI agents",
		Long: `abagraph keeps facts with the time they hold, the time they were recorded and
where they come from, and answers what was so on any day, as known on any other.

  abagraph serve                                   start a server on this machine
  abagraph init --url http://127.0.0.1:8080        remember where it is
  abagraph assert Person:alice works_at Company:acme
  abagraph query --subject Person:alice

Commands write JSON to stdout, or a table where stdout is a terminal. The server
and the key are looked up in this order: --url and --key, ABAGRAPH_URL and
ABAGRAPH_KEY, then ~/.abagraph.json.`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: false},
		Args:              cobra.NoArgs,
		PersistentPreRunE: refuseEmpty,
		RunE:              func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	flags := root.PersistentFlags()
	flags.StringVar(&a.url, "url", "", "base URL of the server (env ABAGRAPH_URL)")
	flags.StringVar(&a.key, "key", "", "API key, sent as bearer token (env ABAGRAPH_KEY)")
	flags.StringVar(&a.tenant, "tenant", "", "tenant to work in, for an admin key or a server without keys")
	flags.BoolVar(&a.json, "json", false, "write the JSON of the answer alone, also where stdout is a terminal")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if strings.HasPrefix(err.Error(), "unknown shorthand flag") { // such as the object -5
			return fmt.Errorf("%w (text that begins with a hyphen goes last, behind --; see %s --help)", err, c.CommandPath())
		}
		return fmt.Errorf("%w (see %s --help)", err, c.CommandPath())
	})
	root.AddGroup(&cobra.Group{ID: "server", Title: "Server:"}, &cobra.Group{ID: "facts", Title: "Facts:"},
		&cobra.Group{ID: "graph", Title: "Graph:"}, &cobra.Group{ID: "files", Title: "Files:"}, &cobra.Group{ID: "govern", Title: "Governance:"}, &cobra.Group{ID: "about", Title: "About:"})
	for group, commands := range map[string][]*cobra.Command{
		"server": {serveCommand(a), mcpCommand(a), configCommand(a), opsCommand(a), embeddingsCommand(a)},
		"govern": {auditCommand(a), policyCommand(a), alertCommand(a), reportCommand(a), secretCommand(a), tenantCommand(a), purgeCommand(a), approvalsCommand(a)},
		"facts": {assertCommand(a), queryCommand(a), retractCommand(a), transactCommand(a), historyCommand(a), streamCommand(a), explainCommand(a), changesCommand(a),
			factcheckCommand(a), consolidateCommand(a), pageCommand(a), contextCommand(a), branchCommand(a), sourceCommand(a), leaseCommand(a), connectorCommand(a), triggerCommand(a), askCommand(a), digestCommand(a)},
		"graph": {searchCommand(a), walkCommand(a), pathCommand(a), graphCommand(a)},
		"files": {importCommand(a), exportCommand(a)},
		"about": {initCommand(a), connectCommand(a), agentCommand(a), statsCommand(a), statusCommand(a), versionCommand(a)},
	} {
		for _, command := range commands {
			command.GroupID = group
			root.AddCommand(command)
		}
	}
	root.AddCommand(readPDFCommand(a))
	return root
}

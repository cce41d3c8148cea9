package suite

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"abagraph/bench/report"
)

// Env says what is measured, how long and where.
type Env struct {
	Server  string // the abagraph program
	Repo    string // the repository, for the benchmarks inside the process
	Dir     string // where data goes; a section's folder is removed after it
	Rounds  int
	Length  time.Duration // of one run
	Clients []int
	Quick   bool
	Out     io.Writer
}

// Full is what the published figures come from.
func Full() Env {
	return Env{Rounds: 5, Length: 3 * time.Second, Clients: []int{1, 16, 64, 256}}
}

// Quick is short: it shows that everything works, not how fast it is.
func Quick() Env {
	return Env{Rounds: 2, Length: 400 * time.Millisecond, Clients: []int{1, 16}, Quick: true}
}

// part measures one section.
type part struct {
	name string
	run  func(ctx context.Context, env Env) (report.Section, error)
}

// parts are all sections, in the order of the document.
var parts = []part{
	{"posts", func(ctx context.Context, env Env) (report.Section, error) { return posts(ctx, env, 1) }},
	{"posts3", func(ctx context.Context, env Env) (report.Section, error) { return posts(ctx, env, 3) }},
	{"transact", transact},
	{"reads", func(ctx context.Context, env Env) (report.Section, error) { return reads(ctx, env, 1) }},
	{"reads3", func(ctx context.Context, env Env) (report.Section, error) { return reads(ctx, env, 3) }},
	{"micro", micro},
	{"million", million},
	{"recall", recallSection},
	{"ingest", ingest},
	{"recovery", recovery},
}

// Names lists the sections.
func Names() []string {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

// Run measures the named sections, or all of them, and hands each to done as
// soon as it is there.
func Run(ctx context.Context, env Env, only []string, done func(report.Section) error) error {
	for _, name := range only {
		if !slices.Contains(Names(), name) {
			return fmt.Errorf("there is no section %q: choose from %s", name, strings.Join(Names(), ", "))
		}
	}
	for _, p := range parts {
		if len(only) > 0 && !slices.Contains(only, p.name) {
			continue
		}
		own := env
		own.Dir = filepath.Join(env.Dir, p.name)
		section, err := p.run(ctx, own)
		if err != nil {
			return fmt.Errorf("measuring %s (its servers' output is in %s): %w", p.name, own.Dir, err)
		}
		if err := os.RemoveAll(own.Dir); err != nil {
			return fmt.Errorf("removing the data of %s: %w", p.name, err)
		}
		section.Name = p.name
		if err := done(section); err != nil {
			return err
		}
	}
	return nil
}

// progress tells what is being done.
func (env Env) progress(format string, args ...any) {
	fmt.Fprintf(env.Out, "   "+format+"\n", args...)
}

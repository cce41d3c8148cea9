package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"abagraph/bench/peer"
	"abagraph/bench/report"
	"abagraph/bench/suite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 2 && args[0] == peer.EmbeddedCommand {
		return peer.ServeEmbedded(ctx, args[1])
	}
	env, only, out, err := parse(args)
	if err != nil {
		return err
	}
	// The clients share their cores with the servers: fewer collections of
	// their garbage leave more to what is measured, for all of them alike.
	debug.SetGCPercent(400)
	env.Dir, err = os.MkdirTemp(env.Dir, "bench-")
	if err != nil {
		return fmt.Errorf("making a folder for the data: %w", err)
	}
	machine := suite.Machine(env.Repo)
	fmt.Fprintln(env.Out, machine)
	err = suite.Run(ctx, env, only, func(s report.Section) error {
		s.Text += "\n\nMeasured " + time.Now().UTC().Format("2006-01-02 15:04 MST") + " on " + machine + "; " + load(env) + "."
		if err := s.Print(env.Out); err != nil {
			return fmt.Errorf("printing: %w", err)
		}
		return write(out, s)
	})
	if err != nil {
		return err
	}
	if err := os.RemoveAll(env.Dir); err != nil {
		return fmt.Errorf("removing the data: %w", err)
	}
	return nil
}

// load says how the figures were taken.
func load(env suite.Env) string {
	return fmt.Sprintf("%d rounds of %v for each, in turns", env.Rounds, env.Length)
}

// parse reads the flags.
func parse(args []string) (env suite.Env, only []string, out string, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	quick := flags.Bool("quick", false, "small and short: shows that it works, not how fast it is")
	names := flags.String("only", "", "comma list of sections: "+strings.Join(suite.Names(), ", "))
	clients := flags.String("clients", "", "comma list of numbers of clients")
	rounds := flags.Int("rounds", 0, "rounds that the medians are of")
	length := flags.Duration("length", 0, "length of one run")
	server := flags.String("server", "bin/abagraph", "the abagraph program")
	repo := flags.String("repo", ".", "the repository")
	dir := flags.String("dir", "bin", "where the servers' data goes, on the disk to be measured")
	flags.StringVar(&out, "out", "", "document to write the sections into; empty = print only")
	if err := flags.Parse(args); err != nil {
		return env, nil, "", err
	}
	env = suite.Full()
	if *quick {
		env = suite.Quick()
	}
	env.Out, env.Repo = os.Stdout, *repo
	if env.Server, err = filepath.Abs(*server); err != nil {
		return env, nil, "", fmt.Errorf("finding the server: %w", err)
	}
	if env.Dir, err = filepath.Abs(*dir); err != nil {
		return env, nil, "", fmt.Errorf("finding the data folder: %w", err)
	}
	if *rounds > 0 {
		env.Rounds = *rounds
	}
	if *length > 0 {
		env.Length = *length
	}
	if *clients != "" {
		if env.Clients, err = numbers(*clients); err != nil {
			return env, nil, "", err
		}
	}
	if strings.TrimSpace(*names) != "" {
		only = strings.Split(strings.ReplaceAll(*names, " ", ""), ",")
	}
	return env, only, out, nil
}

func numbers(list string) ([]int, error) {
	var parsed []int
	for _, word := range strings.Split(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 || n > 4096 {
			return nil, fmt.Errorf("not a number of clients (1 to 4096): %q", word)
		}
		parsed = append(parsed, n)
	}
	return parsed, nil
}

// write puts a section into the document.
func write(out string, s report.Section) error {
	if out == "" {
		return nil
	}
	old, err := os.ReadFile(out)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("reading the document: %w", err)
	}
	text, err := report.Merge(string(old), []report.Section{s})
	if err != nil {
		return err
	}
	if err := os.WriteFile(out, []byte(text), 0o644); err != nil {
		return fmt.Errorf("writing the document: %w", err)
	}
	return nil
}

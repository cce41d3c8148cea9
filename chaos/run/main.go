// Command run makes seeded attacks on a cluster and writes a report of each: see
// package scenario. It exits with 1 where a promise was broken, and with 2 where the
// attack could not be made.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"abagraph/chaos"
	"abagraph/chaos/scenario"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	broken, err := attack(ctx, os.Args[1:], os.Stdout)
	cancel()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(2)
	case broken:
		os.Exit(1)
	}
}

// wish is what the command line asks for.
type wish struct {
	scenario, out, tags string
	from                string
	seed                uint64
	seeds, nodes        int
	minutes             float64
	race                bool
}

func read(args []string) (w wish, err error) {
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.StringVar(&w.scenario, "scenario", "mixed", "which attack: "+strings.Join(scenario.Names(), ", "))
	flags.StringVar(&w.out, "out", "chaos-reports", "folder for the reports")
	flags.StringVar(&w.tags, "tags", "", "build tags besides chaos, with commas between: bugs that are planted")
	flags.StringVar(&w.from, "from", "", "commit or tag of the program that an upgrade begins with; empty = that of the newest released format, same = the present tree as another version")
	flags.Uint64Var(&w.seed, "seed", 0, "seed of the plan and the workload; 0 = a new one")
	flags.IntVar(&w.seeds, "seeds", 1, "how many seeds, from that one on")
	flags.IntVar(&w.nodes, "nodes", 3, "how many nodes the cluster has")
	flags.Float64Var(&w.minutes, "minutes", 1, "how long faults are made")
	flags.BoolVar(&w.race, "race", false, "build the nodes with the race detector")
	if err := flags.Parse(args); err != nil {
		return w, err
	}
	if w.minutes <= 0 || w.minutes > 24*60 || w.seeds < 1 || w.nodes < 1 || w.nodes > 9 {
		return w, errors.New("minutes are above 0 and at most 1440, seeds at least 1, nodes 1 to 9")
	}
	if !slices.Contains(scenario.Names(), w.scenario) {
		return w, fmt.Errorf("there is no scenario %q: there are %s", w.scenario, strings.Join(scenario.Names(), ", "))
	}
	if w.scenario == scenario.Upgrade && w.nodes < 3 {
		return w, errors.New("an upgrade under load needs three nodes")
	}
	if w.seed == 0 {
		w.seed = 1 + rand.Uint64N(1_000_000)
	}
	return w, nil
}

// attack makes every attack that is asked for; broken tells that one found something.
func attack(ctx context.Context, args []string, out io.Writer) (broken bool, err error) {
	w, err := read(args)
	if err != nil {
		return false, err
	}
	if err := os.MkdirAll(w.out, 0o700); err != nil {
		return false, fmt.Errorf("make the folder for the reports: %w", err)
	}
	tags := []string{chaos.TagClocks}
	if w.tags != "" {
		tags = append(tags, strings.Split(w.tags, ",")...)
	}
	built, err := os.MkdirTemp("", "abagraph-chaos-")
	if err != nil {
		return false, fmt.Errorf("make a folder for the program: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(built)) }()
	binary, err := chaos.Build(ctx, built, w.race, tags...)
	if err != nil {
		return false, err
	}
	former, err := formerOf(ctx, w, built, out)
	if err != nil {
		return false, err
	}
	disks := chaos.CanMount() && former == nil
	if !disks && former == nil {
		fmt.Fprintln(out, "without root and loop devices, faults of disks are left out")
	}
	for i := range w.seeds {
		one := scenario.Config{
			Scenario: w.scenario, Seed: w.seed + uint64(i), Length: time.Duration(w.minutes * float64(time.Minute)),
			Size: w.nodes, Binary: binary, Clocks: true, Disks: disks, Former: former, Say: func(line string) { fmt.Fprintln(out, line) },
		}
		one.Dir = filepath.Join(w.out, fmt.Sprintf("%s-%d-%d", one.Scenario, one.Seed, time.Now().UnixMilli()))
		failed, err := single(ctx, one, out)
		if err != nil {
			return broken, err
		}
		broken = broken || failed
	}
	return broken, nil
}

// formerOf builds the program that an upgrade begins with.
func formerOf(ctx context.Context, w wish, built string, out io.Writer) (*chaos.Former, error) {
	if w.scenario != scenario.Upgrade {
		return nil, nil
	}
	former, err := chaos.BuildFormer(ctx, built, w.from)
	if err == nil {
		fmt.Fprintln(out, "the nodes begin with", former.What)
	}
	return former, err
}

// single makes one attack. What it leaves behind is kept where it found something.
func single(ctx context.Context, config scenario.Config, out io.Writer) (bool, error) {
	fmt.Fprintf(out, "== %s, seed %d, %s\n", config.Scenario, config.Seed, config.Length)
	report, err := scenario.Run(ctx, config)
	if err != nil {
		return false, fmt.Errorf("seed %d: %w", config.Seed, err)
	}
	if !report.Failed() {
		if err := emptyFolder(config.Dir); err != nil {
			return false, err
		}
	}
	if err := report.Write(config.Dir); err != nil {
		return false, err
	}
	if report.Failed() {
		fmt.Fprintf(out, "BROKEN, %d violations; everything is kept in %s\n%s\nagain: %s\n", len(report.Violations), config.Dir, report, report.Again)
	} else {
		fmt.Fprintf(out, "whole: %v; the report is %s\n", report.Judges, filepath.Join(config.Dir, "report.html"))
	}
	return report.Failed(), nil
}

func emptyFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("clear up after an attack: %w", err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return fmt.Errorf("clear up after an attack: %w", err)
		}
	}
	return nil
}

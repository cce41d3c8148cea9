package suite

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"abagraph/bench/load"
	"abagraph/bench/report"
)

const microText = `Inside the process, without HTTP. The Go benchmarks of the state machine, run with ` + "`go test -bench`" + `, %d times each: what a read costs
once its basis is settled. A functional timeline of ten versions is read alone in its store, which the processor's cache holds, and beside one of a million, where
both have the same tables to look into: the goal is about the length of the history, and goes by that.`

// Names of the state machine's benchmarks that have goals.
const (
	liveHot    = "LiveRead"
	timeline10 = "AsOf/versions=10,beside=1000000"
	timeline1M = "AsOf/versions=1000000"
)

// benchLine matches a line of a benchmark's output.
var benchLine = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+([0-9.]+) ns/op`)

// micro runs the benchmarks inside the process.
func micro(ctx context.Context, env Env) (report.Section, error) {
	rounds, length := env.Rounds, time.Second
	if env.Quick {
		rounds, length = 1, 50*time.Millisecond
	}
	command := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", ".", "-count", strconv.Itoa(rounds), "-benchtime", length.String(), "./fsm/...")
	command.Dir = env.Repo
	output, err := command.CombinedOutput()
	if err != nil {
		return report.Section{}, fmt.Errorf("running the benchmarks of fsm: %w\n%s", err, output)
	}
	names, figures := parseBenchmarks(string(output))
	if len(names) == 0 {
		return report.Section{}, fmt.Errorf("fsm has no benchmarks:\n%s", output)
	}
	s := report.Section{Title: "Inside the process", Text: fmt.Sprintf(microText, rounds)}
	t := report.Table{Title: "median of the rounds", Head: []string{"", "time"}}
	for _, name := range names {
		t.Rows = append(t.Rows, []string{name, short(time.Duration(load.Median(figures[name])))})
		env.progress("%-40s %s", name, short(time.Duration(load.Median(figures[name]))))
	}
	s.Tables = []report.Table{t}
	s.Goals, err = microGoals(figures)
	return s, err
}

func microGoals(figures map[string][]float64) ([]report.Goal, error) {
	for _, name := range []string{liveHot, timeline10, timeline1M} {
		if len(figures[name]) == 0 {
			return nil, fmt.Errorf("fsm has no benchmark named %s", name)
		}
	}
	ratio := load.Median(figures[timeline1M]) / load.Median(figures[timeline10])
	return []report.Goal{
		most("live read of one subject and predicate, hot", 1000, load.Median(figures[liveHot]), asDuration),
		most("as-of read of a timeline, 1,000,000 versions against 10 beside them", 2, ratio, times),
	}, nil
}

// parseBenchmarks reads the nanoseconds of each benchmark, one a round, and the
// names in the order they ran.
func parseBenchmarks(output string) (names []string, figures map[string][]float64) {
	figures = map[string][]float64{}
	for line := range strings.Lines(output) {
		found := benchLine.FindStringSubmatch(strings.TrimSpace(line))
		if found == nil {
			continue
		}
		value, err := strconv.ParseFloat(found[2], 64)
		if err != nil {
			continue
		}
		if len(figures[found[1]]) == 0 {
			names = append(names, found[1])
		}
		figures[found[1]] = append(figures[found[1]], value)
	}
	return names, figures
}

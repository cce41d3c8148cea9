package suite

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"abagraph/bench/load"
	"abagraph/bench/report"
)

// Figures of a sample.
func rate(s load.Sample) float64    { return s.Rate() }
func p50(s load.Sample) float64     { return float64(s.P50) }
func p99(s load.Sample) float64     { return float64(s.P99) }
func cores(s load.Sample) float64   { return s.ServerCPU }
func perSync(s load.Sample) float64 { return s.PerSync }

func median(samples []load.Sample, figure func(load.Sample) float64) float64 {
	return load.Median(load.Of(samples, figure))
}

func rateOf(samples []load.Sample) float64 { return median(samples, rate) }

func latency(samples []load.Sample, figure func(load.Sample) float64) time.Duration {
	return time.Duration(median(samples, figure))
}

// short renders a duration with three digits.
func short(d time.Duration) string {
	switch {
	case d < time.Microsecond:
		return fmt.Sprintf("%d ns", d.Nanoseconds())
	case d < time.Millisecond:
		return fmt.Sprintf("%.3g µs", float64(d)/float64(time.Microsecond))
	case d < time.Second:
		return fmt.Sprintf("%.3g ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.3g s", d.Seconds())
}

// thousands renders a number with commas.
func thousands(v float64) string {
	text := strconv.FormatFloat(v, 'f', 0, 64)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

func head(clients []int) []string {
	line := []string{""}
	for _, n := range clients {
		line = append(line, counted(n, "client"))
	}
	return line
}

// counted renders a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// grid makes a table with a row a system and a column a number of clients.
func grid(title string, all results, systems []system, cell func(samples []load.Sample) string) report.Table {
	clients := all.clients()
	t := report.Table{Title: title, Head: head(clients)}
	for _, s := range systems {
		row := []string{s.name}
		for _, n := range clients {
			row = append(row, cell(all[n][s.name]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (all results) clients() []int {
	var list []int
	for n := range all {
		list = append(list, n)
	}
	slices.Sort(list)
	return list
}

// tables are the figures of a contest: rates, ratios to the first system,
// latencies, and what the servers cost.
func tables(all results, systems []system, unit string) []report.Table {
	ours := systems[0]
	list := []report.Table{
		grid(unit+" a second, median of the rounds (least to most)", all, systems, func(s []load.Sample) string {
			rates := load.Of(s, rate)
			return fmt.Sprintf("%s (%s to %s)", thousands(load.Median(rates)), thousands(slices.Min(rates)), thousands(slices.Max(rates)))
		}),
		ratios(all, ours, systems[1:]),
		grid("latency, p50 / p99", all, systems, func(s []load.Sample) string {
			return short(latency(s, p50)) + " / " + short(latency(s, p99))
		}),
	}
	var served []system
	for _, s := range systems {
		if len(s.processes) > 0 {
			served = append(served, s)
		}
	}
	list = append(list, grid("cores that the servers kept busy", all, served, func(s []load.Sample) string {
		return fmt.Sprintf("%.2f", median(s, cores))
	}))
	if ours.syncs != nil {
		list = append(list, grid("facts in one synced write of the log (counted)", all, systems[:1], func(s []load.Sample) string {
			return fmt.Sprintf("%.1f", median(s, perSync))
		}))
	}
	return list
}

func ratios(all results, ours system, others []system) report.Table {
	clients := all.clients()
	t := report.Table{Title: ours.name + " divided by each, median of the rounds' ratios", Head: head(clients)}
	for _, s := range others {
		row := []string{s.name}
		for _, n := range clients {
			row = append(row, fmt.Sprintf("%.2f", load.Ratio(all[n][ours.name], all[n][s.name])))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// ratioGoals holds the ratios to one other system to what is wanted of them, by
// number of clients; those that were not measured are left out.
func ratioGoals(all results, what string, ours, other system, want map[int]float64) []report.Goal {
	var goals []report.Goal
	for _, n := range all.clients() {
		least, asked := want[n]
		if !asked {
			continue
		}
		got := load.Ratio(all[n][ours.name], all[n][other.name])
		goals = append(goals, report.Goal{
			What: what + ", " + counted(n, "client") + ", against " + other.name,
			Want: fmt.Sprintf("≥ %.2f×", least), Got: fmt.Sprintf("%.2f×", got), Met: got >= least,
		})
	}
	return goals
}

// least makes a goal of a figure that should be large.
func least(what string, want, got float64, render func(float64) string) report.Goal {
	return report.Goal{What: what, Want: "≥ " + render(want), Got: render(got), Met: got >= want}
}

// most makes a goal of a figure that should be small.
func most(what string, want, got float64, render func(float64) string) report.Goal {
	return report.Goal{What: what, Want: "≤ " + render(want), Got: render(got), Met: got <= want}
}

func times(v float64) string       { return fmt.Sprintf("%.2f×", v) }
func asDuration(v float64) string  { return short(time.Duration(v)) }
func perSecond(v float64) string   { return thousands(v) + " /s" }
func asMebibytes(v float64) string { return thousands(v/(1<<20)) + " MiB" }
func asBytes(v float64) string     { return thousands(v) + " B" }

// spread renders the median of figures, and the least and the most of them.
func spread(figures []float64, render func(float64) string) string {
	if len(figures) == 0 {
		return ""
	}
	return fmt.Sprintf("%s (%s to %s)", render(load.Median(figures)), render(slices.Min(figures)), render(slices.Max(figures)))
}

func asKibibytes(v float64) string { return thousands(v/(1<<10)) + " KiB" }

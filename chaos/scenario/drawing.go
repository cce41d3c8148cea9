package scenario

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// drawing is the report with the lines of its plots.
type drawing struct {
	*Report
	Width, Height   int
	Bars            []bar
	OK, Failed      string // points of polylines
	P50, P99        string
	MostCalls       int
	SlowestMs       float64
	Verdict, Length string
}

// bar is one fault on the line of time, in pixels.
type bar struct {
	X, W, Y    float64
	What, Note string
}

const (
	drawnWidth  = 1000
	drawnHeight = 140
	barHeight   = 16
)

func (r *Report) drawing() drawing {
	d := drawing{Report: r, Width: drawnWidth, Height: drawnHeight, Verdict: "no promise was broken", Length: r.Length.String()}
	if r.Failed() {
		d.Verdict = fmt.Sprintf("%d violations", len(r.Violations))
	}
	end := time.Duration(max(len(r.Seconds), 1)) * time.Second
	for i, m := range r.Moments {
		x := drawnWidth * m.Begin.Seconds() / end.Seconds()
		d.Bars = append(d.Bars, bar{
			X: x, W: max(2, drawnWidth*(m.End-m.Begin).Seconds()/end.Seconds()), Y: float64(i%6) * (barHeight + 4),
			What: m.What, Note: fmt.Sprintf("%s: %s, from %.1f s for %.1f s", m.What, m.Note, m.Begin.Seconds(), (m.End - m.Begin).Seconds()),
		})
	}
	var slowest time.Duration
	for _, s := range r.Seconds {
		d.MostCalls = max(d.MostCalls, s.OK, s.Failed)
		slowest = max(slowest, s.P99)
	}
	d.SlowestMs = float64(slowest.Milliseconds())
	d.OK = line(r.Seconds, func(s Second) float64 { return float64(s.OK) / float64(max(d.MostCalls, 1)) })
	d.Failed = line(r.Seconds, func(s Second) float64 { return float64(s.Failed) / float64(max(d.MostCalls, 1)) })
	// Latencies by their logarithm, from 0.1 ms up.
	high := func(t time.Duration) float64 {
		top := math.Log10(max(slowest.Seconds()*1e4, 10))
		return math.Log10(max(t.Seconds()*1e4, 1)) / top
	}
	d.P50 = line(r.Seconds, func(s Second) float64 { return high(s.P50) })
	d.P99 = line(r.Seconds, func(s Second) float64 { return high(s.P99) })
	return d
}

// line draws a figure of each second, 0 to 1, from left to right.
func line(seconds []Second, figure func(Second) float64) string {
	var b strings.Builder
	for i, s := range seconds {
		x := drawnWidth * (float64(i) + 0.5) / float64(len(seconds))
		fmt.Fprintf(&b, "%.1f,%.1f ", x, drawnHeight*(1-min(figure(s), 1)))
	}
	return b.String()
}

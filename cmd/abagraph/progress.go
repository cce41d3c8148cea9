package main

import (
	"fmt"
	"strings"
	"time"
)

// bar shows how far an import has come, on stderr where a person reads it.
type bar struct {
	app   *app
	quiet bool
	shown bool
	begun time.Time
	first int // steps that were done when this run began
	last  time.Time
}

const barEvery = 100 * time.Millisecond

func newBar(a *app, quiet bool) *bar { return &bar{app: a, quiet: quiet || !a.errTerminal} }

// clear takes the bar away, so that a line can be written in its place.
func (b *bar) clear() {
	if b.shown {
		fmt.Fprint(b.app.err, "\r\x1b[K")
		b.shown = false
	}
}

// due reports whether it is time to draw again.
func (b *bar) due(end bool) bool {
	now := time.Now()
	if b.quiet || !end && now.Sub(b.last) < barEvery {
		return false
	}
	b.last = now
	return true
}

// reading shows how much of the file has been read.
func (b *bar) reading(done, total int64) {
	if b.due(done >= total) {
		b.draw(fmt.Sprintf("reading %3d%%  %d of %d MiB", percent(done, total), done>>20, total>>20))
	}
}

// working shows what is being done, and how far it is where that is known.
func (b *bar) working(what string, done, total int64) {
	switch {
	case !b.due(false):
	case total > 0:
		b.draw(fmt.Sprintf("%s %3d%%", what, percent(done, total)))
	default:
		b.draw(fmt.Sprintf("%s: %d keys", what, done))
	}
}

// writing shows how much has been written, how fast, and how long the rest
// will take at that rate.
func (b *bar) writing(done, total int) {
	if b.begun.IsZero() {
		b.begun, b.first = time.Now(), done
	}
	if !b.due(done == total) {
		return
	}
	b.draw(barText(done, total, done-b.first, time.Since(b.begun), b.app.width()))
}

func barText(done, total, since int, took time.Duration, width int) string {
	tail := fmt.Sprintf(" %3d%%  %d/%d", percent(int64(done), int64(total)), done, total)
	if took > 0 && since > 0 {
		rate := float64(since) / took.Seconds()
		left := time.Duration(float64(total-done) / rate * float64(time.Second))
		tail += fmt.Sprintf("  %.0f/s  %s left", rate, left.Round(time.Second))
	}
	room := min(max(width-len(tail)-4, 5), 40)
	full := room
	if total > 0 {
		full = room * done / total
	}
	return "[" + strings.Repeat("=", full) + strings.Repeat(" ", room-full) + "]" + tail
}

func (b *bar) draw(text string) {
	fmt.Fprint(b.app.err, "\r\x1b[K"+text)
	b.shown = true
}

func percent(done, total int64) int64 {
	if total <= 0 {
		return 100
	}
	return 100 * done / total
}

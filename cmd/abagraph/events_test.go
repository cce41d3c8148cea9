package main

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"abagraph/client"
	"abagraph/fact"
)

var eventName = regexp.MustCompile(`^abagraph(\.[a-z_]+)+$`)

// eventsOf returns the events that a process has told, and wants a dotted name
// of our own in each, so that what counts them by name stays small.
func eventsOf(t *testing.T, p *process) []map[string]any {
	t.Helper()
	var told []map[string]any
	for line := range strings.Lines(p.errs.String()) {
		var event map[string]any
		if !strings.HasPrefix(line, `{"ts":`) || !strings.HasSuffix(line, "\n") {
			continue
		}
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Errorf("a line is no JSON: %v: %s", err, line)
			continue
		}
		if name, _ := event["event"].(string); !eventName.MatchString(name) {
			t.Errorf("the event %q has no dotted name of ours: %s", name, line)
		}
		told = append(told, event)
	}
	return told
}

// What the sweep deleted is told once, with the count; a sweep that
// deleted nothing is silent.
func TestSweepIsTold(t *testing.T) {
	p := launch(t, "--bind", "127.0.0.1:0", "--data", inMemory, "--ttl-interval-secs", "1").up()
	c := p.client()
	from, until := fmt.Sprint(time.Now().Add(-time.Hour).UnixMilli()), fmt.Sprint(time.Now().Add(-time.Minute).UnixMilli())
	for i := range 3 {
		_, err := c.Assert(t.Context(), client.Assert{
			Subject: "Task:now", Predicate: "step", Object: fact.TextObject(fmt.Sprint(i)), ValidFrom: from, ValidUntil: until, Transient: true, Policy: "coexist",
		}, client.Write{})
		if err != nil {
			t.Fatal(err)
		}
	}
	swept := func() (removed float64, times int) {
		for _, e := range eventsOf(t, p) {
			if e["event"] == "abagraph.ttl.swept" {
				n, _ := e["removed"].(float64)
				removed += n
				times++
				if n == 0 || e["level"] != "info" {
					t.Errorf("it told %v", e)
				}
			}
		}
		return removed, times
	}
	eventually(t, "the sweep tells of three facts", func(context.Context) bool {
		removed, _ := swept()
		return removed == 3
	})
	_, times := swept()
	seen, err := c.Observability(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range seen.ByEvent {
		if e.Event == "abagraph.ttl.swept" && e.Count == uint64(times) {
			p.stop()
			return
		}
	}
	t.Errorf("observability counts %v", seen.ByEvent)
}

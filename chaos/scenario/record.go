package scenario

import (
	"fmt"
	"sync"
	"time"

	"abagraph/client"
)

// Call is one call of a client, as the street saw it.
type Call struct {
	Kind    string        `json:"kind"`
	Node    string        `json:"node"`
	Begin   time.Duration `json:"begin_ns"`
	End     time.Duration `json:"end_ns"`
	Outcome string        `json:"outcome"` // ok, or the code of the error, or lost
}

// Moment is something that happened to the cluster, with its length.
type Moment struct {
	What  string        `json:"what"`
	Note  string        `json:"note"`
	Begin time.Duration `json:"begin_ns"`
	End   time.Duration `json:"end_ns"`
}

// Violation is a promise that was not kept.
type Violation struct {
	Judge string        `json:"judge"`
	What  string        `json:"what"`
	At    time.Duration `json:"at_ns"`
}

// record keeps what happened. It is safe for concurrent use.
type record struct {
	begin time.Time

	mu         sync.Mutex
	calls      []Call
	moments    []Moment
	violations []Violation
	checked    map[string]int
}

// mostViolations is how many are kept: the first tell enough.
const mostViolations = 40

func newRecord() *record { return &record{begin: time.Now(), checked: make(map[string]int)} }

func (r *record) since() time.Duration { return time.Since(r.begin) }

// call takes down how a call went.
func (r *record) call(kind, node string, call func() error) error {
	c := Call{Kind: kind, Node: node, Begin: r.since()}
	err := call()
	c.End, c.Outcome = r.since(), outcomeOf(err)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, c)
	return err
}

func outcomeOf(err error) string {
	switch {
	case err == nil:
		return "ok"
	case client.StatusOf(err) == 0:
		return "lost"
	}
	return string(client.CodeOf(err))
}

func (r *record) moment(what string, begin time.Duration, note string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.moments = append(r.moments, Moment{What: what, Note: note, Begin: begin, End: r.since()})
}

func (r *record) violate(judge, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.violations) < mostViolations {
		r.violations = append(r.violations, Violation{judge, fmt.Sprintf(format, args...), r.since()})
	}
}

// violated is a violation of each error there is.
func (r *record) violated(judge string, err error) {
	if err != nil {
		r.violate(judge, "%v", err)
	}
}

// check counts what a judge has looked at: one that has seen nothing proves nothing.
func (r *record) check(judge string, count int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checked[judge] += count
}

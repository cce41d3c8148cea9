package imports

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"

	"abagraph/client"
)

// DefaultInFlight is how many batches are sent at a time.
const DefaultInFlight = 4

// Config says how a plan is run.
type Config struct {
	Writer Writer
	// Epoch is the epoch of the store that is written to: a state file of
	// another one is not gone on with.
	Epoch string
	// State is the state file, or "" for none.
	State string
	// Again imports a file anew that was imported before. It is for an import
	// that ended; one that was interrupted goes on by itself.
	Again    bool
	InFlight int // 0 = DefaultInFlight
	// Known, where set, asks whether the store holds a fact: before an import
	// goes on, the last fact that it wrote is looked for.
	Known func(ctx context.Context, id string) (bool, error)

	Note     Note
	Progress func(done, total int) // rows and retractions
}

// ErrDone tells that the state file says that the import is done.
var ErrDone = errors.New("the file was imported before")

// Run writes a plan. Its report is valid beside an error too: it counts what
// was answered so far. A Run with the same state file goes on from there.
func (p *Plan) Run(ctx context.Context, c Config) (report Report, err error) {
	head := header{Version: stateVersion, Import: p.ID, Epoch: c.Epoch, File: p.source.Name}
	s, err := openState(c.State, head)
	if err != nil {
		return p.Report, err
	}
	done := false
	defer func() { err = errors.Join(err, s.close(done)) }()
	if s.over && c.Again {
		if err := s.restart(rand.Text()); err != nil {
			return p.Report, err
		}
	}
	r := &runner{plan: p, config: c, state: s, report: p.Report, ids: map[uint32]string{}, refused: map[uint32]struct{}{},
		busy: map[uint64]int{}, answers: make(chan answer)}
	r.sender = sender{writer: c.Writer, options: &p.options, key: "import-" + p.ID + s.head.Run}
	if err := r.resume(ctx); err != nil {
		return p.Report, err
	}
	if s.over {
		return r.report, ErrDone
	}
	err = r.run(ctx)
	done = err == nil
	return r.report, err
}

// restart begins the state file anew, as another run of the same import.
func (s *state) restart(run string) error {
	if err := s.file.Truncate(0); err != nil {
		return fmt.Errorf("begin the state file %s anew: %w", s.path, err)
	}
	if _, err := s.file.Seek(0, 0); err != nil {
		return fmt.Errorf("begin the state file %s anew: %w", s.path, err)
	}
	s.head.Run, s.over, s.done = "-"+run, false, map[int]*tally{}
	return s.write(s.head)
}

// runner is one run. Its fields belong to the goroutine of Run; the goroutines
// of batches only send, and answer over the channel.
type runner struct {
	plan   *Plan
	config Config
	state  *state
	sender sender
	report Report

	ids     map[uint32]string   // of rows that are to be retracted
	refused map[uint32]struct{} // rows whose retraction is skipped
	busy    map[uint64]int      // pairs of the batches in flight
	flying  int
	steps   int // events that are done
	answers chan answer
}

type answer struct {
	batch int
	items []item
	tally *tally
	err   error
}

// resume takes over what earlier runs have done.
func (r *runner) resume(ctx context.Context) error {
	last := ""
	for batch, t := range r.state.done {
		if batch < 0 || batch >= len(r.plan.batches) {
			return fmt.Errorf("the state file %s names a batch %d that the import does not have", r.state.path, batch)
		}
		r.settle(batch, t)
		if t.Last != "" {
			last = t.Last
		}
	}
	if last == "" || r.config.Known == nil {
		return nil
	}
	known, err := r.config.Known(ctx, last)
	if err != nil {
		return fmt.Errorf("look for what was imported before: %w", err)
	}
	if !known {
		return fmt.Errorf("the state file %s tells of facts that the server does not hold: remove it to import from the beginning", r.state.path)
	}
	return nil
}

func (r *runner) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var group sync.WaitGroup
	defer group.Wait()
	r.config.Progress(r.steps, len(r.plan.events))
	var failed error
	for next := 0; next < len(r.plan.batches) || r.flying > 0; {
		if failed == nil {
			failed = ctx.Err()
		}
		if failed == nil && next < len(r.plan.batches) && r.free(next) {
			if _, done := r.state.done[next]; !done {
				failed = r.launch(ctx, &group, next)
			}
			next++
			continue
		}
		if r.flying == 0 {
			break // failed
		}
		if err := r.take(<-r.answers); err != nil && failed == nil {
			failed = err
			cancel()
		}
	}
	return failed
}

// free reports whether a batch may be sent beside those in flight: order
// matters only among rows of one subject and predicate.
func (r *runner) free(batch int) bool {
	most := r.config.InFlight
	if most == 0 {
		most = DefaultInFlight
	}
	if r.flying >= most {
		return false
	}
	at := r.plan.batches[batch]
	for _, e := range r.plan.events[at.from:at.to] {
		if r.busy[r.plan.rows[e.row].pair] > 0 {
			return false
		}
	}
	return true
}

func (r *runner) launch(ctx context.Context, group *sync.WaitGroup, batch int) error {
	items, t, err := r.items(batch)
	if err != nil {
		return err
	}
	for _, it := range items {
		r.busy[r.plan.rows[it.row].pair]++
	}
	r.flying++
	group.Go(func() {
		err := r.sender.send(ctx, items, r.plan.rows, t)
		r.answers <- answer{batch, items, t, err}
	})
	return nil
}

// items reads a batch's rows. Retractions of rows that were refused are noted
// and left out.
func (r *runner) items(batch int) ([]item, *tally, error) {
	at := r.plan.batches[batch]
	items := make([]item, 0, at.to-at.from)
	t := &tally{}
	for i := at.from; i < at.to; i++ {
		e := r.plan.events[i]
		it := item{event: i, row: e.row, step: e.step, at: e.at}
		if e.step != assertRow {
			if _, gone := r.refused[e.row]; gone {
				t.Refused = append(t.Refused, refused{Row: e.row, Reason: "the row itself was refused", Retraction: true})
				continue
			}
			it.id = r.ids[e.row]
			items = append(items, it)
			continue
		}
		row, err := r.plan.row(e.row)
		if err != nil {
			return nil, nil, err
		}
		it.assert = row.assert
		items = append(items, it)
	}
	return items, t, nil
}

// take is what Run's goroutine does with the answer to a batch.
func (r *runner) take(a answer) error {
	r.flying--
	for _, it := range a.items {
		pair := r.plan.rows[it.row].pair
		if r.busy[pair]--; r.busy[pair] == 0 {
			delete(r.busy, pair)
		}
	}
	if a.err != nil {
		return a.err
	}
	if err := r.state.finished(a.batch, a.tally); err != nil {
		return err
	}
	for _, one := range a.tally.Refused {
		r.config.Note(Refusal{Line: r.plan.rows[one.Row].line, Reason: one.Reason, Retraction: one.Retraction})
	}
	r.settle(a.batch, a.tally)
	r.config.Progress(r.steps, len(r.plan.events))
	return nil
}

// settle counts a batch and remembers what later ones need of it.
func (r *runner) settle(batch int, t *tally) {
	r.report.add(t)
	r.report.Batches++
	at := r.plan.batches[batch]
	r.steps += at.to - at.from
	for row, id := range t.IDs {
		r.ids[row] = id
	}
	for _, one := range t.Refused {
		if !one.Retraction {
			r.refused[one.Row] = struct{}{}
		}
	}
}

var _ Writer = (*client.Client)(nil)

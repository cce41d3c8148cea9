package scenario

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"abagraph/chaos"
	"abagraph/client"
	"abagraph/fact"

	"github.com/anishathalye/porcupine"
)

const (
	registerCount = 6
	registerIs    = "holds"
)

// registers are values that are swapped: one holds at a time. Every call on one is
// kept with its begin and end, for a judge of linearizability.
type registers struct {
	mu      sync.Mutex
	history []porcupine.Operation
	refused map[string]bool // values whose write was refused for good
	made    int
}

func register(i int) string { return fmt.Sprintf("Reg:%d", i) }

// swap is what a call asks of a register; Expect is "" in a plain write.
type swap struct {
	Register, Expect, Value string
	Read                    bool
}

// answered is what a call was told. Unknown: nothing; it may have been done.
type answered struct {
	OK, Unknown bool
	Value       string // of a read
}

func (s *registers) prepare(r *run) error {
	s.refused = make(map[string]bool)
	w, err := r.worker("registers", 0)
	if err != nil {
		return err
	}
	defer w.close()
	for i := range registerCount {
		if err := w.swap(swap{Register: register(i), Value: fmt.Sprintf("reg-%d-begin", i)}, false); err != nil {
			return fmt.Errorf("make the registers: %w", err)
		}
	}
	return nil
}

// register makes one call on one register.
func (w *worker) register() {
	name := register(w.rng.IntN(registerCount))
	if w.rng.IntN(5) < 2 {
		_, _ = w.look(name)
		return
	}
	s := swap{Register: name, Value: w.registers.value(w.number)}
	if w.rng.IntN(4) > 0 {
		value, err := w.look(name)
		if err != nil {
			return
		}
		s.Expect = value
	}
	// A plain write that stays unknown could take effect anywhere and prove nothing:
	// it is always seen through.
	_ = w.swap(s, s.Expect != "" && w.rng.IntN(5) == 0)
}

func (s *registers) value(worker int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	return fmt.Sprintf("reg-%d-%d", worker, s.made)
}

// look reads a register, linearizably, on any node.
func (w *worker) look(name string) (value string, err error) {
	node := w.someNode()
	begin := w.since()
	var list *client.FactList
	err = w.once("read", node, func(ctx context.Context, c *client.Client) (err error) {
		list, err = c.Facts(ctx, client.FactQuery{Subject: name, Predicate: registerIs})
		return err
	})
	if err != nil {
		return "", err
	}
	values := valuesOf(list)
	w.past.add(asked{Node: w.Nodes[node].Name, Subject: name, Tx: list.Meta.Tx, AsOf: fact.NoInstant, KnownAt: fact.NoInstant, Values: values})
	w.tx.note(list.Meta.Tx)
	if len(values) != 1 {
		w.violate("registers", "%s holds %d values on %s at tx %d: %v", name, len(values), w.Nodes[node].Name, list.Meta.Tx, values)
		return "", fmt.Errorf("%d values", len(values))
	}
	w.registers.keep(w.number, begin, w.since(), swap{Register: name, Read: true}, answered{OK: true, Value: values[0]})
	return values[0], nil
}

func valuesOf(list *client.FactList) []string {
	values := make([]string, 0, len(list.Facts))
	for _, f := range list.Facts {
		values = append(values, f.Object.Text)
	}
	return values
}

// swap writes a register, once, or again and again under one key until it is known
// what became of it.
func (w *worker) swap(s swap, once bool) error {
	value := fact.TextObject(s.Value)
	batch := &client.Transact{Asserts: []client.Assert{{Subject: s.Register, Predicate: registerIs, Object: value}}}
	if s.Expect != "" {
		expect := fact.TextObject(s.Expect)
		batch.Compares = []client.Compare{{Subject: s.Register, Predicate: registerIs, Expect: &expect}}
	}
	send := func(ctx context.Context, c *client.Client) error {
		got, err := c.Transact(ctx, batch, client.Write{IdempotencyKey: s.Value})
		if err == nil {
			w.tx.note(got.Tx)
			w.recorded.note(got.Facts[0].RecordedAt)
		}
		return err
	}
	begin := w.since()
	var err error
	if once {
		err = w.once("swap", w.someNode(), send)
	} else {
		err = w.until("swap", w.someNode(), send)
	}
	out, happened := judged(err, once)
	if !happened {
		w.registers.mu.Lock()
		w.registers.refused[s.Value] = true
		w.registers.mu.Unlock()
		return err
	}
	w.registers.keep(w.number, begin, w.since(), s, out)
	return err
}

func (s *registers) keep(client int, begin, end time.Duration, in swap, out answered) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history = append(s.history, porcupine.Operation{ClientId: client, Input: in, Call: int64(begin), Output: out, Return: int64(end)})
}

// judged sorts what became of a swap; happened is false where it certainly was not
// done.
func judged(err error, once bool) (out answered, happened bool) {
	switch {
	case err == nil:
		return answered{OK: true}, true
	case client.CodeOf(err) == fact.CompareFailed:
		return answered{}, true
	case once && !chaos.Unknown(err):
		return answered{}, false
	}
	// Of several tries one may have been done, whatever the last one says.
	return answered{Unknown: true}, true
}

// model is a register as porcupine tries it: the state is what it holds.
var model = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := make([][]porcupine.Operation, registerCount)
		for _, o := range history {
			for i := range parts {
				if o.Input.(swap).Register == register(i) {
					parts[i] = append(parts[i], o)
				}
			}
		}
		return parts
	},
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		holds, in, out := state.(string), input.(swap), output.(answered)
		fits := in.Expect == "" || in.Expect == holds
		switch {
		case in.Read:
			return out.Value == holds, holds
		case out.Unknown && !fits:
			return true, holds
		case out.Unknown || out.OK:
			return fits, in.Value
		}
		return !fits, holds // it was refused because something else is held
	},
	DescribeOperation: func(input, output any) string {
		in, out := input.(swap), output.(answered)
		switch {
		case in.Read:
			return "read " + out.Value
		case out.Unknown:
			return in.Expect + " to " + in.Value + "?"
		case !out.OK:
			return "not " + in.Expect
		}
		return in.Expect + " to " + in.Value
	},
	DescribeState: func(state any) string { return state.(string) },
}

// judgeRegisters looks for an order of all calls in which each has the answer that it
// got. Where there is none it is drawn into a page of the folder.
func (r *run) judgeRegisters(events []client.Event) {
	history := slices.Clone(r.registers.history)
	end := int64(r.since())
	for i := range history {
		if history[i].Output.(answered).Unknown {
			history[i].Return = end // it may be done at any time after
		}
	}
	r.check("registers", len(history))
	result, info := porcupine.CheckOperationsVerbose(model, history, time.Minute)
	switch result {
	case porcupine.Illegal:
		r.violate("registers", "no order of all calls explains what they were answered: see registers.html")
		r.violated("harness", porcupine.VisualizePath(model, info, filepath.Join(r.Dir, "registers.html")))
	case porcupine.Unknown:
		r.say("the order of the calls on registers was not decided within a minute")
		r.check("registers undecided", 1)
	}
	for _, e := range events {
		if e.Op == "assert" && r.registers.refused[e.Fact.Object.Text] {
			r.violate("registers", "%s was refused and is there at tx %d", e.Fact.Object.Text, e.Tx)
		}
	}
}

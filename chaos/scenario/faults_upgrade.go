package scenario

import (
	"context"
	"fmt"
	"strings"

	"abagraph/chaos"
)

// upgrade gives one node that has the former program the present one.
func (f *fault) upgrade() error {
	nodes := f.having(f.Former.Binary)
	if len(nodes) == 0 {
		return nil
	}
	n := nodes[f.rng.IntN(len(nodes))]
	f.tell("%s", n.Name)
	return f.replace(n, f.Binary)
}

// upgradeRest gives the present program to all that have it not yet.
func (f *fault) upgradeRest() error {
	var names []string
	for _, n := range f.having(f.Former.Binary) {
		names = append(names, n.Name)
		if err := f.replace(n, f.Binary); err != nil {
			return err
		}
	}
	f.tell("%s", strings.Join(names, ", "))
	return nil
}

// back gives one node the former program again. It either goes on with what the present
// one has written, or refuses it in its last line and has changed nothing: the present one
// goes on then.
func (f *fault) back() error {
	nodes := f.having(f.Binary)
	if len(nodes) == 0 {
		return nil
	}
	n := nodes[f.rng.IntN(len(nodes))]
	f.tell("%s: it went on", n.Name)
	err := f.replace(n, f.Former.Binary)
	if err == nil || n.Running() {
		return err
	}
	output, err := n.Log(false)
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(output), "\n")
	refusal := lines[len(lines)-1]
	if strings.Contains(output, "panic:") || !strings.Contains(refusal, "this program knows") {
		f.violate("upgrade", "the former program neither goes on nor says why on %s:\n%s", n.Name, lastLines(output))
	}
	f.tell("%s: refused: %.200s", n.Name, refusal)
	return f.replace(n, f.Binary)
}

// having are the nodes that run a program, in a random order.
func (f *fault) having(program string) (nodes []*chaos.Node) {
	for _, n := range among(f.rng, f.Nodes) {
		if n.Program() == program {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// replace restarts a node with another program, in order.
func (f *fault) replace(n *chaos.Node, program string) error {
	ctx, cancel := context.WithTimeout(f.ctx, back)
	defer cancel()
	f.mayEnd[n] = true
	if n.Running() {
		if err := n.Stop(ctx); err != nil {
			return fmt.Errorf("stop %s: %w", n.Name, err)
		}
	}
	n.SetProgram(program)
	if err := n.Start(ctx); err != nil {
		return err
	}
	return n.Ready(ctx)
}

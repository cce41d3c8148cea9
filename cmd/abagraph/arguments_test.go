package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// A command that is given nothing names what it misses, never how many arguments
// the library has counted.
func TestAMissingArgumentIsNamed(t *testing.T) {
	asked := 0
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			look(sub)
		}
		if err := c.ValidateArgs(nil); err != nil {
			asked++
			if !strings.Contains(err.Error(), "is missing (see "+c.CommandPath()+" --help)") {
				t.Errorf("%s: %v", c.CommandPath(), err)
			}
		}
	}
	look(newRoot(&world{}))
	if asked < 20 {
		t.Errorf("only %d commands asked for an argument", asked)
	}
}

// An argument without a text, as a variable that is not set, names nothing: it is refused
// before anything is asked, and is no 404 of a route that is not there.
func TestAnEmptyArgumentIsRefused(t *testing.T) {
	r := shell(t)
	r.env["ABAGRAPH_URL"] = "http://127.0.0.1:1"
	for _, c := range commandsBelow(newRoot(&world{})) {
		args := argumentsOf(c)
		for i := range args {
			if c.ValidateArgs(args) != nil || c.ValidateArgs(args[:i]) == nil || c.Name() == "assert" && i == 2 {
				continue // it need not be there, or is an object
			}
			args[i] = ""
			if got := r.fails(append(strings.Fields(c.CommandPath())[1:], args...)...); !strings.Contains(got, " is empty (see "+c.CommandPath()+" --help)") {
				t.Errorf("%s %q: said %q", c.CommandPath(), args, got)
			}
			args[i] = "x"
		}
	}
}

// An object such as -5 looks like a flag: who writes it so is told where it goes.
func TestTextThatBeginsWithAHyphen(t *testing.T) {
	r := serving(t, "")
	if got := r.fails("assert", "City:oslo", "degrees", "-5"); !strings.Contains(got, "behind --") {
		t.Errorf("said %q", got)
	}
	if got := r.object("assert", "City:oslo", "degrees", "--source", "me", "--", "-5"); got["object"] != "-5" || got["source"] != "me" {
		t.Errorf("wrote %v", got)
	}
}

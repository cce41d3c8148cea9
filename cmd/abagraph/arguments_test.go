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

package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// mayBeEmpty are the flags of which no text is a value: a page may have no title.
var mayBeEmpty = []string{"body", "source", "title"}

// refuseEmpty refuses a flag that is given without a text, as the server refuses such a
// parameter. It is mostly a variable of the shell that is not set, and what it should
// have narrowed would mean everything: the present, main, every tenant.
// The settings of a node judge this for themselves: some may be empty, so that a flag
// takes back what a file sets.
func refuseEmpty(c *cobra.Command, _ []string) error {
	if c.Flags().Lookup("config") != nil {
		return nil
	}
	var err error
	c.Flags().Visit(func(f *pflag.Flag) {
		if err == nil && holdsNothing(f.Value) && !slices.Contains(mayBeEmpty, f.Name) {
			err = fmt.Errorf("--%s is empty: give it a value, or leave it out (see %s --help)", f.Name, c.CommandPath())
		}
	})
	return err
}

func holdsNothing(v pflag.Value) bool {
	switch v.Type() {
	case "string":
		return v.String() == ""
	case "stringSlice":
		return v.String() == "[]"
	}
	return false
}

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// refuseUnknownTopics makes help and completion refuse a command or a shell that they do
// not know: left alone they would print something else, and succeed.
func refuseUnknownTopics(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Run, c.RunE = nil, helpOn
		case "completion":
			c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
}

func helpOn(c *cobra.Command, args []string) error {
	topic, rest, err := c.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return fmt.Errorf("unknown command %q for %q", strings.Join(args, " "), c.CommandPath())
	}
	topic.InitDefaultHelpFlag()
	return topic.Help()
}

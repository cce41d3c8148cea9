package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A flag without a text is mostly a variable that is not set. It never means what the
// flag would have narrowed: every command refuses it before it asks or writes anything.
func TestEmptyFlagsAreRefused(t *testing.T) {
	r := serving(t, "")
	r.ok("assert", "Person:ann", "role", "CTO")
	asked := 0
	for _, c := range commandsBelow(newRoot(&world{})) {
		c.InitDefaultHelpFlag()
		c.Flags().AddFlagSet(c.InheritedFlags())
		if c.Flags().Lookup("config") != nil {
			continue // a node's settings: below
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if kind := f.Value.Type(); kind != "string" && kind != "stringSlice" || slices.Contains(mayBeEmpty, f.Name) {
				return
			}
			asked++
			args := slices.Concat(strings.Fields(c.CommandPath())[1:], argumentsOf(c), []string{"--" + f.Name + "="})
			if got := r.fails(args...); !strings.Contains(got, "--"+f.Name+" is empty: ") {
				t.Errorf("%s: said %q", strings.Join(args, " "), got)
			}
		})
	}
	if asked < 300 {
		t.Errorf("only %d flags were tried", asked)
	}
	for _, args := range [][]string{
		{"purge", "--subject", "Person:ann", "--tenant", "", "--confirm"}, // would be of all tenants
		{"retract", "x", "--branch", ""},                                  // would be on main
		{"query", "--subject", "Person:ann", "--as-of", ""},               // would be of today
		{"consolidate", "--subject", ""},                                  // would be of everything
	} {
		if got := r.fails(args...); !strings.Contains(got, " is empty: give it a value, or leave it out") {
			t.Errorf("%s: said %q", strings.Join(args, " "), got)
		}
	}
	if got := r.ok("query", "--subject", "Person:ann"); !strings.Contains(got, "CTO") {
		t.Errorf("afterwards there is %s", got)
	}
}

// A setting of a node without a text is none where it has a default, and where it is a key:
// with a variable that is not set a node would serve without auth, or keep its data elsewhere.
func TestEmptySettingsAreRefused(t *testing.T) {
	r := shell(t)
	for _, s := range serverSettings() {
		if s.preset == "" && !s.secret {
			r.ok("config", "--"+s.flag()+"=") // takes back what a file sets
			continue
		}
		for _, command := range []string{"config", "serve"} {
			want := "setting " + s.name + " (flag --" + s.flag() + "): is empty: give it a value, or leave it out"
			if got := r.fails(command, "--"+s.flag()+"="); got != want {
				t.Errorf("%s --%s= said %q", command, s.flag(), got)
			}
		}
	}
	if got := r.fails("serve", "--config="); got != "--config is empty: give it a file, or leave it out" {
		t.Errorf("said %q", got)
	}
}

// A key that no request can send opens nothing: the node does not start with it.
func TestKeysThatCannotBeSent(t *testing.T) {
	for _, key := range []string{"s3cret\n", " s3cret", "s3cret\t", "s3\ncret", "s3\x7fcret"} {
		for _, name := range []string{"ABAGRAPH_ADMIN_KEY", "ABAGRAPH_SECOND_ADMIN_KEY"} {
			r := shell(t)
			r.env[name] = key
			got := r.fails("config") // which judges as serve does
			if !strings.Contains(got, "environment "+name+"): ") || !strings.Contains(got, ", which no request can send") || strings.Contains(got, "s3") {
				t.Errorf("%q: said %q", key, got)
			}
		}
	}
	r := shell(t)
	r.ok("config", "--admin-key", "two words, and ünïcode")
}

// A number that the server refuses reaches it: none is left out for the default.
func TestNumbersBelowTheirRange(t *testing.T) {
	r := serving(t, "")
	for want, args := range map[string][]string{
		"limit must be":                       {"query", "--limit", "-1"},
		"top_k must be":                       {"search", "ann", "--top-k", "-1"},
		"min_confidence must be":              {"search", "ann", "--min-confidence", "-0.5"},
		"limit must":                          {"graph", "--limit", "-2"},
		"depth must be a whole number from 1": {"path", "Person:ann", "Person:ben", "--depth", "0"},
		"depth must be":                       {"path", "Person:ann", "Person:ben", "--depth", "-3"},
		"budget must be":                      {"context", "hello", "--budget", "0"},
		"limit must be a":                     {"changes", "--from", "2026-01-01", "--limit", "-1"},
		"limit must be a whole":               {"factcheck", "--limit", "-1"},
		"limit must be a whole ":              {"branch", "list", "--limit", "-1"},
	} {
		if got := r.fails(args...); !strings.Contains(got, want) {
			t.Errorf("%s: said %q, wanted %q", strings.Join(args, " "), got, want)
		}
	}
}

// commandsBelow lists a command and all below it that do something.
func commandsBelow(c *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		list = append(list, commandsBelow(sub)...)
	}
	return slices.DeleteFunc(list, func(c *cobra.Command) bool { return !c.Runnable() || c.HasSubCommands() })
}

// argumentsOf are as many arguments as a command must have.
func argumentsOf(c *cobra.Command) []string {
	var args []string
	for _, word := range strings.Fields(c.Use)[1:] {
		if strings.HasPrefix(word, "-") || strings.HasPrefix(word, "[") {
			break
		}
		args = append(args, "x")
	}
	return args
}

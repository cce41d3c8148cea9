package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"abagraph/client"
	"abagraph/fact"
)

// assertFlags are the fields of an assert beside the triple.
type assertFlags struct {
	client.Write
	from, until, source, policy string
	confidence, properties      string
	transient, explain          bool
	number, boolean, null, raw  bool
}

func assertCommand(a *app) *cobra.Command {
	var f assertFlags
	c := &cobra.Command{
		Use:   "assert SUBJECT PREDICATE OBJECT",
		Short: "Write one fact",
		Long: `Writes one fact and prints it. The object is text unless a flag says otherwise.
By default a new value closes the one that held before; --policy coexist leaves
both, --policy reject refuses.`,
		Example: `  abagraph assert Person:alice works_at Company:acme --source hr
  abagraph assert Person:alice age 42 --number
  abagraph assert Person:alice works_at Company:beta --valid-from 2024-03-01`,
		Args: exactArgs("SUBJECT", "PREDICATE", "OBJECT"),
		RunE: func(c *cobra.Command, args []string) error { return a.assert(c, &f, args) },
	}
	flags := c.Flags()
	flags.StringVar(&f.Branch, "branch", "", "branch to write to")
	flags.StringVar(&f.from, "valid-from", "", "when it began to hold (Unix milliseconds, 2024-06-19 or RFC 3339; default now)")
	flags.StringVar(&f.until, "valid-until", "", "when it stops holding (default never)")
	flags.StringVar(&f.confidence, "confidence", "", "0 to 1 (default 1; below the threshold it is a candidate)")
	flags.StringVar(&f.source, "source", "", "where it comes from")
	flags.StringVar(&f.properties, "properties", "", "annotations, a JSON object")
	flags.StringVar(&f.policy, "policy", "", "auto_supersede (the default), coexist or reject")
	flags.BoolVar(&f.transient, "transient", false, "delete it for good when --valid-until passes")
	flags.BoolVar(&f.number, "number", false, "the object is a number")
	flags.BoolVar(&f.boolean, "bool", false, "the object is true or false")
	flags.BoolVar(&f.null, "null", false, "the object is null; give null as OBJECT")
	flags.BoolVar(&f.raw, "json-object", false, "the object is JSON: text, a number, a bool, null or a blob reference")
	flags.StringVar(&f.IdempotencyKey, "idempotency-key", "", "name of this write: repeated under it, it is written once")
	flags.BoolVar(&f.explain, "explain", false, "show how the write went")
	c.MarkFlagsMutuallyExclusive("number", "bool", "null", "json-object")
	return c
}

func (a *app) assert(c *cobra.Command, f *assertFlags, args []string) error {
	body, err := f.body(c, args)
	if err != nil {
		return err
	}
	return a.write(c.Context(), client.Call{Method: "POST", Path: "/api/facts", Body: body, IdempotencyKey: f.IdempotencyKey}, f.Branch, f.explain, factTable)
}

func (f *assertFlags) body(c *cobra.Command, args []string) ([]byte, error) {
	object, err := f.object(args[2])
	if err != nil {
		return nil, err
	}
	assert := client.Assert{Subject: args[0], Predicate: args[1], Object: object, ValidFrom: f.from, ValidUntil: f.until, Policy: f.policy, Transient: f.transient}
	if c.Flags().Changed("source") {
		assert.Source = &f.source
	}
	if f.confidence != "" {
		confidence, err := strconv.ParseFloat(f.confidence, 64)
		if err != nil || confidence != confidence {
			return nil, fact.Invalid("--confidence", "must be a number from 0 to 1, not "+strconv.Quote(f.confidence))
		}
		assert.Confidence = &confidence
	}
	if f.properties != "" {
		if !json.Valid([]byte(f.properties)) {
			return nil, fact.Invalid("--properties", "must be a JSON object")
		}
		assert.Properties = json.RawMessage(f.properties)
	}
	body, err := json.Marshal(assert)
	if err != nil {
		return nil, fmt.Errorf("write the assert: %w", err)
	}
	return body, nil
}

func (f *assertFlags) object(text string) (fact.Object, error) {
	switch {
	case f.number:
		return fact.NumberObject("OBJECT", text)
	case f.boolean:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fact.Object{}, fact.Invalid("OBJECT", "must be true or false")
		}
		return fact.BoolObject(b), nil
	case f.null:
		if text != "null" {
			return fact.Object{}, fact.Invalid("OBJECT", "must be null where --null is given")
		}
		return fact.Object{}, nil
	case f.raw:
		if !json.Valid([]byte(text)) {
			return fact.Object{}, fact.Invalid("OBJECT", "is not valid JSON")
		}
		return client.DecodeObject(json.RawMessage(text))
	}
	return fact.TextObject(text), nil
}

// exactArgs asks for these arguments, and names the ones that are missing.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return fmt.Errorf("%s is missing (see %s --help)", names[len(args)], c.CommandPath())
		}
		if len(args) > len(names) {
			return errors.New("too many arguments: text with spaces needs quotes (see " + c.CommandPath() + " --help)")
		}
		for i, name := range names {
			if args[i] == "" && name != "OBJECT" { // no text is an object, and no name of anything
				return fmt.Errorf("%s is empty (see %s --help)", name, c.CommandPath())
			}
		}
		return nil
	}
}

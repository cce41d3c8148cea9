package mcp

import (
	"context"
	"math"
	"slices"
	"strconv"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// Limits of the tools' lists.
const (
	defaultLimit = 20
	maxLimit     = 200
)

// call is one call of a tool on its way.
type call struct {
	server  *Server
	ctx     context.Context
	request *mcpsdk.CallToolRequest // nil where a prompt asks
	hand    *memory.Handoff
	// caller is who asks, in the one namespace that the call is about.
	caller memory.Caller
	value  jsonx.Value // the arguments
	args   *jsonx.Fields
	input  memory.Input

	meta     memory.Meta
	branch   string
	warnings []string
	scores   []float64 // of the facts that were found, where they were ranked
	b        []byte    // the answer so far
	// prompt is where in b a text stands that was written to be pasted: it has
	// its own guard against what it quotes.
	prompt [2]int
}

// begin reads what every tool takes: arguments, and the namespace.
func (s *Server) begin(ctx context.Context, role fact.Role, raw []byte) (*call, error) {
	hand := memory.HandoffOf(ctx)
	if hand == nil {
		return nil, memory.Denied()
	}
	c := &call{server: s, ctx: ctx, hand: hand, caller: hand.Caller, meta: memory.Meta{Now: fact.NoInstant}}
	if err := c.caller.Require(role); err != nil {
		return c, err
	}
	c.value = jsonx.Value{Kind: jsonx.Object}
	if len(raw) > 0 && string(raw) != "null" {
		var err error
		if c.value, err = jsonx.Parse(raw); err != nil {
			return c, err
		}
	}
	if c.value.Kind != jsonx.Object {
		return c, fact.Invalid("arguments", "must be an object, not "+c.value.Kind.String())
	}
	c.args = jsonx.Open(c.value, "")
	if err := c.enter(c.args.Required("namespace")); err != nil {
		c.args.Fail(err)
	}
	c.input = memory.NewInput(c.caller)
	return c, nil
}

// enter narrows the caller to the namespace that a call names. A tenant's own
// key stays in its tenant whatever is named, as documented; the answer says so.
func (c *call) enter(namespace string) error {
	if c.args.Err() != nil {
		return nil
	}
	if namespace == "" {
		return fact.Invalid("namespace", "must not be empty")
	}
	if !c.caller.Operator {
		if namespace != c.caller.Tenant {
			c.warnings = append(c.warnings, "namespace "+quoted(namespace)+" was not used: this key reads and writes "+quoted(c.caller.Tenant)+" only")
		}
		return nil
	}
	if err := fact.CheckTenant("namespace", namespace); err != nil {
		return err
	}
	var err error
	c.caller, err = c.caller.In(namespace)
	return err
}

// present reads the branch, and what must have been seen.
func (c *call) present() memory.Read {
	r := memory.NewRead()
	r.MinTx = c.hand.MinTx
	r.Branch = c.onBranch()
	return r
}

func (c *call) onBranch() string {
	text, ok := c.args.Text("branch")
	if !ok {
		return ""
	}
	name, err := memory.CheckBranch(text)
	if err != nil {
		c.args.Fail(err)
	}
	c.branch = name
	return name
}

// travel reads which point of both times is asked for.
func (c *call) travel() memory.Read {
	r := c.present()
	r.AsOf = c.input.Time(c.args, "as_of")
	r.KnownAt = c.input.Time(c.args, "known_at")
	if tx, ok := c.args.Integer("tx", 0, math.MaxInt64); ok {
		r.Tx, r.Pinned = uint64(tx), true
	}
	return r
}

// require refuses a call without a field that must be there.
func (c *call) require(field string) {
	if _, ok := c.args.Get(field); !ok {
		c.args.Fail(fact.Invalid(field, "is required"))
	}
}

// name reads a filter that is a subject or a predicate; absent is "".
func (c *call) name(field string) string {
	text, ok := c.args.Text(field)
	if !ok {
		return ""
	}
	text, err := memory.Name(field, text)
	if err != nil {
		c.args.Fail(err)
	}
	return text
}

// names reads a list of names, each once and in the order given.
func (c *call) names(field string, most int) []string {
	items := c.args.Array(field)
	if len(items) > most {
		c.args.Fail(fact.Invalid(field, "may have at most "+strconv.Itoa(most)+" entries"))
		return nil
	}
	var list []string
	seen := make(map[string]bool, len(items))
	for i := range items {
		path := jsonx.Index(field, i)
		if items[i].Kind != jsonx.String {
			c.args.Fail(fact.Invalid(path, "must be a string, not "+items[i].Kind.String()))
			return nil
		}
		name, err := memory.Name(path, items[i].Text)
		if err != nil {
			c.args.Fail(err)
			return nil
		}
		if !seen[name] {
			seen[name] = true
			list = append(list, name)
		}
	}
	return list
}

// objects reads a filter by value. A text means what it means in a query
// string: itself and, where it reads as another value, that one too (C-3).
func (c *call) objects() []fact.Object {
	v, ok := c.args.Any("object")
	if !ok {
		return nil
	}
	if v.Kind == jsonx.String {
		return memory.ObjectFilter(v.Text)
	}
	o, err := memory.Object("object", v)
	if err != nil {
		c.args.Fail(err)
		return nil
	}
	return []fact.Object{o}
}

// limit reads how many facts are wanted.
func (c *call) limit() int {
	n, ok := c.args.Integer("limit", 0, maxLimit)
	if !ok || n == 0 {
		return defaultLimit
	}
	return int(n)
}

// fraction reads a number from 0 to 1; absent is 0.
func (c *call) fraction(field string) float64 {
	v, ok := c.args.Get(field)
	if !ok {
		return 0
	}
	f, err := strconv.ParseFloat(v.Raw, 64)
	if v.Kind != jsonx.Number || err != nil || !(f >= 0 && f <= 1) {
		c.args.Fail(fact.Invalid(field, "must be a number from 0 to 1"))
		return 0
	}
	return f
}

// done reports the first problem with the arguments.
func (c *call) done() error { return c.args.Done() }

// write says what goes with a write.
func (c *call) write() memory.WriteOptions {
	return memory.WriteOptions{Branch: c.onBranch(), Idem: c.hand.Idem, Warn: func(text string) { c.warnings = append(c.warnings, text) }}
}

// told keeps the place of the answer.
func (c *call) told(m memory.Meta) {
	c.meta = m
	if c.hand.Tell != nil {
		c.hand.Tell(m)
	}
}

// wrote keeps the place of a write.
func (c *call) wrote(r *fact.Result) {
	if r != nil {
		if r.Masked > 0 {
			c.server.logger.Info("abagraph.pii.masked", "path", "/mcp", "masked", r.Masked, "tenant", c.caller.Tenant)
		}
		c.told(memory.Meta{Tx: r.Tx, Now: r.RecordedAt, Epoch: c.server.memory.Position().Epoch})
	}
}

// warnIfEmpty warns where an answer is empty because there is nothing at all in the
// namespace at the record time that was read, unless the read has said so: a misspelt
// one is more likely than a new one.
func (c *call) warnIfEmpty(read memory.Read) {
	read.Level = fact.Stale
	empty, err := c.server.memory.EmptyNamespace(c.ctx, c.caller, read)
	if err == nil && empty != "" && !slices.Contains(c.meta.Warnings, empty) {
		c.warnings = append(c.warnings, empty)
	}
}

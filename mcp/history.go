package mcp

import (
	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

func recallAsOfTool() tool {
	return tool{
		name: "recall_as_of", title: "Recall what held at a past moment", role: fact.RoleRead, facts: true, run: (*call).recallAsOf,
		description: "Travel in time: the facts that held at a past instant, those included that have been superseded since. " +
			"Use it for questions about the past (who was, what was, at that time). Add known_at to see only what had been recorded by then. " +
			"To compare two instants use whats_changed.",
		input: arguments(`"as_of","namespace"`, `"as_of":{"type":"integer","description":"The instant to look at, in Unix milliseconds"},`+inNamespace+`,`+
			inSubject+`,`+inPredicate+`,`+inObject+`,`+inLimit+`,`+inKnownAt+`,`+inTx+`,`+inBranch),
		output: result(`"as_of":{"type":"integer"},"count":{"type":"integer"},"facts":` + viewItems + `,` +
			`"limited":{"type":"boolean","description":"true where there are more facts than these"},` +
			`"known_at":{"type":"integer"},` + outNotice + outEnd),
	}
}

// recallAsOf lists facts at a point of both times, in the order of lists.
func (c *call) recallAsOf() error {
	c.require("as_of")
	limit := c.limit()
	q := &memory.FactsQuery{
		Read: c.travel(), Subject: c.name("subject"), Predicate: c.name("predicate"), Objects: c.objects(), Limit: limit + 1,
	}
	if err := c.done(); err != nil {
		return err
	}
	page, meta, err := c.server.memory.Facts(c.ctx, c.caller, q, nil)
	if err != nil {
		return err
	}
	c.told(meta)
	c.b = append(c.b, `{"as_of":`...)
	c.b = jsonx.AppendInstant(c.b, q.AsOf)
	facts, more := within(page, limit)
	c.facts(facts, more, q.Read)
	c.time("known_at", q.KnownAt)
	return nil
}

// within cuts a page, which was asked for one more fact than are wanted, and
// tells whether there are more.
func within(page *fact.Page, limit int) ([]fact.Fact, bool) {
	if len(page.Facts) > limit {
		return page.Facts[:limit], true
	}
	return page.Facts, page.Scan.Heavy
}

// facts appends count and facts.
func (c *call) facts(facts []fact.Fact, limited bool, read memory.Read) {
	at := len(c.b)
	n := c.views("facts", facts)
	list := append([]byte(nil), c.b[at:]...)
	c.b = c.b[:at]
	c.number("count", n)
	c.b = append(c.b, list...)
	c.flag("limited", limited || n < len(facts))
	if len(facts) == 0 {
		c.warnIfEmpty(read)
	}
}

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
	q := &memory.FactsQuery{
		Read: c.travel(), Subject: c.name("subject"), Predicate: c.name("predicate"), Objects: c.objects(), Limit: c.limit(),
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
	c.facts(page.Facts, page.Scan.LimitHit, q.Read)
	c.time("known_at", q.KnownAt)
	return nil
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
		c.emptyNamespace(read)
	}
}

func explainFactTool() tool {
	return tool{
		name: "explain_fact", title: "Explain one fact", role: fact.RoleRead, facts: true, run: (*call).explainFact,
		description: "Where one fact comes from: its source, confidence, status and time, when it was recorded, and every fact that was ever recorded for the same subject and predicate. " +
			"Use it to verify a recalled claim before you rely on it, or to answer why something is believed.",
		input: arguments(`"fact_id","namespace"`, `"fact_id":{"type":"string","description":"Id of the fact, as another answer told it"},`+inNamespace+`,`+inBranch),
		output: result(`"fact":{"type":"object","properties":{` + viewProperties + `,"recorded_at":{"type":"integer","description":"When it was recorded, in Unix milliseconds"},` +
			`"properties":{"type":["object","null"]},"superseded_by":{"type":["string","null"],"description":"The fact that ended this one"}},"required":["id","subject","predicate","status","recorded_at"]},` +
			`"history":` + viewItems + `,"note":{"type":"string"},` + outNotice + outEnd),
	}
}

// historyNote is the documents' own sentence.
const historyNote = "history = the subject+predicate lifecycle ordered by valid_from; supersession links are derived from validity intervals, not stored."

// explainFact tells one fact with the life of its subject and predicate.
func (c *call) explainFact() error {
	id := c.args.Required("fact_id")
	read := c.present()
	if err := c.done(); err != nil {
		return err
	}
	h, meta, err := c.server.memory.History(c.ctx, c.caller, read, id, maxLimit, nil)
	if err != nil {
		return err
	}
	c.told(meta)
	c.b = append(c.b, `{"fact":`...)
	c.b = appendExplained(c.b, &h.Fact)
	c.views("history", h.Timeline)
	if h.TimelineCut {
		c.warnings = append(c.warnings, "history holds the first facts only: there are more of this subject and predicate")
	}
	c.b = append(c.b, `,"note":`...)
	c.b = jsonx.AppendString(c.b, historyNote)
	return nil
}

// appendExplained appends a fact_view with what explain_fact adds to it.
func appendExplained(b []byte, f *fact.Fact) []byte {
	b = append(appendViewFields(b, f), `,"recorded_at":`...)
	b = jsonx.AppendInstant(b, f.RecordedAt)
	b = append(b, `,"properties":`...)
	if f.Properties == nil {
		b = append(b, "null"...)
	} else {
		b = append(b, f.Properties...)
	}
	b = append(b, `,"superseded_by":`...)
	return append(jsonx.AppendID(b, f.SupersededBy), '}')
}

package mcp

import (
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

func explainFactTool() tool {
	return tool{
		name: "explain_fact", title: "Explain one fact", role: fact.RoleRead, facts: true, run: (*call).explainFact,
		description: "Where one fact comes from: its source, confidence, status and time, when it was recorded, what agrees and disagrees with it, and every fact that was ever recorded for the same subject and predicate. " +
			"Use it to verify a recalled claim before you rely on it, or to answer why something is believed.",
		input: arguments(`"fact_id","namespace"`, `"fact_id":{"type":"string","description":"Id of the fact, as another answer told it"},`+inNamespace+`,`+inBranch),
		output: result(`"fact":{"type":"object","properties":{` + viewProperties + `,"recorded_at":{"type":"integer","description":"When it was recorded, in Unix milliseconds"},` +
			`"properties":{"type":["object","null"]},"superseded_by":{"type":["string","null"],"description":"The fact that ended this one"}},"required":["id","subject","predicate","status","recorded_at"]},` +
			`"history":` + viewItems + `,"note":{"type":"string"},` +
			`"corroboration":{"type":"object","properties":{"agree":{"type":"integer"},"conflict":{"type":"integer"},"sources":{"type":"integer"},"source_names":` + texts + `},"required":["agree","conflict","sources"],"description":"Facts of the same time that say the same or something else, and the distinct sources that say the same"},` +
			`"conflicts":` + viewItems + `,"superseded":` + viewItems + `,` + outNotice + outEnd),
	}
}

// explainFact tells one fact with the life of its subject and predicate.
func (c *call) explainFact() error {
	id := c.args.Required("fact_id")
	read := c.present()
	if err := c.done(); err != nil {
		return err
	}
	e, meta, err := c.server.memory.ExplainFact(c.ctx, c.caller, read, id, maxLimit, nil)
	if err != nil {
		return err
	}
	c.told(meta)
	c.b = append(c.b, `{"fact":`...)
	c.b = appendExplained(c.b, &e.Fact)
	c.views("history", e.Timeline)
	if e.TimelineCut {
		c.warnings = append(c.warnings, "history holds the first facts only: there are more of this subject and predicate")
	}
	c.b = append(c.b, `,"note":`...)
	c.b = jsonx.AppendString(c.b, memory.ExplainNote)
	c.b = append(c.b, `,"corroboration":{"agree":`...)
	c.b = strconv.AppendInt(c.b, int64(len(e.Agreeing)), 10)
	c.number("conflict", len(e.Disagreeing))
	c.number("sources", len(e.Sources))
	c.b = append(c.b, `,"source_names":`...)
	c.b = append(jsonx.AppendStrings(c.b, e.Sources), '}')
	c.views("conflicts", e.Disagreeing)
	c.views("superseded", e.Ended)
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

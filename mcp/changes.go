package mcp

import (
	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

func whatsChangedTool() tool {
	return tool{
		name: "whats_changed", title: "What changed between two moments", role: fact.RoleRead, facts: true, run: (*call).whatsChanged,
		description: "Compare the memory at two instants: the facts that were added, those that were superseded or removed, and how many still hold. " +
			"Use it to catch up since your last checkpoint, or to answer what is new. For what held at one instant use recall_as_of.",
		input: arguments(`"from","to","namespace"`, `"from":{"type":"integer","description":"Earlier instant, in Unix milliseconds"},`+
			`"to":{"type":"integer","description":"Later instant, in Unix milliseconds"},`+inNamespace+`,`+inSubject+`,`+inPredicate+`,`+inObject+`,`+
			`"axis":{"type":"string","enum":["both","valid","known"],"default":"both","description":"Which changes: in the world (valid), in what was known of it (known), or both"},`+
			`"after":{"type":"string","description":"Go on where an earlier answer stopped: its next"},`+
			`"limit":{"type":"integer","minimum":1,"maximum":200,"default":200,"description":"Facts after which the answer stops, at the end of a subject"},`+inBranch),
		output: result(`"from":{"type":"integer"},"to":{"type":"integer"},"axis":{"type":"string"},"added":` + viewItems + `,"superseded":` + viewItems + `,` +
			`"retracted":` + texts + `,"expired":` + texts + `,` +
			`"added_count":{"type":"integer","description":"All that were added, beyond this answer too"},` +
			`"superseded_count":{"type":"integer","description":"All that were superseded or removed, beyond this answer too"},` +
			`"still_valid":{"type":"integer","description":"Facts that hold at both instants"},` +
			`"limited":{"type":"boolean","description":"true where there are more changes than these"},` +
			`"next":{"type":"string","description":"What to give as after, to go on"},` + outNotice + outEnd),
	}
}

// whatsChanged compares two states.
func (c *call) whatsChanged() error {
	c.require("from")
	c.require("to")
	q := &memory.ChangesQuery{Read: c.present(), From: c.input.Time(c.args, "from"), To: c.input.Time(c.args, "to")}
	q.Subject, q.Predicate, q.Objects = c.name("subject"), c.name("predicate"), c.objects()
	q.After, _ = c.args.Text("after")
	q.Limit = maxLimit
	if n, ok := c.args.Integer("limit", 0, maxLimit); ok && n > 0 {
		q.Limit = int(n)
	}
	if text, ok := c.args.Text("axis"); ok {
		axis, err := memory.ParseAxis("axis", text)
		if err != nil {
			c.args.Fail(err)
		}
		q.Axis = axis
	}
	if err := c.done(); err != nil {
		return err
	}
	d, meta, err := c.server.memory.Changes(c.ctx, c.caller, q, nil)
	if err != nil {
		return err
	}
	c.told(meta)
	c.changed(d)
	if len(d.Added)+len(d.Superseded)+d.StillValid == 0 {
		c.warnings = append(c.warnings, "nothing that was asked for held at either moment, as it was known then; recall_as_of answers about a past moment as it is known today")
	}
	return nil
}

func (c *call) changed(d *memory.Changes) {
	c.b = append(c.b, `{"from":`...)
	c.b = jsonx.AppendInstant(c.b, d.From)
	c.b = append(c.b, `,"to":`...)
	c.b = jsonx.AppendInstant(c.b, d.To)
	c.b = append(c.b, `,"axis":`...)
	c.b = jsonx.AppendString(c.b, d.Axis.String())
	c.views("added", d.Added)
	c.views("superseded", d.Superseded)
	c.b = append(c.b, `,"retracted":`...)
	c.b = jsonx.AppendIDs(c.b, d.Retracted)
	c.b = append(c.b, `,"expired":`...)
	c.b = jsonx.AppendIDs(c.b, d.Expired)
	c.number("added_count", d.AddedTotal)
	c.number("superseded_count", d.SupersededTotal)
	c.number("still_valid", d.StillValid)
	c.flag("limited", d.Next != "")
	if d.Next != "" {
		c.b = append(c.b, `,"next":`...)
		c.b = jsonx.AppendString(c.b, d.Next)
	}
}

package mcp

import (
	"abagraph/fact"
	"abagraph/internal/jsonx"
)

func rememberTool() tool {
	return tool{
		name: "remember", title: "Remember one fact", role: fact.RoleWrite, run: (*call).remember,
		description: "Save one fact with its source, as soon as you learn it: what a user tells you, a decision, a result. " +
			"A fact with the same subject and predicate that it contradicts is ended and kept as history, unless coexist is true; saying the same thing again changes nothing. " +
			"For more than a few facts at once use digest.",
		input: arguments(`"subject","predicate","object","namespace"`, newSubject+`,`+newPredicate+`,`+newObject+`,`+inNamespace+`,`+newSource+`,`+
			newConfidence+`,`+newCoexist+`,`+newFrom+`,`+newUntil+`,`+newProperties+`,`+inBranch),
		output: result(`"written_id":{"type":"string","description":"The fact; of a repetition, the one that was there"},` +
			`"status":{"type":"string","enum":["active","candidate","superseded","retracted"]},` +
			`"superseded":` + texts + `,"pii_masked":{"type":"integer","description":"Personal data that was masked"},` +
			`"duplicate":{"type":"boolean","description":"true where this was known already and nothing was written"},` + outEnd),
	}
}

// remember writes one fact.
func (c *call) remember() error {
	o := c.write()
	if _, ok := c.args.Any("object"); !ok {
		return fact.Invalid("object", "is required")
	}
	a, err := c.input.Assert(without(c.value, "namespace", "branch"), "", false)
	if err != nil {
		return err
	}
	if err := c.args.Err(); err != nil {
		return err
	}
	if o.Branch, err = c.input.Branch(o.Branch); err != nil {
		return err
	}
	result, err := c.server.memory.Assert(c.ctx, c.caller, o, &a, nil)
	c.wrote(result)
	if err != nil {
		return err
	}
	done := &result.Asserts[0]
	c.b = append(c.b, `{"written_id":`...)
	c.b = jsonx.AppendID(c.b, done.Fact.ID)
	c.b = append(append(append(c.b, `,"status":"`...), done.Fact.Status.String()...), '"')
	c.b = append(c.b, `,"superseded":`...)
	c.b = appendFactIDs(c.b, done.Superseded)
	c.number("pii_masked", result.Masked)
	c.flag("duplicate", done.Duplicate)
	return nil
}

func appendFactIDs(b []byte, facts []fact.Fact) []byte {
	ids := make([]fact.ID, len(facts))
	for i := range facts {
		ids[i] = facts[i].ID
	}
	return jsonx.AppendIDs(b, ids)
}

// without returns an object without some of its fields.
func without(v jsonx.Value, names ...string) jsonx.Value {
	kids := make([]jsonx.Value, 0, len(v.Kids))
next:
	for i := range v.Kids {
		for _, name := range names {
			if v.Kids[i].Name == name {
				continue next
			}
		}
		kids = append(kids, v.Kids[i])
	}
	v.Kids = kids
	return v
}

package mcp

import (
	"strconv"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"abagraph/fact"
	"abagraph/ingest"
	"abagraph/internal/jsonx"
)

func digestTool() tool {
	return tool{
		name: "digest", title: "Save many facts", role: fact.RoleWrite, run: (*call).digest,
		description: "Save up to 500 facts at once, all or none, with their source: what a document or a conversation says, extracted by you as subject, predicate, object. " +
			"Contradicted facts are ended and kept as history; what is known already is not written twice. For a single fact use remember.",
		input: arguments(`"facts","namespace"`, `"facts":{"type":"array","minItems":1,"maxItems":500,"items":{"type":"object","properties":{`+
			newSubject+`,`+newPredicate+`,`+newObject+`,`+newSource+`,`+newConfidence+`,`+newCoexist+`,`+newFrom+`,`+newUntil+`,`+newProperties+
			`},"required":["subject","predicate","object"],"additionalProperties":false}},`+inNamespace+`,`+
			`"source":{"type":"string","maxLength":1024,"description":"Source of the facts that name none themselves"},`+inBranch),
		output: result(`"written":{"type":"integer","description":"Facts that are new and hold"},"written_ids":` + texts + `,"superseded":{"type":"integer","description":"Facts that these ended"},` +
			`"candidates":{"type":"integer","description":"Facts that are not sure enough to hold, and are kept apart"},"candidate_ids":` + texts + `,` +
			`"duplicates":{"type":"integer","description":"Facts that were known already"},` +
			`"entities":` + texts + `,"pii_masked":{"type":"integer","description":"Personal data that was masked"},` + outEnd),
	}
}

// digest writes many facts in one transaction. Where there are facts, content is
// passed over; without them its links are what is written.
func (c *call) digest() error {
	facts, given := c.args.Get("facts")
	if _, other := c.args.Get("content"); !given && !other {
		return fact.Invalid("facts", "is required")
	}
	if err := objectsThere(facts); err != nil {
		return err
	}
	c.progress(0, len(facts.Kids), "read")
	d, err := ingest.Read(&c.input, without(c.value, "namespace"))
	if err != nil {
		return err
	}
	if err := c.args.Err(); err != nil {
		return err
	}
	d.Waits = true
	o := c.write()
	if o.Branch, err = c.input.Branch(""); err != nil {
		return err
	}
	r, result, err := c.server.desk.Digest(c.ctx, c.caller, o, d, nil)
	c.wrote(result)
	if err != nil {
		return err
	}
	c.progress(len(r.Items), len(r.Items), "written")
	c.server.logger.Info("abagraph.digest", d.Told(r, c.caller.Tenant)...)
	c.digested(r)
	return nil
}

// objectsThere refuses facts that say nothing of their object.
func objectsThere(facts jsonx.Value) error {
	for i := range facts.Kids {
		if _, ok := facts.Kids[i].Field("object"); !ok && facts.Kids[i].Kind == jsonx.Object {
			return fact.Invalid(jsonx.Index("facts", i)+".object", "is required")
		}
	}
	return nil
}

// digested appends what became of the facts.
func (c *call) digested(r *ingest.Receipt) {
	c.b = append(c.b, `{"written":`...)
	c.b = strconv.AppendInt(c.b, int64(r.Counts[ingest.Written]), 10)
	c.b = append(c.b, `,"written_ids":`...)
	c.b = jsonx.AppendIDs(c.b, r.IDs(ingest.Written))
	c.number("superseded", len(r.Superseded))
	c.number("candidates", r.Counts[ingest.Candidate])
	c.b = append(c.b, `,"candidate_ids":`...)
	c.b = jsonx.AppendIDs(c.b, r.IDs(ingest.Candidate))
	c.number("duplicates", r.Counts[ingest.Duplicate])
	c.b = append(c.b, `,"entities":`...)
	c.b = jsonx.AppendStrings(c.b, r.Entities)
	c.number("pii_masked", r.Masked)
}

// progress tells a client that asked for it how far a call is.
func (c *call) progress(done, total int, message string) {
	if c.request == nil || c.request.Session == nil {
		return
	}
	token := c.request.Params.GetProgressToken()
	if token == nil {
		return
	}
	// Progress is a courtesy: a client that has gone misses nothing by it.
	_ = c.request.Session.NotifyProgress(c.ctx, &mcpsdk.ProgressNotificationParams{
		ProgressToken: token, Progress: float64(done), Total: float64(total), Message: message,
	})
}

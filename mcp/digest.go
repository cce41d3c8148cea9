package mcp

import (
	"strconv"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

// maxDigest is the most facts of one digest.
const maxDigest = 500

// progressStep is after how many facts a digest tells how far it is.
const progressStep = 50

func digestTool() tool {
	return tool{
		name: "digest", title: "Save many facts", role: fact.RoleWrite, run: (*call).digest,
		description: "Save up to 500 facts at once, all or none, with their source: what a document or a conversation says, extracted by you as subject, predicate, object. " +
			"Contradicted facts are ended and kept as history; what is known already is not written twice. For a single fact use remember.",
		input: arguments(`"facts","namespace"`, `"facts":{"type":"array","minItems":1,"maxItems":500,"items":{"type":"object","properties":{`+
			newSubject+`,`+newPredicate+`,`+newObject+`,`+newSource+`,`+newConfidence+`,`+newCoexist+`,`+newFrom+`,`+newUntil+`,`+newProperties+
			`},"required":["subject","predicate","object"],"additionalProperties":false}},`+inNamespace+`,`+
			`"source":{"type":"string","maxLength":1024,"description":"Source of the facts that name none themselves"},`+inBranch),
		output: result(`"written":{"type":"integer"},"written_ids":` + texts + `,"superseded":{"type":"integer","description":"Facts that these ended"},` +
			`"candidates":{"type":"integer","description":"Facts among the written ones that are not sure enough to hold"},` +
			`"duplicates":{"type":"integer","description":"Facts that were known already"},` +
			`"entities":` + texts + `,"pii_masked":{"type":"integer","description":"Personal data that was masked"},` + outEnd),
	}
}

// digest writes many facts in one transaction.
func (c *call) digest() error {
	o := c.write()
	c.require("facts")
	items := c.args.Array("facts")
	source, sourced := c.args.Text("source")
	if sourced {
		if err := fact.CheckSource("source", source); err != nil {
			c.args.Fail(err)
		}
	}
	if err := c.done(); err != nil {
		return err
	}
	if len(items) == 0 || len(items) > maxDigest {
		return fact.Invalid("facts", "must have 1 to "+strconv.Itoa(maxDigest)+" entries, not "+strconv.Itoa(len(items)))
	}
	w, err := c.batch(items)
	if err != nil {
		return err
	}
	if o.Branch, err = c.input.Branch(o.Branch); err != nil {
		return err
	}
	for i := range w.Asserts {
		if w.Asserts[i].Source == nil && sourced {
			w.Asserts[i].Source = &source
		}
	}
	result, err := c.server.memory.Transact(c.ctx, c.caller, o, w, nil)
	c.wrote(result)
	if err != nil {
		return err
	}
	c.progress(len(items), len(items), "written")
	c.digested(result)
	return nil
}

// batch reads the facts, telling how far it is.
func (c *call) batch(items []jsonx.Value) (*fact.Write, error) {
	w := &fact.Write{Asserts: make([]fact.Assert, 0, len(items))}
	for i := range items {
		path := jsonx.Index("facts", i)
		if _, ok := items[i].Field("object"); !ok && items[i].Kind == jsonx.Object {
			return nil, fact.Invalid(path+".object", "is required")
		}
		a, err := c.input.Assert(items[i], path, false)
		if err != nil {
			return nil, err
		}
		w.Asserts = append(w.Asserts, a)
		if i%progressStep == 0 {
			c.progress(i, len(items), "read")
		}
	}
	return w, nil
}

// digested appends what became of the facts.
func (c *call) digested(r *fact.Result) {
	var ids []fact.ID
	superseded, candidates, duplicates := 0, 0, 0
	for i := range r.Asserts {
		done := &r.Asserts[i]
		superseded += len(done.Superseded)
		if done.Duplicate {
			duplicates++
			continue
		}
		ids = append(ids, done.Fact.ID)
		if done.Fact.Status == fact.Candidate {
			candidates++
		}
	}
	c.b = append(c.b, `{"written":`...)
	c.b = strconv.AppendInt(c.b, int64(len(ids)), 10)
	c.b = append(c.b, `,"written_ids":`...)
	c.b = jsonx.AppendIDs(c.b, ids)
	c.number("superseded", superseded)
	c.number("candidates", candidates)
	c.number("duplicates", duplicates)
	c.b = append(c.b, `,"entities":`...)
	c.b = jsonx.AppendStrings(c.b, mentioned(r))
	c.number("pii_masked", 0)
}

// mentioned lists the entities of the facts, each once, in the order in which
// they occur.
func mentioned(r *fact.Result) []string {
	list := []string{}
	seen := map[string]bool{}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			list = append(list, name)
		}
	}
	for i := range r.Asserts {
		f := &r.Asserts[i].Fact
		add(f.Subject)
		if f.Object.Kind == fact.Text {
			if _, _, ok := fact.SplitEntity(f.Object.Text); ok {
				add(f.Object.Text)
			}
		}
	}
	return list
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

package mcp

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

const (
	defaultDepth = 1
	maxDepth     = 6
	// maxRanked is how many of the newest facts that match a pattern are
	// ranked by their confidence.
	maxRanked = 1000
)

func recallTool() tool {
	return tool{
		name: "recall", title: "Recall facts", role: fact.RoleRead, facts: true, run: (*call).recall,
		description: "Look facts up in one of three ways. mode=semantic answers a question in words: use it when you do not know the entity or the relation; a date in the question is searched at that date. " +
			"mode=pattern filters by subject, predicate and object: use it when you know the entity or the relation. " +
			"mode=walk follows relations from the entity start: use it to see what surrounds an entity. " +
			"Answers with what holds now; for the past use recall_as_of, to prepare a whole task use build_context.",
		input: arguments(`"mode","namespace"`, `"mode":{"type":"string","enum":["semantic","pattern","walk"],"description":"How to look"},`+inNamespace+`,`+
			`"query":{"type":"string","minLength":1,"maxLength":16384,"description":"semantic: the question in words"},`+
			inSubject+`,`+inPredicate+`,`+inObject+`,`+
			`"start":{"type":"string","minLength":1,"maxLength":1024,"description":"walk: entity to start from, e.g. Person:alice"},`+
			`"depth":{"type":"integer","minimum":0,"maximum":6,"default":1,"description":"walk: how many relations to follow"},`+
			`"direction":{"type":"string","enum":["out","in","both"],"default":"out","description":"walk: which way to follow them"},`+
			`"edge_types":{"type":"array","maxItems":64,"items":{"type":"string"},"description":"walk: follow these predicates only"},`+
			`"min_confidence":{"type":"number","minimum":0,"maximum":1,"description":"Leave out facts that are less sure"},`+
			inLimit+`,`+inAsOf+`,`+inKnownAt+`,`+inTx+`,`+inBranch),
		output: result(`"mode":{"type":"string"},"count":{"type":"integer"},"facts":` + foundItems + `,` +
			`"limited":{"type":"boolean","description":"true where there are more facts than these"},` +
			`"time":{"type":"object","properties":{"text":{"type":"string"},"as_of":{"type":"integer"},"from":{"type":"integer"},"until":{"type":"integer"}},"required":["text"],"description":"semantic: the time that the question names, and that the facts are of"},` +
			`"as_of":{"type":"integer"},"known_at":{"type":"integer"},` + outNotice + outEnd),
	}
}

// recall looks facts up by the mode that is asked for.
func (c *call) recall() error {
	mode := c.args.Required("mode")
	read := c.travel()
	limit, least := c.limit(), c.fraction("min_confidence")
	switch mode {
	case "semantic":
		return c.recallSemantic(read, limit, least)
	case "pattern":
		return c.recallPattern(read, limit, least)
	case "walk":
		return c.recallWalk(read, limit, least)
	}
	c.args.Fail(fact.Invalid("mode", "has no such value: "+quoted(mode)+" (semantic, pattern or walk)"))
	return c.args.Err()
}

// recallSemantic lists what answers a question best.
func (c *call) recallSemantic(read memory.Read, limit int, least float64) error {
	q := &memory.SearchQuery{
		Read: read, Question: c.args.Required("query"), Top: limit, MinConfidence: least, Subject: c.name("subject"), Predicate: c.name("predicate"),
	}
	c.otherModes("semantic", "object", "start", "depth", "direction", "edge_types")
	if strings.TrimSpace(q.Question) == "" || len(q.Question) > memory.MaxQuestionBytes {
		c.args.Fail(fact.Invalid("query", "must have 1 to "+strconv.Itoa(memory.MaxQuestionBytes)+" bytes"))
	}
	if err := c.done(); err != nil {
		return err
	}
	found, meta, err := c.server.memory.Search(c.ctx, c.caller, q, nil)
	if err != nil {
		return err
	}
	c.told(meta)
	facts := make([]fact.Fact, len(found.Hits))
	c.scores = make([]float64, len(found.Hits))
	for i := range found.Hits {
		facts[i], c.scores[i] = found.Hits[i].Fact, found.Hits[i].Score
	}
	c.recalled("semantic", read, facts, limit, false)
	if found.Time != nil {
		c.named(found.Time)
	}
	return nil
}

// named appends the time that the question named, and that was searched.
func (c *call) named(t *memory.SearchTime) {
	c.b = append(c.b, `,"time":{"text":`...)
	c.b = jsonx.AppendString(c.b, t.Text)
	c.time("as_of", t.AsOf)
	if !t.AsOf.Given() {
		if t.From != fact.MinInstant {
			c.time("from", t.From)
		}
		if t.Until != fact.Forever {
			c.time("until", t.Until)
		}
	}
	c.b = append(c.b, '}')
}

// recallPattern lists what matches, the surest first and, among equally sure
// ones, in the order of lists.
func (c *call) recallPattern(read memory.Read, limit int, least float64) error {
	q := &memory.FactsQuery{
		Read: read, Subject: c.name("subject"), Predicate: c.name("predicate"), Objects: c.objects(), Limit: maxRanked + 1,
	}
	c.otherModes("pattern", "query", "start", "depth", "direction", "edge_types")
	if err := c.done(); err != nil {
		return err
	}
	page, meta, err := c.server.memory.Facts(c.ctx, c.caller, q, nil)
	if err != nil {
		return err
	}
	c.told(meta)
	facts, more := within(page, maxRanked)
	if more {
		c.warnings = append(c.warnings, "more facts match than are ranked: these are the surest of the newest "+strconv.Itoa(len(facts)))
	}
	facts = sure(facts, least)
	slices.SortStableFunc(facts, func(a, b fact.Fact) int { return cmp.Compare(b.Confidence, a.Confidence) })
	c.recalled("pattern", read, facts, limit, more)
	return nil
}

// recallWalk lists the edges of a walk, the nearest first.
func (c *call) recallWalk(read memory.Read, limit int, least float64) error {
	q := &memory.WalkQuery{Read: read, Start: c.name("start"), Depth: defaultDepth, Predicates: c.names("edge_types", memory.MaxEdgeTypes)}
	c.require("start")
	if depth, ok := c.args.Integer("depth", 0, maxDepth); ok {
		q.Depth = int(depth)
	}
	if text, ok := c.args.Text("direction"); ok {
		direction, err := memory.ParseDirection("direction", text)
		if err != nil {
			c.args.Fail(err)
		}
		q.Direction = direction
	}
	c.otherModes("walk", "query", "subject", "predicate", "object")
	if err := c.done(); err != nil {
		return err
	}
	slices.Sort(q.Predicates)
	w, meta, err := c.server.memory.Walk(c.ctx, c.caller, q, nil)
	if err != nil {
		return err
	}
	c.told(meta)
	facts := make([]fact.Fact, len(w.Edges))
	for i := range w.Edges {
		facts[i] = w.Edges[i].Fact
	}
	c.recalled("walk", read, sure(facts, least), limit, w.Limited)
	return nil
}

// otherModes refuses arguments that mean nothing in a mode, so that none is
// passed over in silence.
func (c *call) otherModes(mode string, fields ...string) {
	for _, field := range fields {
		if v, ok := c.args.Any(field); ok && (v.Kind != jsonx.Null || field == "object") {
			c.args.Fail(fact.Invalid(field, "means nothing with mode="+mode))
		}
	}
}

// recalled appends the answer of every mode.
func (c *call) recalled(mode string, read memory.Read, facts []fact.Fact, limit int, limited bool) {
	if len(facts) > limit {
		facts, limited = facts[:limit], true
	}
	c.b = append(c.b, `{"mode":`...)
	c.b = jsonx.AppendString(c.b, mode)
	c.facts(facts, limited, read)
	c.time("as_of", read.AsOf)
	c.time("known_at", read.KnownAt)
}

// sure returns the facts that are at least as sure as asked for, in a list of
// its own: the one it is given may be another one's too.
func sure(facts []fact.Fact, least float64) []fact.Fact {
	kept := make([]fact.Fact, 0, len(facts))
	for i := range facts {
		if facts[i].Confidence >= least {
			kept = append(kept, facts[i])
		}
	}
	return kept
}

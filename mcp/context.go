package mcp

import (
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
	"abagraph/memory/packet"
)

// Limits of build_context.
const (
	defaultContextFacts = 32
	defaultTokens       = 4096
	maxTokens           = 100_000
)

func buildContextTool() tool {
	return tool{
		name: "build_context", title: "Build the context for a task", role: fact.RoleRead, facts: true, run: (*call).buildContext,
		description: "Everything the memory knows for a task, in one call: the facts that matter for it, what surrounds the seeds, snippets of pages, and how well each fact is corroborated, trimmed to a token budget. " +
			"Use it once at the start of a task or session, instead of several recalls; system_prompt is ready to paste.",
		input: arguments(`"task","namespace"`, `"task":{"type":"string","minLength":1,"maxLength":16384,"description":"What you are about to do: it decides which facts matter"},`+inNamespace+`,`+
			`"seeds":{"type":"array","maxItems":64,"items":{"type":"string"},"description":"Entities the task is about, e.g. Person:alice"},`+
			`"max_facts":{"type":"integer","minimum":0,"maximum":200,"default":32,"description":"Most facts in the packet"},`+
			`"max_tokens":{"type":"integer","minimum":1,"maximum":100000,"default":4096,"description":"What system_prompt may take, in tokens"},`+
			`"style":{"type":"string","enum":["claude","openai","generic"],"default":"generic","description":"Format of system_prompt: XML, Markdown or plain"},`+
			`"role":{"type":"string","description":"Role of the agent, said in system_prompt. Default: a generic assistant."},`+
			inAsOf+`,`+inKnownAt+`,`+inTx+`,`+inBranch),
		output: result(`"system_prompt":{"type":"string"},"summary":{"type":"string"},"entities":` + texts + `,` +
			`"facts":{"type":"array","items":{"type":"object","properties":{` + viewProperties + `,"corroboration":{"type":"object","properties":{` +
			`"agree":{"type":"integer"},"conflict":{"type":"integer"},"sources":{"type":"integer"},"source_names":` + texts + `},"required":["agree","conflict","sources"]}},` + viewRequired + `}},` +
			`"pages":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"title":{"type":"string"},"subject":{"type":"string"},"source":{"type":["string","null"]},"snippet":{"type":"string"}},"required":["id","title","subject","source","snippet"]}},` +
			`"collapsed":{"type":"integer","description":"Near-duplicates that were merged"},"dropped":{"type":"integer","description":"Facts there was no room for"},` +
			`"tokens":{"type":"integer","description":"What the facts take"},"total_tokens":{"type":"integer","description":"What all candidates would take"},` +
			`"prompt_tokens":{"type":"integer","description":"What system_prompt takes"},` +
			`"counts":{"type":"object","properties":{"facts":{"type":"integer"},"pages":{"type":"integer"},"entities":{"type":"integer"}},"required":["facts","pages","entities"]},` +
			`"digest":{"type":"string","description":"Packets with the same digest say the same"},"as_of":{"type":"integer"},"known_at":{"type":"integer"},` + outNotice + outEnd),
	}
}

// buildContext assembles a packet.
func (c *call) buildContext() error {
	q := memory.NewContextQuery()
	q.Read = c.travel()
	q.Goal = c.either("task", "goal")
	if q.Goal == "" {
		c.args.Fail(fact.Invalid("task", "is required"))
	}
	if len(q.Goal) > packet.MaxGoalBytes {
		c.args.Fail(fact.Invalid("task", "is longer than "+strconv.Itoa(packet.MaxGoalBytes)+" bytes"))
	}
	q.Seeds = c.names("seeds", packet.MaxSeeds)
	q.MaxFacts, q.FactsGiven = defaultContextFacts, true
	if n, ok := c.args.Integer("max_facts", 0, maxLimit); ok {
		q.MaxFacts = int(n)
	}
	q.TokenBudget = c.budget()
	if text, ok := c.args.Text("style"); ok {
		style, err := packet.ParseStyle("style", text)
		if err != nil {
			c.args.Fail(err)
		}
		q.Style = style
	}
	q.Role, _ = c.args.Text("role")
	if err := c.done(); err != nil {
		return err
	}
	p, meta, err := c.server.memory.Context(c.ctx, c.caller, q, nil)
	if err != nil {
		return err
	}
	c.told(meta)
	c.packet(p)
	c.time("as_of", q.AsOf)
	c.time("known_at", q.KnownAt)
	return nil
}

// budget reads how many tokens the prompt may take.
func (c *call) budget() int {
	budget := defaultTokens
	for _, name := range [...]string{"max_tokens", "token_budget"} {
		if n, ok := c.args.Integer(name, 1, maxTokens); ok {
			budget = int(n)
		}
	}
	c.once("max_tokens", "token_budget")
	return budget
}

// either reads a text that has two names.
func (c *call) either(name, other string) string {
	c.once(name, other)
	text, ok := c.args.Text(name)
	if second, given := c.args.Text(other); given && !ok {
		return second
	}
	return text
}

// once refuses two names of one argument together.
func (c *call) once(name, other string) {
	_, first := c.args.Get(name)
	if _, second := c.args.Get(other); first && second {
		c.args.Fail(fact.Invalid(other, "means the same as "+name+": give one of them"))
	}
}

// packet appends a packet in the form that MCP has of it.
func (c *call) packet(p *packet.Packet) {
	c.b = append(c.b, `{"system_prompt":`...)
	at := len(c.b)
	c.b = jsonx.AppendString(c.b, p.SystemPrompt)
	c.prompt = [2]int{at, len(c.b)}
	c.b = append(c.b, `,"summary":`...)
	c.b = jsonx.AppendString(c.b, p.Summary)
	c.b = append(c.b, `,"entities":`...)
	c.b = jsonx.AppendStrings(c.b, p.Entities)
	c.b = append(c.b, `,"facts":[`...)
	for i := range p.Facts {
		if i > 0 {
			c.b = append(c.b, ',')
		}
		c.b = append(appendViewFields(c.b, &p.Facts[i].Fact), `,"corroboration":`...)
		c.b = append(p.Facts[i].Corroboration.Append(c.b), '}')
	}
	c.b = append(c.b, `],"pages":[`...)
	for i := range p.Pages {
		if i > 0 {
			c.b = append(c.b, ',')
		}
		c.b = appendSnippet(c.b, &p.Pages[i])
	}
	c.b = append(c.b, ']')
	c.number("collapsed", p.Collapsed)
	c.number("dropped", p.Dropped)
	c.number("tokens", p.Tokens)
	c.number("total_tokens", p.TotalTokens)
	c.number("prompt_tokens", p.PromptTokens)
	c.b = append(c.b, `,"counts":{"facts":`...)
	c.b = strconv.AppendInt(c.b, int64(len(p.Facts)), 10)
	c.number("pages", len(p.Pages))
	c.number("entities", len(p.Entities))
	c.b = append(c.b, `},"digest":`...)
	c.b = jsonx.AppendString(c.b, p.Digest())
	for _, w := range p.Warnings {
		c.warnings = append(c.warnings, w.Message)
	}
}

func appendSnippet(b []byte, s *packet.Snippet) []byte {
	b = append(b, `{"id":`...)
	b = jsonx.AppendString(b, s.ID)
	b = append(b, `,"title":`...)
	b = jsonx.AppendString(b, s.Title)
	b = append(b, `,"subject":`...)
	b = jsonx.AppendString(b, s.Subject)
	b = append(b, `,"source":`...)
	if s.Source == nil {
		b = append(b, "null"...)
	} else {
		b = jsonx.AppendString(b, *s.Source)
	}
	b = append(b, `,"snippet":`...)
	return append(jsonx.AppendString(b, s.Text), '}')
}

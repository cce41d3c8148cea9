package mcp

import (
	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// pageTool answers the resource of a page.
func pageTool() tool {
	return tool{name: "page", role: fact.RoleRead, facts: true, run: func(c *call) error {
		name := c.args.Required("subject")
		if err := c.done(); err != nil {
			return err
		}
		p, meta, err := c.server.memory.Page(c.ctx, c.caller, &memory.PageQuery{Read: memory.NewRead(), Name: name}, nil)
		if err != nil {
			return err
		}
		c.told(meta)
		c.b = append(c.b, `{"id":`...)
		c.b = jsonx.AppendString(c.b, p.ID)
		c.text("subject", &p.Subject)
		c.text("title", p.Title)
		c.text("source", p.Source)
		c.text("body", &p.Body)
		c.b = append(c.b, `,"links":[`...)
		for i := range p.Links {
			c.b = appendPair(c.b, i, "target", p.Links[i].Target, "text", p.Links[i].Text)
		}
		c.b = append(c.b, `],"citations":[`...)
		for i := range p.Citations {
			c.b = appendPair(c.b, i, "url", p.Citations[i].URL, "quote", p.Citations[i].Quote)
		}
		c.b = append(c.b, ']')
		return nil
	}}
}

// text appends a field that is a text, or null.
func (c *call) text(name string, value *string) {
	c.b = append(append(append(c.b, `,"`...), name...), `":`...)
	if value == nil {
		c.b = append(c.b, "null"...)
		return
	}
	c.b = jsonx.AppendString(c.b, *value)
}

// appendPair appends an object of two texts to a list.
func appendPair(b []byte, i int, first, one, second, two string) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	b = append(jsonx.AppendString(append(b, '{'), first), ':')
	b = append(jsonx.AppendString(b, one), ',')
	b = append(jsonx.AppendString(b, second), ':')
	return append(jsonx.AppendString(b, two), '}')
}

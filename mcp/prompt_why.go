package mcp

import (
	"context"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"abagraph/fact"
	"abagraph/memory"
)

func whyPrompt() prompt {
	return prompt{
		name: "why_do_we_believe", title: "Why do we believe this?",
		description: "Where a fact comes from and how it came to hold, with everything that was recorded before it.",
		arguments: []*mcpsdk.PromptArgument{
			needed("namespace", "Namespace", namespaceArgument),
			needed("subject", "Subject", "Entity that the fact is about, e.g. Person:alice"),
			needed("predicate", "Predicate", "Relation, e.g. works_at"),
		},
		ask: func(s *Server, ctx context.Context, given map[string]string) (tool, []byte, string, error) {
			id, err := s.believed(ctx, given)
			text := "Why do we believe what we do about " + shownText(given["subject"]) + " and " + shownText(given["predicate"]) + "? " +
				"Tell me the present value, where it comes from, how sure it is and since when it holds; then what held before it, and what ended that. Say so if the sources disagree."
			return explainFactTool(), argumentsOf("namespace", given["namespace"], "fact_id", id), text, err
		},
	}
}

// believed returns the id of the newest fact that holds of a subject and
// predicate.
func (s *Server) believed(ctx context.Context, given map[string]string) (string, error) {
	c, err := s.begin(ctx, fact.RoleRead, argumentsOf("namespace", given["namespace"], "subject", given["subject"], "predicate", given["predicate"]))
	if err != nil {
		return "", err
	}
	q := &memory.FactsQuery{Read: memory.NewRead(), Subject: c.name("subject"), Predicate: c.name("predicate"), Limit: 1}
	if err := c.done(); err != nil {
		return "", err
	}
	page, _, err := s.memory.Facts(ctx, c.caller, q, nil)
	if err != nil {
		return "", err
	}
	if len(page.Facts) == 0 {
		return "", fact.Errorf(fact.NotFound, "nothing holds of %s and %s", quoted(q.Subject), quoted(q.Predicate))
	}
	return page.Facts[0].ID.String(), nil
}

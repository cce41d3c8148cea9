package mcp

import (
	"context"
	"strconv"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"abagraph/fact"
)

func changedPrompt() prompt {
	return prompt{
		name: "what_changed", title: "What changed since then?",
		description: "What was added to the memory, what was superseded or removed, and what still holds, since a moment.",
		arguments: []*mcpsdk.PromptArgument{
			needed("namespace", "Namespace", namespaceArgument),
			needed("since", "Since", "A date such as 2026-06-01, a time with its zone, or Unix milliseconds"),
			optional("entity", "Entity", "Only what is about this entity, e.g. Project:atlas"),
		},
		ask: func(s *Server, _ context.Context, given map[string]string) (tool, []byte, string, error) {
			since, err := fact.ParseInstant("since", given["since"])
			if err != nil {
				return tool{}, nil, "", err
			}
			arguments := argumentsOf("namespace", given["namespace"], "subject", given["entity"], "from", given["since"],
				"to", strconv.FormatInt(max(s.now().UnixMilli(), int64(since)), 10))
			text := "What has changed in our memory since " + shownText(given["since"]) + "? " +
				"Group it by subject, the most important first: what is new, what took the place of what, and what was removed and why. End with how much still holds."
			return whatsChangedTool(), arguments, text, nil
		},
	}
}

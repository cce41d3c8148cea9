package mcp

import (
	"context"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"abagraph/internal/jsonx"
	"abagraph/memory"
)

func briefPrompt() prompt {
	return prompt{
		name: "brief_me", title: "Brief me",
		description: "What the memory knows about a topic or for a task, as a briefing with sources.",
		arguments: []*mcpsdk.PromptArgument{
			needed("namespace", "Namespace", namespaceArgument),
			needed("topic", "Topic", "What to be briefed on, in words"),
			optional("entities", "Entities", "Entities it is about, with commas between them, e.g. Person:alice,Project:atlas"),
		},
		ask: func(_ *Server, _ context.Context, given map[string]string) (tool, []byte, string, error) {
			arguments := argumentsOf("namespace", given["namespace"], "task", given["topic"])
			if text := given["entities"]; text != "" {
				seeds, err := memory.ParseEntities("entities", text)
				if err != nil {
					return tool{}, nil, "", err
				}
				arguments = append(arguments[:len(arguments)-1], `,"seeds":`...)
				arguments = append(jsonx.AppendStrings(arguments, seeds), '}')
			}
			text := "Brief me on this: " + shownText(given["topic"]) + "\n" +
				"Begin with what matters most now; then what is uncertain or in conflict; then what is missing."
			return buildContextTool(), arguments, text, nil
		},
		show: func(answer []byte) string {
			v, err := jsonx.Parse(answer)
			if err != nil {
				return string(answer)
			}
			prompt, _ := v.Field("system_prompt")
			text := prompt.Text
			warnings, _ := v.Field("warnings")
			for i := range warnings.Kids {
				text += "\n\nWarning: " + shownText(warnings.Kids[i].Text)
			}
			return text
		},
	}
}

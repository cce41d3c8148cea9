package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"abagraph/fact"
	"abagraph/internal/span"
)

// tool is one tool: what clients are told of it, and what it does.
type tool struct {
	name, title, description string
	// input and output are JSON Schemas, written by hand.
	input, output string
	// role is what a caller needs.
	role fact.Role
	// run reads the arguments and appends the answer's own fields, beginning
	// with its brace.
	run func(*call) error
	// facts marks an answer that quotes the memory.
	facts bool
}

// tools lists every tool. A repeated write changes nothing (C-10), and nothing
// is ever erased (C-18).
func tools() []tool {
	return []tool{
		buildContextTool(), digestTool(), explainFactTool(), recallTool(), recallAsOfTool(), rememberTool(), whatsChangedTool(),
	}
}

func (s *Server) addTools() error {
	for _, t := range tools() {
		for _, schema := range [...]string{t.input, t.output} {
			if !json.Valid([]byte(schema)) {
				return fmt.Errorf("mcp: a schema of %s is not JSON", t.name)
			}
		}
		s.sdk.AddTool(&mcpsdk.Tool{
			Name: t.name, Title: t.title, Description: t.description,
			InputSchema: json.RawMessage(t.input), OutputSchema: json.RawMessage(t.output),
			Annotations: &mcpsdk.ToolAnnotations{
				Title: t.title, ReadOnlyHint: t.role == fact.RoleRead, IdempotentHint: true, DestructiveHint: new(bool), OpenWorldHint: new(bool),
			},
		}, s.handler(&t))
	}
	return nil
}

func (s *Server) handler(t *tool) mcpsdk.ToolHandler {
	return func(ctx context.Context, r *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		ctx, part := span.Start(ctx, "tool "+t.name, span.Internal)
		defer part.End()
		b, err := s.run(ctx, t, r, r.Params.Arguments)
		if err != nil {
			return s.failed(t.name, err), nil
		}
		return answered(b), nil
	}
}

// run runs a tool and returns its answer, as a model may read it.
func (s *Server) run(ctx context.Context, t *tool, r *mcpsdk.CallToolRequest, arguments []byte) ([]byte, error) {
	if t.role == fact.RoleRead {
		var cancel context.CancelFunc
		ctx, cancel = reading(ctx)
		defer cancel()
	}
	c, err := s.begin(ctx, t.role, arguments)
	if err != nil {
		return nil, err
	}
	c.request = r
	if err := t.run(c); err != nil {
		return nil, err
	}
	return inert(c.finish(t.facts), c.prompt), nil
}

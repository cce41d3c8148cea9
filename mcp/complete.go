package mcp

import (
	"context"
	"slices"
	"strings"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"abagraph/fact"
	"abagraph/memory"
)

// maxCompletions is what the protocol lets one completion hold.
const maxCompletions = 100

// complete offers names for an argument of a prompt or a resource: entities,
// predicates, and the caller's namespace.
func (s *Server) complete(ctx context.Context, r *mcpsdk.CompleteRequest) (*mcpsdk.CompleteResult, error) {
	ctx, cancel := reading(ctx)
	defer cancel()
	var chosen map[string]string
	if r.Params.Context != nil {
		chosen = r.Params.Context.Arguments
	}
	argument := r.Params.Argument
	if !slices.Contains(asked(r.Params.Ref), argument.Name) {
		return &mcpsdk.CompleteResult{Completion: mcpsdk.CompletionResultDetails{Values: []string{}}}, nil
	}
	values, more, err := s.completions(ctx, argument.Name, argument.Value, chosen["namespace"])
	if err != nil {
		return nil, s.rpcFailure("completion", err)
	}
	return &mcpsdk.CompleteResult{Completion: mcpsdk.CompletionResultDetails{Values: values, HasMore: more}}, nil
}

// asked returns the names of the arguments of what a completion is about. What
// nobody knows has none: there is nothing to complete, and that is no failure.
func asked(ref *mcpsdk.CompleteReference) []string {
	if ref.Type == refPrompt {
		for _, p := range prompts() {
			if p.name == ref.Name {
				return p.names()
			}
		}
		return nil
	}
	for _, r := range resources() {
		if r.template() == ref.URI {
			return []string{"namespace", strings.Trim(r.variable, "{+}")}
		}
	}
	return nil
}

func (s *Server) completions(ctx context.Context, argument, prefix, namespace string) ([]string, bool, error) {
	hand := memory.HandoffOf(ctx)
	if hand == nil {
		return nil, false, memory.Denied()
	}
	caller := hand.Caller
	if argument == "namespace" {
		return startingWith([]string{caller.Tenant}, prefix), false, nil
	}
	if caller.Operator {
		if namespace == "" {
			namespace = caller.Tenant
		}
		if namespace == "" {
			return []string{}, false, nil // there is nothing to complete in before it is known where
		}
		if err := fact.CheckTenant("namespace", namespace); err != nil {
			return nil, false, err
		}
		var err error
		if caller, err = caller.In(namespace); err != nil {
			return nil, false, err
		}
	}
	before, last := "", prefix
	if argument == "entities" { // what stands before the last comma stays
		at := strings.LastIndexByte(prefix, ',') + 1
		last, argument = strings.TrimLeft(prefix[at:], " "), "entity" // no name begins with a space
		before = strings.TrimSuffix(prefix, last)
	}
	names, more, err := s.named(ctx, caller, argument, last)
	for i := range names {
		names[i] = before + names[i]
	}
	return names, more, err
}

// named lists the names of one kind that begin with a prefix.
func (s *Server) named(ctx context.Context, caller memory.Caller, argument, prefix string) ([]string, bool, error) {
	list := &memory.List{Read: memory.NewRead(), After: before(prefix), Limit: maxCompletions + 1}
	switch argument {
	case "entity", "ref", "subject":
		entities, _, _, err := s.memory.Entities(ctx, caller, list, nil)
		if err != nil {
			return nil, false, err
		}
		names := make([]string, len(entities))
		for i := range entities {
			names[i] = entities[i].ID
		}
		return offered(names, prefix)
	case "predicate":
		names, _, _, err := s.memory.Predicates(ctx, caller, list, nil)
		if err != nil {
			return nil, false, err
		}
		return offered(names, prefix)
	}
	return []string{}, false, nil
}

// offered keeps the names that begin with a prefix, as many as fit.
func offered(names []string, prefix string) ([]string, bool, error) {
	names = startingWith(names, prefix)
	more := len(names) > maxCompletions
	return names[:min(len(names), maxCompletions)], more, nil
}

func startingWith(names []string, prefix string) []string {
	kept := make([]string, 0, len(names))
	for _, name := range names {
		if name != "" && strings.HasPrefix(name, prefix) {
			kept = append(kept, name)
		}
	}
	return kept
}

// before returns a text just below a prefix in the order of bytes, so that a
// list of what is greater begins with the prefix itself.
func before(prefix string) string {
	if prefix == "" {
		return ""
	}
	last := len(prefix) - 1
	return prefix[:last] + string([]byte{prefix[last] - 1}) + "\xf4\x8f\xbf\xbf"
}

package mcp

import (
	"context"
	"slices"
	"strings"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"abagraph/fact"
)

// Profile is a choice of tools that are listed. It is advice to a model, not a
// boundary: every tool can be called by its name, as far as the caller's role
// goes.
type Profile string

// The profiles. The zero value lists everything, as Full does.
const (
	Full        Profile = "full"
	AgentMemory Profile = "agent-memory"
	ReadOnly    Profile = "read-only"
)

// Profiles names them, in the order in which they are told.
func Profiles() []string { return []string{string(Full), string(AgentMemory), string(ReadOnly)} }

// ParseProfile reads a profile; "" is Full.
func ParseProfile(field, text string) (Profile, error) {
	if text == "" {
		return Full, nil
	}
	if !slices.Contains(Profiles(), text) {
		return "", fact.Invalid(field, "has no such value: "+quoted(text)+" ("+strings.Join(Profiles(), ", ")+")")
	}
	return Profile(text), nil
}

// tools returns the names that a profile lists, or nil for all.
func (p Profile) tools() []string {
	switch p {
	case AgentMemory:
		return []string{"build_context", "digest", "remember", "recall", "whats_changed"}
	case ReadOnly:
		return []string{"recall", "recall_as_of", "explain_fact"}
	}
	return nil
}

// profileHeader narrows the list of one client: its host sets it, or the bridge
// on its standard input.
const profileHeader = "X-Abagraph-Mcp-Profile"

type profileKey struct{}

// shown leaves in a list what the profile shows.
func (s *Server) shown(ctx context.Context, list *mcpsdk.ListToolsResult) *mcpsdk.ListToolsResult {
	profile, _ := ctx.Value(profileKey{}).(Profile)
	if profile == "" {
		profile = s.profile
	}
	names := profile.tools()
	if names == nil {
		return list
	}
	list.Tools = slices.DeleteFunc(list.Tools, func(t *mcpsdk.Tool) bool { return !slices.Contains(names, t.Name) })
	return list
}

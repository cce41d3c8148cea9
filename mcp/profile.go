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

// ToolInfo is what is told of a tool outside the protocol.
type ToolInfo struct{ Name, Title, Description string }

// Tools lists what the server's profile shows, in the order of the names.
func (s *Server) Tools() []ToolInfo {
	names := s.profile.tools()
	var list []ToolInfo
	for _, t := range tools() {
		if names == nil || slices.Contains(names, t.name) {
			list = append(list, ToolInfo{t.name, t.title, t.description})
		}
	}
	slices.SortFunc(list, func(a, b ToolInfo) int { return strings.Compare(a.Name, b.Name) })
	return list
}

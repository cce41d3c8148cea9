package main

import (
	"log/slog"

	"abagraph/http/discover"
	"abagraph/ingest"
	"abagraph/mcp"
	"abagraph/memory"
)

// mcpServer makes the server of the Model Context Protocol over a door.
func mcpServer(s settings, door *memory.Service, desk *ingest.Desk, logger *slog.Logger) (*mcp.Server, error) {
	profile, err := mcp.ParseProfile("mcp_profile", s.get("mcp_profile"))
	if err != nil {
		return nil, err
	}
	return mcp.NewServer(mcp.Options{Memory: door, Desk: desk, Logger: logger, Version: version, Profile: profile})
}

// toolCards are the tools as the cards show them that describe the server.
func toolCards(s *mcp.Server) []discover.Tool {
	var cards []discover.Tool
	for _, t := range s.Tools() {
		cards = append(cards, discover.Tool{Name: t.Name, Title: t.Title, Description: t.Description})
	}
	return cards
}

package main

import "log/slog"

// connectionsWithin is how many connections the API takes: as many as were asked for,
// and no more than half of the files that the process may open, so that connections
// never keep the store from opening its own.
func connectionsWithin(s settings, logger *slog.Logger) int {
	asked, files := s.number("max_connections"), filesMax()
	if asked <= files/2 {
		return int(asked)
	}
	allowed := max(files/2, 1)
	logger.Warn("abagraph.server.few_files", "max_connections", asked, "open_files", files, "connections", allowed)
	return int(allowed)
}

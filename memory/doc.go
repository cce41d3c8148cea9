// Package memory is the one door through which every surface (REST, MCP,
// ingest) reaches the engine.
//
// On the way in it decides everything that is not a pure function of the state:
// who the caller is and whose data that means (C-40, C-41), valid and
// normalised names (C-5), ids (C-2), the candidate threshold (C-7), policies in
// all their spellings (C-6). On the way out it gives each read a basis (C-26),
// opens one view, reads the past as C-20 to C-22 say, and closes the view on
// every path. The stream is a Feed, pulled by its reader: replay and live are
// the same code (C-33).
//
// The graph is no structure of its own: walks, shortest paths and the ranked
// whole judge, as they read a view's facts, which of them are edges (C-5).
//
// It sees the engine through the interfaces Engine and View only. It never
// writes to storage itself, keeps no facts, speaks no HTTP, and starts no
// goroutine.
package memory

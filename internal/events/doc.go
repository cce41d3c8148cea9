// Package events writes what the process does as one flat JSON object a line,
// and keeps the recent window of it that /api/observability shows.
//
// Each line has ts (ISO 8601, UTC, milliseconds), level (debug, info, warn or
// error), event (a dotted name such as abagraph.server.start), and the event's
// own fields. Both are slog handlers: the process makes one Window, puts its
// Handler around a line handler, and injects the logger everywhere.
//
// The package decides nothing about what is logged. It keeps names, levels and
// times only, never a field's value, and what it keeps is bounded.
package events

// Package records cuts what a source sends into records: one JSON object, an array
// of them, JSON Lines or CSV, told apart by their beginning.
//
// Everything is streamed: one record is in memory at a time, and its size is
// bounded. A record that cannot be read is told with its place and a reason, and
// the ones after it are read. It reads no store, clock or network.
package records

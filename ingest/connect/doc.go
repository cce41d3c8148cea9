// Package connect keeps connectors: named sources with a mapping from their records
// to facts. What a source sends, or what is fetched from its URL, is cut into
// records, mapped, and written in batches; the answer says of every record what
// became of it.
//
// A connector and its state (cursor, validators of the last answer) are facts about
// Connector:<name>, so that they have a history, travel with backups and are known
// on every node. It calls package memory like any other client, reaches the network
// only through the guard, and reads the secrets that a connector names at the
// moment in which they are used.
package connect

// Package entry is the bytes of one log entry: what a leader proposes, what
// every node applies, and what a forwarded request and its answer look like
// between two nodes.
//
// It owns the format and its version numbers, and nothing else: it knows
// neither Raft nor Pebble, reads no clock and no random number. Decoding
// arbitrary bytes never panics and never allocates more than the bytes could
// hold. A version or a kind that it does not know is an error: an entry is
// never skipped.
package entry

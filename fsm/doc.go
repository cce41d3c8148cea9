// Package fsm is the state machine: log entries in, Pebble keys out.
//
// It owns the meaning of a write (timelines, duplicates, candidates,
// retractions, guards, idempotent outcomes, sweeps and purges), the indexes,
// the versions of every fact, the digest chain over every tx, the read views,
// and the form of a snapshot. It is deterministic: the same entries give the
// same bytes on every node, however they were batched and however often the
// process was restarted in between.
//
// It reads no clock, no random number, no environment and no network, lets no
// map's order reach a key or an answer, and knows neither Raft nor HTTP. Time
// comes in with each entry and is ratcheted (C-23). The Raft log is the
// write-ahead log: batches are applied without a sync and carry the index that
// they have applied.
//
// Start at apply.go for the way of a write, view.go for the way of a read, and
// keys.go for what lies where.
package fsm

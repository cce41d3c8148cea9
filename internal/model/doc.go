// Package model is the reference reading of docs/SEMANTICS.md, C-10 to C-24,
// C-28 and the parts of C-31, C-33, C-34 and C-56 that a state machine judges:
// what the engine must answer, said as plainly as Go can say it.
//
// It owns one slice of every version of every fact, and each question walks
// that slice from end to end. It has no index, no cache, no storage and no
// clock, it is not safe for concurrent use, and it must never be made fast:
// it is worth something only while a reader can see that it is right. It
// imports nothing of ours but fact, so that no mistake of the engine can be
// shared.
//
// Random makes histories and queries that any engine can be given too; the
// engine's own tests compare the two. A branch is a copy here. Changes to the
// registry of tenants are no part of it.
package model

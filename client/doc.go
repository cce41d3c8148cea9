// Package client is the Go client of abagraph's REST API: what the command
// line, the tests and the benchmarks use, and what any Go program may.
//
// A Client is made by New for one base URL and is safe for concurrent use. Its
// methods follow the routes one to one. Every answer outside 2xx is an *Error
// with the status, code and message of the server's envelope; everything else
// (a refused connection, a deadline) is an ordinary wrapped error.
//
// Reads, and writes, are repeated after an error that may pass: no connection,
// a lost answer, 429, 503 and 504. A write is repeated only under the
// Idempotency-Key that it was first sent with, so that it happens once however
// often it is sent (C-31, C-32); the client makes a key for each write that
// brings none.
//
// The package reads no environment and no file, keeps no global state, and
// starts no goroutine that outlives a call. It imports fact and the standard
// library only.
package client

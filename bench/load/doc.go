// Package load runs an operation from many clients at once and tells how fast
// it went: rate, latency percentiles, and the spread over several rounds.
//
// It is a closed loop: each client waits for its answer before it asks again.
// It knows nothing of what it measures, and never retries: an error counts as
// an error.
package load

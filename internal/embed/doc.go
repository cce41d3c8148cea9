// Package embed turns texts into vectors: by a hash, for tests, or by asking an
// endpoint that speaks the OpenAI embeddings protocol.
//
// It owns how a provider is asked: batches, time, retries, a pause after
// failures, bounds on what is read, and what may be told of an error. It judges
// every vector that comes back, and hands out unit vectors of the right dimension
// or none. The key is sent in one header and is in no error. It keeps no texts
// and starts no goroutine of its own. What becomes of a write whose text got no
// vector is memory's affair.
package embed

// Package rest is an HTTP/1.1 client that costs as little as can be: one
// connection, one request at a time, no goroutine, hardly an allocation. The
// load generator shares its cores with the server, so that a client's own cost
// would be counted as the server's.
//
// It speaks to a server on loopback that answers with a length or in chunks. It
// never retries and follows no redirect.
package rest

// Package http serves the REST API, the stream and the metrics of one node, on
// Echo. Outside this folder it is imported as httpd.
//
// It owns what is HTTP and nothing else: routes, hosts and origins, who a
// request's credential stands for, query strings and bodies, status codes, the
// one error envelope (C-43), headers, cookies, time limits, and the life of the
// listener. It speaks to package memory only and keeps no data.
//
// The way of a request: around measures, recovers and answers errors (around.go);
// guard judges Host and Origin (guard.go); authenticate finds the caller
// (identity.go); the handler of the route (routes.go) reads its parameters from
// query, path and body, each apart, asks memory, and appends its answer to a
// buffer. A denied request is answered exactly as a route that does not exist
// (C-42).
package http

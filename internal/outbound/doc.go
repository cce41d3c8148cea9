// Package outbound is the one way out: every call that the server makes to an
// address that somebody else has named goes through its Guard.
//
// The Guard judges the address that is about to be connected to, as the system
// parsed it and after names were resolved: private, loopback, link-local,
// metadata, shared and multicast addresses are refused in whatever way they are
// written, and so are the cluster's own ports. Every hop of a redirect is judged
// again, and what the caller sent for one host goes to no other. Answers are
// bounded in bytes and time. The environment's proxies are not used. An operator's
// list opens named hosts.
//
// It never tells whether a port that it refused was open, and puts no URL into an
// error: a URL may hold a secret.
package outbound

// Command abagraph is the one binary: the server (serve) and the client
// commands that speak to it over its REST API.
//
// This package is flags and wiring only: each subcommand has a file of its own,
// reads its flags, and calls client, internal/imports or the packages that
// serve wires together. Client commands write JSON with an indent of two to
// stdout, or a table where stdout is a terminal; errors go to stderr as
// "code: message", with exit code 1.
package main

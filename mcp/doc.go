// Package mcp serves the memory as tools of the Model Context Protocol, with
// the official SDK under it.
//
// A Server is one http.Handler without sessions: each POST carries one JSON-RPC
// message and is answered by itself, on any node. Who asks has been settled by
// the surface that lets requests in (memory.Handoff); here the caller's role is
// held on each call, whatever tool list the profile shows. Every message is
// read strictly before the SDK sees it (C-43, C-44), so that what is checked
// and what is done are the same.
//
// A tool's answer is JSON, the same in its text and in its structured content.
// In the text, everything that could be taken for markup or that does not show
// is escaped: facts are data, and nothing in them can leave their strings.
//
// Bridge serves a host over stdin and stdout: it carries each line to a Server,
// near or far, and its answers back, so that both ways of the protocol are one
// implementation.
package mcp

// Package span is what one request does, in parts, for whoever collects that: each part
// has a name, a beginning, an end and a few figures. The recorder that keeps them is
// given from outside, and travels in the context; without one everything here does
// nothing and allocates nothing.
//
// A span carries names of routes, of steps and of codes, and numbers. It carries no
// word of a fact, no name of a tenant, subject or host, and no key.
package span

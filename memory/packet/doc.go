// Package packet turns what memory has read for a task into one context packet:
// it drops duplicates, counts who agrees and who contradicts, clusters, ranks,
// fits what it keeps into a budget of tokens, and writes the system prompt.
//
// It is a pure function of its input: no clock, no store, no map's order. So the
// same request on the same state is the same bytes on every node, and a packet
// can be made again later (C-25).
//
// Facts are other people's words. They reach the prompt as data alone: cleaned,
// escaped by the prompt's style, each in one line of a section that says what it
// is, and never in the part that speaks for the operator (INJ-01).
package packet

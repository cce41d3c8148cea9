// Package fact is the vocabulary of abagraph: facts, objects, instants,
// identifiers, conflict policies, statuses, requests, answers and error codes,
// with the rules that say which values are valid.
//
// It owns the words and their validation. It does no input or output, reads no
// clock and no random number, and imports nothing but the standard library, so
// that every other package may speak it. The numbers C-… in comments are the
// rules of docs/SEMANTICS.md.
package fact

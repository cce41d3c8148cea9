// Package check judges the facts of one subject, as pure functions: what
// contradicts what, which facts are copies of one another, what has changed
// between two states, and why a fact is what it is.
//
// It reads no store and no clock; package memory gives it the facts, subject by
// subject, as they stood at the points in time that are asked about.
package check

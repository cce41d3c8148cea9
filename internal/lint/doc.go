// Package lint holds the house's rules as tests: who may import whom, which
// packages may know a clock, how imports and variables are named, how long a
// file may grow.
//
// It has no code of its own that anything could import. Each rule is a function
// from parsed source to problems, and each has a test that shows it a breach,
// so that a rule which no longer catches anything fails too. A failure prints
// the rule's own sentence and what to do instead.
package lint

// Package watch looks at the alerts of every tenant now and then, and tells their
// webhooks what has changed; and it has reports made when they are due.
//
// Only the node that leads looks. What an alert says is a fact, written by package
// memory; a webhook is told until it has taken the state, so that it may hear of
// one twice, and never misses the last. A webhook that hangs delays the others of
// one round by its time limit, and no write.
//
// A report is made by package memory, in one tx with the note that its time is done,
// so that two nodes that both believe to lead make it once. One of each tenant is made
// before the next one of any.
package watch

// Package watch looks at the alerts of every tenant now and then, and tells their
// webhooks what has changed.
//
// Only the node that leads looks. What an alert says is a fact, written by package
// memory; a webhook is told until it has taken the state, so that it may hear of
// one twice, and never misses the last. A webhook that hangs delays the others of
// one round by its time limit, and no write.
package watch

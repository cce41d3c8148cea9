// Package search ranks the facts of one tenant by what they say: an inverted
// index in memory, scored by BM25, with the built-in word table leading from a
// question's words to those that are used like them.
//
// An index is made from the store and then follows its events; nothing of it is
// ever written, and no write waits for it. It knows every version of every fact,
// so that it answers for any point of both times, and its figures are those of
// the record time that is read (C-57). What is purged or expires is taken out as
// if it had never been.
//
// It decides nothing about who may see what: its caller names the scope. It reads
// no clock, and the same facts and question give the same ranking on every node.
package search

// Package ops is what an operator does: backup, restore and verify, and what stands
// around them, one file a command.
//
// Its functions work through the client on a running node, or on the files of a node
// that does not run; they print nothing and return reports that a surface shows.
// What touches files checks everything before it changes anything, and what is
// interrupted leaves the old state or the new one.
package ops

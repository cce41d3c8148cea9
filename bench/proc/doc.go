// Package proc starts the servers that are measured as child processes, tells
// what they cost, and ends them. Each child is owned by its Process: it is
// waited for, and its output is kept in a file for the case that it fails.
package proc

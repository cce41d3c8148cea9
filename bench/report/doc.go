// Package report turns measurements into a table on the terminal and into
// docs/benchmarks.md.
//
// In the document each section lies between two marks, and a run replaces the
// sections that it measured. Everything else in the document is written by
// people and is never touched.
package report

// Package vector keeps the unit vectors of one model in memory, small, and tells
// how near each is to a query.
//
// A vector is kept as one signed byte a number. From that the table tells a cosine
// with bounds that hold for certain, so that who reads the few full vectors that
// the bounds leave open gets exactly what a scan of all full vectors would have
// found. For very large tables a second form, one bit a number, tells a first
// guess in a few nanoseconds.
//
// Vectors that are often asked for together are put side by side, so that who compares
// with few of many reads few stretches of memory. Rows are fetched ahead of their turn,
// so that the others are not slow either.
//
// Both forms are functions of the one vector alone. Nothing is trained and
// nothing is built up from the others, so that a ranking depends neither on the
// order in which vectors came nor on when a node began to keep them: every state
// is sealed at its own tx (C-57). All sums are of whole numbers, or of products
// that float64 holds exactly, and come out the same on every machine.
//
// It knows no facts and no tenants, and does no locking.
package vector

// Package quality measures how well search answers questions in words: the 900
// as-of questions that come with the shared files of real dated facts, by typed
// query and by search in each mode, and questions about made-up conversations, with
// and without their turns. It holds tests only; `make bench-quality`
// prints what they measure.
package quality

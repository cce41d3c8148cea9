// Package mask finds personal data in texts and replaces it: e-mail addresses,
// social security numbers, card numbers and telephone numbers, by their form
// alone. It is a defence in depth, never a guarantee.
//
// It is a pure function of its input and takes time in proportion to it. What it
// looks for, and what it leaves alone, is a table of docs/masking.md.
package mask

// Package byok reads the model that a caller brings along, key included (BYOK).
//
// A Key cannot be printed by accident: every way to format, encode or log it says
// ***redacted***. Only Reveal gives it out, to the one header that it is sent in.
// The package calls nobody and keeps nothing.
package byok

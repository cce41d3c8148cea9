//go:build !unix

package main

// ownersOnly does nothing where files have no modes.
func ownersOnly() {}
